// Members of a gang on their way together: the first is bound when everything that has to happen
// before is done for all of them, and all of them still have their places.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/shortened.h"
#include "engine/core.h"
#include "k8s/names.h"

namespace knx::engine {

namespace names = k8s::names;
using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

namespace {

// The domain of the gang's topology key in which all of them are; invalid: it has no such key, or
// they are in several.
Symbol CommonDomain(const cluster::State& state, const Departure& departure) {
  if (!state.gangs().Contains(departure.gang)) return {};
  const std::string& key = state.gangs().Get(departure.gang).topology_key;
  const Symbol label = key.empty() ? Symbol{} : state.words().Find(key);
  if (!label.valid()) return {};
  const auto domain_of = [&](PodId member) {
    return state.nodes().Label(state.pod(member).node, label);
  };
  const Symbol first = domain_of(departure.members[0]);
  const bool all_there = std::all_of(departure.members.begin(), departure.members.end(),
                                     [&](PodId member) { return domain_of(member) == first; });
  return all_there ? first : Symbol{};
}

}  // namespace

void Core::Depart(PodId id, GangId gang, const GangPlan& plan, Time now) {
  WaitingGang& waiting = *gangs_.Find(gang);
  Departure departure{.gang = gang, .members = {}};
  for (const auto& [pod, row] : plan.places) departure.members.push_back(pod);
  departure.most = GangArgsOf(state_.gangs().Get(gang)).attempt_timeout;
  departure.whole = !IsIncomplete(gang);
  const Drivers::Driver* const driver = drivers_.Of(gang);
  if (!departure.whole && driver != nullptr) departure.driver = driver->pod;
  departure.domain = CommonDomain(state_, departure);
  const std::uint64_t number = departures_.Begin(std::move(departure), now);
  RememberExecutors(gang, plan);
  TellGang(gang, GangOutcome::kPlaced, plan.places.size(), now - waiting.since);
  TellGangAttempt(id, GangResult::kScheduled);
  GangBinding& binding = gang_bindings_.try_emplace(gang, GangBinding{waiting.since}).first->second;
  binding.pods += plan.places.size();
  binding.left += plan.places.size();
  for (const auto& [pod, row] : plan.places) {
    if (pod != id) queue_.Take(pod, now);
    GangBook::SetReady(waiting, pod, false);
    flights_[pod] = {};
    flights_[pod].departure = number;
    flights_[pod].gang = gang;
    const NodeRow nominated = state_.pod(pod).nominated;
    state_.ClearNomination(pod);
    if (nominated.valid() && nominated != row) TellNominationGone(pod, nominated, now);
  }
  // It was its turn, and it is not among those that fit beside the ones already placed.
  if (!flights_.contains(id)) queue_.PutBack(id, now);
  for (const auto& [pod, row] : plan.places) {
    // One of them failing takes all of them back.
    if (departures_.Find(number) == nullptr) break;
    Continue(pod, now);
  }
  if (Departure* const waits = departures_.Find(number)) waits->waited = true;
  SettleGang(gang, now);
}

// It has too few without those that are on their way together, who may come back yet. Nobody else
// of it is to go before them, unless all of it may come one by one.
bool Core::IsBeginning(GangId id) const {
  const std::size_t on_their_way = departures_.MembersOf(id);
  if (on_their_way == 0 || driven_.MayStartInParts(id)) return false;
  const cluster::Gang& gang = state_.gangs().Get(id);
  return gang.placed + gang.finished < on_their_way + static_cast<std::size_t>(gang.minimum);
}

void Core::AwaitGang(PodId id, Time now) {
  Flight& flight = flights_.at(id);
  const std::uint64_t number = flight.departure;
  flight.step = FlightStep::kGang;
  flight.action = ++last_action_;
  awaited_.emplace(flight.action, id);
  Departure& departure = *departures_.Find(number);
  if (++departure.arrived < departure.members.size() || AwaitStatuses(departure)) return;
  if (const auto lost = departure.waited ? FindLostPlace(departure) : std::nullopt) {
    return PlanAgain(number, *lost, now);
  }
  SendTogether(number, now);
}

// What is being written about one of them holds all of them back: if only that one waited for it,
// the others would be bound without it.
bool Core::AwaitStatuses(Departure& departure) {
  for (const PodId member : departure.members) {
    const ActionId patch = StatusUnderWay(member);
    if (patch == 0) continue;
    --departure.arrived;
    awaited_.erase(flights_.at(member).action);
    AwaitStatus(member, patch);
  }
  return departure.arrived < departure.members.size();
}

void Core::SendTogether(std::uint64_t number, Time now) {
  const Departure departure = departures_.End(number);
  if (WaitingGang* const waiting = gangs_.Find(departure.gang)) waiting->lost_place = false;
  for (const PodId member : departure.members) {
    Flight& ready = flights_.at(member);
    awaited_.erase(ready.action);
    ready.action = 0;
    ready.departure = 0;
    SendBinding(member, now);
  }
  SettleGang(departure.gang, now);
}

// ---- places that are lost on the way ----

// The plan is played again in the order in which it was made, so that nobody is refused for what
// others of it take or give. Rooms that are kept for others came later, and were kept beside it.
std::optional<LostPlace> Core::FindLostPlace(const Departure& departure) {
  const std::vector<PodId>& members = departure.members;
  if (departure.whole && IsIncomplete(departure.gang)) {
    return LostPlace{members[0], "its pod group needs more pods than have a place"};
  }
  const Drivers::Driver* const driver = drivers_.Of(departure.gang);
  const bool has_driver = driver != nullptr && driver->pod == departure.driver;
  if (departure.driver.valid() && !has_driver && IsIncomplete(departure.gang)) {
    return LostPlace{members[0], "its pod group is without the driver by which it was to start"};
  }
  const bool parted =
      departure.domain.valid() && CommonDomain(state_, departure) != departure.domain;
  if (parted) return LostPlace{members[0], "the nodes of its pod group are in other domains now"};
  std::vector<NodeRow> rows;
  for (const PodId member : members) {
    rows.push_back(state_.pod(member).node);
    if (state_.pod(member).terminating) return LostPlace{member, "the pod is being deleted"};
    if (GangOf(member) != departure.gang) {
      return LostPlace{member, "the pod has left its pod group"};
    }
    if (IsCrowdedOut(member, flights_.at(member))) {
      return LostPlace{member, "somebody else has taken the room on the node"};
    }
  }
  if (state_.gangs().Get(departure.gang).awaits_object()) {
    return LostPlace{members[0], "the object of its pod group is gone"};
  }
  std::optional<LostPlace> lost;
  const auto mark = state_.Mark();
  for (const PodId member : members) state_.Displace(member);
  for (std::size_t i = 0; i < members.size() && !lost; ++i) {
    const bool there = state_.nodes().has_node(rows[i]);
    if (!there || !placer_.FitsAlone(ProfileOf(members[i]), members[i], rows[i])) {
      lost =
          LostPlace{members[i],
                    fmt::format("node {} {}", Shortened(state_.nodes().name(rows[i]), kLongestName),
                                there ? "does not take it any more" : "is gone")};
    }
    state_.Assume(members[i], rows[i]);
  }
  state_.Rollback(mark);
  return lost;
}

// Nothing has begun, so that nothing is lost by planning anew. What happens again and again has to
// wait in between.
void Core::PlanAgain(std::uint64_t number, const LostPlace& lost, Time now) {
  const std::string message =
      fmt::format("{}: nobody of the pod group is bound, and all are placed anew", lost.why);
  const GangId gang = GangOf(lost.pod);
  const bool again = gang.valid() && std::exchange(gangs_.Open(gang, now).lost_place, true);
  if (again) {
    FailedAttempt attempt;
    attempt.error = true;
    return FailOnNode(lost.pod, attempt, message, now);
  }
  NoteFailure(lost.pod, state_.pod(lost.pod).node);
  TellAttempt(lost.pod, AttemptResult::kError, message);
  EmitEvent(lost.pod, true, names::kEventFailedScheduling, names::kActionScheduling, message);
  CancelDeparture(number, now);
  TryAgainWith(gang, now);
}

void Core::JoinOthers(PodId id, Time now) {
  const auto flight = flights_.find(id);
  if (flight == flights_.end() || flight->second.step == FlightStep::kBind) return;
  if (const Departure* const left = departures_.Find(flight->second.departure)) {
    // Those with whom it set out start without it, and its others not before it has a new place.
    if (left->gang != GangOf(id)) CancelDeparture(flight->second.departure, now);
    return;
  }
  if (!GangOf(id).valid()) return;
  GiveBackRoom(id, now);
  queue_.PutBack(id, now);
}

void Core::CancelDeparture(std::uint64_t number, Time now) {
  if (departures_.Find(number) == nullptr) return;
  const Departure departure = departures_.End(number);
  for (const PodId member : departure.members) {
    const auto flight = flights_.find(member);
    if (flight == flights_.end() || flight->second.departure != number) continue;
    GiveBackRoom(member, now);
    queue_.PutBack(member, now);
    if (GangOf(member) == departure.gang) {
      GangBook::SetReady(gangs_.Open(departure.gang, now), member, IsReady(member));
    } else {
      NoteMember(member, now);  // it has become something else meanwhile
    }
  }
  if (backfill_ != nullptr) backfill_->GiveBack(departure.members[0], departure.gang, now);
  SettleGang(departure.gang, now);
}

void Core::EndLateDepartures(Time now) {
  while (const auto number = departures_.PopLate(now)) {
    const Departure& departure = *departures_.Find(*number);
    const std::vector<PodId>& members = departure.members;
    const auto late = std::find_if(members.begin(), members.end(), [&](PodId member) {
      const auto flight = flights_.find(member);
      return flight != flights_.end() && flight->second.departure == *number &&
             flight->second.step != FlightStep::kGang;
    });
    KNX_CHECK(late != members.end(), "members wait for each other, and none is late");
    FailedAttempt attempt;
    attempt.error = true;
    const std::string message = fmt::format(
        "not all of the pod group were ready to start within {}: {} was not",
        FormatDuration(departure.most), Shortened(state_.pod(*late).name, kLongestName));
    FailOnNode(*late, attempt, message, now);
  }
}

void Core::NoteBound(PodId id) {
  const GangId gang = state_.gang_of(id);
  gangs_.NoteBound(gang, id);
  WaitingGang* const waiting = gang.valid() ? gangs_.Find(gang) : nullptr;
  if (waiting == nullptr || !GangBook::HasTroubles(*waiting) || IsIncomplete(gang)) return;
  const std::vector<PodId>& members = state_.gangs().Get(gang).members;
  // From the end: bindings are answered about as they were sent.
  const bool all_bound = std::none_of(members.rbegin(), members.rend(),
                                      [&](PodId member) { return IsOnItsWay(gang, member); });
  if (all_bound) GangBook::ForgetTroubles(*waiting);
}

void Core::CountBound(PodId id, Time now) {
  if (backfill_ != nullptr) backfill_->NoteBound(id);
  const auto binding = gang_bindings_.find(flights_.at(id).gang);
  flights_.at(id).gang = {};
  if (binding == gang_bindings_.end() || --binding->second.left > 0) return;
  TellGang(binding->first, GangOutcome::kBound, binding->second.pods, now - binding->second.since);
  gang_bindings_.erase(binding);
}

}  // namespace knx::engine
