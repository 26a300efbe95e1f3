// Gangs whose pods are made by one of them, the driver: it starts first, when there is room for the
// others too, and that room is kept until they come (core_reservations.cc).
#include <fmt/format.h>

#include <algorithm>

#include "cluster/reservation_hold.h"
#include "engine/core.h"
#include "k8s/drivers.h"
#include "k8s/names.h"

namespace knx::engine {

namespace names = k8s::names;
using cluster::GangId;
using cluster::PodId;

// ---- who drives what ----

void Core::NoteDriver(PodId id, const k8s::Pod& pod, Time now) {
  if (!reserving_ || !k8s::IsDriver(pod.meta.labels)) return;
  const GangId gang = GangOf(id);
  if (!gang.valid() || drivers_.Of(gang) != nullptr) return;
  const BeneficiaryNames whose = NamesOfGang(gang);
  // No object can be called so.
  Drivers::Driver driver{id,
                         {},
                         fmt::format("{}/executors of {}", whose.namespace_, whose.group),
                         JobOf(pod.meta, GangName(state_, gang))};
  for (const auto& [key, value] : pod.meta.annotations) {
    if (key != names::kExecutorResources) continue;
    if (const auto asked = ReadExecutorResources(value)) {
      driver.executor = cluster::ToResourceVector(*asked, state_.resources());
    } else {
      EmitEvent(id, true, names::kEventGangConflict, names::kActionScheduling,
                fmt::format("annotation {} says {:.100}, which is not like cpu=4,memory=8Gi: it "
                            "does not count",
                            key, value));
    }
  }
  if (driver.executor.empty()) driver.executor = drivers_.Recall(driver.job);
  drivers_.Set(gang, std::move(driver));
  SettleGang(gang, now);
}

void Core::ForgetDriver(PodId id, Time now) {
  const auto& all = drivers_.all();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [id](const auto& entry) { return entry.second.pod == id; });
  if (found == all.end()) return;
  const std::string places = found->second.places;
  drivers_.Remove(found->first);
  if (reservations_.Find(places) != nullptr) RemoveReservation(places, now);
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

// ---- starting before the others are there ----

BeneficiaryNames Core::NamesOfGang(GangId id) const {
  const cluster::Gang& gang = state_.gangs().Get(id);
  return {state_.words().Text(gang.namespace_), cluster::GroupOf(gang.source, gang.name), {}};
}

bool Core::MayStartInParts(GangId id) const {
  const Drivers::Driver* const driver = drivers_.Of(id);
  if (driver == nullptr || state_.gangs().Get(id).awaits_object()) return false;
  const bool runs = state_.pod(driver->pod).node.valid();
  const WaitingGang* const waiting = gangs_.Find(id);
  const bool waits = waiting != nullptr && std::find(waiting->ready.begin(), waiting->ready.end(),
                                                     driver->pod) != waiting->ready.end();
  if (!runs && !waits) return false;
  for (const Reservation* const reservation : reservations_.For(NamesOfGang(id))) {
    if (reservation->over() || reservation->with_driver) continue;
    const bool held = reservation->stage == ReservationStage::kHeld;
    if (!runs && !held) return false;  // the places of its executors are waited for
    if (runs && held && reservation->places.size() >= NeededBy(id)) return true;
  }
  // Without any the driver is all that can be started for now, and the others start as a whole.
  return !runs;
}

bool Core::AwaitsExecutors(GangId id) const {
  const Drivers::Driver* const driver = drivers_.Of(id);
  if (driver == nullptr || !state_.pod(driver->pod).node.valid()) return false;
  const auto kept = reservations_.For(NamesOfGang(id));
  return std::any_of(kept.begin(), kept.end(), [](const Reservation* r) { return !r->over(); });
}

bool Core::IsForming(PodId id) const {
  const GangId gang = state_.gang_of(id);
  const Drivers::Driver* const driver = gang.valid() ? drivers_.Of(gang) : nullptr;
  if (driver == nullptr || driver->pod != id || NeededBy(gang) == 0) return false;
  const auto kept = reservations_.For(NamesOfGang(gang));
  return std::any_of(kept.begin(), kept.end(), [](const Reservation* r) {
    return r->stage == ReservationStage::kHeld || r->stage == ReservationStage::kWaiting;
  });
}

Reservation* Core::MakeExecutorPlaces(GangId id, std::size_t count, Time since) {
  const Drivers::Driver* const driver = drivers_.Of(id);
  if (driver == nullptr || driver->executor.empty() || count == 0) return nullptr;
  const BeneficiaryNames whose = NamesOfGang(id);
  const bool runs = state_.pod(driver->pod).node.valid();
  for (Reservation* const reservation : reservations_.For(whose)) {
    if (reservation->over()) continue;
    const bool has_object = !reservation->object.meta.uid.empty();
    if (has_object || runs) return nullptr;
    // Room is being made for them. Otherwise the driver has lost its place, and without it they
    // are for nobody: all are looked for anew.
    if (reservation->with_driver && reservation->places.size() == count) return reservation;
  }
  k8s::ResourceReservation made;
  made.meta.namespace_ = whose.namespace_;
  made.meta.name = driver->places.substr(made.meta.namespace_.size() + 1);
  made.pod_group = whose.group;
  const std::size_t most = k8s::kMaxReservedPlaces;
  for (std::size_t i = 0; i < std::min(count, most); ++i) {
    made.places.push_back({fmt::format("{:05}", i), "", {}});
  }
  const Duration lasts =
      profiles_[*reserving_].reservations->plugin->reservation_args().driver_hold;
  DropExecutorPlaces(id, since);  // of an earlier attempt
  Reservation& added = reservations_.Add(made, since, lasts, state_.resources());
  for (Reservation::Place& place : added.places) place.left = driver->executor;
  // Those that have a place already do not need another.
  for (const PodId member : state_.gangs().Get(id).members) {
    const cluster::NodeRow row = state_.pod(member).node;
    if (row.valid() && member != driver->pod) added.users[member].row = row;
  }
  MakeHolds(added);
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
  if (places != nullptr && places->with_driver) DropExecutorPlaces(id, now);
}

void Core::HoldExecutorPlaces(PodId driver, const GangPlan& plan, Reservation& executors) {
  executors.stage = ReservationStage::kHeld;
  executors.with_driver = false;
  // Those that start with the driver do not need any of them.
  for (const auto& [pod, row] : plan.places) {
    if (pod != driver) executors.users[pod].row = row;
  }
  for (const Reservation::Place& place : executors.places) {
    if (place.hold.valid()) state_.ClearNomination(place.hold);
  }
}

void Core::AwaitExecutorRoom(PodId id, GangId gang, Reservation& executors, const GangRoom& room,
                             Time now) {
  if (room.places.empty()) {
    if (!RoomIsComing(id, *gangs_.Find(gang), now)) DropExecutorPlaces(gang, now);
    return;
  }
  executors.stage = ReservationStage::kWaiting;
  executors.with_driver = true;
  for (Reservation::Place& place : executors.places) {
    const auto at = std::find_if(room.places.begin(), room.places.end(),
                                 [&](const auto& each) { return each.first == place.hold; });
    if (at == room.places.end()) continue;
    place.row = at->second;
    state_.Nominate(place.hold, place.row);
  }
}

bool Core::PlanExecutors(PodId id, Reservation& executors, GangPlan& plan) {
  std::optional<Placement> refusal = PlaceHolds(executors);
  if (!refusal) return true;
  // Who said no is known by its place in a profile, which may be another than that of the pod.
  if (&ProfileOf(id) != &profiles_[*reserving_]) refusal->attempt = {};
  plan.fitting = plan.places.size();
  plan.places.clear();
  plan.blocked = {};
  plan.refusal = *std::move(refusal);
  return false;
}

void Core::SettleDriven(std::string_view namespace_, std::string_view group, Time now) {
  if (drivers_.empty() || group.empty()) return;
  std::vector<GangId> driven;
  for (const auto& [gang, driver] : drivers_.all()) {
    const BeneficiaryNames whose = NamesOfGang(gang);
    if (whose.group == group && whose.namespace_ == namespace_) driven.push_back(gang);
  }
  for (const GangId gang : driven) SettleGang(gang, now);
}

void Core::KeepExecutorPlaces(Time now) {
  for (const auto& [gang, driver] : drivers_.all()) {
    const cluster::Pod& pod = state_.pod(driver.pod);
    if (!pod.node.valid()) continue;
    const Time since = pod.started == Time{} ? now : pod.started;
    if (MakeExecutorPlaces(gang, NeededBy(gang), since) != nullptr) reservations_due_ = true;
  }
}

}  // namespace knx::engine
