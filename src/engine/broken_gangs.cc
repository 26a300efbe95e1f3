#include "engine/broken_gangs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

#include "engine/gang_roles.h"
#include "engine/importance.h"
#include "engine/sub_groups.h"

namespace knx::engine {

using cluster::GangId;
using cluster::PodId;

namespace {

// Whether a role has enough of its members now and would not have then.
bool LosesRole(const cluster::State& state, GangId id, std::span<const PodId> leaving) {
  const cluster::Gang& gang = state.gangs().Get(id);
  if (gang.roles.empty() || !MissingInRoles(state, gang).empty()) return false;
  std::map<std::string_view, std::size_t> left = PlacedInRoles(state, gang);
  for (const PodId pod : leaving) {
    const bool counts = state.pod(pod).fills_gang() && state.gang_of(pod) == id;
    const auto role = counts ? left.find(RoleOf(state, pod)) : left.end();
    if (role != left.end()) --role->second;
  }
  return std::any_of(left.begin(), left.end(), [&](const auto& entry) {
    return entry.second < static_cast<std::size_t>(gang.roles.find(entry.first)->second);
  });
}

// The same for sub-groups: enough are whole now and would not be then.
bool LosesSubGroup(const cluster::State& state, GangId id, std::span<const PodId> leaving) {
  const cluster::Gang& gang = state.gangs().Get(id);
  SubGroups groups = SubGroupsOf(state, gang);
  if (groups.all.empty() || MissingSubGroups(gang, groups) > 0) return false;
  const std::vector<std::string_view> broken = SubGroupsBrokenBy(state, id, leaving);
  for (SubGroup& group : groups.all) {
    if (std::find(broken.begin(), broken.end(), group.name) != broken.end()) group.placed = 0;
  }
  return MissingSubGroups(gang, groups) > 0;
}

}  // namespace

GangId TiedTo(const cluster::State& state, PodId pod) {
  const GangId gang = state.gang_of(pod);
  if (!gang.valid()) return {};
  return state.gangs().Get(gang).terms.disruption == k8s::DisruptionMode::kSingle ? GangId{} : gang;
}

std::vector<PodId> WithTheirSubGroups(const cluster::State& state, std::span<const PodId> leaving) {
  std::vector<PodId> all(leaving.begin(), leaving.end());
  std::vector<GangId> gangs;
  for (const PodId pod : leaving) {
    const GangId gang = TiedTo(state, pod);
    const bool known = std::find(gangs.begin(), gangs.end(), gang) != gangs.end();
    if (gang.valid() && !known) gangs.push_back(gang);
  }
  for (const GangId gang : gangs) {
    const std::vector<std::string_view> broken = SubGroupsBrokenBy(state, gang, leaving);
    if (broken.empty()) continue;
    for (const PodId member : state.gangs().Get(gang).members) {
      const cluster::Pod& pod = state.pod(member);
      const std::string_view group = SubGroupOf(state, member);
      const bool goes = pod.node.valid() && !pod.leaves() &&
                        std::find(broken.begin(), broken.end(), group) != broken.end();
      if (goes && std::find(all.begin(), all.end(), member) == all.end()) all.push_back(member);
    }
  }
  return all;
}

std::vector<GangId> GangsBrokenBy(const cluster::State& state,
                                  std::span<const PodId> pods_leaving) {
  const std::vector<PodId> leaving = WithTheirSubGroups(state, pods_leaving);
  std::map<GangId, std::uint32_t> lost;
  for (const PodId pod : leaving) {
    const GangId gang = TiedTo(state, pod);
    // Who is about to go anyhow is not counted as placed.
    if (gang.valid() && state.pod(pod).fills_gang()) ++lost[gang];
  }
  std::vector<GangId> broken;
  for (const auto& [id, pods] : lost) {
    const cluster::Gang& gang = state.gangs().Get(id);
    const std::uint32_t there = gang.placed + gang.finished;
    const auto minimum = static_cast<std::uint32_t>(gang.minimum);
    const bool too_few = there >= minimum && there - pods < minimum;
    const bool loses_part = LosesRole(state, id, leaving) || LosesSubGroup(state, id, leaving);
    if (too_few || MustGoWhole(gang) || loses_part) broken.push_back(id);
  }
  return broken;
}

void SpareBesidesGangs(cluster::State& state, Evicted evicted,
                       const std::function<bool(PodId)>& leaves,
                       const std::function<bool()>& fits) {
  std::vector<PodId>& victims = evicted.victims;
  const std::size_t chosen = victims.size();
  const std::vector<GangId> broken = GangsBrokenBy(state, victims);
  std::erase_if(evicted.along, [&](PodId pod) {
    if (state.pod(pod).node != evicted.node) return false;
    victims.push_back(pod);
    return true;
  });
  if (victims.size() == chosen) return;
  std::sort(victims.begin(), victims.end(),
            [&](PodId a, PodId b) { return MoreImportant(state, a, b); });
  std::vector<PodId> going = victims;
  for (const PodId pod : state.nodes().pods(evicted.node)) {
    const bool known = std::find(victims.begin(), victims.end(), pod) != victims.end();
    if (!known && leaves(pod)) going.push_back(pod);
  }
  const auto mark = state.Mark();
  for (const PodId pod : going) state.Displace(pod);
  std::erase_if(victims, [&](PodId victim) {
    const GangId gang = TiedTo(state, victim);
    const bool ends = std::find(broken.begin(), broken.end(), gang) != broken.end();
    if (gang.valid() && (ends || HasSubGroups(state.gangs().Get(gang)))) return false;
    state.Assume(victim, evicted.node);
    if (fits()) return true;
    state.Displace(victim);
    return false;
  });
  state.Rollback(mark);
}

}  // namespace knx::engine
