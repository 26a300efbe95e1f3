// Gangs that do not fit: making room for them, as for a pod, and waiting as a whole until it is
// made.
#include <algorithm>
#include <map>

#include "cluster/reservation_hold.h"
#include "engine/broken_gangs.h"
#include "engine/core.h"
#include "engine/demand_planner.h"
#include "engine/importance.h"

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

namespace {

// Whom it evicts in vain, because it fails before it is bound or does not fit all the same, comes
// back and would have to go again: the pause in between doubles.
Duration CooldownOf(const framework::GangPreemptionEntry& plugin, const WaitingGang& waiting) {
  constexpr std::uint32_t kMostDoublings = 6;
  const std::uint32_t again = waiting.evicted_at ? waiting.evicted_times - 1 : 0;
  const std::uint32_t in_vain = std::max(waiting.failures, again);
  const std::int64_t factor = std::int64_t{1} << std::min(in_vain, kMostDoublings);
  return plugin.plugin->gang_preemption_args().cooldown * factor;
}

}  // namespace

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
  const Duration cooldown = plugin->plugin->gang_preemption_args().cooldown;
  const auto is_made_for = [&](PodId comer) {
    const NodeRow row = state_.pod(comer).nominated;
    if (!row.valid() || !state_.nodes().has_node(row)) return false;
    const auto pods = state_.nodes().pods(row);
    return std::any_of(pods.begin(), pods.end(), [&](PodId victim) {
      return state_.pod(victim).priority < state_.pod(comer).priority &&
             GivesWay(state_.pod(victim), cooldown, now);
    });
  };
  if (std::any_of(waiting.ready.begin(), waiting.ready.end(), is_made_for)) return true;
  const Drivers::Driver* const driver = drivers_.empty() ? nullptr : drivers_.Of(GangOf(id));
  const Reservation* const places =
      driver == nullptr ? nullptr : reservations_.Find(driver->places);
  if (places == nullptr || places->stage() != ReservationStage::kMakingRoom) return false;
  const std::vector<PodId> holds = places->holds();
  return std::any_of(holds.begin(), holds.end(), is_made_for);
}

bool Core::MayMakeRoom(PodId id, const WaitingGang& waiting, Time now) {
  const auto& plugin = ProfileOf(id).gang_preemption;
  if (!plugin || RoomIsComing(id, waiting, now)) return false;
  return !waiting.evicted_at || now >= *waiting.evicted_at + CooldownOf(*plugin, waiting);
}

// Nothing need happen for it until it may evict others again.
std::optional<Time> Core::WhenToRetry(PodId id, const WaitingGang& waiting, Time now) {
  const auto& plugin = ProfileOf(id).gang_preemption;
  if (!plugin) return std::nullopt;
  constexpr Duration kMoment = Duration::Seconds(1);
  const Duration cooldown = std::max(CooldownOf(*plugin, waiting), kMoment);
  if (RoomIsComing(id, waiting, now)) return now + cooldown;
  const bool too_soon = waiting.evicted_at && now < *waiting.evicted_at + cooldown;
  return too_soon ? std::optional(*waiting.evicted_at + cooldown) : std::nullopt;
}

GangPreemptor Core::MakePreemptor(PodId id, GangPlanner& planner, Time now) {
  const Duration cooldown = ProfileOf(id).gang_preemption->plugin->gang_preemption_args().cooldown;
  // Long enough to try it with others, more than once. Not longer: it may have been a moment's
  // trouble, and others may be more important.
  constexpr std::int64_t kPausesSpared = 4;
  return {
      state_,
      planner,
      {.fits = [this](PodId pod, NodeRow row) { return FitsOn(pod, row); },
       .borrows =
           [this](PodId pod) { return backfill_ != nullptr && backfill_->times().Borrows(pod); },
       .spared = [this](PodId pod) { return !drivers_.empty() && driven_.IsForming(pod); },
       .expected_back = [this, id](PodId pod) { return driven_.IsExpectedBack(pod, id); },
       .refuses = [this, since = now - cooldown * kPausesSpared](
                      PodId pod) { return evictions_.WasRefused(state_.pod(pod).uid, since); },
       .gives_way = [this, cooldown,
                     now](PodId pod) { return GivesWay(state_.pod(pod), cooldown, now); },
       .may_use = [this](NodeRow row) { return placer_.MayUse(row); },
       .now = now}};
}

GangRoom Core::FindRoom(PodId id, const Aspirants& who, GangPlanner& planner, Time now) {
  const GangId gang = who.gang;
  GangPreemptor preemptor = MakePreemptor(id, planner, now);
  const auto choose = [&](std::span<const PodId> members, const std::function<void()>& clear) {
    return DemandPlanner(state_, planner, {gang, members, who.needed}).Choose(clear);
  };
  const bool choosy = IsChoosy(state_.gangs().Get(gang));
  const std::optional<GangDomains> domains = DomainsFor(state_, who, planner);
  GangRoom room = FindRoomIn(domains, [&] {
    return choosy ? preemptor.FindForSome(gang, who.ready, choose)
                  : preemptor.Find(gang, who.ready, who.needed);
  });
  const auto search = [&](std::span<const PodId> members) {
    GangPlan plan;
    SearchHere({gang, members, who.needed}, planner, plan);
    return plan.places;
  };
  if (room.places.empty()) {
    room = FindRoomIn(domains, [&] { return preemptor.FindBySearch(gang, who.ready, search); });
  }
  return room;
}

GangRoom Core::FindRoomInParts(PodId id, GangId gang, const Reservation* executors, Time now) {
  const WaitingGang& waiting = *gangs_.Find(gang);
  std::vector<PodId> comers = waiting.ready;
  if (executors != nullptr) {
    const std::vector<PodId> holds = executors->holds();
    comers.insert(comers.end(), holds.begin(), holds.end());
  }
  GangPlanner planner = MakePlanner();
  GangPreemptor preemptor = MakePreemptor(id, planner, now);
  const Aspirants who{gang, waiting.ready, NeededBy(gang)};
  const std::optional<GangDomains> domains = DomainsInParts(who, planner);
  GangRoom room = FindRoomIn(domains, [&] { return preemptor.Find(gang, comers, comers.size()); });
  const auto search = [&](std::span<const PodId> all) {
    GangPlan plan;
    ConcludeForAll(all, planner, plan);
    return plan.places;
  };
  if (room.places.empty()) {
    room = FindRoomIn(domains, [&] { return preemptor.FindBySearch(gang, comers, search); });
  }
  return room;
}

const framework::Profile& Core::JudgeOf(PodId id) {
  return cluster::IsHold(state_.pod(id)) ? profiles_[*reserving_] : ProfileOf(id);
}

// The least harm, then where there is most room already.
GangRoom Core::FindRoomIn(const std::optional<GangDomains>& domains,
                          const std::function<GangRoom()>& find_here) {
  if (!domains) return find_here();
  // Each costs as much as looking for room in a whole cluster of its size.
  constexpr std::size_t kMostTried = 16;
  GangRoom best;
  for (std::size_t i = 0; i < std::min(domains->all.size(), kMostTried); ++i) {
    const Placer::Confinement confinement(placer_, domains->all[i]);
    GangRoom room = find_here();
    if (room.places.empty()) continue;
    if (room.victims.empty()) return room;
    if (best.victims.empty() || room.harm < best.harm) best = std::move(room);
  }
  return best;
}

std::vector<PodId> Core::RestOfGangs(PodId preemptor, const std::vector<PodId>& victims) {
  std::vector<PodId> rest;
  if (victims.empty() || !ProfileOf(preemptor).gang_preemption) return rest;
  const auto add = [&](PodId member) {
    const cluster::Pod& pod = state_.pod(member);
    const bool may_go = pod.node.valid() && !pod.leaves() &&
                        pod.priority < state_.pod(preemptor).priority &&
                        !IsToStay(state_, member) && !driven_.IsForming(member);
    const bool known = std::find(victims.begin(), victims.end(), member) != victims.end() ||
                       std::find(rest.begin(), rest.end(), member) != rest.end();
    if (may_go && !known) rest.push_back(member);
  };
  for (const GangId gang : GangsBrokenBy(state_, victims)) {
    for (const PodId member : state_.gangs().Get(gang).members) add(member);
  }
  for (const PodId member : WithTheirSubGroups(state_, victims)) add(member);
  return rest;
}

std::vector<std::pair<PodId, Placement>> Core::Shares(const GangRoom& room) {
  std::vector<std::pair<PodId, Placement>> shares;
  std::map<NodeRow, std::size_t> first_on;
  for (const auto& [member, row] : room.places) {
    // What stands for pods to come evicts nobody by itself.
    if (cluster::IsHold(state_.pod(member))) continue;
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
