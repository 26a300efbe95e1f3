#include "engine/gang_preemption.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "cluster/reservation_hold.h"
#include "engine/broken_gangs.h"
#include "engine/gang_roles.h"
#include "engine/importance.h"
#include "engine/sub_groups.h"

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

GangRoom GangPreemptor::Find(GangId gang, std::span<const PodId> members, std::size_t needed) {
  members_ = planner_.LargestFirst(members);
  needed_ = needed;
  priority_ = INT32_MAX;
  for (const PodId member : members_) {
    if (cluster::IsHold(state_.pod(member))) continue;  // stands for one to come
    if (state_.class_of(member).spec.preemption_policy == k8s::PreemptionPolicy::kNever) return {};
    priority_ = std::min(priority_, state_.pod(member).priority);
  }
  ListUnits(gang);
  if (units_.empty() && leaving_.empty()) return {};
  // Members that need nobody's end should not cause one; only if that leaves no way may they move.
  for (const bool stay : {true, false}) {
    if (const std::optional<std::size_t> count = FewestUnits(stay)) return Settle(*count, stay);
  }
  return {};
}

// ---- who could go ----

bool GangPreemptor::MayGo(PodId pod, GangId gang) const {
  const cluster::Pod& record = state_.pod(pod);
  return record.priority < priority_ && record.priority < kSystemCritical && !record.leaves() &&
         state_.gang_of(pod) != gang && !IsToStay(state_, pod) &&
         (priority_ >= kSystemCritical || !outside_.spared(pod));
}

void GangPreemptor::ListUnits(GangId gang) {
  units_.clear();
  leaving_.clear();
  std::vector<GangId> gangs;
  state_.nodes().present().ForEach([&](std::uint32_t row) {
    if (!outside_.may_use(NodeRow{row})) return;
    for (const PodId pod : state_.nodes().pods(NodeRow{row})) {
      if (state_.pod(pod).leaves() && outside_.gives_way(pod)) leaving_.push_back(pod);
      if (!MayGo(pod, gang)) continue;
      const GangId of = TiedTo(state_, pod);
      if (of.valid()) {
        gangs.push_back(of);
      } else {
        AddUnit(std::span(&pod, 1), {}, false);
      }
    }
  });
  std::sort(gangs.begin(), gangs.end());
  gangs.erase(std::unique(gangs.begin(), gangs.end()), gangs.end());
  for (const GangId of : gangs) ListUnitsOf(of);
  SortUnits();
}

namespace {

// How many members a gang has beyond its minimum.
std::int64_t Above(const cluster::Gang& gang) {
  return std::int64_t{gang.placed} + std::int64_t{gang.finished} - std::int64_t{gang.minimum};
}

}  // namespace

// Who may go and is not needed, neither for the minimum nor in its role; in the order of those who
// have a place.
std::vector<PodId> GangPreemptor::SurplusOf(const cluster::Gang& gang,
                                            std::span<const PodId> placed) const {
  std::vector<PodId> surplus;
  if (MustGoWhole(gang)) return surplus;
  std::map<std::string_view, std::size_t> left = PlacedInRoles(state_, gang);
  std::map<std::string_view, std::size_t> above;
  for (const SubGroup& group : SubGroupsOf(state_, gang).all) {
    above[group.name] = group.whole() ? group.placed - group.minimum : 0;
  }
  for (const PodId member : placed) {
    if (static_cast<std::int64_t>(surplus.size()) >= Above(gang)) break;
    if (!MayGo(member, {})) continue;
    const auto group = above.find(SubGroupOf(state_, member));
    if (group != above.end() && group->second == 0) continue;
    if (const auto role = left.find(RoleOf(state_, member)); role != left.end()) {
      const std::int32_t minimum = gang.roles.find(role->first)->second;
      if (role->second <= static_cast<std::size_t>(minimum)) continue;
      --role->second;
    }
    if (group != above.end()) --group->second;
    surplus.push_back(member);
  }
  return surplus;
}

// Members above the minimum one by one, the least important first, and then all others at once.
void GangPreemptor::ListUnitsOf(GangId id) {
  const cluster::Gang& gang = state_.gangs().Get(id);
  std::vector<PodId> placed;
  for (const PodId member : gang.members) {
    const cluster::Pod& pod = state_.pod(member);
    if (pod.node.valid() && !pod.leaves()) placed.push_back(member);
  }
  std::sort(placed.begin(), placed.end(),
            [this](PodId a, PodId b) { return MoreImportant(state_, b, a); });
  ListSurplus(id, placed);
  if (HasSubGroups(gang) && !MustGoWhole(gang)) ListSubGroups(id, placed);
  const bool may_go =
      std::all_of(placed.begin(), placed.end(), [this](PodId pod) { return MayGo(pod, {}); });
  if (!placed.empty() && may_go) AddUnit(placed, id, MustGoWhole(gang) || Above(gang) >= 0);
}

void GangPreemptor::ListSurplus(GangId id, std::vector<PodId>& placed) {
  const std::vector<PodId> surplus = SurplusOf(state_.gangs().Get(id), placed);
  for (const PodId member : surplus) {
    AddUnit(std::span(&member, 1), id, false).sub_group = SubGroupOf(state_, member);
  }
  std::erase_if(placed, [&](PodId member) {
    return std::find(surplus.begin(), surplus.end(), member) != surplus.end();
  });
}

// Those whose least important member matters least first, as long as enough stay whole.
void GangPreemptor::ListSubGroups(GangId id, std::vector<PodId>& placed) {
  const cluster::Gang& gang = state_.gangs().Get(id);
  SubGroups groups = SubGroupsOf(state_, gang);
  // Members above the minimum of their sub-groups go first, and are off the list.
  std::int64_t above =
      static_cast<std::int64_t>(placed.size()) + std::int64_t{gang.finished} - gang.minimum;
  const std::vector<PodId> order = placed;
  for (const PodId first : order) {
    const std::string_view name = SubGroupOf(state_, first);
    const auto is_it = [&](const SubGroup& one) { return one.name == name; };
    const auto group = std::find_if(groups.all.begin(), groups.all.end(), is_it);
    if (group == groups.all.end() || group->placed == 0) continue;
    std::vector<PodId> members;
    for (const PodId member : placed) {
      if (SubGroupOf(state_, member) == name) members.push_back(member);
    }
    const std::size_t kept = std::exchange(group->placed, 0);
    const auto may_go = [this](PodId pod) { return MayGo(pod, {}); };
    const bool spare = above >= static_cast<std::int64_t>(members.size()) &&
                       MissingSubGroups(gang, groups) == 0 && KeepsRoles(gang, placed, name) &&
                       std::all_of(members.begin(), members.end(), may_go);
    if (!spare) {
      group->placed = kept;
      continue;
    }
    Unit& unit = AddUnit(members, id, false);
    unit.sub_group = name;
    unit.drains = true;
    above -= static_cast<std::int64_t>(members.size());
    std::erase_if(placed, [&](PodId member) { return SubGroupOf(state_, member) == name; });
  }
}

bool GangPreemptor::KeepsRoles(const cluster::Gang& gang, std::span<const PodId> placed,
                               std::string_view without) const {
  if (gang.roles.empty() || gang.finished > 0) return true;
  std::map<std::string_view, std::int32_t> left;
  for (const PodId member : placed) {
    if (SubGroupOf(state_, member) != without) ++left[RoleOf(state_, member)];
  }
  return std::all_of(gang.roles.begin(), gang.roles.end(), [&](const auto& role) {
    const auto found = left.find(role.first);
    return found != left.end() && found->second >= role.second;
  });
}

GangPreemptor::Unit& GangPreemptor::AddUnit(std::span<const PodId> pods, GangId gang, bool breaks) {
  Unit& unit = units_.emplace_back();
  unit.gang = gang;
  unit.breaks = breaks;
  for (const PodId pod : pods) {
    const cluster::Pod& record = state_.pod(pod);
    unit.pods.emplace_back(pod, record.node);
    unit.priority = std::max(unit.priority, record.priority);
    unit.start = std::min(unit.start, StartOf(record));
    unit.fills = unit.fills && (FillsGaps(state_, pod) || outside_.borrows(pod));
  }
  return unit;
}

void GangPreemptor::SortUnits() {
  std::sort(units_.begin(), units_.end(), [this](const Unit& a, const Unit& b) {
    if (a.breaks != b.breaks) return b.breaks;
    if (a.priority != b.priority) return a.priority < b.priority;
    // Of a sub-group single members go first.
    if (a.drains != b.drains) return b.drains;
    if (a.fills != b.fills) return a.fills;
    if (a.start != b.start) return a.start > b.start;
    const auto [pod_a, row_a] = a.pods.front();
    const auto [pod_b, row_b] = b.pods.front();
    if (row_a != row_b) return state_.nodes().rank(row_a) < state_.nodes().rank(row_b);
    return MoreImportant(state_, pod_b, pod_a);
  });
  BudgetUse budgets(state_);
  std::vector<GangId> violated;
  for (Unit& unit : units_) {
    for (const auto& [pod, row] : unit.pods) unit.violates |= budgets.Violates(pod);
    // What a gang has above its minimum goes before the rest of it, always.
    const bool known = std::find(violated.begin(), violated.end(), unit.gang) != violated.end();
    unit.violates |= unit.gang.valid() && known;
    if (unit.violates && unit.gang.valid()) violated.push_back(unit.gang);
  }
  std::stable_partition(units_.begin(), units_.end(),
                        [](const Unit& unit) { return !unit.violates; });
}

// ---- how many ----

GangPlan GangPreemptor::PlanWithout(std::size_t count, bool stay) {
  GangPlan plan;
  std::vector<PodId> without = members_;
  if (stay) planner_.Fill(without, plan, needed_);
  for (const PodId pod : leaving_) state_.Displace(pod);
  for (const Unit& unit : std::span(units_).first(count)) {
    for (const auto& [pod, row] : unit.pods) state_.Displace(pod);
  }
  planner_.Fill(without, plan, needed_);
  return plan;
}

std::optional<std::size_t> GangPreemptor::FewestUnits(bool stay) {
  const auto enough = [&](std::size_t count) {
    const auto mark = state_.Mark();
    const bool fits = PlanWithout(count, stay).places.size() >= needed_;
    state_.Rollback(mark);
    return fits;
  };
  // Without anybody gone it does not fit, as is known.
  std::size_t least = leaving_.empty() ? 1 : 0, most = units_.size();
  if (!enough(most)) return std::nullopt;
  while (least < most) {
    const std::size_t middle = least + (most - least) / 2;
    if (enough(middle)) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  return least;
}

// ---- who can stay ----

GangRoom GangPreemptor::Settle(std::size_t count, bool stay) {
  const auto mark = state_.Mark();
  GangRoom room;
  room.places = PlanWithout(count, stay).places;
  const auto planned = state_.Mark();
  std::vector<const Unit*> gone = Spare(room.places, count, false);
  if (!KeepTheirPlaces(room.places, nullptr)) {
    state_.Rollback(planned);
    gone = Spare(room.places, count, true);
  } else {
    state_.Commit(planned);
  }
  state_.Rollback(mark);
  for (const Unit* unit : gone) {
    for (const auto& [pod, row] : unit->pods) {
      KNX_CHECK(state_.pod(pod).priority < priority_, "a pod goes that is no less important");
      room.victims.push_back(pod);
    }
  }
  std::sort(room.victims.begin(), room.victims.end(),
            [this](PodId a, PodId b) { return MoreImportant(state_, a, b); });
  return room;
}

std::vector<const GangPreemptor::Unit*> GangPreemptor::Spare(Places places, std::size_t count,
                                                             bool thorough) {
  std::vector<const Unit*> gone;
  std::vector<GangId> broken;
  std::vector<std::pair<GangId, std::string_view>> drained;
  // The greatest harm is spared first.
  for (std::size_t i = count; i-- > 0;) {
    const Unit& unit = units_[i];
    const std::pair part(unit.gang, unit.sub_group);
    const bool goes_along =
        unit.gang.valid() && (std::find(broken.begin(), broken.end(), unit.gang) != broken.end() ||
                              std::find(drained.begin(), drained.end(), part) != drained.end());
    if (!goes_along) {
      for (const auto& [pod, row] : unit.pods) state_.Assume(pod, row);
      if (KeepTheirPlaces(places, thorough ? nullptr : &unit)) continue;
      for (const auto& [pod, row] : unit.pods) state_.Displace(pod);
    }
    gone.push_back(&unit);
    if (unit.breaks) broken.push_back(unit.gang);
    if (unit.drains) drained.push_back(part);
  }
  return gone;
}

bool GangPreemptor::KeepTheirPlaces(Places places, const Unit* beside) {
  return std::all_of(places.begin(), places.end(), [&](const auto& place) {
    const PodId member = place.first;
    const NodeRow row = place.second;
    const auto is_there = [row](const auto& pod) { return pod.second == row; };
    if (beside != nullptr && std::none_of(beside->pods.begin(), beside->pods.end(), is_there)) {
      return true;
    }
    const auto mark = state_.Mark();
    state_.Displace(member);
    const bool fits = outside_.fits(member, row);
    state_.Rollback(mark);
    return fits;
  });
}

}  // namespace knx::engine
