// Gangs: one member stands for the gang in the queue; when its turn comes, all are planned
// together, and set out together (core_departures.cc).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "base/check.h"
#include "engine/core.h"
#include "engine/enough_in_all.h"
#include "engine/gang_planner.h"
#include "engine/importance.h"
#include "k8s/names.h"

namespace knx::engine {

namespace names = k8s::names;
using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

GangId Core::GangOf(PodId id) const {
  const GangId gang = state_.gang_of(id);
  return gang.valid() && judge_.GangPluginOf(id) != nullptr ? gang : GangId{};
}

// ---- who waits ----

bool Core::IsReady(PodId id) const {
  const Queue::View view = queue_.Get(id);
  const bool waits = queue_.Contains(id) && view.place != QueuePlace::kInFlight;
  const bool held_elsewhere =
      view.place == QueuePlace::kGated && view.gate != judge_.GangPluginOf(id)->index;
  return waits && !held_elsewhere && !state_.pod(id).terminating;
}

void Core::NoteMember(PodId id, Time now) {
  if (state_.pod(id).gang == nullptr) return;
  // A member that others place counts, too.
  if (judge_.GangPluginOf(id) == nullptr) return SettleGang(state_.gang_of(id), now);
  if (const std::string& problem = state_.pod(id).gang->declared.problem; !problem.empty()) {
    return ReportIfNew(id, names::kReasonSchedulerError, problem, now);
  }
  NoteConflict(id);
  const GangId gang = state_.gang_of(id);
  if (!gang.valid()) return;
  if (state_.pod(id).making_room) {
    // That was for itself. A gang waits as a whole.
    state_.SetMakingRoom(id, false);
    queue_.AskGateAgain(id, now);
  }
  if (!IsReady(id)) return ForgetMember(gang, id, now);
  WaitingGang& waiting = gangs_.Open(gang, now);
  const std::size_t others = waiting.ready.size();
  GangBook::SetReady(waiting, id, true);
  const bool joined = waiting.ready.size() > others;
  NoteConflictsIn(gang, waiting);
  // Somebody who waits takes nothing from those who have a place, but may want more to have one.
  if (joined && !waiting.incomplete && IsIncomplete(gang)) {
    waiting.were_enough = state_.gangs().Get(gang).placed + state_.gangs().Get(gang).finished;
  }
  SettleGang(gang, now);
  if (joined) TryAgainWith(gang, now);
}

void Core::TryAnew(PodId id, Time now) {
  const WaitingGang* const waiting = gangs_.Find(GangOf(id));
  if (waiting != nullptr && waiting->stands.valid()) id = waiting->stands;
  if (!queue_.Contains(id) || queue_.Get(id).place != QueuePlace::kUnschedulable) return;
  queue_.Activate(id, now);
}

// With one more it may fit that did not. If not, the new one has to say why it waits.
void Core::TryAgainWith(GangId gang, Time now) {
  const WaitingGang* const waiting = gang.valid() ? gangs_.Find(gang) : nullptr;
  if (waiting == nullptr || !waiting->stands.valid()) return;
  if (queue_.Get(waiting->stands).place != QueuePlace::kUnschedulable) return;
  framework::ClusterEvent any;
  any.kind = framework::EventKind::kForced;
  queue_.Update(waiting->stands, state_.pod(waiting->stands).priority, std::span(&any, 1), now);
}

void Core::ForgetMember(GangId gang, PodId id, Time now) {
  if (!gang.valid()) return;
  if (WaitingGang* const waiting = gangs_.Find(gang)) GangBook::SetReady(*waiting, id, false);
  RevisitGang(gang, now);
}

void Core::RevisitGang(GangId gang, Time now) {
  if (!gang.valid()) return;
  if (backfill_ != nullptr && !state_.gangs().Contains(gang)) backfill_->Forget(gang);
  // Who has a place and misses the others is heard of, also when nobody else waits.
  if (IsIncomplete(gang)) gangs_.Open(gang, now);
  SettleGang(gang, now);
}

void Core::SettleGang(GangId id, Time now) {
  if (!drivers_.empty()) SettleDriver(id, now);
  WaitingGang* const waiting = id.valid() ? gangs_.Find(id) : nullptr;
  if (waiting == nullptr) return;
  // What was a gang by this id may be gone, and another be there that is none.
  if (!state_.gangs().Contains(id) || !state_.gangs().Get(id).together()) return CloseGang(id);
  const bool incomplete = IsIncomplete(id);
  const bool reorder = std::exchange(waiting->incomplete, incomplete) != incomplete;
  const bool enough = MayStand(id, *waiting);
  if (enough && !waiting->stands.valid()) {
    Promote(*waiting, now);
  } else if (!enough && waiting->stands.valid()) {
    queue_.AskGateAgain(std::exchange(waiting->stands, {}), now);
  } else if (reorder && waiting->stands.valid()) {
    queue_.Reorder(waiting->stands, now);
  }
  // It was confined to where others of it are, and they are elsewhere now, or nowhere.
  const bool confined = waiting->stands.valid() && waiting->pin;
  if (confined && waiting->pin != PinOf(state_, state_.gangs().Get(id))) {
    waiting->pin.reset();
    TryAgainWith(id, now);
  }
  if (AsksForLess(id, *waiting)) TryAgainWith(id, now);
  GangBook::SetAlso(*waiting, driven_.WhyNotInParts(id));
  // What extenders said is for an attempt that is not made.
  if (!waiting->stands.valid() && !gang_extenders_.Waits(id)) gang_extenders_.End(id);
  PlanReports(id, *waiting, !HasEnough(id, *waiting), now);
}

bool Core::AsksForLess(GangId id, WaitingGang& waiting) {
  const std::uint64_t version = state_.gangs().Get(id).version;
  if (!waiting.stands.valid() || !waiting.asked) return false;
  // Plans that were taken back count as changes, too.
  if (std::exchange(waiting.asked_version, version) == version) return false;
  GangDemand demand = DemandOf(state_, gangs_, id, waiting);
  if (!demand.MayBeMetAfter(*waiting.asked)) return false;
  waiting.asked = std::move(demand);
  return true;
}

bool Core::MayStand(GangId id, const WaitingGang& waiting) const {
  return HasEnough(id, waiting) && !MakesRoom(id) && !gang_extenders_.Waits(id) && !IsBeginning(id);
}

void Core::CloseGang(GangId id) {
  gangs_.Close(id);
  gang_extenders_.End(id);
}

bool Core::HasEnough(GangId id, const WaitingGang& waiting) const {
  return !waiting.ready.empty() &&
         (gangs_.AreEnough(state_, id, waiting) || driven_.MayStartInParts(id));
}

bool Core::IsIncomplete(GangId id) const {
  if (!state_.gangs().Contains(id)) return false;
  const cluster::Gang& gang = state_.gangs().Get(id);
  if (gang.placed == 0 || NeededBy(id) == 0 || gang.awaits_object()) return false;
  // A driver that runs, and whose pods have their places kept, misses nobody. Those whose driver
  // waits miss it, however it may start.
  if (driven_.MayStartInParts(id) && driven_.AwaitsExecutors(id)) return false;
  // Where no profile of its members knows gangs nobody misses anything.
  return std::any_of(gang.members.begin(), gang.members.end(),
                     [this](PodId member) { return judge_.GangPluginOf(member) != nullptr; });
}

bool Core::IsOnItsWay(GangId id, PodId member) const {
  return flights_.contains(member) && state_.gang_of(member) == id;
}

std::size_t Core::NeededBy(GangId id) const { return gangs_.NeededBy(state_, id); }

namespace {

// Of the members that have a place; kNever: none has begun.
Time FirstStart(const cluster::State& state, GangId id) {
  Time first = kNever;
  for (const PodId member : state.gangs().Get(id).members) {
    if (state.pod(member).node.valid()) first = std::min(first, StartOf(state.pod(member)));
  }
  return first;
}

// When the last of those that wait was made.
Time LastMade(const cluster::State& state, const WaitingGang& waiting) {
  Time last;
  for (const PodId member : waiting.ready) last = std::max(last, state.pod(member).created);
  return last;
}

}  // namespace

void Core::OnListed(Time now) {
  NoteStartedGroups(now);
  if (std::exchange(listed_, true)) return;
  KeepExecutorPlaces(now);
  for (std::uint32_t i = 0; i < state_.gangs().id_limit(); ++i) {
    const GangId id{i};
    const Time started = IsIncomplete(id) ? FirstStart(state_, id) : kNever;
    WaitingGang* const waiting = gangs_.Find(id);
    if (started == kNever || waiting == nullptr || driven_.AwaitsExecutors(id)) continue;
    const cluster::Gang& gang = state_.gangs().Get(id);
    const framework::GangArgs args = GangArgsOf(gang);
    waiting->found_alone = gang.placed == gang.members.size() && started + args.grace <= now;
    if (waiting->found_alone) continue;
    // Who was made after the others had started is there in the stead of one that was lost then.
    const Time grace_begun = std::max(started, LastMade(state_, *waiting));
    // It gets a chance all the same.
    gangs_.SetIncompleteReport(id, std::max(grace_begun + args.grace, now + args.straggler_wait));
  }
}

framework::GangArgs Core::GangArgsOf(const cluster::Gang& gang) const {
  for (const PodId member : gang.members) {
    const framework::GangEntry* const plugin = judge_.GangPluginOf(member);
    if (plugin == nullptr) continue;
    framework::GangArgs args = plugin->plugin->gang_args();
    if (gang.terms.patience) args.grace = *gang.terms.patience;
    return args;
  }
  return {};
}

void Core::Promote(WaitingGang& waiting, Time now) {
  const auto more_important = [this](PodId a, PodId b) {
    return state_.pod(a).priority > state_.pod(b).priority;
  };
  // Of equally important ones the first.
  waiting.stands = *std::min_element(waiting.ready.begin(), waiting.ready.end(), more_important);
  if (queue_.Get(waiting.stands).place == QueuePlace::kGated) {
    queue_.AskGateAgain(waiting.stands, now);
  } else {
    queue_.Activate(waiting.stands, now);
  }
}

// ---- planning ----

namespace {

// What is kept for some of them from an earlier attempt may be in the way of the others.
GangPlan PlanAlsoElsewhere(cluster::State& state, const std::vector<PodId>& members,
                           const std::function<GangPlan()>& plan) {
  GangPlan first = plan();
  std::vector<std::pair<PodId, NodeRow>> nominated;
  for (const PodId member : members) {
    const NodeRow row = state.pod(member).nominated;
    if (row.valid()) nominated.emplace_back(member, row);
  }
  if (!first.places.empty() || first.refusal.attempt.error || nominated.empty()) return first;
  const auto mark = state.Mark();
  for (const auto& [member, row] : nominated) state.ClearNomination(member);
  GangPlan second = plan();
  if (second.places.empty()) {
    state.Rollback(mark);
    return first;
  }
  // Who does not start has it still; of the others it is told that it is free.
  for (const auto& [member, row] : nominated) state.Nominate(member, row);
  state.Commit(mark);
  return second;
}

}  // namespace

void Core::DecideGang(PodId id, GangId gang, Time now) {
  WaitingGang& waiting = *gangs_.Find(gang);
  ++waiting.attempts;
  waiting.pin = PinOf(state_, state_.gangs().Get(gang));
  waiting.asked = DemandOf(state_, gangs_, gang, waiting);
  GangPlanner planner = MakePlanner();
  // Fewer are there than it needs: then all of them start, and the places of the others are kept.
  const std::size_t to_come = gangs_.StillToCome(state_, gang, waiting);
  const bool in_parts = to_come > 0 && driven_.MayStartInParts(gang);
  Reservation* const executors = in_parts ? MakeExecutorPlaces(gang, to_come, now) : nullptr;
  if (executors == nullptr) DropUnheldPlaces(gang, now);
  const Loan loan = lent_.Lend(waiting.ready, executors);
  const auto attempt = state_.Mark();
  bool held = false;
  const GangTurn turn{id, gang, in_parts, executors, [&](GangPlanner& with) {
                        return PlanAlsoElsewhere(state_, waiting.ready, [&] {
                          return in_parts ? PlanInParts(id, gang, executors, with)
                                          : PlanNow(gang, with);
                        });
                      }};
  GangPlan plan = backfill_ == nullptr ? turn.plan(planner) : PlanBeside(turn, planner, held, now);
  const bool fits = !plan.places.empty();
  fits ? state_.Commit(attempt) : state_.Rollback(attempt);
  if (held) {
    lent_.TakeBack(loan);
    if (executors != nullptr) DropExecutorPlaces(gang, now);
    plan.refusal.attempt.failures = ++waiting.refusals;
    return HoldGang(id, gang, plan, now);
  }
  if (!fits) {
    GangRoom room;
    const Aspirants who{gang, waiting.ready, NeededBy(gang)};
    if (plan.shortages.empty() && who.needed > 0 && MayMakeRoom(id, waiting, now)) {
      room = in_parts ? FindRoomInParts(id, gang, executors, now) : FindRoom(id, who, planner, now);
      if (options_.observer != nullptr) options_.observer->OnPreemption(room.victims.size());
    }
    SpareThoseInVain(state_, {gang, judge_.GangPluginOf(id)->index}, plan, room);
    if (backfill_ != nullptr && !room.victims.empty() && ProfileOf(id).backfill) {
      const Waiter waiter = WaiterOf(id, gang);
      if (backfill_->WouldDelay(waiter, room.places, room.victims, now)) {
        room = {};
        plan.refusal.message += NobodyGoesFor(waiter);
      }
    }
    lent_.TakeBack(loan);
    if (executors != nullptr) AwaitExecutorRoom(id, gang, *executors, room, now);
    return RefuseGang(id, gang, plan, room, now);
  }
  if (executors != nullptr) HoldExecutorPlaces(plan, *executors);
  SettleLoan(loan, plan.places, now);
  waiting.blocked = {};
  gangs_.SetTellReport(gang, std::nullopt);
  Depart(id, gang, plan, now);
}

void Core::RefuseGang(PodId id, GangId gang, const GangPlan& plan, const GangRoom& room, Time now) {
  WaitingGang& waiting = *gangs_.Find(gang);
  waiting.blocked = plan.blocked_kinds;
  const std::size_t needed = NeededBy(gang);
  const std::string message = WhyRefused(state_, gang, needed, plan);
  const std::map<PodId, NodeRow> promised(room.places.begin(), room.places.end());
  const bool keep = room.places.empty() && RoomIsComing(id, waiting, now);
  const auto nomination = [&](PodId member) -> std::optional<NodeRow> {
    if (keep) return std::nullopt;
    const auto place = promised.find(member);
    return place == promised.end() ? NodeRow{} : place->second;
  };
  TellGang(gang, GangOutcome::kNoRoom, needed, now - waiting.since);
  const bool others_go = keep || !room.places.empty();
  TellGangAttempt(id, plan.refusal.attempt.error ? GangResult::kError
                      : others_go                ? GangResult::kMakingRoom
                                                 : GangResult::kUnschedulable);
  const auto shares = Shares(room);
  if (!shares.empty()) GangBook::NoteEvictions(waiting, now);
  gangs_.SetRetry(gang, room.places.empty() ? WhenToRetry(id, waiting, now) : std::nullopt);
  for (const auto& [member, share] : shares) AnnouncePlan(member, share, now);
  FailedAttempt attempt = plan.refusal.attempt;
  attempt.failures = ++waiting.refusals;
  if (!attempt.error) waiting.blocked.WidenTo(state_, id, attempt);
  Fail(id, attempt, message, nomination(id), now);
  const std::string_view reason =
      plan.refusal.attempt.error ? names::kReasonSchedulerError : names::kReasonUnschedulable;
  TellOthers(id, gang, {reason, message, needed}, nomination, now);
  for (const auto& [member, share] : shares) CarryOutPlan(member, share, now);
  if (!shares.empty()) SettleGang(gang, now);
}

// How many fit may change with every node; what all members say of it does not change as often. How
// many are needed is another matter: who is not needed any more must not say that it is.
void Core::TellOthers(PodId id, GangId gang, const GangRefusal& refusal,
                      const Nomination& nomination, Time now) {
  constexpr Duration kTellAgainAfter = Duration::Seconds(60);
  WaitingGang& waiting = *gangs_.Find(gang);
  const bool again = !waiting.told_at || now >= *waiting.told_at + kTellAgainAfter ||
                     waiting.told_needed != refusal.needed;
  bool untold = false;
  const std::vector<PodId> members = waiting.ready;
  for (const PodId member : members) {
    if (member == id) continue;
    const auto condition = conditions_.find(member);
    const bool said = condition != conditions_.end() && !condition->second.unwritten &&
                      condition->second.reason == refusal.reason;
    const std::optional<NodeRow> row = nomination(member);
    if (said && !again && (!row || *row == state_.pod(member).nominated)) {
      untold = untold || condition->second.message != refusal.message;
      continue;
    }
    ReportIfNew(member, refusal.reason, refusal.message, now, row);
  }
  if (again) {
    waiting.told_at = now;
    waiting.told_needed = refusal.needed;
  }
  waiting.untold_reason = refusal.reason;
  waiting.untold = untold ? refusal.message : "";
  gangs_.SetTellReport(gang,
                       untold ? std::optional(*waiting.told_at + kTellAgainAfter) : std::nullopt);
}

void Core::TellGang(GangId id, GangOutcome outcome, std::size_t pods, Duration waited) const {
  // Its members may have left it on their way.
  if (options_.observer == nullptr || !state_.gangs().Contains(id)) return;
  const WaitingGang* const waiting = gangs_.Find(id);
  options_.observer->OnGang(state_, {.gang = id,
                                     .outcome = outcome,
                                     .pods = pods,
                                     .waited = waited,
                                     .attempts = waiting == nullptr ? 0 : waiting->attempts});
}

void Core::TellGangAttempt(PodId id, GangResult result) const {
  if (options_.observer == nullptr) return;
  options_.observer->OnGangAttempt(state_, {.pod = id, .result = result, .began = decided_at_});
}

// ---- care ----

std::optional<std::string> Core::VerifyGangs() const {
  std::size_t known = 0;
  for (std::uint32_t i = 0; i < state_.gangs().id_limit(); ++i) {
    const GangId id{i};
    if (!state_.gangs().Contains(id)) continue;
    const WaitingGang* const waiting = gangs_.Find(id);
    if (waiting != nullptr) ++known;
    std::vector<PodId> ready;
    for (const PodId member : state_.gangs().Get(id).members) {
      if (GangOf(member).valid() && IsReady(member)) ready.push_back(member);
    }
    std::vector<PodId> kept = waiting == nullptr ? std::vector<PodId>() : waiting->ready;
    std::sort(ready.begin(), ready.end());
    std::sort(kept.begin(), kept.end());
    if (ready != kept) {
      return fmt::format("pod group {}: {} members are ready, {} are kept", GangName(state_, id),
                         ready.size(), kept.size());
    }
    if (waiting == nullptr) continue;
    const bool stands = std::binary_search(ready.begin(), ready.end(), waiting->stands);
    const bool may_stand = MayStand(id, *waiting);
    if (waiting->also != driven_.WhyNotInParts(id)) {
      return fmt::format("pod group {}: what is said of its driver is out of date",
                         GangName(state_, id));
    }
    const std::vector<PodId>& completing = waiting->completing;
    const bool all_fly = std::all_of(completing.begin(), completing.end(),
                                     [&](PodId pod) { return IsOnItsWay(id, pod); });
    if (!all_fly || (waiting->grace_end && completing.empty())) {
      return fmt::format("pod group {}: who makes it whole is out of date", GangName(state_, id));
    }
    if (waiting->incomplete != IsIncomplete(id)) {
      return fmt::format("pod group {}: whether it goes first is out of date",
                         GangName(state_, id));
    }
    if (stands != waiting->stands.valid() || stands != may_stand) {
      return fmt::format("pod group {}: who stands for it is out of date", GangName(state_, id));
    }
  }
  if (known != gangs_.size()) return "a pod group waits that is not there";
  return std::nullopt;
}

}  // namespace knx::engine
