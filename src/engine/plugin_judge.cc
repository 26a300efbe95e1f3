#include "engine/plugin_judge.h"

#include "base/check.h"

namespace knx::engine {

using framework::ClusterEvent;
using framework::EventKind;

PluginJudge::PluginJudge(const cluster::State& state,
                         const std::vector<framework::Profile>& profiles, const GangBook& gangs)
    : state_(state), profiles_(profiles), gangs_(gangs) {
  for (std::uint32_t p = 0; p < profiles.size(); ++p) {
    orders_ |= profiles[p].gangs.has_value();
    auto& by_kind = interested_.emplace_back(static_cast<std::size_t>(EventKind::kCount));
    for (std::size_t i = 0; i < profiles[p].plugins.size(); ++i) {
      const framework::EventSet events = profiles[p].plugins[i]->events();
      for (std::size_t kind = 0; kind < by_kind.size(); ++kind) {
        if (events.Contains(static_cast<EventKind>(kind)))
          by_kind[kind].Add(static_cast<std::uint8_t>(i));
      }
    }
  }
}

std::optional<std::uint32_t> PluginJudge::FindProfile(cluster::PodId pod) const {
  // There are few, and this is asked about every waiting pod at every event.
  const std::string& name = state_.class_of(pod).spec.scheduler_name;
  for (std::uint32_t p = 0; p < profiles_.size(); ++p) {
    if (profiles_[p].scheduler_name == name) return p;
  }
  return std::nullopt;
}

std::uint32_t PluginJudge::ProfileOf(cluster::PodId pod) {
  const auto profile = FindProfile(pod);
  KNX_CHECK(profile.has_value(), "a pod of another scheduler is in the queue");
  return *profile;
}

std::optional<std::uint8_t> PluginJudge::Gate(cluster::PodId pod) {
  const cluster::Pod& record = state_.pod(pod);
  const framework::PodView view{state_, state_.classes().Get(record.pod_class), pod};
  const framework::Profile& profile = profiles_[ProfileOf(pod)];
  for (const auto& entry : profile.pre_enqueue) {
    if (!entry.plugin->PreEnqueue(view).ok()) return entry.index;
  }
  if (record.gang != nullptr && HeldByGang(pod)) return profile.gangs->index;
  return std::nullopt;
}

bool PluginJudge::HeldByGang(cluster::PodId pod) const {
  const auto& membership = state_.pod(pod).gang;
  if (membership == nullptr || GangPluginOf(pod) == nullptr) return false;
  const bool for_itself = membership->declared.problem.empty() && !state_.gang_of(pod).valid();
  if (for_itself) return false;
  const WaitingGang* const gang = GangOf(pod);
  return gang == nullptr || gang->stands != pod;
}

const framework::GangEntry* PluginJudge::GangPluginOf(cluster::PodId pod) const {
  const auto profile = FindProfile(pod);
  return profile && profiles_[*profile].gangs ? &*profiles_[*profile].gangs : nullptr;
}

const WaitingGang* PluginJudge::GangOf(cluster::PodId pod) const {
  if (gangs_.size() == 0) return nullptr;
  const cluster::GangId id = state_.gang_of(pod);
  return id.valid() && GangPluginOf(pod) != nullptr ? gangs_.Find(id) : nullptr;
}

namespace {

std::int32_t BoostOf(const framework::GangArgs& args, cluster::Tier tier) {
  switch (tier) {
    case cluster::Tier::kGold:
      return args.gold_boost;
    case cluster::Tier::kSilver:
      return args.silver_boost;
    case cluster::Tier::kBronze:
      return args.bronze_boost;
    case cluster::Tier::kNone:
      break;
  }
  return 0;
}

}  // namespace

std::optional<Seniority> PluginJudge::OrderedBy(const framework::GangEntry* plugin,
                                                cluster::PodId pod) const {
  const WaitingGang* const gang = GangOf(pod);
  const bool incomplete = gang != nullptr && gang->incomplete;
  // It minds for itself that nobody waits for ever.
  if (order_ && !incomplete) {
    if (const std::optional<Time> order = order_(pod)) return Seniority{.since = order};
  }
  if (plugin == nullptr) return std::nullopt;
  const framework::GangArgs& args = plugin->plugin->gang_args();
  Seniority seniority{.keeps_age = true,
                      .boost = BoostOf(args, state_.profile_of(pod).tier),
                      .starved_boost = args.starvation_boost,
                      .starves_after = args.starvation_wait};
  // A gang is as old as its first member, and one that holds room and does no work older than all.
  if (gang != nullptr) seniority.since = incomplete ? Time{} : gang->since;
  return seniority;
}

bool PluginJudge::GoesFirst(cluster::PodId pod) {
  const WaitingGang* const gang = GangOf(pod);
  return gang != nullptr && gang->incomplete;
}

std::string PluginJudge::GateReason(cluster::PodId pod) const {
  const framework::PodView view{state_, state_.class_of(pod), pod};
  const auto profile = FindProfile(pod);
  if (!profile) return {};
  for (const auto& entry : profiles_[*profile].pre_enqueue) {
    framework::Outcome outcome = entry.plugin->PreEnqueue(view);
    if (!outcome.ok()) return std::move(outcome.reason);
  }
  if (!HeldByGang(pod)) return {};
  const cluster::GangMembership& membership = *state_.pod(pod).gang;
  if (!membership.declared.problem.empty()) return membership.declared.problem;
  const WaitingGang* const waiting = GangOf(pod);
  // Where somebody stands for the gang, what became of its last attempt says more.
  if (waiting == nullptr || waiting->stands.valid()) return {};
  const cluster::Gang& gang = state_.gangs().Get(membership.id);
  const std::size_t known = gang.placed + gang.finished + waiting->ready.size();
  const bool enough = known >= static_cast<std::size_t>(gang.minimum);
  if (enough && GangBook::FillParts(state_, membership.id, *waiting)) return {};
  return WhatIsMissing(state_, membership.id, *waiting);
}

PluginSet PluginJudge::Interested(cluster::PodId pod, EventKind kind) {
  return interested_[ProfileOf(pod)][static_cast<std::size_t>(kind)];
}

namespace {

// A pod has given up its room, or room that was kept for it.
bool IsGone(EventKind kind) {
  return kind == EventKind::kAssignedPodDelete || kind == EventKind::kUnassignedPodDelete;
}

}  // namespace

// Who stands for a gang waits for what helps any of the members that found no place.
bool PluginJudge::MayHelp(cluster::PodId pod, std::uint8_t plugin, const ClusterEvent& event) {
  return state_.pod(pod).gang == nullptr ? Helps(pod, plugin, event)
                                         : HelpsGangOf(pod, plugin, event);
}

bool PluginJudge::HelpsGangOf(cluster::PodId pod, std::uint8_t plugin, const ClusterEvent& event) {
  const WaitingGang* const gang = GangOf(pod);
  if (gang == nullptr || gang->stands != pod) return Helps(pod, plugin, event);
  const bool of_member = !IsGone(event.kind) && state_.pods().Contains(event.pod) &&
                         !state_.pod(event.pod).node.valid() &&
                         state_.gang_of(event.pod) == state_.gang_of(pod);
  // A member has changed itself.
  if (of_member && FindProfile(event.pod) == FindProfile(pod)) {
    return Helps(event.pod, plugin, event);
  }
  bool named = false;
  for (const BlockedKinds::Kind& kind : gang->blocked.all()) {
    if (!kind.Names(plugin)) continue;
    named = true;
    if (!kind.pod.valid() || Helps(kind.pod, plugin, event)) return true;
  }
  return !named && Helps(pod, plugin, event);
}

bool PluginJudge::Helps(cluster::PodId pod, std::uint8_t plugin, const ClusterEvent& event) {
  const cluster::Pod& record = state_.pod(pod);
  const std::pair who(std::uint64_t{record.pod_class.index} << 32 | record.kin.index, plugin);
  // What helps a gang is its own matter: pods that are alike may be of different ones.
  const framework::GangEntry* const gangs = record.gang == nullptr ? nullptr : GangPluginOf(pod);
  const bool of_gang = gangs != nullptr && gangs->index == plugin;
  const bool own = event.pod.valid() && event.pod == pod;
  const bool gone = IsGone(event.kind);
  // What a pod itself gave up cannot help it.
  if (own && gone) return false;
  // Room that was kept for a pod was kept from those only that are no more important.
  const bool kept = gone && !event.pod_now.node.valid() && event.pod_now.nominated.valid();
  if (kept && state_.pod(pod).priority > event.pod_now.priority) return false;
  if (!own && !of_gang) {
    const auto known = answers_.find(who);
    if (known != answers_.end()) return known->second;
  }
  const framework::PodView view{state_, state_.class_of(pod), pod};
  const bool may_help = profiles_[ProfileOf(pod)].plugins[plugin]->MayHelp(event, view);
  if (!own && !of_gang) answers_.emplace(who, may_help);
  return may_help;
}

}  // namespace knx::engine
