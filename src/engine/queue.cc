#include "engine/queue.h"

#include <algorithm>

#include "base/check.h"
#include "engine/observer.h"
#include "engine/pod_places.h"
#include "engine/queue_times.h"

namespace knx::engine {

using cluster::PodId;
using framework::ClusterEvent;
using framework::EventKind;

namespace {

bool MovesEverything(EventKind kind) {
  return kind == EventKind::kForced || kind == EventKind::kTimeout;
}

bool IsWaiting(QueuePlace place) {
  return place == QueuePlace::kUnschedulable || place == QueuePlace::kGated;
}

bool MayBeTaken(QueuePlace place) {
  return place == QueuePlace::kActive || place == QueuePlace::kBackoff ||
         place == QueuePlace::kErrorBackoff;
}

}  // namespace

Queue::Queue(Options options, Judge& judge, Observer* observer)
    : options_(options),
      judge_(judge),
      observer_(observer),
      places_(std::make_unique<PodPlaces>()) {
  KNX_CHECK(options.flush_interval > Duration{}, "the queue would flush without end");
}

Queue::~Queue() = default;

void Queue::Add(PodId pod, std::int32_t priority, Time now) {
  See(now);
  const std::uint32_t known = places_->Find(pod);
  if (known != kNoRecord) {
    KNX_CHECK(places_->at(known).place == QueuePlace::kDone, "a pod is put into the queue twice");
    places_->Destroy(known);
  }
  LeaveWaiting(places_->Create(pod, priority, now), Reaction::kAtOnce, EventKind::kOwnAdd, now);
}

void Queue::Update(PodId pod, std::int32_t priority, std::span<const ClusterEvent> events,
                   Time now) {
  See(now);
  const std::uint32_t record = places_->Find(pod);
  if (record == kNoRecord) return;
  places_->SetPriority(record, priority);
  if (MayBeTaken(places_->at(record).place)) RefreshSeniority(record, now);
  for (const ClusterEvent& event : events) {
    const PodRecord& known = places_->at(record);
    if (known.place == QueuePlace::kInFlight) {
      Remember(places_->flight_of(record), event);
      continue;
    }
    if (!IsWaiting(known.place)) return;
    const bool gated = known.place == QueuePlace::kGated;
    const WaitsFor& what = places_->groups().what(gated ? known.gate_group : known.last_attempt);
    const Reaction reaction = React(AskedBy(what, pod, event.kind), pod, event);
    if (reaction != Reaction::kStay) LeaveWaiting(record, reaction, event.kind, now);
  }
}

void Queue::Remove(PodId pod) {
  const std::uint32_t record = places_->Find(pod);
  if (record != kNoRecord) places_->Destroy(record);
}

std::optional<PodId> Queue::Pop(Time now) {
  See(now);
  if (now >= NextWake()) Advance(now);
  std::uint32_t record = places_->first_active();
  if (record == kNoRecord && options_.pop_from_backoff) {
    record = places_->first_in_backoff();
    if (record != kNoRecord && observer_ != nullptr) {
      observer_->OnQueued(QueuePlace::kActive, EventKind::kPopFromBackoff);
    }
  }
  if (record == kNoRecord) return std::nullopt;
  places_->MoveToInFlight(record, now);
  return places_->at(record).pod;
}

void Queue::Done(PodId pod) {
  const std::uint32_t record = places_->Find(pod);
  KNX_CHECK(record != kNoRecord && places_->at(record).place == QueuePlace::kInFlight,
            "a decision stands about a pod that was not popped");
  places_->MoveToDone(record);
}

void Queue::Requeue(PodId pod, const FailedAttempt& attempt, Time now) {
  See(now);
  const std::uint32_t record = places_->Find(pod);
  KNX_CHECK(record != kNoRecord, "a pod comes back that is not known");
  const bool in_flight = places_->at(record).place == QueuePlace::kInFlight;
  KNX_CHECK(in_flight || places_->at(record).place == QueuePlace::kDone,
            "a pod comes back that was not popped");
  const WaitsFor what{.profile = judge_.ProfileOf(pod),
                      .rejected_by = attempt.rejected_by,
                      .pending_on = attempt.pending_on};
  Reaction reaction = Reaction::kAfterBackoff;
  if (in_flight && !attempt.error) {
    const InFlightPod& flight = places_->flight_of(record);
    if (flight.helped.Intersects(attempt.pending_on)) {
      reaction = Reaction::kAtOnce;
    } else if (!flight.saw_forced && !flight.helped.Intersects(attempt.rejected_by) &&
               !(flight.saw_event && what.names_none())) {
      reaction = Reaction::kStay;
    }
  }

  places_->CountFailure(record, attempt.error, what, now);
  const PodRecord& known = places_->at(record);
  const std::uint32_t own = attempt.error ? known.errors : known.failed_attempts;
  const std::uint32_t failures = std::max(own, attempt.failures);
  const Duration backoff = BackoffAfter(failures, options_.initial_backoff, options_.max_backoff);
  places_->SetBackoff(record,
                      options_.max_backoff > Duration{} ? BackoffEnd(now, backoff) : Time{});
  if (reaction == Reaction::kStay) {
    places_->MoveToUnschedulable(record);
    TellArrived(record, EventKind::kAttemptFailure);
  } else {
    LeaveWaiting(record, reaction, EventKind::kAttemptFailure, now);
  }
}

void Queue::AskGateAgain(PodId pod, Time now) {
  See(now);
  const std::uint32_t record = places_->Find(pod);
  if (record == kNoRecord) return;
  const QueuePlace place = places_->at(record).place;
  if (place == QueuePlace::kGated) {
    return LeaveWaiting(record, Reaction::kAfterBackoff, EventKind::kForced, now);
  }
  if (place == QueuePlace::kInFlight || place == QueuePlace::kDone) return;
  if (const std::optional<std::uint8_t> gate = judge_.Gate(pod)) {
    places_->MoveToGated(record, judge_.ProfileOf(pod), *gate);
    TellArrived(record, EventKind::kForced);
  }
}

void Queue::Take(PodId pod, Time now) {
  See(now);
  const std::uint32_t record = places_->Find(pod);
  KNX_CHECK(record != kNoRecord && places_->at(record).place != QueuePlace::kInFlight &&
                places_->at(record).place != QueuePlace::kDone,
            "a pod is decided about that does not wait");
  places_->MoveToInFlight(record, now);
}

void Queue::PutBack(PodId pod, Time now) {
  See(now);
  const std::uint32_t record = places_->Find(pod);
  KNX_CHECK(record != kNoRecord && (places_->at(record).place == QueuePlace::kInFlight ||
                                    places_->at(record).place == QueuePlace::kDone),
            "a pod comes back that was not popped");
  LeaveWaiting(record, Reaction::kAfterBackoff, EventKind::kForced, now);
}

void Queue::Activate(PodId pod, Time now) {
  See(now);
  const std::uint32_t record = places_->Find(pod);
  if (record == kNoRecord) return;
  const QueuePlace place = places_->at(record).place;
  if (place == QueuePlace::kInFlight) {
    places_->flight_of(record).saw_forced = true;
  } else if (IsWaiting(place) || place == QueuePlace::kBackoff ||
             place == QueuePlace::kErrorBackoff) {
    LeaveWaiting(record, Reaction::kAtOnce, EventKind::kForced, now);
  }
}

void Queue::Reorder(PodId pod, Time now) {
  See(now);
  const std::uint32_t record = places_->Find(pod);
  if (record == kNoRecord) return;
  const QueuePlace place = places_->at(record).place;
  if (place == QueuePlace::kActive || place == QueuePlace::kBackoff) {
    LeaveWaiting(record, Reaction::kAfterBackoff, EventKind::kForced, now);
  }
}

void Queue::OnEvent(const ClusterEvent& event, Time now) {
  See(now);
  for (InFlightPod& flight : places_->in_flight()) Remember(flight, event);
  // Everybody is asked before anybody moves, so that the groups hold still.
  moves_.clear();
  const WaitingGroups& groups = places_->groups();
  for (WaitingGroups::Group group = 0; group < groups.limit(); ++group) {
    const std::span<const std::uint32_t> members = groups.members(group);
    if (members.empty()) continue;
    const Asked asked = AskedBy(groups.what(group), places_->at(members.front()).pod, event.kind);
    if (asked.empty()) continue;
    for (const std::uint32_t record : members) {
      const Reaction reaction = React(asked, places_->at(record).pod, event);
      if (reaction != Reaction::kStay) moves_.push_back({record, reaction});
    }
  }
  for (const Move& move : moves_) LeaveWaiting(move.record, move.reaction, event.kind, now);
}

Time Queue::NextWake() const {
  Time wake = FlushTimeOfOldest();
  for (const std::uint32_t first :
       {places_->first_in_backoff(), places_->first_in_error_backoff()}) {
    if (first != kNoRecord) wake = std::min(wake, places_->at(first).backoff_until);
  }
  const std::uint32_t starving = places_->first_starving();
  if (starving != kNoRecord) wake = std::min(wake, places_->at(starving).starves_at);
  return wake;
}

void Queue::Advance(Time now) {
  See(now);
  for (std::uint32_t first = places_->first_starving();
       first != kNoRecord && places_->at(first).starves_at <= now;
       first = places_->first_starving()) {
    places_->Starve(first);
    if (observer_ != nullptr) observer_->OnStarved(places_->at(first).pod);
  }
  const auto over = [&](std::uint32_t first) {
    return first != kNoRecord && places_->at(first).backoff_until <= now;
  };
  // The gate was asked when they began to wait.
  const auto activate = [&](std::uint32_t first) {
    places_->MoveToActive(first, now);
    TellArrived(first, EventKind::kBackoffComplete);
  };
  while (over(places_->first_in_backoff())) activate(places_->first_in_backoff());
  while (over(places_->first_in_error_backoff())) activate(places_->first_in_error_backoff());
  while (places_->oldest_unschedulable() != kNoRecord && FlushTimeOfOldest() <= now) {
    places_->SetFlushed(places_->oldest_unschedulable());
    LeaveWaiting(places_->oldest_unschedulable(), Reaction::kAfterBackoff, EventKind::kTimeout,
                 now);
  }
}

Queue::View Queue::Get(PodId pod) const {
  const std::uint32_t number = places_->Find(pod);
  if (number == kNoRecord) return {};
  const PodRecord& record = places_->at(number);
  View view{.place = record.place,
            .priority = record.priority,
            .effective = record.effective,
            .starved = record.starved,
            .attempts = record.attempts,
            .failed_attempts = record.failed_attempts,
            .errors = record.errors,
            .added = record.added,
            .since = record.since,
            .backoff_until = record.backoff_until,
            .gate = record.gate};
  if (record.last_attempt != kNoGroup) {
    const WaitsFor& what = places_->groups().what(record.last_attempt);
    view.rejected_by = what.rejected_by;
    view.pending_on = what.pending_on;
  }
  return view;
}

Queue::Attempt Queue::LastAttempt(PodId pod) const {
  const std::uint32_t number = places_->Find(pod);
  if (number == kNoRecord) return {};
  const PodRecord& record = places_->at(number);
  return {record.attempts, record.ready, record.popped, record.flushed};
}

bool Queue::Contains(PodId pod) const {
  const std::uint32_t record = places_->Find(pod);
  return record != kNoRecord && places_->at(record).place != QueuePlace::kDone;
}

std::size_t Queue::Count(QueuePlace place) const { return places_->Count(place); }

std::vector<PodId> Queue::List(QueuePlace place) const { return places_->List(place); }

std::vector<RejectedPods> Queue::CountRejected() const { return places_->CountRejected(); }

std::optional<std::string> Queue::Verify() const { return places_->Verify(); }

std::size_t Queue::bytes() const {
  return sizeof(*this) + places_->bytes() + moves_.capacity() * sizeof(Move);
}

Queue::Asked Queue::AskedBy(const WaitsFor& what, PodId member, EventKind kind) {
  if (!what.gated && (what.names_none() || MovesEverything(kind))) return {.moves_anyway = true};
  const PluginSet interested = judge_.Interested(member, kind);
  return {.rejected_by = what.rejected_by & interested, .pending_on = what.pending_on & interested};
}

Queue::Reaction Queue::React(const Asked& asked, PodId pod, const ClusterEvent& event) {
  if (asked.moves_anyway) return Reaction::kAfterBackoff;
  const auto helps = [&](std::uint8_t plugin) { return judge_.MayHelp(pod, plugin, event); };
  if (asked.pending_on.Any(helps)) return Reaction::kAtOnce;
  return asked.rejected_by.Any(helps) ? Reaction::kAfterBackoff : Reaction::kStay;
}

// Who will reject the pod is not known yet, so all who are interested are asked.
void Queue::Remember(InFlightPod& flight, const ClusterEvent& event) {
  flight.saw_event = true;
  if (MovesEverything(event.kind)) {
    flight.saw_forced = true;
    return;
  }
  const PodId pod = places_->at(flight.record).pod;
  (judge_.Interested(pod, event.kind) - flight.helped).ForEach([&](std::uint8_t plugin) {
    if (judge_.MayHelp(pod, plugin, event)) flight.helped.Add(plugin);
  });
}

// The pod may be tried again, if its gate lets it.
void Queue::LeaveWaiting(std::uint32_t record, Reaction reaction, EventKind why, Time now) {
  const PodRecord& known = places_->at(record);
  const bool waited = IsWaiting(known.place);
  if (const std::optional<std::uint8_t> gate = judge_.Gate(known.pod)) {
    if (known.place == QueuePlace::kGated && known.gate == *gate) return;
    places_->MoveToGated(record, judge_.ProfileOf(known.pod), *gate);
    if (waited) return;  // it still waits
    return TellArrived(record, why);
  }
  RefreshSeniority(record, now);
  const bool pauses = reaction == Reaction::kAfterBackoff && now < known.backoff_until;
  // After an attempt that failed there is always a pause, or it would be tried for ever.
  if (pauses && (why == EventKind::kAttemptFailure || !judge_.GoesFirst(known.pod))) {
    places_->MoveToBackoff(record);
  } else {
    places_->MoveToActive(record, now);
  }
  TellArrived(record, why);
}

void Queue::RefreshSeniority(std::uint32_t record, Time now) {
  const PodId pod = places_->at(record).pod;
  const std::optional<Seniority> seniority = judge_.SeniorityOf(pod);
  if (!seniority) return;
  const bool starves = places_->SetSeniority(record, *seniority, now);
  if (starves && observer_ != nullptr) observer_->OnStarved(pod);
}

void Queue::TellArrived(std::uint32_t record, EventKind why) const {
  if (observer_ != nullptr) observer_->OnQueued(places_->at(record).place, why);
}

Time Queue::FlushTimeOfOldest() const {
  const std::uint32_t oldest = places_->oldest_unschedulable();
  if (oldest == kNoRecord) return kNever;
  return FlushTime(places_->at(oldest).since, options_.max_unschedulable, *first_seen_,
                   options_.flush_interval);
}

void Queue::See(Time now) {
  if (!first_seen_) first_seen_ = now;
}

}  // namespace knx::engine
