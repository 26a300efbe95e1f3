#include "engine/broken_gangs.h"

#include <cstdint>
#include <map>

namespace knx::engine {

using cluster::GangId;
using cluster::PodId;

std::vector<GangId> GangsBrokenBy(const cluster::State& state, std::span<const PodId> leaving) {
  std::map<GangId, std::uint32_t> lost;
  for (const PodId pod : leaving) {
    const GangId gang = state.gang_of(pod);
    // Who is about to go anyhow is not counted as placed.
    if (gang.valid() && !state.pod(pod).terminating) ++lost[gang];
  }
  std::vector<GangId> broken;
  for (const auto& [id, pods] : lost) {
    const cluster::Gang& gang = state.gangs().Get(id);
    const std::uint32_t there = gang.placed + gang.finished;
    const auto minimum = static_cast<std::uint32_t>(gang.minimum);
    if (there >= minimum && there - pods < minimum) broken.push_back(id);
  }
  return broken;
}

}  // namespace knx::engine
