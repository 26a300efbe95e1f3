#include "engine/search_order.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace knx::engine {

namespace {

std::size_t CountFrom(const std::vector<std::size_t>& positions, std::size_t from) {
  return static_cast<std::size_t>(positions.end() -
                                  std::lower_bound(positions.begin(), positions.end(), from));
}

}  // namespace

SearchOrder::SearchOrder(std::span<const Kinded> members, const GangGoal& goal)
    : members_(members.begin(), members.end()) {
  DropHopeless(goal);
  Sort(goal);
  for (const auto& [pod, kind] : members_) belongs_.push_back(goal.Of(pod));
  by_role_.resize(goal.roles());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (belongs_[i].role != GangGoal::kNone) by_role_[belongs_[i].role].push_back(i);
  }
  FindRanges(goal);
  FindTwins(goal);
}

void SearchOrder::DropHopeless(const GangGoal& goal) {
  std::vector<std::size_t> there(goal.parts().size());
  for (const auto& [pod, kind] : members_) {
    if (const std::size_t part = goal.Of(pod).part; part != GangGoal::kNone) ++there[part];
  }
  std::erase_if(members_, [&](const Kinded& member) {
    const std::size_t part = goal.Of(member.first).part;
    return part != GangGoal::kNone && there[part] < goal.parts()[part].missing();
  });
}

// Sub-groups first, of these those with members that roles miss, then those that miss the fewest.
void SearchOrder::Sort(const GangGoal& goal) {
  std::vector<std::size_t> for_roles(goal.parts().size());
  for (const auto& [pod, kind] : members_) {
    const GangGoal::Belongs belongs = goal.Of(pod);
    if (belongs.part != GangGoal::kNone && belongs.role != GangGoal::kNone) {
      ++for_roles[belongs.part];
    }
  }
  using Rank = std::tuple<bool, std::ptrdiff_t, std::size_t, std::size_t, std::size_t, std::size_t>;
  std::vector<std::pair<Rank, Kinded>> ranked;
  for (const Kinded& member : members_) {
    const auto [role, part] = goal.Of(member.first);
    const bool loose = part == GangGoal::kNone;
    const std::ptrdiff_t use = loose ? 0 : -static_cast<std::ptrdiff_t>(for_roles[part]);
    ranked.emplace_back(
        Rank(loose, use, loose ? 0 : goal.parts()[part].missing(), part, member.second, role),
        member);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  members_.clear();
  for (const auto& [rank, member] : ranked) members_.push_back(member);
}

void SearchOrder::FindRanges(const GangGoal& goal) {
  range_of_.assign(members_.size(), kEnd);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::size_t part = belongs_[i].part;
    if (part == GangGoal::kNone) continue;
    if (ranges_.empty() || ranges_.back().part != part) ranges_.push_back({part, i, i});
    ranges_.back().end = i + 1;
    range_of_[i] = ranges_.size() - 1;
  }
  by_kind_.resize(goal.kinds());
  for (const Range& range : ranges_) {
    const GangGoal::Part& part = goal.parts()[range.part];
    if (part.kind != GangGoal::kNone && part.missing() > 0) {
      by_kind_[part.kind].push_back(range.begin);
    }
  }
}

void SearchOrder::FindTwins(const GangGoal& goal) {
  using Member = std::pair<std::size_t, std::size_t>;
  std::map<std::tuple<std::size_t, std::size_t, std::vector<Member>>, std::size_t> shapes;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const GangGoal::Part& part = goal.parts()[ranges_[i].part];
    std::vector<Member> members;
    for (std::size_t member = ranges_[i].begin; member < ranges_[i].end; ++member) {
      members.emplace_back(members_[member].second, belongs_[member].role);
    }
    const auto [shape, first] = shapes.try_emplace({part.kind, part.missing(), members}, i);
    if (!first) ranges_[i].twin = std::exchange(shape->second, i);
  }
}

bool SearchOrder::AreAlike(std::size_t a, std::size_t b) const {
  return members_[a].second == members_[b].second && belongs_[a].role == belongs_[b].role &&
         belongs_[a].part == belongs_[b].part;
}

std::size_t SearchOrder::After(std::size_t member, bool left_out, const GangGoal& goal) const {
  std::size_t next = member + 1;
  // Without one of those that are alike means without those after it.
  while (left_out && next < members_.size() && AreAlike(member, next)) ++next;
  if (const std::size_t own = range_of_[member]; own != kEnd) {
    const GangGoal::Part& part = goal.parts()[ranges_[own].part];
    const std::size_t remaining = ranges_[own].end - std::min(next, ranges_[own].end);
    if (part.missing() > remaining) {
      if (part.chosen > 0) return kEnd;
      next = ranges_[own].end;
    }
  }
  while (next < members_.size() && range_of_[next] != kEnd &&
         next == ranges_[range_of_[next]].begin) {
    const Range& range = ranges_[range_of_[next]];
    // Of sub-groups that are alike the first are taken.
    const bool in_turn = range.twin == kEnd || goal.parts()[ranges_[range.twin].part].chosen > 0;
    if (in_turn) break;
    next = range.end;
  }
  const std::size_t skipped = left_out ? member : member + 1;
  return next < members_.size() && MayBeEnough(skipped, next, goal) ? next : kEnd;
}

bool SearchOrder::MayBeEnough(std::size_t skipped, std::size_t from, const GangGoal& goal) const {
  if (goal.left() > members_.size() - from) return false;
  for (std::size_t i = skipped; i < from; ++i) {
    const std::size_t role = belongs_[i].role;
    if (role == GangGoal::kNone || (i > skipped && role == belongs_[i - 1].role)) continue;
    if (goal.MissingInRole(role) > CountFrom(by_role_[role], from)) return false;
  }
  const std::size_t own = range_of_[from];
  for (std::size_t kind = 0; kind < goal.kinds(); ++kind) {
    const std::size_t missing = goal.MissingOfKind(kind);
    if (missing == 0) continue;
    std::size_t to_come = CountFrom(by_kind_[kind], from);
    // One that has begun, or whose first members were left out.
    if (own != kEnd && ranges_[own].begin < from && goal.parts()[ranges_[own].part].kind == kind) {
      ++to_come;
    }
    if (missing > to_come) return false;
  }
  return true;
}

}  // namespace knx::engine
