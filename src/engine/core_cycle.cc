// The way of one pod: a place, what has to happen before it can be bound there, the binding, or why
// not.
#include <fmt/format.h>

#include <algorithm>

#include "base/shortened.h"
#include "engine/broken_gangs.h"
#include "engine/core.h"
#include "engine/importance.h"
#include "k8s/names.h"

namespace knx::engine {

namespace names = k8s::names;
using cluster::NodeRow;
using cluster::PodId;
using framework::Code;
using framework::Outcome;

bool Core::ScheduleOne(Time now) {
  // What one of them gives up may be just what an older one waits for.
  while (reservations_due_) SettleReservations(now);
  SettleTouched(now);
  if (backfill_ != nullptr) ReleaseHeld(now);
  const std::optional<PodId> popped = queue_.Pop(now);
  if (!popped) return false;
  const PodId id = decided_ = *popped;
  decided_at_ = now;
  if (state_.pod(id).terminating) {
    EmitEvent(id, true, names::kEventFailedScheduling, names::kActionScheduling,
              fmt::format("skip schedule deleting pod: {}/{}",
                          state_.words().Text(state_.pod(id).namespace_), state_.pod(id).name));
    queue_.Remove(id);
    return true;
  }
  Decide(id, now);
  SettleTouched(now);
  return true;
}

void Core::Decide(PodId id, Time now) {
  if (const cluster::GangId gang = GangOf(id); gang.valid()) {
    return options_.extenders.empty() ? DecideGang(id, gang, now) : DecideAsking(id, gang, now);
  }
  if (!options_.extenders.empty() && StartRound(id, now)) return;
  Placement placement = PlaceOne(id, now);
  if (placement.node.valid()) {
    StartFlight(id, placement.node, now);
  } else {
    Refuse(id, std::move(placement), now);
  }
}

void Core::Refuse(PodId id, Placement placement, Time now) {
  placement.along = RestOfGangs(id, placement.victims);
  if (!placement.along.empty()) {
    const auto& plugin = ProfileOf(id).gang_preemption;
    const Duration cooldown = plugin->plugin->gang_preemption_args().cooldown;
    SpareBesidesGangs(
        state_, {placement.nominated, placement.victims, placement.along},
        [&](PodId pod) { return GivesWay(state_.pod(pod), cooldown, now); },
        [&] { return FitsOn(id, placement.nominated); });
  }
  std::optional<NodeRow> nominate = placement.nominated;
  if (!placement.nominated.valid() && placement.keep_nomination) nominate.reset();
  if (placement.tried_preemption && options_.observer != nullptr) {
    options_.observer->OnPreemption(placement.victims.size());
  }
  if (!placement.victims.empty()) AnnouncePlan(id, placement, now);
  Fail(id, placement.attempt, placement.message, nominate, now);
  if (!placement.victims.empty()) CarryOutPlan(id, placement, now);
  // It may have become a member of a gang while somebody was asked about it.
  NoteMember(id, now);
}

// ---- from the choice to the binding ----

void Core::StartFlight(PodId id, NodeRow row, Time now) {
  const NodeRow nominated = state_.pod(id).nominated;
  state_.ClearNomination(id);
  state_.Assume(id, row);
  NoteUse(id, now);
  YieldHolds(row);
  flights_[id] = {};
  // To a gang a member counts that a profile places which knows none.
  if (state_.pod(id).gang != nullptr) SettleGang(state_.gang_of(id), now);
  if (nominated.valid() && nominated != row) TellNominationGone(id, nominated, now);
  if (Reserve(id, row, now)) Continue(id, now);
}

// Asks those who reserve something; `by`: who did not.
Outcome Core::AskReserve(const framework::Profile& profile, PodId id, NodeRow row,
                         std::uint8_t& by) {
  for (const auto& entry : profile.reserve) {
    if (!entry.plugin->Reserves(state_.class_of(id))) continue;
    by = entry.index;
    if (Outcome outcome = entry.plugin->Reserve(ViewOf(id), row, state_); !outcome.ok()) {
      return outcome;
    }
  }
  return Outcome::Success();
}

bool Core::Reserve(PodId id, NodeRow row, Time now) {
  const framework::Profile& profile = ProfileOf(id);
  std::uint8_t by = 0;
  const Outcome outcome = AskReserve(profile, id, row, by);
  if (outcome.ok()) return true;
  FailedAttempt attempt;
  attempt.error = !outcome.rejected();
  if (!attempt.error) attempt.rejected_by.Add(by);
  FailOnNode(id, attempt,
             attempt.error ? fmt::format("running Reserve plugin \"{}\": {}",
                                         profile.plugins[by]->name(), outcome.reason)
                           : fmt::format("0/1 nodes are available: 1 {}.", outcome.reason),
             now);
  return false;
}

void Core::Unreserve(PodId id, NodeRow row, Time now) {
  const bool had_volumes = state_.volumes().FindPlan(id) != nullptr;
  const framework::Profile& profile = ProfileOf(id);
  for (auto entry = profile.reserve.rbegin(); entry != profile.reserve.rend(); ++entry) {
    entry->plugin->Unreserve(ViewOf(id), row, state_);
  }
  if (!had_volumes) return;
  // Volumes that were promised to the pod are there for others again.
  framework::ClusterEvent event;
  event.kind = framework::EventKind::kVolumeUpdate;
  Tell(event, now);
}

void Core::Continue(PodId id, Time now) {
  for (;;) {
    if (const auto result = AskStep(id, nullptr)) {
      if (!ApplyStep(id, *result, now)) return;
      continue;
    }
    Flight& flight = flights_.at(id);
    if (flight.step == FlightStep::kPreBind) {
      return flight.departure != 0 ? AwaitGang(id, now) : StartBinding(id, now);
    }
    // Up to here the pod may be found unschedulable; from here on it can only fail.
    queue_.Done(id);
    flight.step = FlightStep::kPreBind;
    flight.plugin = 0;
  }
}

std::optional<framework::StepResult> Core::AskStep(PodId id, const framework::Answer* answer) {
  const framework::Profile& profile = ProfileOf(id);
  Flight& flight = flights_.at(id);
  const NodeRow row = state_.pod(id).node;
  if (flight.step == FlightStep::kPermit) {
    if (flight.plugin >= profile.permit.size()) return std::nullopt;
    const framework::PermitPlugin& plugin = *profile.permit[flight.plugin].plugin;
    return answer == nullptr ? plugin.Permit(ViewOf(id), row)
                             : plugin.ResumePermit(ViewOf(id), row, *answer);
  }
  const cluster::PodClass& pod_class = state_.class_of(id);
  while (answer == nullptr && flight.plugin < profile.pre_bind.size() &&
         !profile.pre_bind[flight.plugin].plugin->PreBinds(pod_class)) {
    ++flight.plugin;
  }
  if (flight.plugin >= profile.pre_bind.size()) return std::nullopt;
  const framework::PreBindPlugin& plugin = *profile.pre_bind[flight.plugin].plugin;
  return answer == nullptr ? plugin.PreBind(ViewOf(id), row)
                           : plugin.ResumePreBind(ViewOf(id), row, *answer);
}

bool Core::ApplyStep(PodId id, const framework::StepResult& result, Time now) {
  const framework::Profile& profile = ProfileOf(id);
  Flight& flight = flights_.at(id);
  const bool permit = flight.step == FlightStep::kPermit;
  const std::uint8_t plugin =
      permit ? profile.permit[flight.plugin].index : profile.pre_bind[flight.plugin].index;
  if (result.outcome.ok()) {
    ++flight.plugin;
    flight.recheck_until.reset();
    return true;
  }
  const std::string name(profile.plugins[plugin]->name());
  if (result.outcome.code == Code::kWait && result.question) {
    flight.deadline = now + std::min(result.question->timeout, options_.max_wait);
    flight.action = Emit(
        AskOutside{RefTo(id), name, state_.nodes().name(state_.pod(id).node), *result.question});
    awaited_.emplace(flight.action, id);
    question_deadlines_.emplace(flight.deadline, flight.action);
    return false;
  }
  if (result.outcome.code == Code::kWait && result.recheck) {
    AwaitRecheck(id, *result.recheck, now);
    return false;
  }
  FailedAttempt attempt;
  if (result.outcome.rejected() && permit) {
    attempt.rejected_by.Add(plugin);
    FailOnNode(id, attempt, fmt::format("0/1 nodes are available: 1 {}.", result.outcome.reason),
               now);
  } else {
    attempt.error = !result.outcome.rejected();
    FailOnNode(id, attempt,
               attempt.error
                   ? fmt::format("running {} plugin \"{}\": {}", permit ? "Permit" : "PreBind",
                                 name, result.outcome.reason)
                   : result.outcome.reason,
               now);
  }
  return false;
}

void Core::AwaitRecheck(PodId id, const framework::Recheck& recheck, Time now) {
  Flight& flight = flights_.at(id);
  if (!flight.recheck_until) flight.recheck_until = now + recheck.timeout;
  flight.deadline = std::min(now + recheck.every, *flight.recheck_until);
  flight.action = ++last_action_;
  awaited_.emplace(flight.action, id);
  question_deadlines_.emplace(flight.deadline, flight.action);
}

void Core::AwaitStatus(PodId id, ActionId patch) {
  Flight& flight = flights_.at(id);
  flight.step = FlightStep::kStatus;
  flight.action = patch;
  awaited_.emplace(patch, id);
}

ActionId Core::StatusUnderWay(PodId id) const {
  const auto written = conditions_.find(id);
  return written == conditions_.end() ? 0 : written->second.patch;
}

void Core::StartBinding(PodId id, Time now) {
  const ActionId patch = StatusUnderWay(id);
  patch != 0 ? AwaitStatus(id, patch) : SendBinding(id, now);
}

void Core::SendBinding(PodId id, Time now) {
  const framework::Profile& profile = ProfileOf(id);
  const NodeRow row = state_.pod(id).node;
  Flight& flight = flights_.at(id);
  if (IsCrowdedOut(id, flight)) {
    FailedAttempt attempt;
    attempt.error = true;
    return FailOnNode(id, attempt, "somebody else has taken the room on the node", now);
  }
  flight.step = FlightStep::kBind;
  if (!options_.extenders.empty() && flight.asks_extender && BindByExtender(id, now)) return;
  for (flight.plugin = 0; flight.plugin < profile.bind.size(); ++flight.plugin) {
    const Outcome outcome = profile.bind[flight.plugin].plugin->Bind(ViewOf(id), row);
    if (outcome.code == Code::kSkip) continue;
    if (!outcome.ok()) return OnBindingFinished(id, outcome.reason, now);
    flight.action = Emit(BindPod{RefTo(id), state_.nodes().name(row)});
    flight.deadline = now + options_.max_wait;
    awaited_.emplace(flight.action, id);
    answer_deadlines_.emplace_back(flight.deadline, flight.action);
    return;
  }
  flight.plugin = 0;
  OnBindingFinished(id, "every bind plugin passed the pod on", now);
}

// ---- answers ----

void Core::OnActionFinished(const ActionFinished& finished, Time now) {
  if (const auto patch = patches_.find(finished.action); patch != patches_.end()) {
    const auto written = conditions_.find(patch->second);
    if (written != conditions_.end() && written->second.patch == finished.action) {
      written->second.patch = 0;
      // What could not be written is written again with the next attempt.
      written->second.unwritten = finished.failure.has_value();
    }
    patches_.erase(patch);
    DropAnswered();
  }
  if (evictions_.Awaits(finished.action)) return OnEvictionFinished(finished, now);
  if (!reservations_.empty()) OnReservationWritten(finished, now);
  group_conditions_.OnWritten(finished, now);
  const auto awaited = awaited_.find(finished.action);
  if (awaited == awaited_.end()) return;
  const PodId id = awaited->second;
  if (flights_.at(id).step == FlightStep::kBind)
    return OnBindingFinished(id, finished.failure, now);
  awaited_.erase(awaited);
  flights_.at(id).departure != 0 ? AwaitGang(id, now) : SendBinding(id, now);
}

void Core::OnBindingFinished(PodId id, const std::optional<std::string>& failure, Time now) {
  const framework::Profile& profile = ProfileOf(id);
  const NodeRow row = state_.pod(id).node;
  if (!failure) {
    EmitEvent(id, false, names::kEventScheduled, names::kActionBinding,
              fmt::format("Successfully assigned {}/{} to {}",
                          state_.words().Text(state_.pod(id).namespace_), state_.pod(id).name,
                          state_.nodes().name(row)));
    for (const auto& entry : profile.post_bind) entry.plugin->PostBind(ViewOf(id), row);
    state_.SettleVolumes(id);
    CountBound(id, now);
    EndFlight(id);
    NoteBound(id);
    TellAttempt(id, AttemptResult::kScheduled, "");
    queue_.Remove(id);
    conditions_.erase(id);
    failed_on_.erase(id);
    return;
  }
  if (!state_.pod(id).assumed) {
    // It is bound all the same: our answer was lost, or somebody else was faster.
    state_.SettleVolumes(id);
    EndFlight(id);
    NoteBound(id);
    TellAttempt(id, AttemptResult::kError, *failure);
    queue_.Remove(id);
    return;
  }
  FailedAttempt attempt;
  attempt.error = true;
  Flight& flight = flights_.at(id);
  if (flight.binder) {
    if (!options_.extenders[*flight.binder].ignorable)
      return FailOnNode(id, attempt, *failure, now);
    awaited_.erase(flight.action);
    flight.binder.reset();
    flight.asks_extender = false;
    return SendBinding(id, now);
  }
  const std::uint8_t plugin = profile.bind[flight.plugin].index;
  FailOnNode(
      id, attempt,
      fmt::format("running Bind plugin \"{}\": {}", profile.plugins[plugin]->name(), *failure),
      now);
}

void Core::OnAnswer(const QuestionAnswered& answered, Time now) {
  const auto it = awaited_.find(answered.action);
  if (it != awaited_.end()) Resume(it->second, answered.answer, now);
}

void Core::Resume(PodId id, const framework::Answer& answer, Time now) {
  Flight& flight = flights_.at(id);
  if (flight.step != FlightStep::kPermit && flight.step != FlightStep::kPreBind) return;
  awaited_.erase(flight.action);
  question_deadlines_.erase({flight.deadline, flight.action});
  flight.action = 0;
  const auto result = AskStep(id, &answer);
  if (result && ApplyStep(id, *result, now)) Continue(id, now);
}

void Core::EndFlight(PodId id) {
  const auto it = flights_.find(id);
  if (it->second.gang.valid()) gang_bindings_.erase(it->second.gang);
  awaited_.erase(it->second.action);
  question_deadlines_.erase({it->second.deadline, it->second.action});
  flights_.erase(it);
  DropAnswered();
}

bool Core::IsAwaited(ActionId action) const {
  return awaited_.contains(action) || patches_.contains(action) || evictions_.Awaits(action);
}

void Core::DropAnswered() {
  while (!answer_deadlines_.empty() && !IsAwaited(answer_deadlines_.front().second)) {
    answer_deadlines_.pop_front();
  }
}

// ---- time ----

void Core::Advance(Time now) {
  queue_.Advance(now);
  MeetDeadlines(now);
  if (reservations_.PopMoments(now)) SettleReservations(now);
  SettleTouched(now);
  WriteGroupConditions(now);
}

void Core::MeetDeadlines(Time now) {
  while (!answer_deadlines_.empty() && answer_deadlines_.front().first <= now) {
    const ActionId action = answer_deadlines_.front().second;
    if (!IsAwaited(action)) {
      answer_deadlines_.pop_front();
      continue;
    }
    OnActionFinished(
        {action, fmt::format("no answer within {}", FormatDuration(options_.max_wait))}, now);
  }
  while (!question_deadlines_.empty() && question_deadlines_.begin()->first <= now) {
    const PodId id = awaited_.at(question_deadlines_.begin()->second);
    const std::optional<Time> recheck_until = flights_.at(id).recheck_until;
    Resume(id,
           {recheck_until && now < *recheck_until, "no answer in time", recheck_until.has_value()},
           now);
  }
  while (const auto overdue = rounds_.Overdue(now)) {
    OnExtenderAnswer({*overdue, {.failure = "no answer in time"}}, now);
  }
  while (const auto overdue = gang_extenders_.Overdue(now)) {
    OnExtenderAnswer({*overdue, {.failure = "no answer in time"}}, now);
  }
  while (const auto plan = evictions_.PopPaused(now)) EndPlan(*plan, now);
  EndLateDepartures(now);
  MakeReports(now);
  RenewPromises(now);
}

Time Core::NextWake() const {
  Time wake = queue_.NextWake();
  if (!answer_deadlines_.empty()) wake = std::min(wake, answer_deadlines_.front().first);
  if (!question_deadlines_.empty()) wake = std::min(wake, question_deadlines_.begin()->first);
  wake = std::min({wake, rounds_.NextWake(), gang_extenders_.NextWake(), gangs_.NextReport(),
                   reservations_.NextMoment(), departures_.NextLate()});
  if (backfill_ != nullptr) wake = std::min(wake, backfill_->NextWake());
  return std::min({wake, evictions_.NextWake(), group_conditions_.NextWrite()});
}

Time Core::NextChange() const {
  Time next = std::min(gangs_.NextReport(), group_conditions_.NextWrite());
  for (const auto& [key, reservation] : reservations_.all()) {
    // What is only planned for a driver keeps nobody from anything: nobody sees its end.
    const std::vector<PodId> holds = reservation.holds();
    const bool only_planned = reservation.stage() == ReservationStage::kMakingRoom &&
                              std::none_of(holds.begin(), holds.end(), [this](PodId hold) {
                                return state_.pod(hold).nominated.valid();
                              });
    if (reservation.over() || only_planned) continue;
    const bool to_come = reservation.stage() == ReservationStage::kPlanned;
    next = std::min(next, to_come ? reservation.begins : reservation.ends);
  }
  const bool held = backfill_ != nullptr && backfill_->HoldsSomebody();
  return held ? std::min(next, backfill_->NextWake()) : next;
}

// ---- actions ----

PodRef Core::RefTo(PodId id) const {
  const cluster::Pod& pod = state_.pod(id);
  return {std::string(state_.words().Text(pod.namespace_)), pod.name, pod.uid};
}

void Core::EmitEvent(PodId id, bool warning, std::string_view reason, std::string_view action,
                     std::string note) {
  // The API server's limit, and how kube-scheduler keeps to it.
  constexpr std::size_t kLongestNote = 1024;
  if (note.size() > kLongestNote) note = Shortened(note, kLongestNote, " ...");
  Emit(RecordEvent{RefTo(id), warning, std::string(reason), std::string(action), std::move(note),
                   state_.class_of(id).spec.scheduler_name, std::nullopt});
}

}  // namespace knx::engine
