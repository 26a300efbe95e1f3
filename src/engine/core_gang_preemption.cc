// Gangs that do not fit: making room for them, as for a pod, and waiting as a whole until it is
// made.
#include <algorithm>
#include <map>

#include "engine/broken_gangs.h"
#include "engine/core.h"
#include "engine/gang_roles.h"

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

bool Core::MakesRoom(GangId id) const {
  if (evictions_.size() == 0) return false;
  const std::vector<PodId>& members = state_.gangs().Get(id).members;
  return std::any_of(members.begin(), members.end(), [this](PodId member) {
    const auto plan = evictions_.PlanFor(member);
    return plan && !evictions_.AllGoing(*plan);
  });
}

bool Core::RoomIsComing(PodId id, const WaitingGang& waiting, Time now) {
  const auto& plugin = ProfileOf(id).gang_preemption;
  if (!plugin) return false;
  const Time overdue = now - plugin->plugin->gang_preemption_args().cooldown;
  return std::any_of(waiting.ready.begin(), waiting.ready.end(), [&](PodId member) {
    const NodeRow row = state_.pod(member).nominated;
    if (!row.valid()) return false;
    const auto pods = state_.nodes().pods(row);
    return std::any_of(pods.begin(), pods.end(), [&](PodId victim) {
      const cluster::Pod& leaving = state_.pod(victim);
      return leaving.preempted && leaving.priority < state_.pod(member).priority &&
             leaving.leaves_by > overdue;
    });
  });
}

GangRoom Core::FindRoom(PodId id, GangId gang, GangPlanner& planner, Time now) {
  const auto& plugin = ProfileOf(id).gang_preemption;
  const WaitingGang& waiting = *gangs_.Find(gang);
  const std::size_t needed = NeededBy(gang);
  if (!plugin || needed == 0 || RoomIsComing(id, waiting, now)) return {};
  const Duration cooldown = plugin->plugin->gang_preemption_args().cooldown;
  if (waiting.evicted_at && now < *waiting.evicted_at + cooldown) return {};
  GangPreemptor preemptor(
      state_, planner,
      [this](PodId pod, NodeRow row) { return placer_.Fits(ProfileOf(pod), pod, row); },
      [this](PodId pod) { return backfill_ != nullptr && backfill_->times().Borrows(pod); });
  const std::vector<PodId> wanted =
      WantedInAll(state_, state_.gangs().Get(gang), waiting.ready, needed);
  GangRoom room = preemptor.Find(gang, wanted, needed);
  if (options_.observer != nullptr) options_.observer->OnPreemption(room.victims.size());
  return room;
}

std::vector<PodId> Core::RestOfGangs(PodId preemptor, const std::vector<PodId>& victims) {
  std::vector<PodId> rest;
  if (victims.empty() || !ProfileOf(preemptor).gang_preemption) return rest;
  for (const GangId gang : GangsBrokenBy(state_, victims)) {
    for (const PodId member : state_.gangs().Get(gang).members) {
      const cluster::Pod& pod = state_.pod(member);
      const bool may_go =
          pod.node.valid() && !pod.terminating && pod.priority < state_.pod(preemptor).priority;
      if (may_go && std::find(victims.begin(), victims.end(), member) == victims.end()) {
        rest.push_back(member);
      }
    }
  }
  return rest;
}

std::vector<std::pair<PodId, Placement>> Core::Shares(const GangRoom& room) {
  std::vector<std::pair<PodId, Placement>> shares;
  std::map<NodeRow, std::size_t> first_on;
  for (const auto& [member, row] : room.places) {
    if (!first_on.emplace(row, shares.size()).second) continue;
    Placement share;
    share.nominated = row;
    const framework::Profile& profile = ProfileOf(member);
    share.preempted_by =
        profile.gang_preemption ? profile.gang_preemption->index : profile.gangs->index;
    shares.emplace_back(member, std::move(share));
  }
  std::vector<PodId> elsewhere;
  for (const PodId victim : room.victims) {
    const auto host = first_on.find(state_.pod(victim).node);
    if (host == first_on.end()) {
      elsewhere.push_back(victim);
    } else {
      shares[host->second].second.victims.push_back(victim);
    }
  }
  const auto evicts = [](const auto& share) { return !share.second.victims.empty(); };
  const auto first = std::find_if(shares.begin(), shares.end(), evicts);
  if (!elsewhere.empty()) {
    (first == shares.end() ? shares.front() : *first).second.along = std::move(elsewhere);
  }
  std::erase_if(shares, [](const auto& share) {
    return share.second.victims.empty() && share.second.along.empty();
  });
  return shares;
}

}  // namespace knx::engine
