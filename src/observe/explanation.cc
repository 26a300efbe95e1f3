#include "observe/explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace knx::observe {

using cluster::GangId;
using cluster::PodId;
using engine::GangAnswer;
using engine::GangInquiry;

namespace {

std::string Counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// A few names, and how many more there are.
std::string Some(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  const std::size_t shown = names.size() > kShown + 1 ? kShown : names.size();
  std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

// `by_number`: it is the number of pods that decides whether the gang starts, not of its parts.
std::vector<std::string> HelpFor(const GangInquiry& gang, bool by_number) {
  std::vector<std::pair<std::size_t, std::string>> sized;
  if (!gang.pods.empty()) {
    sized.emplace_back(gang.pods.size(),
                       fmt::format("the end of {}: {}", Counted(gang.pods.size(), "pod", "pods"),
                                   Some(gang.pods)));
  }
  if (gang.nodes > 0) {
    sized.emplace_back(
        gang.nodes,
        fmt::format("{} like {}", Counted(gang.nodes, "more node", "more nodes"), gang.like));
  }
  std::stable_sort(sized.begin(), sized.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> help;
  for (auto& [size, text] : sized) help.push_back(std::move(text));
  // Only who runs the gang knows whether it can do with less.
  const bool decides = by_number && gang.placed + gang.needed <= gang.minimum;
  if (decides && gang.fitting > 0 && gang.fitting < gang.needed) {
    const std::size_t minimum = gang.minimum - (gang.needed - gang.fitting);
    help.push_back(fmt::format("a minimum of {} instead of {}", minimum, gang.minimum));
  }
  return help;
}

struct Named {
  std::string_view namespace_ = "default", name;
};

Named Parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {.name = text};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

// A member that waits; without one, any.
PodId MemberOf(const cluster::State& state, const Named& named) {
  PodId found;
  for (std::uint32_t i = 0; i < state.gangs().id_limit(); ++i) {
    const GangId id{i};
    if (!state.gangs().Contains(id)) continue;
    const cluster::Gang& gang = state.gangs().Get(id);
    if (gang.name != named.name || state.words().Text(gang.namespace_) != named.namespace_)
      continue;
    for (const PodId member : gang.members) {
      if (!state.pod(member).node.valid()) return member;
      found = member;
    }
  }
  return found;
}

PodId PodOf(const cluster::State& state, const Named& named) {
  for (std::uint32_t i = 0; i < state.pods().id_limit(); ++i) {
    const PodId id{i};
    if (!state.pods().Contains(id) || state.pod(id).name != named.name) continue;
    if (state.words().Text(state.pod(id).namespace_) == named.namespace_) return id;
  }
  return {};
}

void ListRefusals(const engine::Inquiry& inquiry, Explanation& explanation) {
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const engine::Inquiry::Rejection& rejection : inquiry.rejections) {
    for (const std::string& reason : rejection.reasons) ++counts[{rejection.plugin, reason}];
  }
  for (const auto& [refusal, nodes] : counts) {
    explanation.refusals.push_back({refusal.first, refusal.second, nodes});
  }
  std::stable_sort(explanation.refusals.begin(), explanation.refusals.end(),
                   [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
}

}  // namespace

std::optional<Explanation> Explain(engine::Engine& engine, std::string_view name) {
  const cluster::State& state = engine.state();
  const Named named = Parse(name);
  const PodId member = MemberOf(state, named);
  const PodId pod = member.valid() ? member : PodOf(state, named);
  if (!pod.valid()) return std::nullopt;
  const std::string uid = state.pod(pod).uid;
  Explanation explanation;
  explanation.what =
      fmt::format("{} {}/{}", member.valid() ? "pod group" : "pod", named.namespace_, named.name);
  if (state.pod(pod).node.valid()) {
    explanation.node = state.nodes().name(state.pod(pod).node);
    return explanation;
  }
  explanation.message = engine.WhyWaiting(uid);
  explanation.gang = engine.InquireGang(uid);
  if (explanation.gang) {
    explanation.message = explanation.gang->message;
    const cluster::Gang& gang = state.gangs().Get(state.gang_of(pod));
    explanation.help = HelpFor(*explanation.gang, gang.min_sub_groups.empty());
    return explanation;
  }
  // What it says about its gang cannot be read: no node has a say before that is mended.
  const auto& membership = state.pod(pod).gang;
  const bool unreadable = membership != nullptr && !membership->declared.problem.empty();
  if (unreadable && explanation.message == membership->declared.problem) return explanation;
  const auto inquiry = engine.Inquire(uid);
  if (!inquiry) return explanation;
  if (explanation.message.empty()) explanation.message = inquiry->message;
  ListRefusals(*inquiry, explanation);
  return explanation;
}

namespace {

std::string_view Verdict(const GangInquiry& gang) {
  if (!gang.complete) return "too few members are there";
  switch (gang.answer) {
    case GangAnswer::kPlaced:
      return "there is room for it now";
    case GangAnswer::kImpossible:
      return "impossible now";
    case GangAnswer::kNotFound:
      break;
  }
  return gang.needed == 0 ? "has all that it needs" : "no way was found; there may be one";
}

std::string GangText(const GangInquiry& gang) {
  std::string out;
  const auto line = [&out](std::string_view key, std::string_view value) {
    out += fmt::format("  {:<14} {}\n", key, value);
  };
  line("answer", Verdict(gang));
  line("members", fmt::format("{} have a place, {} wait, {} must start together", gang.placed,
                              gang.ready, gang.minimum));
  if (gang.complete) {
    line("fit", fmt::format("{} of {} that are needed, each on the node that is best for it",
                            gang.fitting, gang.needed));
  }
  if (!gang.proof.empty()) line("proof", gang.proof);
  for (const GangInquiry::Domain& domain : gang.domains) {
    line(domain.value, fmt::format("has room for {}", domain.most));
  }
  return out;
}

}  // namespace

std::string ToText(const Explanation& explanation) {
  if (!explanation.node.empty()) {
    return fmt::format("{} does not wait: it is on {}\n", explanation.what, explanation.node);
  }
  std::string out = fmt::format("{} waits\n", explanation.what);
  if (explanation.gang) out += GangText(*explanation.gang);
  for (const Explanation::Refusal& refusal : explanation.refusals) {
    out += fmt::format("  {}: {} ({})\n", Counted(refusal.nodes, "node", "nodes"), refusal.reason,
                       refusal.plugin);
  }
  if (!explanation.message.empty()) out += fmt::format("\n{}\n", explanation.message);
  if (explanation.help.empty()) return out;
  out += "\nWhat would help, each by itself:\n";
  for (const std::string& help : explanation.help) out += fmt::format("  {}\n", help);
  return out;
}

}  // namespace knx::observe
