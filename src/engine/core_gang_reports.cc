// What is said of gangs that miss members or places, and when; and who has to go at the end of the
// grace.
#include <fmt/format.h>

#include <algorithm>

#include "engine/core.h"
#include "k8s/names.h"

namespace knx::engine {

namespace names = k8s::names;
using cluster::GangId;
using cluster::PodId;

void Core::PlanReports(GangId id, WaitingGang& waiting, bool missing, Time now) {
  const cluster::Gang& gang = state_.gangs().Get(id);
  const framework::GangArgs args = GangArgsOf(gang);
  if (missing) gangs_.SetTellReport(id, std::nullopt);  // it waits for something else now
  if (!missing || waiting.ready.empty()) {
    gangs_.SetMissingReport(id, std::nullopt);
    waiting.said_missing = 0;
  } else if (!waiting.missing_report && waiting.said_missing != waiting.ready.size()) {
    gangs_.SetMissingReport(id, now + args.straggler_wait);
  }
  if (waiting.found_alone && !waiting.ready.empty()) {
    waiting.found_alone = waiting.said_incomplete = false;
  }
  if (waiting.were_enough > gang.placed + gang.finished) {
    // Now it has lost somebody, too.
    waiting.were_enough = 0;
    waiting.said_incomplete = false;
    gangs_.SetIncompleteReport(id, std::nullopt);
  }
  if (IsIncomplete(id)) {
    gangs_.BeginGrace(id, std::max(now + args.grace, waiting.ask_again));
  } else {
    gangs_.SuspendGrace(id, gang.members, [&](PodId pod) { return IsOnItsWay(id, pod); });
  }
}

void Core::MakeReports(Time now) {
  while (const auto due = gangs_.PopReport(now)) {
    WaitingGang& waiting = *gangs_.Find(due->gang);
    if (due->missing) {
      waiting.said_missing = waiting.ready.size();
      TellGang(due->gang, GangOutcome::kMembersMissing, waiting.ready.size(), now - waiting.since);
      const std::string message = WhatIsMissing(state_, due->gang, waiting);
      const std::vector<PodId> members = waiting.ready;
      for (const PodId member : members) {
        // It keeps no room for which others made way, or in which its binding was refused.
        ReportIfNew(member, names::kReasonWaitingForGang, message, now, NodeRow{});
      }
    }
    if (due->tell) {
      waiting.told_at = now;
      const std::vector<PodId> members = waiting.ready;
      for (const PodId member : members) {
        ReportIfNew(member, waiting.untold_reason, waiting.untold, now);
      }
    }
    if (due->incomplete) ReportIncomplete(due->gang, waiting, now);
    if (due->retry && waiting.stands.valid()) queue_.Activate(waiting.stands, now);
  }
}

void Core::ReportIncomplete(GangId id, WaitingGang& waiting, Time now) {
  waiting.said_incomplete = true;
  const cluster::Gang& gang = state_.gangs().Get(id);
  TellGang(id, GangOutcome::kIncomplete, gang.placed, now - waiting.since);
  const bool stays = waiting.found_alone || waiting.were_enough > 0;
  const std::string message =
      fmt::format("pod group {} is incomplete: {}", GangName(state_, id), WhoHasAPlace(state_, id));
  for (const PodId member : gang.members) {
    const framework::GangEntry* const plugin = judge_.GangPluginOf(member);
    const cluster::Pod& pod = state_.pod(member);
    if (!pod.node.valid() || pod.leaves() || plugin == nullptr) continue;
    EmitEvent(member, true, names::kEventGangIncomplete, names::kActionScheduling, message);
    const framework::GangArgs& args = plugin->plugin->gang_args();
    if (!args.evict_incomplete || stays) continue;
    // Who is on its way may come back by itself; if it does not it is asked after another grace.
    constexpr Duration kMoment = Duration::Seconds(1);
    gangs_.SetIncompleteReport(id, now + std::max(GangArgsOf(gang).grace, kMoment));
    if (flights_.contains(member)) continue;
    const ActionId action = Emit(
        EvictPod{RefTo(member), std::nullopt, std::string(names::kEventGangIncomplete), message});
    answer_deadlines_.emplace_back(now + options_.max_wait, action);
    evictions_.Ask(action, RefTo(member));
    // From now on it is none of those with whom the others would be enough.
    state_.SetEvicted(member, true);
    // Who is still there then is asked again; without a grace not at once, for nothing has
    // happened.
    waiting.ask_again = now + kMoment;
  }
  SettleGang(id, now);
}

// ---- gangs that ask for more than they did ----

std::size_t Core::EnoughOf(GangId id) const {
  if (!id.valid() || !state_.gangs().Contains(id)) return 0;
  const cluster::Gang& gang = state_.gangs().Get(id);
  const bool has_places = gang.together() && !gang.awaits_object() && gang.placed > 0;
  return has_places && !IsIncomplete(id) ? gang.placed + gang.finished : 0;
}

void Core::NoteGrown(GangId id, std::size_t were_enough, Time now) {
  if (were_enough == 0 || !IsIncomplete(id)) return;
  const cluster::Gang& gang = state_.gangs().Get(id);
  if (gang.placed + gang.finished < were_enough) return;  // it has lost somebody
  gangs_.Open(id, now).were_enough = were_enough;
}

}  // namespace knx::engine
