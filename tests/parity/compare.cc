#include "compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <set>
#include <vector>

namespace knx::parity {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

std::string Shown(simdjson::simdjson_result<element> value) {
  return value.error() != simdjson::SUCCESS ? "nothing" : simdjson::minify(value.value());
}

// Fields that are empty may also be left out.
std::string Plain(simdjson::simdjson_result<element> value) {
  const std::string text =
      value.error() != simdjson::SUCCESS ? "" : simdjson::minify(value.value());
  return text == "[]" || text == "{}" || text == "null" || text == "\"\"" ? "" : text;
}

using Fields = std::map<std::string, std::string, std::less<>>;

Fields FieldsOf(simdjson::simdjson_result<element> value) {
  Fields fields;
  object content;
  if (value.get(content) != simdjson::SUCCESS) return fields;
  for (const auto field : content) fields[std::string(field.key)] = simdjson::minify(field.value);
  return fields;
}

// Verdicts on nodes. In which order kube-scheduler lists the extended resources that a node lacks
// is chance.
Fields VerdictsOf(simdjson::simdjson_result<element> value) {
  Fields fields;
  object content;
  if (value.get(content) != simdjson::SUCCESS) return fields;
  for (const auto field : content) {
    std::vector<std::string> reasons;
    array listed;
    if (field.value["reasons"].get(listed) == simdjson::SUCCESS) {
      for (const element reason : listed) reasons.push_back(simdjson::minify(reason));
    }
    std::sort(reasons.begin(), reasons.end());
    fields[std::string(field.key)] =
        fmt::format("{} {} [{}]", Plain(field.value["plugin"]), Plain(field.value["code"]),
                    fmt::join(reasons, ","));
  }
  return fields;
}

std::optional<std::string> Differ(std::string_view where, const Fields& theirs,
                                  const Fields& ours) {
  std::set<std::string> keys;
  for (const auto& entry : theirs) keys.insert(entry.first);
  for (const auto& entry : ours) keys.insert(entry.first);
  for (const std::string& key : keys) {
    const auto a = theirs.find(key);
    const auto b = ours.find(key);
    const std::string left = a == theirs.end() ? "nothing" : a->second;
    const std::string right = b == ours.end() ? "nothing" : b->second;
    if (left != right) {
      return fmt::format("{} of {}: kube-scheduler says {}, we say {}", where, key, left, right);
    }
  }
  return std::nullopt;
}

std::optional<std::string> DifferInField(const element& theirs, const element& ours,
                                         std::string_view field) {
  const std::string left = Plain(theirs[field]);
  const std::string right = Plain(ours[field]);
  if (left == right) return std::nullopt;
  return fmt::format("{}: kube-scheduler says {}, we say {}", field, Shown(theirs[field]),
                     Shown(ours[field]));
}

bool AllZero(const Fields& scores) {
  return std::all_of(scores.begin(), scores.end(),
                     [](const auto& entry) { return entry.second == "[0,0,0]"; });
}

// A plugin that skipped says the same as one that gives everybody nothing.
std::optional<std::string> DifferInScores(const element& theirs, const element& ours,
                                          Shares& shares) {
  std::map<std::string, std::pair<Fields, Fields>> plugins;
  object content;
  if (theirs["scores"].get(content) == simdjson::SUCCESS) {
    for (const auto field : content)
      plugins[std::string(field.key)].first = FieldsOf(element(field.value));
  }
  if (ours["scores"].get(content) == simdjson::SUCCESS) {
    for (const auto field : content)
      plugins[std::string(field.key)].second = FieldsOf(element(field.value));
  }
  for (const auto& [plugin, scores] : plugins) {
    std::set<std::string> values;
    for (const auto& entry : scores.first) values.insert(entry.second);
    if (values.size() > 1) ++shares.scores[plugin];
    if (scores.first.empty() && AllZero(scores.second)) continue;
    if (scores.second.empty() && AllZero(scores.first)) continue;
    if (auto difference =
            Differ("score [raw, normalised, weighted] by " + plugin, scores.first, scores.second)) {
      return difference;
    }
  }
  return std::nullopt;
}

// Ours must be one of the nodes with the greatest total.
std::optional<std::string> DifferInChoice(const element& theirs, const element& ours) {
  std::string_view chosen;
  if (ours["chosen"].get(chosen) != simdjson::SUCCESS) return std::nullopt;
  std::string_view nominated;
  if (theirs["nominated"].get(nominated) == simdjson::SUCCESS && !nominated.empty()) {
    if (chosen == nominated) return std::nullopt;
    return fmt::format("chosen: kube-scheduler takes the nominated {}, we take {}", nominated,
                       chosen);
  }
  object totals;
  if (theirs["totals"].get(totals) != simdjson::SUCCESS) return std::nullopt;
  std::int64_t best = -1;
  std::int64_t of_ours = -1;
  for (const auto field : totals) {
    const std::int64_t total = field.value.get_int64().value();
    best = std::max(best, total);
    if (field.key == chosen) of_ours = total;
  }
  if (of_ours == best) return std::nullopt;
  return fmt::format("chosen: we take {} with {}, the greatest total is {}", chosen, of_ours, best);
}

// Ours must be one of those between which kube-scheduler takes its pick. Where there are many we
// end the search early, as it does, and any candidate will do.
std::optional<std::string> DifferInNomination(const element& theirs, const element& ours,
                                              std::size_t candidates) {
  constexpr std::size_t kAllAreLookedAt = 100;
  std::string_view nominated;
  if (ours["nominatedNodeName"].get(nominated) != simdjson::SUCCESS || nominated.empty() ||
      theirs["nominatedNodeName"].is_null()) {
    const std::string left = Shown(theirs["nominatedNodeName"]);
    const std::string right = Shown(ours["nominatedNodeName"]);
    if (left == right) return std::nullopt;
    return fmt::format("nominatedNodeName: kube-scheduler says {}, we say {}", left, right);
  }
  if (candidates > kAllAreLookedAt) return std::nullopt;
  array best;
  if (theirs["best"].get(best) == simdjson::SUCCESS) {
    for (const element node : best) {
      if (node.get_string().value() == nominated) return std::nullopt;
    }
  }
  return fmt::format("nominated: kube-scheduler takes one of {}, we take {}", Shown(theirs["best"]),
                     nominated);
}

std::optional<std::string> DifferInPreemption(const element& theirs, const element& ours,
                                              Shares& shares) {
  element left;
  element right;
  if (theirs["preemption"].get(left) != simdjson::SUCCESS || left.is_null()) return std::nullopt;
  if (ours["preemption"].get(right) != simdjson::SUCCESS || right.is_null()) {
    return "preemption: kube-scheduler looks for room, we do not";
  }
  const Fields candidates = FieldsOf(left["candidates"]);
  if (!candidates.empty()) ++shares.preempts;
  if (auto difference =
          Differ("candidate for preemption", candidates, FieldsOf(right["candidates"]))) {
    return difference;
  }
  return DifferInNomination(left, right, candidates.size());
}

std::optional<std::string> DifferInPod(const element& theirs, const element& ours, Shares& shares) {
  ++shares.pods;
  std::set<std::string> rejecting;
  object nodes;
  if (theirs["nodes"].get(nodes) == simdjson::SUCCESS) {
    for (const auto field : nodes) {
      std::string_view plugin;
      const bool named = field.value["plugin"].get(plugin) == simdjson::SUCCESS && !plugin.empty();
      if (named) rejecting.emplace(plugin);  // a node may be left out by several at once
    }
  }
  for (const std::string& plugin : rejecting) ++shares.rejects[plugin];

  for (const char* field : {"error", "preEnqueue"}) {
    if (auto difference = DifferInField(theirs, ours, field)) return difference;
  }
  std::string_view code;
  const bool rejected = theirs["prefilter"]["code"].get(code) == simdjson::SUCCESS &&
                        code != "Success" && !code.empty();
  if (rejected) {
    for (const char* field : {"plugin", "code", "reasons"}) {
      if (auto difference =
              DifferInField(theirs["prefilter"].value(), ours["prefilter"].value(), field)) {
        return "prefilter " + *difference;
      }
    }
  }
  if (code != "Error") {
    if (auto difference =
            Differ("verdict", VerdictsOf(theirs["nodes"]), VerdictsOf(ours["nodes"]))) {
      return difference;
    }
  }
  if (!rejected) {
    for (const char* field : {"feasible", "single"}) {
      if (auto difference = DifferInField(theirs, ours, field)) return difference;
    }
    if (auto difference = DifferInScores(theirs, ours, shares)) return difference;
    if (auto difference = Differ("total", FieldsOf(theirs["totals"]), FieldsOf(ours["totals"]))) {
      return difference;
    }
    if (auto difference = DifferInChoice(theirs, ours)) return difference;
  }
  if (auto difference = DifferInPreemption(theirs, ours, shares)) return difference;
  for (const char* field : {"reason", "message", "unschedulablePlugins"}) {
    if (auto difference = DifferInField(theirs, ours, field)) return difference;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Difference> Compare(std::string_view theirs, std::string_view ours, Shares& shares) {
  simdjson::dom::parser first;
  simdjson::dom::parser second;
  element left;
  element right;
  if (first.parse(simdjson::padded_string(theirs)).get(left) != simdjson::SUCCESS) {
    return Difference{"", fmt::format("kube-scheduler's answer is no JSON: {}", theirs)};
  }
  if (second.parse(simdjson::padded_string(ours)).get(right) != simdjson::SUCCESS) {
    return Difference{"", fmt::format("our answer is no JSON: {}", ours)};
  }
  if (auto difference = DifferInField(left, right, "error")) return Difference{"", *difference};
  array their_pods;
  array our_pods;
  if (left["pods"].get(their_pods) != simdjson::SUCCESS ||
      right["pods"].get(our_pods) != simdjson::SUCCESS || their_pods.size() != our_pods.size()) {
    return Difference{"", "not the same pods"};
  }
  for (std::size_t i = 0; i < their_pods.size(); ++i) {
    const element a = their_pods.at(i).value();
    const element b = our_pods.at(i).value();
    if (auto difference = DifferInPod(a, b, shares)) {
      std::string_view pod;
      if (a["pod"].get(pod) != simdjson::SUCCESS) pod = "";
      return Difference{std::string(pod), *difference};
    }
  }
  return std::nullopt;
}

}  // namespace knx::parity
