#include "engine/gang_roles.h"

#include "engine/sub_groups.h"

namespace knx::engine {

using cluster::Gang;
using cluster::PodId;
using cluster::State;

std::string_view RoleOf(const State& state, PodId member) {
  return state.pod(member).gang->declared.role;
}

std::map<std::string_view, std::size_t> PlacedInRoles(const State& state, const Gang& gang) {
  std::map<std::string_view, std::size_t> placed;
  if (gang.roles.empty() || gang.finished > 0) return placed;
  for (const auto& [role, minimum] : gang.roles) placed[role] = 0;
  for (const PodId member : gang.members) {
    if (!state.pod(member).fills_gang()) continue;
    if (const auto role = placed.find(RoleOf(state, member)); role != placed.end()) ++role->second;
  }
  return placed;
}

std::map<std::string_view, std::size_t> MissingInRoles(const State& state, const Gang& gang) {
  std::map<std::string_view, std::size_t> missing;
  for (const auto& [role, placed] : PlacedInRoles(state, gang)) {
    const auto minimum = static_cast<std::size_t>(gang.roles.find(role)->second);
    if (placed < minimum) missing[role] = minimum - placed;
  }
  return missing;
}

std::map<std::string_view, std::size_t> MissingInRoles(const State& state, const Gang& gang,
                                                       std::span<const PodId> waiting) {
  std::map<std::string_view, std::size_t> missing = MissingInRoles(state, gang);
  if (missing.empty()) return missing;
  for (const PodId member : CouldStart(state, gang, waiting)) {
    const auto role = missing.find(RoleOf(state, member));
    if (role != missing.end() && --role->second == 0) missing.erase(role);
  }
  return missing;
}

}  // namespace knx::engine
