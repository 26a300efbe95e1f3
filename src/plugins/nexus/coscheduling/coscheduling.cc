#include "plugins/nexus/coscheduling/coscheduling.h"

#include <algorithm>
#include <span>
#include <utility>

#include "plugins/common/args.h"

namespace knx::plugins {

using framework::EventKind;

Result<std::unique_ptr<framework::Plugin>> Coscheduling::Make(const framework::PluginArgs& args) {
  framework::GangArgs read;
  // A day: no gang is formed for longer, and sums of times stay small.
  constexpr std::int64_t kMost = 86'400;
  // The highest priority that users may define.
  constexpr std::int64_t kMostBoost = 1'000'000'000;
  // So many take the engine's only thread some seconds.
  constexpr std::int64_t kMostEvaluations = 1'000'000;
  std::int64_t straggler_wait = read.straggler_wait.ns / Duration::Seconds(1).ns;
  std::int64_t grace = read.grace.ns / Duration::Seconds(1).ns;
  std::int64_t attempt_timeout = 0;
  std::int64_t starvation = read.starvation_wait.ns / Duration::Seconds(1).ns;
  KNX_TRY_DONE(ReadArgs(args, "CoschedulingArgs", [&](k8s::FieldReader& fields) {
    fields.Read("stragglerWaitSeconds", straggler_wait, k8s::IntegerLimits{.min = 0, .max = kMost});
    fields.Read("graceSeconds", grace, k8s::IntegerLimits{.min = 1, .max = kMost});
    fields.Read("attemptTimeoutSeconds", attempt_timeout,
                k8s::IntegerLimits{.min = 0, .max = kMost});
    fields.Read("evictIncomplete", read.evict_incomplete);
    fields.Read("operatorGangs", read.operator_gangs);
    fields.Read("starvationSeconds", starvation, k8s::IntegerLimits{.min = 1, .max = kMost});
    fields.Read("starvationBoost", read.starvation_boost,
                k8s::IntegerLimits{.min = 0, .max = kMostBoost});
    fields.Read("searchEvaluations", read.search_evaluations,
                k8s::IntegerLimits{.min = 0, .max = kMostEvaluations});
    fields.Map("tierBoosts", [&](k8s::FieldReader& tiers) {
      const k8s::IntegerLimits limits{.min = 0, .max = kMostBoost};
      tiers.Read("gold", read.gold_boost, limits);
      tiers.Read("silver", read.silver_boost, limits);
      tiers.Read("bronze", read.bronze_boost, limits);
    });
  }));
  read.straggler_wait = Duration::Seconds(straggler_wait);
  read.grace = Duration::Seconds(grace);
  read.attempt_timeout = Duration::Seconds(attempt_timeout);
  read.starvation_wait = Duration::Seconds(starvation);
  return std::unique_ptr<framework::Plugin>(std::make_unique<Coscheduling>(read));
}

framework::EventSet Coscheduling::events() const {
  return {EventKind::kNodeLabel, EventKind::kNodeAdd,           EventKind::kNodeAllocatable,
          EventKind::kNodeTaint, EventKind::kAssignedPodDelete, EventKind::kAssignedPodScaleDown};
}

namespace {

using Amounts = std::span<const cluster::ResourceAmount>;

bool JoinsDomain(const framework::ClusterEvent& event, const cluster::State& state,
                 const cluster::Gang& gang) {
  const Symbol key = state.words().Find(gang.topology_key);
  if (!key.valid() || event.node_before == nullptr) return key.valid();
  const Symbol now = state.nodes().Label(event.row, key);
  const auto& before = event.node_before->labels;
  return now.valid() &&
         std::find(before.begin(), before.end(), std::pair(key, now)) == before.end();
}

bool HasMore(Amounts wanted, Amounts before, Amounts now) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const cluster::ResourceAmount& one) {
    return cluster::AmountOf(before, one.id) < cluster::AmountOf(now, one.id);
  });
}

// Of what the gang wants to be left in all.
bool LeavesMore(const framework::ClusterEvent& event, const cluster::State& state,
                const cluster::Gang& gang) {
  const Amounts wanted = gang.resources;
  switch (event.kind) {
    case EventKind::kAssignedPodDelete:
      return cluster::AmountOf(wanted, cluster::kPods) > 0 ||
             HasMore(wanted, {}, event.pod_now.requests);
    case EventKind::kAssignedPodScaleDown:
      return HasMore(wanted, event.pod_now.requests, event.pod_before.requests);
    default:
      break;
  }
  const cluster::NodeFacts& now = state.nodes().facts(event.row);
  const bool was_open = event.node_before != nullptr && state.TakesPods(*event.node_before);
  return state.TakesPods(now) &&
         HasMore(wanted, was_open ? Amounts(event.node_before->allocatable) : Amounts(),
                 now.allocatable);
}

}  // namespace

bool Coscheduling::MayHelp(const framework::ClusterEvent& event,
                           const framework::PodView& pod) const {
  const cluster::GangId id = pod.state.gang_of(pod.id);
  if (!id.valid()) return false;
  const cluster::Gang& gang = pod.state.gangs().Get(id);
  return event.kind == EventKind::kNodeLabel ? JoinsDomain(event, pod.state, gang)
                                             : LeavesMore(event, pod.state, gang);
}

}  // namespace knx::plugins
