// A gang that is decided about.
#pragma once

#include <functional>

#include "cluster/state.h"
#include "engine/gang_planner.h"
#include "engine/reservation_book.h"

namespace knx::engine {

struct GangTurn {
  cluster::PodId pod;  // that stands for it
  cluster::GangId gang;
  bool in_parts = false;                   // it starts without those that are to come
  const Reservation* executors = nullptr;  // whose places are kept with it; nullptr: nobody's
  std::function<GangPlan(GangPlanner&)> plan;
};

}  // namespace knx::engine
