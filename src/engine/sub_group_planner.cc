#include "engine/sub_group_planner.h"

#include <algorithm>
#include <limits>

#include "engine/gang_roles.h"

namespace knx::engine {

using cluster::GangId;
using cluster::PodId;

namespace {

constexpr std::size_t kEverybody = std::numeric_limits<std::size_t>::max();

}  // namespace

bool HasAll(const cluster::State& state, const cluster::Gang& gang) {
  return gang.placed + gang.finished >= static_cast<std::uint32_t>(gang.minimum) &&
         MissingInRoles(state, gang).empty() &&
         MissingSubGroups(gang, SubGroupsOf(state, gang)) == 0;
}

// The small ones first gives most of them places; where it needs a large one, that has to be placed
// while there is room.
GangPlan SubGroupPlanner::Plan(GangId gang, std::span<const PodId> ready) {
  GangPlan plan = Try(gang, ready, true);
  if (!plan.places.empty() || plan.refusal.attempt.error) return plan;
  GangPlan other = Try(gang, ready, false);
  return other.places.empty() && other.fitting <= plan.fitting ? plan : other;
}

GangPlan SubGroupPlanner::Try(GangId id, std::span<const PodId> ready, bool fewest_first) {
  const cluster::Gang& gang = state_.gangs().Get(id);
  in_roles_ = WantedByRoles(state_, gang, ready);
  SubGroups groups = SubGroupsOf(state_, gang, ready);
  Order order;
  for (SubGroup& group : groups.all) {
    if (!group.whole() && group.can_be_whole()) order.push_back(&group);
  }
  std::stable_sort(order.begin(), order.end(), [&](const SubGroup* a, const SubGroup* b) {
    // What has begun comes first in any case.
    if ((a->placed > 0) != (b->placed > 0)) return a->placed > 0;
    return fewest_first ? a->missing() < b->missing() : a->missing() > b->missing();
  });
  GangPlan plan;
  const auto mark = state_.Mark();
  for (const auto& [kind, count] : MinSubGroups(gang)) {
    MakeWhole(order, kind, MissingOf(kind, count, groups), plan);
  }
  planner_.Fill(groups.loose, plan, kEverybody);
  FillUp(order, groups, plan);
  if (HasAll(state_, gang) && !plan.places.empty()) {
    state_.Commit(mark);
    plan.answer = GangAnswer::kPlaced;
    return plan;
  }
  state_.Rollback(mark);
  plan.fitting = plan.places.size();
  plan.places.clear();
  if (!plan.blocked.valid()) {
    plan.blocked = ready.front();
    plan.refusal.message = "too few of a role are in sub-groups that can start.";
  }
  return plan;
}

void SubGroupPlanner::MakeWhole(Order& order, std::string_view kind, std::size_t count,
                                GangPlan& plan) {
  std::erase_if(order, [&](SubGroup* group) {
    if (count == 0 || group->kind != kind) return false;
    if (MakeWhole(*group, plan)) --count;
    return true;
  });
}

bool SubGroupPlanner::MakeWhole(SubGroup& group, GangPlan& plan) {
  const auto mark = state_.Mark();
  const std::size_t before = plan.places.size(), enough = before + group.missing();
  std::vector<PodId> without = planner_.LargestFirst(group.waiting);
  std::stable_partition(without.begin(), without.end(), [this](PodId member) {
    return std::find(in_roles_.begin(), in_roles_.end(), member) != in_roles_.end();
  });
  planner_.Fill(without, plan, enough);
  if (plan.places.size() < enough) {
    state_.Rollback(mark);
    plan.places.resize(before);
    return false;
  }
  state_.Commit(mark);
  group.placed += enough - before;
  ++plan.sub_groups;
  group.waiting = std::move(without);
  return true;
}

void SubGroupPlanner::FillUp(Order& order, SubGroups& groups, GangPlan& plan) {
  for (SubGroup* const group : order) MakeWhole(*group, plan);
  for (SubGroup& group : groups.all) {
    if (!group.whole() || group.waiting.empty()) continue;
    group.waiting = planner_.LargestFirst(group.waiting);
    planner_.Fill(group.waiting, plan, kEverybody);
  }
}

void SubGroupPlanner::FillUp(GangId gang, std::span<const PodId> ready, GangPlan& plan) {
  std::vector<PodId> left(ready.begin(), ready.end());
  std::erase_if(left, [this](PodId pod) { return state_.pod(pod).node.valid(); });
  SubGroups groups = SubGroupsOf(state_, state_.gangs().Get(gang), left);
  Order order;
  for (SubGroup& group : groups.all) {
    if (!group.whole() && group.can_be_whole()) order.push_back(&group);
  }
  planner_.Fill(groups.loose, plan, kEverybody);
  FillUp(order, groups, plan);
}

}  // namespace knx::engine
