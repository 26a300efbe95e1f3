#include "engine/sub_groups.h"

#include <algorithm>

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
    const cluster::Pod& pod = state.pod(member);
    if (!pod.node.valid() || pod.leaves()) continue;
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

std::size_t MissingOf(std::string_view kind, std::int32_t wanted, const SubGroups& groups) {
  const auto counts = [&](const SubGroup& group) { return group.kind == kind && group.whole(); };
  const auto whole = std::count_if(groups.all.begin(), groups.all.end(), counts);
  return static_cast<std::size_t>(std::max<std::int64_t>(wanted - whole, 0));
}

namespace {

// Those of a kind that are not whole, which miss the fewest first.
std::vector<const SubGroup*> NotWhole(std::string_view kind, const SubGroups& groups) {
  std::vector<const SubGroup*> out;
  for (const SubGroup& group : groups.all) {
    if (group.kind == kind && !group.whole()) out.push_back(&group);
  }
  std::stable_sort(out.begin(), out.end(), [](const SubGroup* a, const SubGroup* b) {
    return a->missing() < b->missing();
  });
  return out;
}

}  // namespace

std::size_t MissingSubGroups(const Gang& gang, const SubGroups& groups) {
  std::size_t missing = 0;
  for (const auto& [kind, wanted] : MinSubGroups(gang)) missing += MissingOf(kind, wanted, groups);
  return missing;
}

std::size_t LeastForSubGroups(const Gang& gang, const SubGroups& groups) {
  std::size_t least = 0;
  for (const auto& [kind, wanted] : MinSubGroups(gang)) {
    std::size_t missing = MissingOf(kind, wanted, groups);
    for (const SubGroup* const group : NotWhole(kind, groups)) {
      if (missing == 0) break;
      least += group->missing();
      --missing;
    }
    least += missing;  // of sub-groups of which nobody has been seen: one pod at the least
  }
  return least;
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

std::vector<PodId> WantedBySubGroups(const State& state, const Gang& gang,
                                     std::span<const PodId> waiting, std::size_t needed) {
  SubGroups groups = SubGroupsOf(state, gang, waiting);
  std::vector<PodId> wanted;
  const auto take = [&wanted](std::vector<PodId>& from, std::size_t count) {
    const auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(count, from.size()));
    wanted.insert(wanted.end(), from.begin(), end);
    from.erase(from.begin(), end);
  };
  const auto make_whole = [&](const SubGroup& found) {
    SubGroup& group = groups.all[static_cast<std::size_t>(&found - groups.all.data())];
    const std::size_t missing = group.missing();
    group.placed += missing;
    take(group.waiting, missing);
  };
  for (const auto& [kind, count] : MinSubGroups(gang)) {
    std::size_t missing = MissingOf(kind, count, groups);
    for (const SubGroup* const group : NotWhole(kind, groups)) {
      if (missing == 0) break;
      if (!group->can_be_whole()) continue;
      make_whole(*group);
      --missing;
    }
  }
  const auto enough = [&] { return wanted.size() >= needed; };
  if (!enough()) take(groups.loose, needed - wanted.size());
  for (SubGroup& group : groups.all) {
    if (group.whole() && !enough()) take(group.waiting, needed - wanted.size());
  }
  for (SubGroup& group : groups.all) {
    if (group.whole() || enough() || !group.can_be_whole()) continue;
    make_whole(group);
    if (!enough()) take(group.waiting, needed - wanted.size());
  }
  return wanted;
}

std::vector<std::string_view> SubGroupsBrokenBy(const State& state, cluster::GangId id,
                                                std::span<const PodId> leaving) {
  const Gang& gang = state.gangs().Get(id);
  std::vector<std::string_view> broken;
  if (!HasSubGroups(gang)) return broken;
  std::map<std::string_view, std::size_t> lost;
  for (const PodId pod : leaving) {
    const bool counts = state.gang_of(pod) == id && !state.pod(pod).leaves();
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
