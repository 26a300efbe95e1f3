#include "engine/gang_goal.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "engine/gang_roles.h"
#include "engine/sub_groups.h"

namespace knx::engine {

using cluster::PodId;

GangGoal::GangGoal(const cluster::State& state, const cluster::Gang& gang,
                   std::span<const PodId> waiting, std::size_t needed)
    : needed_(needed), left_(needed) {
  std::map<std::string_view, std::size_t> roles, kinds;
  for (const auto& [role, missing] : MissingInRoles(state, gang)) {
    roles.emplace(role, roles_.size());
    roles_.push_back(static_cast<std::int64_t>(missing));
  }
  roles_short_ = roles_.size();
  for (const auto& [kind, wanted] : MinSubGroups(gang)) {
    kinds.emplace(kind, kinds_.size());
    kinds_.push_back(wanted);
  }
  members_.reserve(waiting.size());
  for (const PodId pod : waiting) {
    const auto role = roles.empty() ? roles.end() : roles.find(RoleOf(state, pod));
    members_.push_back({pod, {role == roles.end() ? kNone : role->second, kNone}});
  }
  const auto by_pod = [](const Member& a, const Member& b) { return a.pod < b.pod; };
  std::sort(members_.begin(), members_.end(), by_pod);
  for (const SubGroup& group : SubGroupsOf(state, gang, waiting).all) {
    const auto kind = kinds.find(group.kind);
    for (const PodId pod : group.waiting) {
      std::lower_bound(members_.begin(), members_.end(), Member{pod, {}}, by_pod)->belongs.part =
          parts_.size();
    }
    parts_.push_back({kind == kinds.end() ? kNone : kind->second, group.minimum, group.placed, 0,
                      group.waiting.size()});
    if (kind != kinds.end() && group.whole()) --kinds_[kind->second];
  }
  kinds_short_ = static_cast<std::size_t>(std::count_if(
      kinds_.begin(), kinds_.end(), [](std::int64_t missing) { return missing > 0; }));
}

GangGoal::Belongs GangGoal::Of(PodId pod) const {
  const auto found =
      std::lower_bound(members_.begin(), members_.end(), pod,
                       [](const Member& member, PodId id) { return member.pod < id; });
  return found == members_.end() || found->pod != pod ? Belongs{} : found->belongs;
}

bool GangGoal::Wants(PodId pod) const {
  const std::size_t role = Of(pod).role;
  return role != kNone && roles_[role] > 0;
}

std::size_t GangGoal::MissingInRole(std::size_t role) const {
  return static_cast<std::size_t>(std::max<std::int64_t>(roles_[role], 0));
}

std::size_t GangGoal::MissingOfKind(std::size_t kind) const {
  return kind == kNone ? 0 : static_cast<std::size_t>(std::max<std::int64_t>(kinds_[kind], 0));
}

void GangGoal::Follow(const Places& places) {
  // What is given up is given up from the end.
  while (counted_.size() > places.size() ||
         (!counted_.empty() && counted_.back() != places[counted_.size() - 1].first)) {
    Count(counted_.back(), false);
    counted_.pop_back();
  }
  while (counted_.size() < places.size()) {
    counted_.push_back(places[counted_.size()].first);
    Count(counted_.back(), true);
  }
}

void GangGoal::Count(PodId pod, bool there) {
  const std::size_t counted = there ? counted_.size() : counted_.size() - 1;
  left_ = needed_ - std::min(needed_, counted);
  const Belongs belongs = Of(pod);
  if (belongs.role != kNone) {
    std::int64_t& missing = roles_[belongs.role];
    roles_short_ -= missing > 0 ? 1 : 0;
    missing += there ? -1 : 1;
    roles_short_ += missing > 0 ? 1 : 0;
  }
  if (belongs.part != kNone) CountPart(parts_[belongs.part], there);
}

void GangGoal::CountPart(Part& part, bool there) {
  const bool was_whole = part.missing() == 0;
  in_parts_ -= part.in_parts() ? 1 : 0;
  there ? ++part.placed : --part.placed;
  there ? ++part.chosen : --part.chosen;
  in_parts_ += part.in_parts() ? 1 : 0;
  const bool whole = part.missing() == 0;
  if (whole == was_whole || part.kind == kNone) return;
  std::int64_t& missing = kinds_[part.kind];
  kinds_short_ -= missing > 0 ? 1 : 0;
  missing += whole ? -1 : 1;
  kinds_short_ += missing > 0 ? 1 : 0;
}

}  // namespace knx::engine
