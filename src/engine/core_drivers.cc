// Gangs whose pods are made by one of them, the driver: it starts first, when there is room for the
// others too, and that room is kept until they come (core_reservations.cc).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/shortened.h"
#include "cluster/reservation_hold.h"
#include "engine/beneficiaries.h"
#include "engine/core.h"
#include "k8s/drivers.h"
#include "k8s/names.h"

namespace knx::engine {

namespace names = k8s::names;
using cluster::GangId;
using cluster::PodId;

// ---- who drives what ----

void Core::NoteDriver(PodId id, const k8s::Pod& pod) {
  // One that is about to leave makes no more pods.
  if (!reserving_ || state_.pod(id).terminating || !k8s::IsDriver(pod.meta.labels)) return;
  const auto& membership = state_.pod(id).gang;
  if (membership == nullptr || !membership->id.valid()) return;
  if (judge_.GangPluginOf(id) == nullptr) return;
  const GangId gang = membership->id;
  const BeneficiaryNames whose = NamesOf(state_, gang);
  // No object can be called so.
  Drivers::Driver driver{
      id,
      {},
      fmt::format("{}/executors of {} #{}", whose.namespace_, whose.group, gang.index),
      JobOf(pod.meta, fmt::format("{}/{}", whose.namespace_, state_.gangs().Get(gang).name))};
  for (const auto& [key, value] : pod.meta.annotations) {
    if (key != names::kExecutorResources) continue;
    if (const auto asked = ReadExecutorResources(value)) {
      driver.executor = cluster::ToResourceVector(*asked, state_.resources());
    } else {
      EmitEvent(id, true, names::kEventGangConflict, names::kActionScheduling,
                fmt::format("annotation {} says {}, which is not like cpu=4,memory=8Gi,gpu=1: it "
                            "does not count, and no room is kept for executors by it",
                            key, Shortened(value, kLongestValue)));
    }
  }
  if (driver.executor.empty()) driver.executor = drivers_.Recall(driver.job);
  drivers_.Add(gang, {std::string(whose.namespace_), std::string(whose.group)}, std::move(driver));
  for (Reservation* const each : reservations_.For(whose)) {
    reservations_due_ = each->unsettled = true;  // it may have to be elsewhere, with the driver
  }
  Touch(gang);
}

void Core::ForgetDriver(PodId id, Time now) {
  const auto gone = drivers_.Remove(id);
  if (!gone) return;
  if (gone->driver && reservations_.Find(gone->driver->places) != nullptr) {
    RemoveReservation(gone->driver->places, now);
  }
  // What is left of an object's places may be kept for nobody who runs any more.
  reservations_due_ = reservations_due_ || !reservations_.empty();
  Touch(gone->gang);
}

void Core::RememberExecutors(GangId gang, const GangPlan& plan) {
  const Drivers::Driver* const driver = drivers_.Of(gang);
  if (driver == nullptr) return;
  for (const auto& [pod, row] : plan.places) {
    if (pod == driver->pod) continue;
    const auto requests = state_.usage_of(pod).requests;
    return drivers_.Remember(driver->job, {requests.begin(), requests.end()});
  }
}

// ---- what follows ----

void Core::SettleTouched(Time now) {
  while (reservations_.has_changed() || !touched_.empty()) {
    for (const Drivers::Group& group : reservations_.TakeChanged()) {
      for (const GangId id : drivers_.GangsOf(group)) touched_.insert(id);
    }
    for (const GangId id : std::exchange(touched_, {})) RevisitGang(id, now);
  }
}

void Core::SettleDriver(GangId id, Time now) {
  const Drivers::Driver* const driver = id.valid() ? drivers_.Of(id) : nullptr;
  if (driver == nullptr) return;
  if (!state_.gang_of(driver->pod).valid()) DropExecutorPlaces(id, now);
  NoteUse(driver->pod, now);
  const bool spared = driven_.IsForming(driver->pod);
  const bool given_up = drivers_.SetSpared(id, spared) && !spared;
  if (!given_up || !state_.pod(driver->pod).node.valid()) return;
  TellMayGo(driver->pod, now);
}

void Core::Touch(GangId id) {
  if (id.valid()) touched_.insert(id);
}

void Core::TellWhoMayGo(GangId gang, Time now) {
  if (!gang.valid() || !state_.gangs().Contains(gang)) return;
  for (const PodId member : std::vector<PodId>(state_.gangs().Get(gang).members)) {
    if (state_.pod(member).node.valid()) TellMayGo(member, now);
  }
}

void Core::TellMayGo(PodId id, Time now) {
  framework::ClusterEvent event;
  event.kind = framework::EventKind::kAssignedPodDelete;
  event.pod = id;
  event.pod_now = event.pod_before = InEvent(id);
  Tell(event, now);
}

// ---- the places of those to come ----

Reservation* Core::MakeExecutorPlaces(GangId id, std::size_t count, Time since) {
  const auto made = driven_.PlacesToKeep(id, count);
  if (!made) return nullptr;
  const Drivers::Driver* const driver = drivers_.Of(id);
  const bool runs = state_.pod(driver->pod).node.valid();
  const Duration lasts =
      profiles_[*reserving_].reservations->plugin->reservation_args().driver_hold;
  // Room is being made for them. Otherwise the driver has lost its place, and without it they
  // are for nobody: all are looked for anew.
  if (driven_.PlacesInTheMaking(id, count) != nullptr) {
    Reservation* const known = reservations_.Find(driver->places);
    // It is held from when it is, not from when that was first tried.
    known->ends = since + lasts;
    reservations_.Remind(known->ends);
    for (const PodId hold : known->holds()) {
      if (backfill_ != nullptr) backfill_->times().NoteHold(hold, known->ends);
    }
    return known;
  }
  // What was promised for those of an earlier attempt is promised for these, in their order.
  const Reservation* const earlier = reservations_.Find(driver->places);
  const std::vector<PodId> before = earlier == nullptr ? std::vector<PodId>() : earlier->holds();
  std::optional<Promise> promised;
  if (backfill_ != nullptr) promised = backfill_->TakeOut(id);
  DropExecutorPlaces(id, since);
  Reservation& added = reservations_.Add(*made, since, lasts, state_.resources());
  added.made_for = id;
  for (Reservation::Place& place : added.places) place.left = driver->executor;
  // Those that have a place already do not need another. Beside a driver that runs theirs are
  // counted, so that they are expected back.
  for (const PodId member : state_.gangs().Get(id).members) {
    const cluster::NodeRow row = state_.pod(member).node;
    if (!row.valid() || !driven_.MayUse(member, added)) continue;
    reservations_.AddUser(added, member, row);
    const auto requests = state_.usage_of(member).requests;
    cluster::ResourceVector wanted(requests.begin(), requests.end());
    if (runs) ReservationBook::TakeElsewhere(added, member, wanted);
  }
  if (!runs) reservations_.Enter(added, ReservationStage::kMakingRoom);
  MakeHolds(added);
  if (promised) backfill_->PutBack(*std::move(promised), before, added.holds());
  return &added;
}

void Core::DropExecutorPlaces(GangId id, Time now) {
  const Drivers::Driver* const driver = drivers_.Of(id);
  if (driver == nullptr || reservations_.Find(driver->places) == nullptr) return;
  RemoveReservation(std::string(driver->places), now);
}

void Core::DropUnheldPlaces(GangId id, Time now) {
  const Drivers::Driver* const driver = drivers_.empty() ? nullptr : drivers_.Of(id);
  if (driver == nullptr) return;
  const Reservation* const places = reservations_.Find(driver->places);
  if (places == nullptr || places->stage() != ReservationStage::kMakingRoom) return;
  DropExecutorPlaces(id, now);
}

void Core::HoldExecutorPlaces(const GangPlan& plan, Reservation& executors) {
  reservations_.Enter(executors, ReservationStage::kHeld);
  NoteRows(executors, state_);
  // Those that start with the driver do not need any of them.
  for (const auto& [pod, row] : plan.places) {
    if (driven_.MayUse(pod, executors)) reservations_.AddUser(executors, pod, row);
  }
  for (const Reservation::Place& place : executors.places) {
    if (place.hold.valid()) state_.ClearNomination(place.hold);
  }
}

void Core::AwaitExecutorRoom(PodId id, GangId gang, Reservation& executors, const GangRoom& room,
                             Time now) {
  if (room.places.empty()) {
    const bool promised =
        backfill_ != nullptr && ProfileOf(id).backfill && backfill_->HasPromise(WaiterOf(id, gang));
    if (!promised && !RoomIsComing(id, *gangs_.Find(gang), now)) DropExecutorPlaces(gang, now);
    return;
  }
  const std::map<PodId, cluster::NodeRow> rows(room.places.begin(), room.places.end());
  for (Reservation::Place& place : executors.places) {
    const auto at = rows.find(place.hold);
    if (at == rows.end()) continue;
    place.row = at->second;
    state_.Nominate(place.hold, place.row);
  }
}

// ---- planning both ----

GangPlan Core::PlanBothHere(GangId gang, const Reservation* executors, GangPlanner& planner) {
  const std::vector<PodId>& ready = gangs_.Find(gang)->ready;
  const auto mark = state_.Mark();
  GangPlan plan = planner.Plan(ready, ready.size());
  const bool fits =
      !plan.places.empty() && (executors == nullptr || PlanExecutors(*executors, plan));
  fits ? state_.Commit(mark) : state_.Rollback(mark);
  if (fits) return plan;
  // The best place for one after the other is not the only way.
  std::vector<PodId> comers = ready;
  if (executors != nullptr) {
    const std::vector<PodId> holds = executors->holds();
    comers.insert(comers.end(), holds.begin(), holds.end());
  }
  ConcludeForAll(comers, planner, plan);
  if (plan.places.empty() || executors == nullptr) return plan;
  std::erase_if(plan.places,
                [this](const auto& place) { return cluster::IsHold(state_.pod(place.first)); });
  return plan;
}

bool Core::PlanExecutors(const Reservation& executors, GangPlan& plan) {
  std::optional<Placement> refusal = PlaceHolds(executors);
  if (!refusal) return true;
  const std::vector<PodId> holds = executors.holds();
  plan.fitting = plan.places.size() + static_cast<std::size_t>(std::count_if(
                                          holds.begin(), holds.end(), [this](PodId hold) {
                                            return state_.pod(hold).node.valid();
                                          }));
  plan.places.clear();
  plan.answer = GangAnswer::kNotFound;
  plan.refusal = *std::move(refusal);
  // What helps one of those to come need not help any pod that could be asked about: anything may.
  plan.refusal.attempt = {};
  return false;
}

// A driver that is yet to start goes where places are held for it.
std::optional<GangDomains> Core::DomainsInParts(const Aspirants& who, const GangPlanner& planner) {
  std::optional<GangDomains> domains = DomainsFor(state_, who, planner);
  if (!domains || domains->pinned) return domains;
  for (const Reservation* const each : driven_.KeptFor(who.gang)) {
    // They may be lent, and then have no room in the state.
    const auto held =
        std::find_if(each->places.begin(), each->places.end(), [this](const auto& place) {
          return place.hold.valid() && place.row.valid() && state_.nodes().has_node(place.row);
        });
    if (each->stage() != ReservationStage::kHeld || held == each->places.end()) continue;
    const Symbol there = state_.nodes().Label(held->row, domains->key);
    std::erase_if(domains->all, [&](const Confines& domain) { return domain.value != there; });
  }
  return domains;
}

// ---- after a start ----

void Core::KeepExecutorPlaces(Time now) {
  for (const GangId gang : drivers_.Gangs()) {
    const cluster::Pod& pod = state_.pod(drivers_.Of(gang)->pod);
    const std::size_t needed = NeededBy(gang);
    // One that leaves makes no more pods, and is not among those that have a place.
    if (!pod.node.valid() || pod.leaves() || needed == 0) continue;
    const Time since = pod.started == Time{} ? now : pod.started;
    const std::size_t others = state_.gangs().Get(gang).placed - 1;
    if (MakeExecutorPlaces(gang, needed + others, since) != nullptr) reservations_due_ = true;
  }
}

}  // namespace knx::engine
