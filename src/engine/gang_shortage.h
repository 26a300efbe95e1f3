// What the object of a gang wants the cluster to have left in all before it starts (minResources),
// and whether it has. This speaks of sums: whether the pods themselves fit is for a plan to say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/state.h"

namespace knx::engine {

struct GangShortage {
  cluster::ResourceId resource;
  std::int64_t wanted = 0;
  std::int64_t free = 0;  // on all nodes that take pods
  std::int64_t own = 0;   // what members that have a place use already
};

// Of what there is too little as the state is now; nothing if the gang has started.
std::vector<GangShortage> FindShortages(const cluster::State& state, cluster::GangId gang);

// "needs 16 nvidia.com/gpu in all (minResources), 12 are free"
std::string Describe(const cluster::State& state, const std::vector<GangShortage>& shortages);

}  // namespace knx::engine
