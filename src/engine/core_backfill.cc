// Keeping room for who waits: what the core asks and tells the book of promises.
#include <fmt/format.h>

#include <algorithm>

#include "engine/backfill.h"
#include "engine/core.h"
#include "k8s/names.h"

namespace knx::engine {

namespace names = k8s::names;
using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

namespace {

constexpr std::string_view kWouldDelay =
    "it would delay the start that was promised to a pod before it";

// Also of those for whom places are kept.
Backfill::Places AllPlaces(const cluster::State& state, const GangTurn& turn,
                           const GangPlan& plan) {
  Backfill::Places places = plan.places;
  if (turn.executors == nullptr) return places;
  for (const PodId hold : turn.executors->holds()) {
    if (state.pod(hold).node.valid()) places.emplace_back(hold, state.pod(hold).node);
  }
  return places;
}

void TellBackfill(const EngineOptions& options, const cluster::State& state,
                  const BackfillReport& report) {
  if (options.observer != nullptr) options.observer->OnBackfill(state, report);
}

// Whom to hear of for one who fits, but not beside a promise. Whatever keeps it off other nodes has
// said nothing, for nobody asked; the end of that lets it start, too.
PluginSet WhoMayHelp(const framework::Profile& profile) {
  PluginSet plugins;
  plugins.Add(profile.backfill->index);
  for (const auto& entry : profile.filters) plugins.Add(entry.index);
  return plugins;
}

}  // namespace

void Core::SwitchOnBackfill() {
  const bool wanted = std::any_of(profiles_.begin(), profiles_.end(),
                                  [](const auto& profile) { return profile.backfill.has_value(); });
  if (!wanted) return;
  placer_.SetBorrows([this](PodId pod) { return backfill_->times().Borrows(pod); });
  Backfill::Doors doors;
  doors.plan = [this](const Waiter& waiter) { return PlanFor(waiter); };
  doors.is_own = [this](const Backfill::Places& places) {
    ReservedRoom room;
    return !reservations_.empty() &&
           std::all_of(places.begin(), places.end(), [&](const auto& place) {
             const auto requests = state_.usage_of(place.first).requests;
             return room.Take(ReservationsFor(place.first), place.second,
                              {requests.begin(), requests.end()});
           });
  };
  doors.fits = [this](PodId pod, NodeRow row) { return FitsOn(pod, row); };
  doors.reserve = [this](PodId pod, NodeRow row) {
    std::uint8_t by = 0;
    return AskReserve(JudgeOf(pod), pod, row, by).ok();
  };
  doors.find = [this](const Promise& promise) { return FindWaiter(promise.pod, promise.gang); };
  doors.waits = [this](const Promise& promise) {
    return WhoWaits(promise.pod, promise.gang).valid();
  };
  backfill_ = std::make_unique<Backfill>(state_, std::move(doors));
  judge_.SetOrder([this](PodId id) -> std::optional<Time> {
    if (!ProfileOf(id).backfill) return std::nullopt;
    const GangId gang = GangOf(id);
    const WaitingGang* const waiting = gang.valid() ? gangs_.Find(gang) : nullptr;
    // It does not come to the turn of members for whom another stands.
    if (gang.valid() && (waiting == nullptr || waiting->stands != id)) return std::nullopt;
    return backfill_->OrderOf(WaiterOf(id, gang));
  });
}

// ---- who waits ----

Waiter Core::WaiterOf(PodId id, GangId gang) {
  Waiter waiter{.pod = id, .priority = state_.pod(id).priority};
  waiter.args = &ProfileOf(id).backfill->plugin->backfill_args();
  if (!gang.valid()) {
    waiter.members = {id};
    waiter.since = backfill_->times().CameAt(id);
    return waiter;
  }
  const WaitingGang& waiting = *gangs_.Find(gang);
  waiter.gang = gang;
  waiter.members = waiting.ready;
  waiter.needed = NeededBy(gang);
  waiter.begun = waiter.needed > 0 && state_.gangs().Get(gang).placed > 0;
  // After a restart all were seen at once.
  waiter.since = waiting.since;
  for (const PodId member : waiter.members) {
    waiter.since = std::min(waiter.since, backfill_->times().CameAt(member));
  }
  return waiter;
}

std::optional<Waiter> Core::FindWaiter(PodId id, GangId gang) {
  const PodId who = WhoWaits(id, gang);
  if (!who.valid()) return std::nullopt;
  return WaiterOf(who, gang);
}

PodId Core::WhoWaits(PodId id, GangId gang) {
  if (gang.valid()) {
    const WaitingGang* const waiting = gangs_.Find(gang);
    if (waiting == nullptr || !waiting->stands.valid() || !state_.gangs().Contains(gang)) return {};
    id = waiting->stands;
  }
  const bool waits = state_.pods().Contains(id) && queue_.Contains(id) &&
                     queue_.Get(id).place != QueuePlace::kGated && !state_.pod(id).node.valid() &&
                     !state_.pod(id).terminating && GangOf(id) == gang &&
                     // Members of one gang may name several profiles.
                     ProfileOf(id).backfill.has_value();
  return waits ? id : PodId();
}

Backfill::Places Core::PlanFor(const Waiter& waiter) {
  if (waiter.gang.valid()) {
    GangPlanner planner = MakePlanner();
    const bool in_parts = !gangs_.AreEnough(state_, waiter.gang, *gangs_.Find(waiter.gang)) &&
                          driven_.MayStartInParts(waiter.gang);
    return in_parts ? PlanDriver(waiter, planner) : PlanMembers(waiter, planner);
  }
  const Placement placement = placer_.PlaceInPlan(ProfileOf(waiter.pod), waiter.pod, {});
  if (!placement.node.valid()) return {};
  state_.Assume(waiter.pod, placement.node);
  return {{waiter.pod, placement.node}};
}

// With the places of those that it has yet to make, if they are known.
Backfill::Places Core::PlanDriver(const Waiter& waiter, GangPlanner& planner) {
  Reservation* executors = reservations_.Find(drivers_.Of(waiter.gang)->places);
  const bool planned = executors != nullptr && executors->stage() == ReservationStage::kMakingRoom;
  if (!planned) executors = nullptr;
  const GangPlan plan = PlanInParts(waiter.pod, waiter.gang, executors, planner);
  if (plan.places.empty()) return {};
  return AllPlaces(state_, {waiter.pod, waiter.gang, true, executors, {}}, plan);
}

Backfill::Places Core::PlanMembers(const Waiter& waiter, GangPlanner& planner) {
  if (!FindShortages(state_, waiter.gang).empty()) return {};
  const Aspirants who{waiter.gang, waiter.members, waiter.needed};
  return PlanIn(DomainsFor(state_, who, planner), who, PlanHere(who, planner)).places;
}

// ---- whose turn it is ----

// When the promise moves it is tried again.
std::string Core::NobodyGoesFor(const Waiter& waiter) {
  backfill_->NoteHeld(waiter);
  return fmt::format(" Nobody is evicted for it: {}.", kWouldDelay);
}

// Where the best node is promised to another that would start later then, the next best is tried.
// Whether a promise stands costs much to find out, so that only some are; nodes that are promised
// to nobody cost nothing.
Placement Core::PlaceBeside(Detour& detour, PodId pod) {
  // What is too much for one may not be for a smaller one.
  if (detour.pod_class != state_.pod(pod).pod_class) detour.left_out.clear();
  detour.pod_class = state_.pod(pod).pod_class;
  const auto place = [&] {
    const Placer::LeavingOut leaving_out(placer_, detour.left_out);
    return PlaceMember(pod);
  };
  const auto leaves_room = [&](NodeRow row) {
    const Placer::Unconfined unconfined(placer_);
    Backfill::Places places{{pod, row}};
    for (const PodId member : detour.waiter.members) {
      const NodeRow has = state_.pod(member).node;
      if (has.valid()) places.emplace_back(member, has);
    }
    return backfill_->LeavesRoom(detour.waiter, places, detour.now);
  };
  for (;;) {
    Placement placement = place();
    const NodeRow row = placement.node;
    const auto& closed = detour.closed;
    if (!row.valid() || !std::binary_search(closed.begin(), closed.end(), row)) return placement;
    if (detour.tries == 0) {
      detour.left_out = closed;
      continue;
    }
    --detour.tries;
    if (leaves_room(row)) return placement;
    auto& out = detour.left_out;
    out.insert(std::upper_bound(out.begin(), out.end(), row), row);
  }
}

Passing Core::MayStart(const Waiter& waiter, NodeRow& node, Time now) {
  const Passing passing = backfill_->MayStart(waiter, {{waiter.pod, node}}, now);
  if (passing != Passing::kForbidden) return passing;
  std::optional<Detour> detour = backfill_->Around(waiter, now);
  if (!detour) return passing;
  detour->left_out = {node};
  const NodeRow other = PlaceBeside(*detour, waiter.pod).node;
  if (!other.valid()) return passing;
  node = other;
  return backfill_->MayStart(waiter, {{waiter.pod, node}}, now);
}

void Core::ConsiderPromises(PodId id, Placement& placement, Time now) {
  const auto& plugin = ProfileOf(id).backfill;
  if (!plugin) return;
  const Waiter waiter = WaiterOf(id, {});
  if (!placement.node.valid()) {
    if (!placement.victims.empty() &&
        backfill_->WouldDelay(waiter, {{id, placement.nominated}}, placement.victims, now)) {
      placement.victims.clear();
      placement.nominated = {};
      placement.message += NobodyGoesFor(waiter);
    }
    const bool waits = placement.victims.empty() && !placement.attempt.error;
    if (waits) placement.message += PromiseText(waiter, now);
    return;
  }
  const bool goes_anywhere = FailedOn(id).empty() && reservations_.empty();
  if (!goes_anywhere || !backfill_->IsHeldAlike(waiter, now)) {
    const Passing passing = MayStart(waiter, placement.node, now);
    if (passing != Passing::kForbidden) return NoteStart(waiter, passing, now);
    if (goes_anywhere) backfill_->NoteHeldAlike(waiter, now);
  }
  backfill_->NoteHeld(waiter);
  TellBackfill(options_, state_, {waiter.pod, BackfillOutcome::kHeld});
  placement.node = {};
  placement.attempt.rejected_by = WhoMayHelp(ProfileOf(id));
  placement.message = fmt::format("waits for its turn: {}", kWouldDelay);
}

GangPlan Core::PlanInTurn(const GangTurn& turn, const Waiter& waiter, GangPlanner& planner,
                          Passing& passing, Time now) {
  auto mark = state_.Mark();
  passing = Passing::kNobody;
  GangPlan plan = turn.plan(planner);
  if (!plan.places.empty()) {
    passing = backfill_->MayStart(waiter, AllPlaces(state_, turn, plan), now);
  }
  if (passing == Passing::kForbidden) {
    state_.Rollback(mark);
    mark = state_.Mark();
    plan.places = turn.in_parts ? Backfill::Places{} : backfill_->TakePromised(waiter, now);
    if (!plan.places.empty() && NeededBy(turn.gang) > 0) {
      // It has lost others since it was promised these.
      plan.places.clear();
      state_.Rollback(mark);
      mark = state_.Mark();
    }
    std::optional<Detour> detour = backfill_->Around(waiter, now);
    GangPlanner beside = MakePlanner([&](PodId pod) { return PlaceBeside(*detour, pod); });
    if (plan.places.empty() && detour) {
      plan.places = turn.in_parts ? turn.plan(beside).places : PlanMembers(waiter, beside);
    }
    if (!plan.places.empty())
      passing = backfill_->MayStart(waiter, AllPlaces(state_, turn, plan), now);
  }
  state_.Commit(mark);
  return plan;
}

GangPlan Core::PlanBeside(const GangTurn& turn, GangPlanner& planner, bool& held, Time now) {
  const auto& plugin = ProfileOf(turn.pod).backfill;
  if (!plugin) return turn.plan(planner);
  const Waiter waiter = WaiterOf(turn.pod, turn.gang);
  const auto mark = state_.Mark();
  Passing passing = Passing::kNobody;
  GangPlan plan = PlanInTurn(turn, waiter, planner, passing, now);
  held = passing == Passing::kForbidden;
  held ? state_.Rollback(mark) : state_.Commit(mark);
  if (held) {
    backfill_->NoteHeld(waiter);
    TellBackfill(options_, state_, {waiter.pod, BackfillOutcome::kHeld});
    plan.places.clear();
  } else if (!plan.places.empty()) {
    NoteStart(waiter, passing, now);
  } else if (!plan.refusal.attempt.error) {
    plan.refusal.message += PromiseText(waiter, now);
  }
  return plan;
}

void Core::HoldGang(PodId id, GangId gang, const GangPlan& plan, Time now) {
  WaitingGang& waiting = *gangs_.Find(gang);
  FailedAttempt attempt = plan.refusal.attempt;
  attempt.rejected_by = WhoMayHelp(ProfileOf(id));
  waiting.blocked = {};
  for (const PodId member : waiting.ready) waiting.blocked.Add(state_, member, attempt);
  waiting.blocked.WidenTo(state_, id, attempt);
  TellGangAttempt(id, GangResult::kUnschedulable);
  const std::string message =
      fmt::format("pod group {} waits for its turn: {}", GangName(state_, gang), kWouldDelay);
  Fail(id, attempt, message, std::nullopt, now);
  TellOthers(
      id, gang, {names::kReasonUnschedulable, message, NeededBy(gang)},
      [](PodId) { return std::optional<NodeRow>(); }, now);
}

std::string Core::PromiseText(const Waiter& waiter, Time now) {
  const bool fresh = !backfill_->HasPromise(waiter);
  const Promise* const promise = backfill_->Refuse(waiter, now);
  if (promise == nullptr) return {};
  if (fresh) TellBackfill(options_, state_, {waiter.pod, BackfillOutcome::kPromised});
  if (promise->start == kUnknownEnd) {
    return " Room is kept for it until others end, of whom nobody knows when they will.";
  }
  // To the second: less is of no use to anybody.
  const Time start{promise->start.ns / Duration::Seconds(1).ns * Duration::Seconds(1).ns};
  return fmt::format(" It is promised to start by {}.", FormatTime(start));
}

void Core::NoteStart(const Waiter& waiter, Passing passing, Time now) {
  const std::optional<Promise> promise = backfill_->Start(waiter, passing, now);
  if (promise) {
    const bool timed = promise->first < kUnknownEnd;
    const auto late = timed ? std::optional(now - promise->first) : std::nullopt;
    TellBackfill(options_, state_, {waiter.pod, BackfillOutcome::kStarted, late});
  } else if (passing != Passing::kNobody) {
    TellBackfill(options_, state_, {waiter.pod, BackfillOutcome::kPassed});
  }
}

Time Core::NextPromisedStart() const {
  return backfill_ == nullptr ? kNever : backfill_->NextStart();
}

// ---- time ----

void Core::RenewPromises(Time now) {
  if (backfill_ == nullptr || now < backfill_->NextWake()) return;
  for (const PodId id : backfill_->TakeLate(now)) {
    // Whose start failed is late for that, and is tried after its back-off.
    if (queue_.Get(id).place != QueuePlace::kErrorBackoff) queue_.Activate(id, now);
  }
}

void Core::ReleaseHeld(Time now) {
  for (const PodId id : backfill_->TakeReleased(now)) {
    // Whoever has heard of something meanwhile is tried again anyway.
    if (queue_.Get(id).place == QueuePlace::kUnschedulable) queue_.Activate(id, now);
  }
}

}  // namespace knx::engine
