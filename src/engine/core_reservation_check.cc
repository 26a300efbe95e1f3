// Reservations recounted: what is held is what is left, and who has a place uses what is kept for
// it.
#include <fmt/format.h>

#include <algorithm>

#include "cluster/reservation_hold.h"
#include "engine/beneficiaries.h"
#include "engine/core.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;

namespace {

std::optional<std::string> VerifyHold(const cluster::State& state, const Reservation& reservation,
                                      const Reservation::Place& place) {
  if (reservation.over()) return "is over and holds room";
  if (!state.pods().Contains(place.hold) || !cluster::IsHold(state.pod(place.hold))) {
    return "its hold is gone";
  }
  const auto held = state.usage_of(place.hold).requests;
  if (!std::equal(held.begin(), held.end(), place.left.begin(), place.left.end())) {
    return fmt::format("place {} holds something else than what is left", place.asked.name);
  }
  const NodeRow row = state.pod(place.hold).node;
  if (row.valid() && row != place.row) {
    return fmt::format("place {} is held elsewhere", place.asked.name);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Core::VerifyReservations() const {
  std::size_t holds = 0;
  for (const auto& [key, reservation] : reservations_.all()) {
    // What has yet to be settled may have lost a place just now.
    const bool waits = reservation.stage() == ReservationStage::kWaiting && !reservations_due_;
    const bool whole = reservation.stage() == ReservationStage::kMakingRoom ||
                       (waits && !driven_.HasBegun(reservation));
    for (const Reservation::Place& place : reservation.places) {
      if (!place.hold.valid()) continue;
      ++holds;
      if (auto difference = VerifyHold(state_, reservation, place)) {
        return fmt::format("reservation {}: {}", key, *difference);
      }
      if (whole && state_.pod(place.hold).node.valid()) {
        return fmt::format("reservation {}: place {} is held before there is room for all", key,
                           place.asked.name);
      }
    }
    for (const auto& [pod, user] : reservation.users()) {
      if (!state_.pods().Contains(pod)) {
        return fmt::format("reservation {}: a pod uses it that is gone", key);
      }
      if (!reservation.over() && state_.pod(pod).node != user.row) {
        return fmt::format("reservation {}: a pod uses it that is elsewhere", key);
      }
      if (!reservation.over() && !driven_.MayUse(pod, reservation)) {
        return fmt::format("reservation {}: a pod uses it that it is not for", key);
      }
    }
  }
  for (std::uint32_t i = 0; i < state_.pods().id_limit(); ++i) {
    const PodId id{i};
    if (!state_.pods().Contains(id)) continue;
    if (cluster::IsHold(state_.pod(id))) --holds;
    if (reservations_.empty() || !state_.pod(id).node.valid()) continue;
    for (const Reservation* const each : reservations_.For(NamesOf(state_, id))) {
      if (each->over() || each->users().contains(id) || !driven_.MayUse(id, *each)) continue;
      return fmt::format("reservation {}: pod {} does not use it", KeyOf(each->object),
                         state_.pod(id).name);
    }
  }
  if (holds != 0) return "room is held that is not reserved";
  return VerifyDrivers();
}

std::optional<std::string> Core::VerifyDrivers() const {
  for (const cluster::GangId gang : drivers_.Gangs()) {
    const Drivers::Driver* const driver = drivers_.Of(gang);
    const bool member = state_.pods().Contains(driver->pod) &&
                        state_.pod(driver->pod).gang != nullptr &&
                        state_.pod(driver->pod).gang->id == gang;
    if (!member) return "a driver drives a pod group that it is not of";
    if (driver->spared != driven_.IsForming(driver->pod)) {
      return fmt::format("pod {}: whether it may be evicted is out of date",
                         state_.pod(driver->pod).name);
    }
  }
  return std::nullopt;
}

}  // namespace knx::engine
