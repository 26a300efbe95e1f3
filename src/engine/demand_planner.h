// Places for a gang that needs more than so many members: so many of each role, so many whole
// sub-groups, or both. Whoever finds no place is passed over for another who would do. First come
// those without whom it cannot start, then whatever more fits beside them, further sub-groups
// before further members of those that are there.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "cluster/state.h"
#include "engine/gang_domains.h"
#include "engine/gang_goal.h"
#include "engine/gang_planner.h"

namespace knx::engine {

// Whether who starts makes a difference to the gang, beside how many do.
bool IsChoosy(const cluster::Gang& gang);

class DemandPlanner {
 public:
  // The state must be the same again whenever it is asked.
  DemandPlanner(cluster::State& state, GangPlanner& planner, const Aspirants& who);

  // Of these members as many as fit, if that gives the gang all that it needs; otherwise nobody,
  // and everything is taken back.
  GangPlan Plan();

  // Whoever fits, for a gang that has all that it needs by a plan; adds them to it.
  void FillUp(GangPlan& plan);

  // Some who give the gang all that it needs and find places after `clear` has changed the state,
  // preferably those who find one before. None: there are no such. The state is as before when it
  // returns.
  std::vector<cluster::PodId> Choose(const std::function<void()>& clear);

 private:
  // In which order sub-groups are looked at, and whether further members of those that are whole
  // come before further sub-groups.
  struct Way {
    bool fewest_first = true;
    bool members_first = false;
  };

  void FindShapes();
  void Begin();
  void OrderParts(Way way);
  GangPlan Try(const std::vector<std::size_t>& order);
  std::vector<cluster::PodId> TryToChoose(Way way, const std::function<void()>& clear, bool stay);

  // Those without whom it cannot start: sub-groups of which so many must, and roles.
  void PlaceNeeded();
  // Others until they are enough; and without end.
  void PlaceEnough(bool members_first);
  void PlaceOthers();

  // All that the sub-group misses, or nothing; who is missed in a role first, if anybody is.
  bool MakeWhole(std::size_t part);
  // `for_roles`: only with somebody who is missed in a role.
  bool TryToMakeWhole(std::size_t part, bool for_roles);
  [[nodiscard]] bool IsWhole(std::size_t part) const { return goal_.parts()[part].missing() == 0; }
  // The gang cannot start without it, or another of its kind.
  [[nodiscard]] bool IsMissed(std::size_t part) const;
  // How many are in it that are missed in roles.
  [[nodiscard]] std::size_t UseForRoles(std::size_t part) const;
  [[nodiscard]] std::vector<std::size_t> MostForRolesFirst() const;
  // Of these those who are missed in roles, the smaller ones if there are more than that.
  void TakeForRoles(const std::vector<cluster::PodId>& from);
  void Take(const std::vector<cluster::PodId>& from, const std::function<bool()>& more);

  cluster::State& state_;
  GangPlanner& planner_;
  Aspirants who_;
  GangGoal at_first_;
  std::vector<cluster::PodId> loose_;                 // in no sub-group, the largest first
  std::vector<std::vector<cluster::PodId>> waiting_;  // by sub-group, likewise
  // By sub-group: those of one shape have members of the same kinds, and miss as many.
  std::vector<std::size_t> shapes_;
  std::vector<std::size_t> fewest_first_, most_first_;  // orders of those that could be whole

  // Of one attempt.
  GangGoal goal_;
  GangPlan plan_;
  std::vector<std::size_t> order_;  // of sub-groups that were not whole and could be
  // By shape, without regard to roles and for them: so many places had been found when one of it
  // found no room.
  std::vector<std::size_t> in_vain_at_;
};

}  // namespace knx::engine
