#include "engine/demand_planner.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "engine/sub_groups.h"

namespace knx::engine {

using cluster::PodId;

bool IsChoosy(const cluster::Gang& gang) { return !gang.roles.empty() || HasSubGroups(gang); }

DemandPlanner::DemandPlanner(cluster::State& state, GangPlanner& planner, const Aspirants& who)
    : state_(state),
      planner_(planner),
      who_(who),
      at_first_(state, state.gangs().Get(who.gang), who.ready, who.needed),
      waiting_(at_first_.parts().size()),
      goal_(at_first_) {
  for (const PodId pod : planner_.LargestFirst(who.ready)) {
    const std::size_t part = at_first_.Of(pod).part;
    (part == GangGoal::kNone ? loose_ : waiting_[part]).push_back(pod);
  }
  FindShapes();
  for (const bool fewest_first : {false, true}) {
    OrderParts({.fewest_first = fewest_first});
    (fewest_first ? fewest_first_ : most_first_) = order_;
  }
}

void DemandPlanner::FindShapes() {
  using Kind = std::pair<GangPlanner::Kind, std::size_t>;
  std::map<std::pair<std::size_t, std::vector<Kind>>, std::size_t> known;
  for (std::size_t part = 0; part < waiting_.size(); ++part) {
    std::vector<Kind> kinds;
    for (const PodId pod : waiting_[part]) {
      kinds.emplace_back(planner_.KindOf(pod), at_first_.Of(pod).role);
    }
    const std::pair shape(at_first_.parts()[part].missing(), std::move(kinds));
    shapes_.push_back(known.try_emplace(shape, known.size()).first->second);
  }
}

// The small ones first gives most of them places; where it needs a large one, that has to be placed
// while there is room.
GangPlan DemandPlanner::Plan() {
  GangPlan plan = Try(fewest_first_);
  const bool no_other_way = fewest_first_ == most_first_;
  if (!plan.places.empty() || plan.refusal.attempt.error || no_other_way) return plan;
  GangPlan other = Try(most_first_);
  return other.places.empty() && other.fitting <= plan.fitting ? plan : other;
}

void DemandPlanner::Begin() {
  goal_ = at_first_;
  plan_ = {};
  in_vain_at_.assign(2 * shapes_.size(), GangGoal::kNone);
}

void DemandPlanner::OrderParts(Way way) {
  order_.clear();
  const std::span<const GangGoal::Part> parts = goal_.parts();
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const std::size_t missing = parts[part].missing();
    if (missing > 0 && missing <= waiting_[part].size()) order_.push_back(part);
  }
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    // What has begun comes first in any case.
    if ((parts[a].placed > 0) != (parts[b].placed > 0)) return parts[a].placed > 0;
    const std::size_t of_a = parts[a].missing(), of_b = parts[b].missing();
    return way.fewest_first ? of_a < of_b : of_a > of_b;
  });
}

GangPlan DemandPlanner::Try(const std::vector<std::size_t>& order) {
  Begin();
  order_ = order;
  const auto mark = state_.Mark();
  PlaceNeeded();
  PlaceOthers();
  if (goal_.reached() && !plan_.places.empty()) {
    state_.Commit(mark);
    plan_.answer = GangAnswer::kPlaced;
    return std::move(plan_);
  }
  state_.Rollback(mark);
  plan_.blocked_kinds.AddThoseInTheWay(state_, who_.ready);
  plan_.fitting = plan_.places.size();
  plan_.places.clear();
  if (!plan_.blocked.valid()) {
    plan_.blocked = who_.ready.front();
    plan_.refusal.message = "too few of a role are in sub-groups that can start.";
  }
  return std::move(plan_);
}

// ---- in steps ----

void DemandPlanner::PlaceNeeded() {
  if (goal_.misses_roles()) {
    for (const std::size_t part : MostForRolesFirst()) {
      if (IsMissed(part) && UseForRoles(part) > 0) TryToMakeWhole(part, true);
    }
  }
  for (const std::size_t part : order_) {
    if (IsMissed(part)) MakeWhole(part);
  }
  if (!goal_.misses_roles()) return;
  TakeForRoles(loose_);
  for (std::size_t part = 0; part < waiting_.size(); ++part) {
    if (IsWhole(part)) TakeForRoles(waiting_[part]);
  }
  for (const std::size_t part : MostForRolesFirst()) {
    if (UseForRoles(part) > 0) TryToMakeWhole(part, true);
  }
}

void DemandPlanner::PlaceEnough(bool members_first) {
  const auto more = [this] { return goal_.left() > 0; };
  const auto further_members = [&] {
    for (std::size_t part = 0; more() && part < waiting_.size(); ++part) {
      if (IsWhole(part)) Take(waiting_[part], more);
    }
  };
  Take(loose_, more);
  if (members_first) further_members();
  for (const std::size_t part : order_) {
    if (!more()) return;
    MakeWhole(part);
  }
  further_members();
}

void DemandPlanner::PlaceOthers() {
  const auto more = [] { return true; };
  Take(loose_, more);
  for (const std::size_t part : order_) MakeWhole(part);
  for (std::size_t part = 0; part < waiting_.size(); ++part) {
    if (IsWhole(part)) Take(waiting_[part], more);
  }
}

bool DemandPlanner::IsMissed(std::size_t part) const {
  return !IsWhole(part) && goal_.MissingOfKind(goal_.parts()[part].kind) > 0;
}

std::size_t DemandPlanner::UseForRoles(std::size_t part) const {
  if (IsWhole(part) || !goal_.misses_roles()) return 0;
  std::map<std::size_t, std::size_t> of_role;
  std::size_t use = 0;
  for (const PodId pod : waiting_[part]) {
    const std::size_t role = goal_.Of(pod).role;
    if (role != GangGoal::kNone && of_role[role]++ < goal_.MissingInRole(role)) ++use;
  }
  return use;
}

std::vector<std::size_t> DemandPlanner::MostForRolesFirst() const {
  std::vector<std::pair<std::size_t, std::size_t>> by_use;
  for (const std::size_t part : order_) by_use.emplace_back(UseForRoles(part), part);
  std::stable_sort(by_use.begin(), by_use.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::size_t> order;
  for (const auto& [use, part] : by_use) {
    if (use > 0) order.push_back(part);
  }
  return order;
}

// Who is wanted for its role may be the one that keeps the others from fitting.
bool DemandPlanner::MakeWhole(std::size_t part) {
  if (IsWhole(part)) return true;
  return (UseForRoles(part) > 0 && TryToMakeWhole(part, true)) || TryToMakeWhole(part, false);
}

bool DemandPlanner::TryToMakeWhole(std::size_t part, bool for_roles) {
  const std::size_t before = plan_.places.size();
  // Where one of a shape finds no room, the next finds none either, unless somebody has come since
  // whom it wants to be near.
  std::size_t& in_vain_at = in_vain_at_[2 * shapes_[part] + (for_roles ? 1 : 0)];
  if (in_vain_at == before) return false;
  const auto mark = state_.Mark();
  if (for_roles) TakeForRoles(waiting_[part]);
  const bool helps = !for_roles || plan_.places.size() > before;
  if (helps) Take(waiting_[part], [&] { return !IsWhole(part); });
  if (!helps || !IsWhole(part)) {
    state_.Rollback(mark);
    plan_.places.resize(before);
    goal_.Follow(plan_.places);
    in_vain_at = before;
    return false;
  }
  state_.Commit(mark);
  ++plan_.sub_groups;
  return true;
}

void DemandPlanner::TakeForRoles(const std::vector<PodId>& from) {
  std::vector<PodId> smallest;
  std::map<std::size_t, std::size_t> waiting;  // by role
  for (const PodId pod : from) {
    if (state_.pod(pod).node.valid() || !goal_.Wants(pod)) continue;
    smallest.push_back(pod);
    ++waiting[goal_.Of(pod).role];
  }
  if (smallest.empty()) return;
  std::vector<PodId> others;
  const bool choice = std::any_of(waiting.begin(), waiting.end(), [this](const auto& role) {
    return role.second > goal_.MissingInRole(role.first);
  });
  if (choice) {
    std::vector<PodId> first;
    std::map<std::size_t, std::size_t> taken;
    for (const PodId pod : planner_.SmallestFirst(smallest)) {
      const std::size_t role = goal_.Of(pod).role;
      (taken[role]++ < goal_.MissingInRole(role) ? first : others).push_back(pod);
    }
    smallest = planner_.LargestFirst(first);
  }
  for (std::vector<PodId>* const pods : {&smallest, &others}) {
    planner_.Fill(*pods, plan_, [this](PodId pod) {
      goal_.Follow(plan_.places);
      return goal_.Wants(pod);
    });
    goal_.Follow(plan_.places);
  }
}

void DemandPlanner::Take(const std::vector<PodId>& from, const std::function<bool()>& more) {
  std::vector<PodId> without;
  for (const PodId pod : from) {
    if (!state_.pod(pod).node.valid()) without.push_back(pod);
  }
  planner_.Fill(without, plan_, [&](PodId) {
    goal_.Follow(plan_.places);
    return more();
  });
  goal_.Follow(plan_.places);
}

// ---- beside a plan, and before one ----

void DemandPlanner::FillUp(GangPlan& plan) {
  Begin();
  order_ = fewest_first_;
  PlaceOthers();
  plan.places.insert(plan.places.end(), plan_.places.begin(), plan_.places.end());
}

std::vector<PodId> DemandPlanner::Choose(const std::function<void()>& clear) {
  constexpr Way kWays[] = {{.fewest_first = true, .members_first = true},
                           {.fewest_first = true, .members_first = false},
                           {.fewest_first = false, .members_first = false}};
  for (const Way way : kWays) {
    std::vector<PodId> chosen = TryToChoose(way, clear, false);
    if (chosen.empty()) continue;
    std::vector<PodId> staying = TryToChoose(way, clear, true);
    return staying.empty() ? chosen : staying;
  }
  return {};
}

std::vector<PodId> DemandPlanner::TryToChoose(Way way, const std::function<void()>& clear,
                                              bool stay) {
  Begin();
  const auto mark = state_.Mark();
  for (const bool cleared : {false, true}) {
    if (cleared) {
      clear();
      in_vain_at_.assign(2 * shapes_.size(), GangGoal::kNone);
    }
    if (!cleared && !stay) continue;
    OrderParts(way);
    PlaceNeeded();
    PlaceEnough(way.members_first);
  }
  state_.Rollback(mark);
  std::vector<PodId> chosen;
  if (!goal_.reached()) return chosen;
  for (const auto& [pod, row] : plan_.places) chosen.push_back(pod);
  return chosen;
}

}  // namespace knx::engine
