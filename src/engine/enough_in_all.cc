#include "engine/enough_in_all.h"

#include <fmt/format.h>

#include <utility>

namespace knx::engine {

using cluster::PodId;

GangPlan PlanWithEnough(cluster::State& state, GangAsking asking,
                        const std::function<GangPlan()>& plan) {
  // By what is left before the plan takes of it.
  std::vector<GangShortage> shortages = FindShortages(state, asking.gang);
  if (shortages.empty()) return plan();
  const auto mark = state.Mark();
  GangPlan planned = plan();
  state.Rollback(mark);
  if (planned.places.empty()) return planned;
  GangPlan refused;
  refused.fitting = planned.places.size();
  refused.refusal.attempt.rejected_by.Add(asking.plugin);
  refused.answer = GangAnswer::kImpossible;
  refused.shortages = std::move(shortages);
  return refused;
}

void SpareThoseInVain(cluster::State& state, GangAsking asking, GangPlan& plan, GangRoom& room) {
  if (room.victims.empty()) return;
  const auto mark = state.Mark();
  for (const PodId victim : room.victims) state.Displace(victim);
  const std::vector<GangShortage> shortages = FindShortages(state, asking.gang);
  state.Rollback(mark);
  if (shortages.empty()) return;
  room = {};
  plan.refusal.attempt.rejected_by.Add(asking.plugin);
  plan.refusal.message +=
      fmt::format(" Nobody is evicted for it: even then it {}.", Describe(state, shortages));
}

}  // namespace knx::engine
