#include "engine/gang_preemption.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "cluster/reservation_hold.h"
#include "engine/broken_gangs.h"
#include "engine/gang_roles.h"
#include "engine/importance.h"
#include "engine/sub_group_spares.h"
#include "engine/sub_groups.h"

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

GangRoom Lesser(GangRoom a, GangRoom b) {
  if (a.places.empty()) return b;
  return !b.places.empty() && b.harm < a.harm ? b : a;
}

GangRoom GangPreemptor::Find(GangId gang, std::span<const PodId> members, std::size_t needed) {
  if (!MayEvict(members)) return {};
  members_ = planner_.LargestFirst(members);
  needed_ = needed;
  priority_ = LeastPriority(members_);
  const Plan staying = [this](std::size_t units) { return PlanWithout(units, true); };
  const Plan moving = [this](std::size_t units) { return PlanWithout(units, false); };
  // Members that need nobody's end should not cause one; unless others do less harm if these move.
  return FindAnyWay(gang, moving, [&] {
    GangRoom room = FindWith(staying);
    if (!room.places.empty() && room.victims.empty()) return room;
    return Lesser(std::move(room), FindWith(moving));
  });
}

// Who may go depends on who comes: first all are counted as if the most important of those that
// could come did, and if these are not enough for those who are chosen then, as if the least
// important did.
GangRoom GangPreemptor::FindForSome(GangId gang, std::span<const PodId> members,
                                    const Choose& choose) {
  if (!MayEvict(members)) return {};
  std::int32_t least = INT32_MAX, most = INT32_MIN;
  for (const PodId member : members) {
    least = std::min(least, state_.pod(member).priority);
    most = std::max(most, state_.pod(member).priority);
  }
  for (priority_ = most;;) {
    ListUnits(gang);
    if (units_.empty()) return {};
    const std::vector<PodId> chosen = choose(members, [this] {
      for (const Unit& unit : units_) {
        for (const auto& [pod, row] : unit.pods) state_.Displace(pod);
      }
    });
    GangRoom room = chosen.empty() ? GangRoom() : Find(gang, chosen, chosen.size());
    if (!room.places.empty() || most == least) return room;
    priority_ = most = least;
  }
}

GangRoom GangPreemptor::FindBySearch(GangId gang, std::span<const PodId> members,
                                     const Search& search) {
  if (!MayEvict(members)) return {};
  members_.assign(members.begin(), members.end());
  priority_ = LeastPriority(members);
  const Plan plan = [&](std::size_t units) {
    Clear(units);
    return search(members);
  };
  return FindAnyWay(gang, plan, [&] { return FindWith(plan); });
}

// What stands for pods to come counts for nothing.
std::int32_t GangPreemptor::LeastPriority(std::span<const PodId> members) const {
  std::int32_t least = INT32_MAX;
  for (const PodId member : members) {
    if (cluster::IsHold(state_.pod(member))) continue;
    least = std::min(least, state_.pod(member).priority);
  }
  return least;
}

// ---- who could go ----

// What stands for pods to come has no say.
bool GangPreemptor::MayEvict(std::span<const PodId> members) const {
  return std::none_of(members.begin(), members.end(), [this](PodId member) {
    return !cluster::IsHold(state_.pod(member)) &&
           state_.class_of(member).spec.preemption_policy == k8s::PreemptionPolicy::kNever;
  });
}

bool GangPreemptor::MayGo(PodId pod, GangId gang) const {
  const cluster::Pod& record = state_.pod(pod);
  return record.priority < priority_ && record.priority < kSystemCritical && !record.leaves() &&
         state_.gang_of(pod) != gang && !IsToStay(state_, pod) && !outside_.expected_back(pod) &&
         (priority_ >= kSystemCritical || !outside_.spared(pod));
}

std::vector<PodId> GangPreemptor::AllWhoMayGo(GangId gang) const {
  std::vector<PodId> pods;
  state_.nodes().present().ForEach([&](std::uint32_t row) {
    if (!outside_.may_use(NodeRow{row})) return;
    for (const PodId pod : state_.nodes().pods(NodeRow{row})) {
      if (MayGo(pod, gang)) pods.push_back(pod);
    }
  });
  return pods;
}

void GangPreemptor::ListLeaving() {
  leaving_.clear();
  state_.nodes().present().ForEach([&](std::uint32_t row) {
    if (!outside_.may_use(NodeRow{row})) return;
    for (const PodId pod : state_.nodes().pods(NodeRow{row})) {
      if (state_.pod(pod).leaves() && outside_.gives_way(pod)) leaving_.push_back(pod);
    }
  });
}

void GangPreemptor::ListUnits(GangId gang) {
  units_.clear();
  may_choose_ = false;
  ListLeaving();
  std::vector<GangId> gangs;
  for (const PodId pod : AllWhoMayGo(gang)) {
    if (const GangId of = TiedTo(state_, pod); of.valid()) {
      gangs.push_back(of);
    } else {
      AddUnit(std::span(&pod, 1), {}, false);
    }
  }
  std::sort(gangs.begin(), gangs.end());
  gangs.erase(std::unique(gangs.begin(), gangs.end()), gangs.end());
  for (const GangId of : gangs) ListUnitsOf(of);
  SortUnits();
}

std::int64_t GangPreemptor::Above(const cluster::Gang& gang) {
  return std::int64_t{gang.placed} + std::int64_t{gang.finished} - std::int64_t{gang.minimum};
}

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

// Members above the minimum one by one, those first who were chosen and then the least important,
// and then all others at once.
void GangPreemptor::ListUnitsOf(GangId id) {
  const cluster::Gang& gang = state_.gangs().Get(id);
  std::vector<PodId> placed;
  for (const PodId member : gang.members) {
    if (state_.pod(member).fills_gang()) placed.push_back(member);
  }
  std::sort(placed.begin(), placed.end(), [this](PodId a, PodId b) {
    const bool chosen_a = chosen_.contains(a), chosen_b = chosen_.contains(b);
    return chosen_a != chosen_b ? chosen_a : MoreImportant(state_, b, a);
  });
  may_choose_ |= !MustGoWhole(gang) && Above(gang) > 0 && Above(gang) < std::ssize(placed);
  ListSurplus(id, placed);
  if (HasSubGroups(gang) && !MustGoWhole(gang)) ListSubGroups(id, placed);
  const bool may_go =
      std::all_of(placed.begin(), placed.end(), [this](PodId pod) { return MayGo(pod, {}); });
  const bool breaks = MustGoWhole(gang) || Above(gang) >= 0;
  const bool may_break = !breaks || !may_break_ || may_break_->contains(id);
  if (!placed.empty() && may_go && may_break) AddUnit(placed, id, breaks);
}

void GangPreemptor::ListSurplus(GangId id, std::vector<PodId>& placed) {
  const std::vector<PodId> surplus = SurplusOf(state_.gangs().Get(id), placed);
  for (const PodId member : surplus) {
    AddUnit(std::span(&member, 1), id, false).sub_group = SubGroupOf(state_, member);
  }
  auto next = surplus.begin();  // they are in the same order
  std::erase_if(placed, [&](PodId member) {
    const bool is_it = next != surplus.end() && *next == member;
    if (is_it) ++next;
    return is_it;
  });
}

// Those whose least important member matters least first, as long as enough stay whole.
void GangPreemptor::ListSubGroups(GangId id, std::vector<PodId>& placed) {
  const cluster::Gang& gang = state_.gangs().Get(id);
  const SubGroups groups = SubGroupsOf(state_, gang);
  if (MissingSubGroups(gang, groups) > 0) return;
  std::map<std::string_view, std::vector<PodId>> members;
  std::vector<std::string_view> order;
  for (const PodId member : placed) {
    auto& of_group = members[SubGroupOf(state_, member)];
    if (of_group.empty()) order.push_back(SubGroupOf(state_, member));
    of_group.push_back(member);
  }
  SubGroupSpares spares(state_, gang, placed, groups);
  std::set<std::string_view> gone;
  for (const std::string_view name : order) {
    const std::vector<PodId>& all = members[name];
    const bool may_go =
        std::all_of(all.begin(), all.end(), [this](PodId pod) { return MayGo(pod, {}); });
    if (!may_go || !spares.Take(name, all)) continue;
    Unit& unit = AddUnit(all, id, false);
    unit.sub_group = name;
    unit.drains = true;
    gone.insert(name);
  }
  std::erase_if(placed, [&](PodId member) { return gone.contains(SubGroupOf(state_, member)); });
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
    unit.tier = std::max(unit.tier, state_.profile_of(pod).tier);
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
    if (a.tier != b.tier) return a.tier < b.tier;
    if (a.start != b.start) return a.start > b.start;
    const auto [pod_a, row_a] = a.pods.front();
    const auto [pod_b, row_b] = b.pods.front();
    if (row_a != row_b) return state_.nodes().rank(row_a) < state_.nodes().rank(row_b);
    return MoreImportant(state_, pod_b, pod_a);
  });
  BudgetUse budgets(state_);
  budgets.CountAnnounced();
  std::set<GangId> violated;
  for (Unit& unit : units_) {
    for (const auto& [pod, row] : unit.pods) {
      unit.violates |= budgets.Violates(pod) || outside_.refuses(pod);
    }
    // What a gang has above its minimum goes before the rest of it, always.
    unit.violates |= unit.gang.valid() && violated.contains(unit.gang);
    if (unit.violates && unit.gang.valid()) violated.insert(unit.gang);
  }
  std::stable_partition(units_.begin(), units_.end(),
                        [](const Unit& unit) { return !unit.violates; });
}

// ---- how many ----

void GangPreemptor::Clear(std::size_t units) {
  for (const PodId pod : leaving_) state_.Displace(pod);
  for (const Unit& unit : std::span(units_).first(units)) {
    for (const auto& [pod, row] : unit.pods) state_.Displace(pod);
  }
}

GangPreemptor::Places GangPreemptor::PlanWithout(std::size_t units, bool stay) {
  GangPlan plan;
  std::vector<PodId> without = members_;
  if (stay) planner_.Fill(without, plan, needed_);
  Clear(units);
  planner_.Fill(without, plan, needed_);
  return plan.places.size() >= needed_ ? std::move(plan.places) : Places();
}

GangRoom GangPreemptor::FindWith(const Plan& plan) {
  const std::optional<std::size_t> count = FewestUnits(plan);
  return count ? Settle(*count, plan) : GangRoom();
}

std::optional<std::size_t> GangPreemptor::FewestUnits(const Plan& plan) {
  const auto enough = [&](std::size_t count) {
    const auto mark = state_.Mark();
    const bool fits = !plan(count).empty();
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

GangRoom GangPreemptor::Settle(std::size_t count, const Plan& plan) {
  const auto mark = state_.Mark();
  GangRoom room;
  room.places = plan(count);
  const auto planned = state_.Mark();
  std::vector<const Unit*> gone = Spare(room.places, count, false);
  if (!KeepTheirPlaces(room.places, nullptr)) {
    state_.Rollback(planned);
    gone = Spare(room.places, count, true);
  } else {
    state_.Commit(planned);
  }
  state_.Rollback(mark);
  room.harm = HarmOf(gone);
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

std::vector<const GangPreemptor::Unit*> GangPreemptor::Spare(const Places& places,
                                                             std::size_t count, bool thorough) {
  std::vector<const Unit*> gone;
  std::set<GangId> broken;
  std::set<std::pair<GangId, std::string_view>> drained;
  // The greatest harm is spared first.
  for (std::size_t i = count; i-- > 0;) {
    const Unit& unit = units_[i];
    const std::pair part(unit.gang, unit.sub_group);
    const bool goes_along =
        unit.gang.valid() && (broken.contains(unit.gang) || drained.contains(part));
    if (!goes_along) {
      for (const auto& [pod, row] : unit.pods) state_.Assume(pod, row);
      if (KeepTheirPlaces(places, thorough ? nullptr : &unit)) continue;
      for (const auto& [pod, row] : unit.pods) state_.Displace(pod);
    }
    gone.push_back(&unit);
    if (unit.breaks) broken.insert(unit.gang);
    if (unit.drains) drained.insert(part);
  }
  return gone;
}

Harm GangPreemptor::HarmOf(std::span<const Unit* const> gone) const {
  Harm harm;
  BudgetUse budgets(state_);
  budgets.CountAnnounced();
  for (const Unit* const unit : gone) {
    if (unit->breaks) ++harm.gangs_broken;
    harm.priority = std::max(harm.priority, unit->priority);
    harm.works |= !unit->fills;
    harm.tier = std::max(harm.tier, unit->tier);
    harm.pods += unit->pods.size();
    for (const auto& [pod, row] : unit->pods) {
      if (budgets.Violates(pod) || outside_.refuses(pod)) ++harm.violations;
      const Time start = StartOf(state_.pod(pod));
      if (start < outside_.now) harm.lost += (outside_.now - start).ns / Duration::Seconds(1).ns;
    }
  }
  return harm;
}

bool GangPreemptor::KeepTheirPlaces(const Places& places, const Unit* beside) {
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
