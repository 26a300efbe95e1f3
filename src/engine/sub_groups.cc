#include "engine/sub_groups.h"

#include <algorithm>
#include <utility>

namespace knx::engine {

using cluster::Gang;
using cluster::PodId;
using cluster::State;

std::string_view SubGroupOf(const State& state, PodId member) {
  return state.pod(member).gang->sub_group;
}

bool HasSubGroups(const Gang& gang) {
  return !gang.sub_groups.empty() || !gang.min_sub_groups.empty();
}

const std::map<std::string, std::int32_t, std::less<>>& MinSubGroups(const Gang& gang) {
  static const std::map<std::string, std::int32_t, std::less<>> kNone;
  return gang.finished > 0 ? kNone : gang.min_sub_groups;
}

SubGroups SubGroupsOf(const State& state, const Gang& gang, std::span<const PodId> waiting) {
  SubGroups groups;
  if (!HasSubGroups(gang)) {
    groups.loose.assign(waiting.begin(), waiting.end());
    return groups;
  }
  std::map<std::string_view, std::size_t> at;
  for (const auto& [name, demand] : gang.sub_groups) {
    at.emplace(name, groups.all.size());
    groups.all.push_back({name, demand.kind, static_cast<std::size_t>(demand.minimum), 0, {}});
  }
  for (const PodId member : gang.members) {
    if (!state.pod(member).fills_gang()) continue;
    const auto group = at.find(SubGroupOf(state, member));
    if (group != at.end()) ++groups.all[group->second].placed;
  }
  for (const PodId member : waiting) {
    const auto group = at.find(SubGroupOf(state, member));
    auto& list = group == at.end() ? groups.loose : groups.all[group->second].waiting;
    list.push_back(member);
  }
  if (gang.finished == 0) return groups;
  for (SubGroup& group : groups.all) {
    const std::size_t there = std::max<std::size_t>(group.placed + group.waiting.size(), 1);
    group.minimum = std::min(group.minimum, there);
  }
  return groups;
}

namespace {

// A kind of which so many sub-groups must start, and what it has.
struct SubGroupKind {
  std::int64_t missing = 0;            // below zero: more are whole than must
  std::vector<std::size_t> not_whole;  // how many members each of those misses
};

std::map<std::string_view, SubGroupKind> KindsOf(const Gang& gang, const SubGroups& groups) {
  std::map<std::string_view, SubGroupKind> kinds;
  for (const auto& [name, wanted] : MinSubGroups(gang)) kinds[name].missing = wanted;
  for (const SubGroup& group : groups.all) {
    const auto kind = kinds.find(group.kind);
    if (kind == kinds.end()) continue;
    if (group.whole()) {
      --kind->second.missing;
    } else {
      kind->second.not_whole.push_back(group.missing());
    }
  }
  return kinds;
}

}  // namespace

std::size_t MissingSubGroups(const Gang& gang, const SubGroups& groups) {
  std::int64_t missing = 0;
  for (const auto& [name, kind] : KindsOf(gang, groups)) {
    missing += std::max<std::int64_t>(kind.missing, 0);
  }
  return static_cast<std::size_t>(missing);
}

std::size_t LeastForSubGroups(const Gang& gang, const SubGroups& groups) {
  std::size_t least = 0;
  for (const auto& [name, kind] : KindsOf(gang, groups)) {
    if (kind.missing <= 0) continue;
    std::vector<std::size_t> sizes = kind.not_whole;
    std::sort(sizes.begin(), sizes.end());
    const auto missing = static_cast<std::size_t>(kind.missing);
    for (std::size_t i = 0; i < std::min(sizes.size(), missing); ++i) least += sizes[i];
    // Of sub-groups of which nobody has been seen: one pod at the least.
    least += missing - std::min(sizes.size(), missing);
  }
  return least;
}

std::vector<PodId> CouldStart(const State& state, const Gang& gang,
                              std::span<const PodId> waiting) {
  SubGroups groups = SubGroupsOf(state, gang, waiting);
  std::vector<PodId> could = std::move(groups.loose);
  for (const SubGroup& group : groups.all) {
    if (group.can_be_whole()) {
      could.insert(could.end(), group.waiting.begin(), group.waiting.end());
    }
  }
  return could;
}

bool FillSubGroups(const State& state, const Gang& gang, std::span<const PodId> waiting) {
  if (!HasSubGroups(gang)) return true;
  SubGroups groups = SubGroupsOf(state, gang, waiting);
  std::size_t could_start = groups.loose.size();
  for (SubGroup& group : groups.all) {
    if (!group.can_be_whole()) continue;
    could_start += group.waiting.size();
    group.placed = std::max(group.placed, group.minimum);
  }
  const auto minimum = static_cast<std::size_t>(gang.minimum);
  return could_start > 0 && gang.placed + gang.finished + could_start >= minimum &&
         MissingSubGroups(gang, groups) == 0;
}

std::vector<std::string_view> SubGroupsBrokenBy(const State& state, cluster::GangId id,
                                                std::span<const PodId> leaving) {
  const Gang& gang = state.gangs().Get(id);
  std::vector<std::string_view> broken;
  if (!HasSubGroups(gang)) return broken;
  std::map<std::string_view, std::size_t> lost;
  for (const PodId pod : leaving) {
    const bool counts = state.gang_of(pod) == id && state.pod(pod).fills_gang();
    if (counts) ++lost[SubGroupOf(state, pod)];
  }
  for (const SubGroup& group : SubGroupsOf(state, gang).all) {
    const auto gone = lost.find(group.name);
    if (gone == lost.end() || !group.whole()) continue;
    if (group.placed - gone->second < group.minimum) broken.push_back(group.name);
  }
  return broken;
}

}  // namespace knx::engine
