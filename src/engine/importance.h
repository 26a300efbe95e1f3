// Which of two pods had better stay, and whose end a disruption budget forbids: what every search
// for victims goes by.
#pragma once

#include <cstdint>
#include <map>

#include "base/time.h"
#include "cluster/state.h"

namespace knx::engine {

// Pods of this priority and above keep the cluster going, and are never asked to leave for a gang.
inline constexpr std::int32_t kSystemCritical = 2'000'000'000;

// A pod that has not started counts as one that starts now: later than all others.
inline Time StartOf(const cluster::Pod& pod) {
  return pod.started == Time{} ? kNever : pod.started;
}

// A total order; as in kube-scheduler, who leaves the rest to chance.
[[nodiscard]] bool MoreImportant(const cluster::State& state, cluster::PodId a, cluster::PodId b);

// What a pod says about its end for others, or its workload profile does: that it fills gaps, and
// goes before others of its priority; that it stays.
[[nodiscard]] bool FillsGaps(const cluster::State& state, cluster::PodId pod);
[[nodiscard]] bool IsToStay(const cluster::State& state, cluster::PodId pod);

// It leaves for another, whether that is seen already or not, and it is not so long ago that it
// should have gone: its room is as good as free.
[[nodiscard]] bool GivesWay(const cluster::Pod& pod, Duration cooldown, Time now);

// Disruption budgets, used up by one pod after the other.
class BudgetUse {
 public:
  explicit BudgetUse(const cluster::State& state) : state_(state) {}
  // One more pod goes: whether that is more than a budget allows.
  bool Violates(cluster::PodId pod);
  // Those go whom somebody has decided to evict, which no budget says yet.
  void CountAnnounced();

 private:
  const cluster::State& state_;
  std::map<const k8s::PodDisruptionBudget*, std::int64_t> used_;
};

}  // namespace knx::engine
