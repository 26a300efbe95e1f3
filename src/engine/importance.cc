#include "engine/importance.h"

#include <algorithm>
#include <string>

#include "k8s/names.h"
#include "k8s/selector.h"

namespace knx::engine {

using cluster::PodId;

namespace {

bool Protects(const k8s::PodDisruptionBudget& budget, const k8s::StringMap& labels,
              const std::string& pod_name) {
  if (!budget.selector) return false;
  // An empty selector selects nothing here, unlike in an eviction.
  if (budget.selector->match_labels.empty() && budget.selector->match_expressions.empty()) {
    return false;
  }
  if (!k8s::Matches(*budget.selector, labels)) return false;
  // Who is on its way out already is accounted for.
  return std::find(budget.disrupted_pods.begin(), budget.disrupted_pods.end(), pod_name) ==
         budget.disrupted_pods.end();
}

bool Says(const cluster::State& state, PodId pod, std::string_view key, std::string_view value) {
  const std::string* const said =
      k8s::FindValue(state.label_sets().Get(state.pod(pod).labels), key);
  return said != nullptr && *said == value;
}

// What its profile says, which knows more than its label, if a profile classifies pods.
cluster::Preemptible PreemptibleOf(const cluster::State& state, PodId pod) {
  using cluster::Preemptible;
  const Preemptible by_profile = state.profile_of(pod).preemptible;
  if (by_profile != Preemptible::kUnsaid) return by_profile;
  if (Says(state, pod, k8s::names::kPreemptible, "true")) return Preemptible::kYes;
  return Says(state, pod, k8s::names::kPreemptible, "false") ? Preemptible::kNo
                                                             : Preemptible::kUnsaid;
}

}  // namespace

bool MoreImportant(const cluster::State& state, PodId a, PodId b) {
  const cluster::Pod& pod_a = state.pod(a);
  const cluster::Pod& pod_b = state.pod(b);
  if (pod_a.priority != pod_b.priority) return pod_a.priority > pod_b.priority;
  if (StartOf(pod_a) != StartOf(pod_b)) return StartOf(pod_a) < StartOf(pod_b);
  if (pod_a.created != pod_b.created) return pod_a.created < pod_b.created;
  return pod_a.uid < pod_b.uid;
}

bool FillsGaps(const cluster::State& state, PodId pod) {
  return Says(state, pod, k8s::names::kBackfill, "true") ||
         PreemptibleOf(state, pod) == cluster::Preemptible::kYes;
}

bool IsToStay(const cluster::State& state, PodId pod) {
  return PreemptibleOf(state, pod) == cluster::Preemptible::kNo;
}

bool GivesWay(const cluster::Pod& pod, Duration cooldown, Time now) {
  if (!pod.terminating) return pod.evicted;
  return (pod.evicted || pod.preempted) && pod.leaves_by > now - cooldown;
}

void BudgetUse::CountAnnounced() {
  if (state_.bystanders().budgets().by_name.empty()) return;
  state_.nodes().present().ForEach([this](std::uint32_t row) {
    for (const PodId id : state_.nodes().pods(cluster::NodeRow{row})) {
      if (state_.pod(id).evicted && !state_.pod(id).terminating) Violates(id);
    }
  });
}

bool BudgetUse::Violates(PodId id) {
  const auto& budgets = state_.bystanders().budgets().by_name;
  if (budgets.empty()) return false;
  const cluster::Pod& pod = state_.pod(id);
  const k8s::StringMap& labels = state_.label_sets().Get(pod.labels);
  if (labels.empty()) return false;
  bool violates = false;
  const std::string namespace_(state_.words().Text(pod.namespace_));
  for (auto it = budgets.lower_bound({namespace_, ""});
       it != budgets.end() && it->first.first == namespace_; ++it) {
    if (!Protects(it->second, labels, pod.name)) continue;
    if (++used_[&it->second] > it->second.disruptions_allowed) violates = true;
  }
  return violates;
}

}  // namespace knx::engine
