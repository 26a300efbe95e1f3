// Gangs whose object wants something to be left in the cluster in all (gang_shortage.h): what that
// does to their plans, and to those who would be evicted for them.
#pragma once

#include <cstdint>
#include <functional>

#include "cluster/state.h"
#include "engine/gang_planner.h"
#include "engine/gang_preemption.h"

namespace knx::engine {

struct GangAsking {
  cluster::GangId gang;
  std::uint8_t plugin = 0;  // of who stands for it: is asked whether something helps the gang
};

// A plan without places if too little is left. It is planned all the same: a gang whose members
// find no place says that, and may make room.
GangPlan PlanWithEnough(cluster::State& state, GangAsking asking,
                        const std::function<GangPlan()>& plan);

// Nobody goes for a gang that would not start even so.
void SpareThoseInVain(cluster::State& state, GangAsking asking, GangPlan& plan, GangRoom& room);

}  // namespace knx::engine
