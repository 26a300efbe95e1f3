#include "cmd/run_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace knx::cmd {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The number at the front of `text`, without zeros in front; moves `text` behind it.
std::string_view TakeNumber(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && IsDigit(text[end])) ++end;
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

// Taints with which the cluster marks a state: cordoned, unreachable, under pressure.
bool TellsState(std::string_view taint) { return taint.starts_with("node.kubernetes.io/"); }

using ShapeKey =
    std::pair<std::vector<std::pair<std::string, std::int64_t>>, std::vector<std::string>>;

ShapeKey ShapeOf(const sim::NodeUse& node) {
  ShapeKey key;
  for (const sim::ResourceUse& use : node.resources) {
    if (use.allocatable != 0) key.first.emplace_back(use.name, use.allocatable);
  }
  for (const std::string& taint : node.taints) {
    if (!TellsState(taint)) key.second.push_back(taint);
  }
  return key;
}

std::pair<std::string_view, std::string_view> KindAndName(const sim::PodOutcome& pod) {
  const std::string_view owner = pod.owner;
  const std::size_t slash = owner.find('/');
  if (slash == std::string_view::npos) return {"Pod", pod.name};
  return {owner.substr(0, slash), owner.substr(slash + 1)};
}

std::vector<WorkGroup> GroupPointers(const std::vector<const sim::PodOutcome*>& pods) {
  using Key = std::tuple<std::string_view, std::string_view, std::string>;
  std::map<Key, std::vector<const sim::PodOutcome*>> families;
  for (const sim::PodOutcome* pod : pods) {
    const auto [kind, name] = KindAndName(*pod);
    const bool numbered = kind == "Job" || kind == "Pod";
    const std::string family = numbered ? FamilyOf(name) : std::string(name);
    families[{pod->namespace_, kind, family}].push_back(pod);
  }
  std::vector<WorkGroup> out;
  for (auto& [key, members] : families) {
    const auto& [namespace_, kind, family] = key;
    std::set<std::string_view> names;
    for (const sim::PodOutcome* pod : members) names.insert(KindAndName(*pod).second);
    WorkGroup& group = out.emplace_back();
    group.namespace_ = namespace_;
    group.label = fmt::format("{}/{}", kind, names.size() == 1 ? *names.begin() : family);
    group.owners = static_cast<std::int64_t>(names.size());
    group.pods = std::move(members);
  }
  return out;
}

}  // namespace

bool NaturalLess(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (IsDigit(a.front()) && IsDigit(b.front())) {
      const std::string_view number_a = TakeNumber(a);
      const std::string_view number_b = TakeNumber(b);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // equal but for zeros in front of a number
}

std::string FamilyOf(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && IsDigit(name[end - 1])) --end;
  const bool numbered = end < name.size() && end > 1 && name[end - 1] == '-';
  return numbered ? fmt::format("{}*", name.substr(0, end)) : std::string(name);
}

std::vector<NodeGroup> GroupNodes(const std::vector<sim::NodeUse>& nodes) {
  std::vector<const sim::NodeUse*> sorted;
  for (const sim::NodeUse& node : nodes) sorted.push_back(&node);
  std::sort(sorted.begin(), sorted.end(),
            [](const auto* a, const auto* b) { return NaturalLess(a->name, b->name); });
  std::map<ShapeKey, std::size_t> places;
  std::vector<NodeGroup> out;
  for (const sim::NodeUse* node : sorted) {
    ShapeKey shape = ShapeOf(*node);
    std::vector<std::string> taints = shape.second;
    const auto [place, is_new] = places.try_emplace(std::move(shape), out.size());
    if (is_new) out.push_back({.nodes = {}, .taints = std::move(taints)});
    out[place->second].nodes.push_back(node);
  }
  return out;
}

std::vector<std::string> Distinctions(const std::vector<NodeGroup>& groups,
                                      const std::vector<std::string>& common) {
  std::map<std::vector<std::string>, std::vector<std::size_t>> alike;
  std::vector<std::map<std::string, std::int64_t>> amounts(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const auto& [resource, amount] : ShapeOf(*groups[i].nodes.front()).first) {
      amounts[i][resource] = amount;
    }
    std::vector<std::string> told = groups[i].taints;
    for (const std::string& resource : common) {
      told.push_back(fmt::format("{} {}", resource, amounts[i][resource]));
    }
    alike[std::move(told)].push_back(i);
  }
  std::vector<std::string> out(groups.size());
  for (const auto& [told, members] : alike) {
    std::set<std::string> resources;
    for (const std::size_t member : members) {
      for (const auto& [resource, amount] : amounts[member]) resources.insert(resource);
    }
    for (const std::string& resource : resources) {
      const auto differs = [&](std::size_t member) {
        return amounts[member][resource] != amounts[members.front()][resource];
      };
      if (std::none_of(members.begin(), members.end(), differs)) continue;
      for (const std::size_t member : members) {
        out[member] += fmt::format(", {} {}", amounts[member][resource], resource);
      }
    }
  }
  return out;
}

bool IsOrdinary(const sim::NodeUse& node) { return node.ready && !node.unschedulable; }

std::vector<const sim::NodeUse*> Representatives(const NodeGroup& group, std::size_t limit) {
  std::vector<const sim::NodeUse*> out = group.nodes;
  std::stable_partition(out.begin(), out.end(),
                        [](const auto* node) { return !IsOrdinary(*node); });
  if (out.size() > limit) out.resize(limit);
  std::sort(out.begin(), out.end(),
            [](const auto* a, const auto* b) { return NaturalLess(a->name, b->name); });
  return out;
}

std::vector<std::size_t> ShareRows(const std::vector<std::size_t>& needs, std::size_t limit) {
  std::vector<std::size_t> out(needs.size(), 0);
  for (bool given = true; given && limit > 0;) {
    given = false;
    for (std::size_t i = 0; i < needs.size() && limit > 0; ++i) {
      if (out[i] >= needs[i]) continue;
      ++out[i];
      --limit;
      given = true;
    }
  }
  return out;
}

std::vector<WorkGroup> GroupPods(const std::vector<sim::PodOutcome>& pods) {
  std::vector<const sim::PodOutcome*> all;
  for (const sim::PodOutcome& pod : pods) all.push_back(&pod);
  return GroupPointers(all);
}

bool IsWaiting(const sim::PodOutcome& pod) {
  return pod.node.empty() && pod.phase != "Succeeded" && pod.phase != "Failed";
}

std::string WhyItWaits(const sim::PodOutcome& pod, const std::vector<std::string>& profiles) {
  if (pod.terminating) return "is being deleted";
  if (!pod.message.empty()) return pod.message;
  if (!pod.reason.empty()) return pod.reason;
  if (std::find(profiles.begin(), profiles.end(), pod.scheduler_name) != profiles.end()) {
    return "not tried yet";
  }
  return fmt::format("not tried: no profile of this scheduler is named {}", pod.scheduler_name);
}

std::vector<WaitingGroup> GroupWaiting(const sim::SimulationResult& result) {
  std::map<std::string, std::vector<const sim::PodOutcome*>> by_message;
  for (const sim::PodOutcome& pod : result.pods) {
    if (IsWaiting(pod)) by_message[WhyItWaits(pod, result.profiles)].push_back(&pod);
  }
  std::vector<WaitingGroup> out;
  for (const auto& [message, members] : by_message) {
    out.push_back({.message = message,
                   .pods = static_cast<std::int64_t>(members.size()),
                   .work = GroupPointers(members)});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const WaitingGroup& a, const WaitingGroup& b) { return a.pods > b.pods; });
  return out;
}

}  // namespace knx::cmd
