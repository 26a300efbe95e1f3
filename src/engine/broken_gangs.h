// Which gangs would have too few members left if some of them went.
#pragma once

#include <span>
#include <vector>

#include "cluster/state.h"

namespace knx::engine {

// These pods, each of which has a place, and what they leave of sub-groups that are whole now.
std::vector<cluster::PodId> WithTheirSubGroups(const cluster::State& state,
                                               std::span<const cluster::PodId> leaving);
// Those that have their minimum now and would not without these pods, each of which has a place.
std::vector<cluster::GangId> GangsBrokenBy(const cluster::State& state,
                                           std::span<const cluster::PodId> leaving);

}  // namespace knx::engine
