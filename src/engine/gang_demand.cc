#include "engine/gang_demand.h"

#include "engine/gang_book.h"
#include "engine/gang_roles.h"
#include "engine/sub_groups.h"

namespace knx::engine {

GangDemand DemandOf(const cluster::State& state, const GangBook& book, cluster::GangId id,
                    const WaitingGang& waiting) {
  const cluster::Gang& gang = state.gangs().Get(id);
  GangDemand demand;
  demand.needed = book.NeededBy(state, id);
  demand.to_come = book.StillToCome(state, id, waiting);
  demand.was_whole = gang.finished > 0;
  for (const auto& [role, missing] : MissingInRoles(state, gang)) {
    demand.roles.emplace(role, missing);
  }
  if (!HasSubGroups(gang)) return demand;
  for (const SubGroup& group : SubGroupsOf(state, gang).all) {
    demand.sub_groups.emplace(group.name, std::pair(group.minimum, group.placed));
  }
  return demand;
}

}  // namespace knx::engine
