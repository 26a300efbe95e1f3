#include "engine/gang_roles.h"

#include <algorithm>
#include <utility>

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
    if (!pod.node.valid() || pod.leaves()) continue;
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

std::vector<PodId> WantedByRoles(const State& state, const Gang& gang,
                                 std::span<const PodId> waiting) {
  std::vector<PodId> wanted;
  std::map<std::string_view, std::size_t> missing = MissingInRoles(state, gang);
  if (missing.empty()) return wanted;
  for (const PodId member : waiting) {
    const auto role = missing.find(RoleOf(state, member));
    if (role == missing.end() || role->second == 0) continue;
    --role->second;
    wanted.push_back(member);
  }
  return wanted;
}

std::vector<PodId> WantedInAll(const State& state, const Gang& gang, std::span<const PodId> waiting,
                               std::size_t needed) {
  std::vector<PodId> wanted = WantedByRoles(state, gang, waiting);
  const bool all = wanted.empty();
  for (const PodId member : waiting) {
    if (!all && wanted.size() >= needed) break;
    if (std::find(wanted.begin(), wanted.end(), member) == wanted.end()) wanted.push_back(member);
  }
  return wanted;
}

bool AreAlikeInRoles(const State& state, const Gang& gang, std::span<const PodId> waiting) {
  const std::map<std::string_view, std::size_t> missing = MissingInRoles(state, gang);
  using Kind = std::pair<cluster::ClassId, cluster::KinId>;
  std::map<std::string_view, Kind> kinds;
  return std::all_of(waiting.begin(), waiting.end(), [&](PodId member) {
    const std::string_view role = RoleOf(state, member);
    const Kind kind(state.pod(member).pod_class, state.pod(member).kin);
    return !missing.contains(role) || kinds.try_emplace(role, kind).first->second == kind;
  });
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
