#include "engine/broken_gangs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

#include "engine/gang_roles.h"

namespace knx::engine {

using cluster::GangId;
using cluster::PodId;

namespace {

// Whether a role has enough of its members now and would not have then.
bool LosesRole(const cluster::State& state, GangId id, std::span<const PodId> leaving) {
  const cluster::Gang& gang = state.gangs().Get(id);
  if (gang.roles.empty() || !MissingInRoles(state, gang).empty()) return false;
  std::map<std::string_view, std::size_t> left = PlacedInRoles(state, gang);
  for (const PodId pod : leaving) {
    const bool counts = !state.pod(pod).terminating && state.gang_of(pod) == id;
    const auto role = counts ? left.find(RoleOf(state, pod)) : left.end();
    if (role != left.end()) --role->second;
  }
  return std::any_of(left.begin(), left.end(), [&](const auto& entry) {
    return entry.second < static_cast<std::size_t>(gang.roles.find(entry.first)->second);
  });
}

}  // namespace

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
    const bool too_few = there >= minimum && there - pods < minimum;
    if (too_few || LosesRole(state, id, leaving)) broken.push_back(id);
  }
  return broken;
}

}  // namespace knx::engine
