// Places for a gang that has sub-groups: first for those that must start, each whole or not at all,
// then for whatever more fits beside them, further sub-groups before further members of those that
// are there.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cluster/state.h"
#include "engine/gang_planner.h"
#include "engine/sub_groups.h"

namespace knx::engine {

class SubGroupPlanner {
 public:
  SubGroupPlanner(cluster::State& state, GangPlanner& planner) : state_(state), planner_(planner) {}

  // Of these members as many as fit, if that gives the gang all that it needs; otherwise nobody,
  // and everything is taken back.
  GangPlan Plan(cluster::GangId gang, std::span<const cluster::PodId> ready);

  // Beside places that were found for all that the gang needs: whoever else fits.
  void FillUp(cluster::GangId gang, std::span<const cluster::PodId> ready, GangPlan& plan);

 private:
  using Order = std::vector<SubGroup*>;

  GangPlan Try(cluster::GangId gang, std::span<const cluster::PodId> ready, bool fewest_first);
  // So many sub-groups of the kind; those that found no room are taken off the list.
  void MakeWhole(Order& order, std::string_view kind, std::size_t count, GangPlan& plan);
  // All that it misses, or nothing.
  bool MakeWhole(SubGroup& group, GangPlan& plan);
  void FillUp(Order& order, SubGroups& groups, GangPlan& plan);

  cluster::State& state_;
  GangPlanner& planner_;
  std::vector<cluster::PodId> in_roles_;  // who is wanted for its role
};

// Whether the gang has all that it needs, as the state is.
bool HasAll(const cluster::State& state, const cluster::Gang& gang);

}  // namespace knx::engine
