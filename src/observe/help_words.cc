#include "observe/help_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/shortened.h"
#include "engine/backfill_times.h"
#include "k8s/enum_names.h"
#include "k8s/names.h"
#include "k8s/selector.h"

namespace knx::observe {

using cluster::FormatAmount;
using cluster::NodeRow;
using cluster::PodId;
using engine::GangInquiry;
using engine::PodInquiry;
using engine::Wait;

std::string Counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string Some(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  const std::size_t shown = names.size() > kShown + 1 ? kShown : names.size();
  std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::string NameOf(const cluster::State& state, PodId pod) {
  return fmt::format("{}/{}", state.words().Text(state.pod(pod).namespace_), state.pod(pod).name);
}

std::string Moment(Time time) {
  return FormatTime({time.ns / Duration::Seconds(1).ns * Duration::Seconds(1).ns});
}

namespace {

// "larger nodes: it asks for 6 of cpu (the most there is: 4)"
std::string LargerNodes(const std::vector<Wait::TooLarge>& too_large) {
  std::vector<std::string> asked;
  for (const Wait::TooLarge& one : too_large) {
    const std::string most = FormatAmount(one.resource, one.most);
    asked.push_back(fmt::format(
        "{} of {} ({})", FormatAmount(one.resource, one.asked), one.resource,
        one.most == 0 ? "no node has any" : fmt::format("the most there is: {}", most)));
  }
  return fmt::format("larger nodes: it asks for {}", Some(asked));
}

// What a pod and a gang have in common.
std::vector<std::string> HelpOfOthers(const Wait& wait) {
  std::vector<std::pair<std::size_t, std::string>> sized;
  if (!wait.pods.empty()) {
    const std::string leaving = wait.leaving == 0 ? ""
                                : wait.leaving == wait.pods.size()
                                    ? " being deleted already"
                                    : fmt::format(", {} being deleted already", wait.leaving);
    sized.emplace_back(wait.pods.size(),
                       fmt::format("the end of {}{}: {}", Counted(wait.pods.size(), "pod", "pods"),
                                   leaving, Some(wait.pods)));
  }
  if (wait.nodes > 0) {
    sized.emplace_back(
        wait.nodes,
        fmt::format("{} like {}", Counted(wait.nodes, "more node", "more nodes"), wait.like));
  }
  std::stable_sort(sized.begin(), sized.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> help;
  for (auto& [size, text] : sized) help.push_back(std::move(text));
  if (!wait.too_large.empty()) help.push_back(LargerNodes(wait.too_large));
  for (const Wait::Reserved& reserved : wait.reserved) {
    help.push_back(fmt::format(
        "the end of the reservation {}, which keeps room for {}{}", reserved.name, reserved.whom,
        reserved.ends == kNever ? "" : fmt::format(" until {}", Moment(reserved.ends))));
  }
  return help;
}

// To be let pass by who is promised a start; it fits, or there would be more to say.
void AddPassing(const Wait& wait, std::vector<std::string>& help) {
  const auto& held = wait.held_for;
  if (held && held->may_pass && held->start < engine::kUnknownEnd) {
    help.push_back(fmt::format("a run time with which it has ended by {} (annotation {})",
                               Moment(held->start), k8s::names::kExpectedDuration));
  }
}

// ---- what stands in the way of a pod on a node ----

std::string TaintsNotTolerated(const cluster::State& state, PodId pod, NodeRow row) {
  const auto& tolerations = state.class_of(pod).spec.tolerations;
  std::vector<std::string> taints;
  for (const k8s::Taint& taint : state.taint_sets().Get(state.nodes().facts(row).taints)) {
    const bool hard = taint.effect != k8s::TaintEffect::kPreferNoSchedule;
    // It comes and goes with the cordon.
    const bool of_cordon =
        taint.key == k8s::names::kTaintUnschedulable && state.nodes().facts(row).unschedulable;
    if (!hard || of_cordon || k8s::Tolerates(tolerations, taint)) continue;
    taints.push_back(fmt::format("{}{}{}:{}", taint.key, taint.value.empty() ? "" : "=",
                                 taint.value, k8s::NameOf(taint.effect)));
  }
  return taints.empty() ? "" : fmt::format("a toleration for {}", fmt::join(taints, ", "));
}

// Whether its required node affinity allows a node like this one with the labels it selects by.
bool AffinityAllows(const cluster::State& state, PodId pod, NodeRow row) {
  const k8s::PodSpec& spec = state.class_of(pod).spec;
  if (!spec.node_affinity || !spec.node_affinity->required) return true;
  std::map<std::string, std::string> labels(spec.node_selector.begin(), spec.node_selector.end());
  for (const auto& [key, value] : state.nodes().facts(row).labels) {
    labels.try_emplace(std::string(state.words().Text(key)), state.words().Text(value));
  }
  return k8s::Matches(*spec.node_affinity->required, {labels.begin(), labels.end()},
                      state.nodes().name(row));
}

// Labels that the node would need; empty: it is not for want of those.
std::string LabelsWanted(const cluster::State& state, PodId pod, NodeRow row) {
  std::vector<std::string> labels;
  for (const auto& [key, value] : state.class_of(pod).spec.node_selector) {
    // Nobody calls a node by another name.
    if (key == k8s::names::kHostname) return {};
    const Symbol has = state.nodes().Label(row, state.words().Find(key));
    if (has.valid() && state.words().Text(has) == value) continue;
    labels.push_back(fmt::format("{}={}", key, value));
  }
  if (labels.empty() || !AffinityAllows(state, pod, row)) return {};
  return fmt::format("the label {} on the node", fmt::join(labels, ", "));
}

// The change that takes a refusal away; empty: it goes by itself with another.
std::string ChangeFor(const cluster::State& state, PodId pod, NodeRow row,
                      const PodInquiry::Obstacle::Refusal& obstacle) {
  if (obstacle.plugin == "TaintToleration") return TaintsNotTolerated(state, pod, row);
  if (obstacle.plugin == "NodeUnschedulable") return "the end of the cordon";
  if (obstacle.plugin == "NodeAffinity") {
    const std::string labels = LabelsWanted(state, pod, row);
    return labels.empty() ? "another node selector or node affinity" : labels;
  }
  if (obstacle.plugin == "NodePorts") return "other host ports";
  // kube-scheduler's reasons, and what would take them away.
  constexpr std::pair<std::string_view, std::string_view> kChanges[] = {
      {"node(s) didn't match pod affinity rules", "a pod near by that its pod affinity asks for"},
      {"node(s) didn't match pod anti-affinity rules",
       "no pods near by that its pod anti-affinity forbids"},
      {"node(s) didn't satisfy existing pods anti-affinity rules",
       "no pods near by whose anti-affinity forbids it"},
      {"node(s) didn't match pod topology spread constraints", "other topology spread constraints"},
      {"node(s) didn't match pod topology spread constraints (missing required label)",
       "the label of its topology spread constraint on the node"},
      {"node(s) didn't find available persistent volumes to bind",
       "persistent volumes there for its claims"},
      {"node(s) didn't match PersistentVolume's node affinity",
       "persistent volumes that can be used there"},
      {"node(s) had no available disk", "a disk that nobody uses there"},
      {"node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
       "in-use by another pod",
       "its claim no longer in use by another pod"},
  };
  for (const auto& [reason, change] : kChanges) {
    if (obstacle.reasons.size() == 1 && obstacle.reasons[0] == reason) return std::string(change);
  }
  return fmt::format("without \"{}\" ({})", fmt::join(obstacle.reasons, ", "), obstacle.plugin);
}

// ---- what no node has ----

// The nodes that it asks for by name, if none of them is there.
std::string NodesThatAreMissing(const cluster::State& state, PodId pod) {
  const auto& affinity = state.class_of(pod).spec.node_affinity;
  if (!affinity || !affinity->required) return {};
  std::vector<std::string> names;
  for (const k8s::NodeSelectorTerm& term : affinity->required->terms) {
    const std::size_t before = names.size();
    for (const auto& field : term.match_fields) {
      if (field.op == k8s::SelectorOperator::kIn) {
        names.insert(names.end(), field.values.begin(), field.values.end());
      }
    }
    if (names.size() == before) return {};  // it may be another node
  }
  const auto is_there = [&](const std::string& name) {
    const NodeRow row = state.nodes().Find(name);
    return row.valid() && state.nodes().has_node(row);
  };
  if (names.empty() || std::any_of(names.begin(), names.end(), is_there)) return {};
  return fmt::format("the node {}, which it asks for by name and which is not there", Some(names));
}

}  // namespace

std::vector<std::string> HelpFor(const cluster::Gang& gang, const GangInquiry& inquiry) {
  std::vector<std::string> help = HelpOfOthers(inquiry);
  if (inquiry.answer == engine::GangAnswer::kPlaced) AddPassing(inquiry, help);
  if (gang.awaits_object()) {
    // Of a Workload the name has the group in it, after the namespace and the object.
    return {fmt::format("the {} {}", cluster::ObjectOf(gang.source),
                        cluster::GroupOf(gang.source, inquiry.name))};
  }
  if (inquiry.complete && inquiry.fits_apart) {
    help.push_back(fmt::format("the label {} on nodes, the same on as many as it needs",
                               Shortened(inquiry.together, kLongestValue)));
  }
  // Only who runs the gang knows whether it can do with less.
  const auto minimum = [&inquiry](std::size_t startable) {
    return fmt::format("a minimum of {} instead of {}",
                       inquiry.minimum - (inquiry.needed - startable), inquiry.minimum);
  };
  if (inquiry.startable_by_eviction > 0) {
    help.push_back(minimum(inquiry.startable_by_eviction) +
                   ", for which less important pods would be evicted");
  }
  if (inquiry.startable > 0) help.push_back(minimum(inquiry.startable));
  return help;
}

std::vector<std::string> HelpFor(const cluster::State& state, PodId pod,
                                 const PodInquiry& inquiry) {
  std::vector<std::string> help = HelpOfOthers(inquiry);
  if (!inquiry.asked.chosen.empty()) {
    AddPassing(inquiry, help);
    return help;
  }
  std::map<std::string, std::vector<std::string>> nodes_by_change;
  for (const PodInquiry::Obstacle& obstacle : inquiry.obstacles) {
    const NodeRow row = state.nodes().Find(obstacle.node);
    std::vector<std::string> changes;
    for (const PodInquiry::Obstacle::Refusal& refusal : obstacle.by) {
      std::string change = ChangeFor(state, pod, row, refusal);
      if (!change.empty()) changes.push_back(std::move(change));
    }
    if (changes.empty()) continue;
    nodes_by_change[fmt::format("{}", fmt::join(changes, " and "))].push_back(obstacle.node);
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> changes(nodes_by_change.begin(),
                                                                        nodes_by_change.end());
  // What opens the most nodes is the likeliest to have been forgotten.
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  constexpr std::size_t kMostChanges = 5;
  changes.resize(std::min(changes.size(), kMostChanges));
  for (const auto& [change, nodes] : changes) {
    help.push_back(fmt::format("{}: it fits on {}", change, Some(nodes)));
  }
  if (std::string missing = NodesThatAreMissing(state, pod); !missing.empty()) {
    help.push_back(std::move(missing));
  }
  if (inquiry.less) {
    std::vector<std::string> amounts;
    for (const PodInquiry::Less::Amount& less : inquiry.less->amounts) {
      amounts.push_back(fmt::format("{} of {} instead of {}",
                                    FormatAmount(less.resource, less.left), less.resource,
                                    FormatAmount(less.resource, less.asked)));
    }
    help.push_back(fmt::format("a request for {}: it fits on {}", fmt::join(amounts, " and "),
                               inquiry.less->node));
  }
  return help;
}

}  // namespace knx::observe
