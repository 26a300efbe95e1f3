#include "engine/sub_group_spares.h"

#include <algorithm>

#include "engine/gang_roles.h"

namespace knx::engine {

using cluster::PodId;

SubGroupSpares::SubGroupSpares(const cluster::State& state, const cluster::Gang& gang,
                               std::span<const PodId> placed, const SubGroups& groups)
    : state_(state) {
  above_ = static_cast<std::int64_t>(placed.size()) + std::int64_t{gang.finished} - gang.minimum;
  if (gang.finished == 0) {
    for (const auto& [role, minimum] : gang.roles) in_roles_[role] = -std::int64_t{minimum};
  }
  for (const PodId member : placed) Count(RoleOf(state_, member), +1);
  const bool lacks_some = std::any_of(in_roles_.begin(), in_roles_.end(),
                                      [](const auto& role) { return role.second < 0; });
  if (lacks_some) above_ = -1;
  for (const auto& [kind, minimum] : MinSubGroups(gang)) whole_[kind] = -std::int64_t{minimum};
  for (const SubGroup& group : groups.all) {
    groups_[group.name] = &group;
    if (const auto kind = whole_.find(group.kind); kind != whole_.end() && group.whole()) {
      ++kind->second;
    }
  }
}

bool SubGroupSpares::Take(std::string_view name, std::span<const PodId> members) {
  const auto group = groups_.find(name);
  if (group == groups_.end() || above_ < static_cast<std::int64_t>(members.size())) return false;
  const auto kind = whole_.find(group->second->kind);
  const bool counts = kind != whole_.end() && group->second->whole();
  if (counts && kind->second == 0) return false;
  for (const PodId member : members) Count(RoleOf(state_, member), -1);
  const bool keeps_roles = std::all_of(members.begin(), members.end(), [this](PodId member) {
    const auto role = in_roles_.find(RoleOf(state_, member));
    return role == in_roles_.end() || role->second >= 0;
  });
  if (!keeps_roles) {
    for (const PodId member : members) Count(RoleOf(state_, member), +1);
    return false;
  }
  if (counts) --kind->second;
  above_ -= static_cast<std::int64_t>(members.size());
  return true;
}

void SubGroupSpares::Count(std::string_view role, std::int64_t members) {
  const auto known = in_roles_.find(role);
  if (known != in_roles_.end()) known->second += members;
}

}  // namespace knx::engine
