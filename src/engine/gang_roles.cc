#include "engine/gang_roles.h"

#include <algorithm>

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
    const cluster::Pod& pod = state.pod(member);
    if (!pod.node.valid() || pod.terminating) continue;
    if (const auto role = placed.find(RoleOf(state, member)); role != placed.end()) ++role->second;
  }
  return placed;
}

std::map<std::string_view, std::size_t> MissingInRoles(const State& state, const Gang& gang) {
  std::map<std::string_view, std::size_t> missing;
  for (const auto& [role, placed] : PlacedInRoles(state, gang)) {
    const auto minimum = static_cast<std::size_t>(gang.roles.find(std::string(role))->second);
    if (placed < minimum) missing[role] = minimum - placed;
  }
  return missing;
}

std::vector<PodId> WhoMustStart(const State& state, const Gang& gang,
                                std::span<const PodId> waiting, std::size_t needed) {
  std::map<std::string_view, std::size_t> missing = MissingInRoles(state, gang);
  if (missing.empty()) return {waiting.begin(), waiting.end()};
  std::vector<PodId> must, others;
  for (const PodId member : waiting) {
    const auto role = missing.find(RoleOf(state, member));
    const bool wanted = role != missing.end() && role->second > 0;
    if (wanted) --role->second;
    (wanted ? must : others).push_back(member);
  }
  const std::size_t more = needed - std::min(needed, must.size());
  must.insert(must.end(), others.begin(),
              others.begin() + static_cast<std::ptrdiff_t>(std::min(more, others.size())));
  return must;
}

bool FillRoles(const State& state, const Gang& gang, std::span<const PodId> waiting) {
  std::map<std::string_view, std::size_t> missing = MissingInRoles(state, gang);
  if (missing.empty()) return true;
  for (const PodId member : waiting) {
    const auto role = missing.find(RoleOf(state, member));
    if (role != missing.end() && --role->second == 0) missing.erase(role);
  }
  return missing.empty();
}

}  // namespace knx::engine
