// What follows from what is reserved for gangs whose pods are made by one of them, the driver: it
// is worked out whenever somebody asks, so that it is never out of date. Changes nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/drivers.h"
#include "engine/gang_book.h"
#include "engine/reservation_book.h"
#include "k8s/resource_reservation.h"

namespace knx::engine {

// A driver whose executors are more waits for them as any gang does. As many as a reservation may
// have: planning more at once would hold up everybody.
inline constexpr std::size_t kMostExecutorPlaces = k8s::kMaxReservedPlaces;

class DrivenGangs {
 public:
  struct Books {
    const cluster::State& state;
    const GangBook& gangs;
    const ReservationBook& reservations;
    const Drivers& drivers;
    // Members that have yet to get a place so that the gang has its minimum.
    std::function<std::size_t(cluster::GangId)> needed;
  };
  explicit DrivenGangs(Books books) : books_(std::move(books)) {}

  // What is reserved for the gang and is not over.
  [[nodiscard]] std::vector<const Reservation*> KeptFor(cluster::GangId id) const;
  // Whether a pod may use it that has its names.
  [[nodiscard]] bool MayUse(cluster::PodId id, const Reservation& reservation) const;
  // Whose driver makes those it is for; invalid: nobody's.
  [[nodiscard]] cluster::GangId DrivenBy(const Reservation& reservation) const;
  // Pods that it is for have places, or their driver has. They may use what is left of it when the
  // rest is lost, and nobody else is to come between.
  [[nodiscard]] bool HasBegun(const Reservation& reservation) const;
  // Whether its room would be kept for it if it went, from that other pod too.
  [[nodiscard]] bool IsExpectedBack(cluster::PodId id, cluster::PodId other) const;
  // Those that are there may start before the others: the driver, or others with places kept.
  [[nodiscard]] bool MayStartInParts(cluster::GangId id) const;
  // The reservation that has to be held before a driver that has no place starts; nullptr: none.
  [[nodiscard]] const Reservation* AwaitedBy(cluster::GangId id) const;
  // Why a driver that waits does not start before the others; empty: there is none, or it may.
  [[nodiscard]] std::string WhyNotInParts(cluster::GangId id) const;
  // What is to be kept for so many that its driver has yet to make, each of whom asks for what the
  // driver says; nullopt: nobody says it, or they have what is reserved.
  [[nodiscard]] std::optional<k8s::ResourceReservation> PlacesToKeep(cluster::GangId id,
                                                                     std::size_t count) const;
  // The same as it was made in an earlier attempt, while room is made for it; nullptr: it was not.
  [[nodiscard]] const Reservation* PlacesInTheMaking(cluster::GangId id, std::size_t count) const;
  // One whom it is for, and who has a place; invalid: none has.
  [[nodiscard]] cluster::PodId PlacedUserOf(const Reservation& reservation) const;
  // Those whom it is for, and who have been promised room; nobody, where it was made for a driver.
  [[nodiscard]] std::vector<cluster::PodId> NominatedUsersOf(const Reservation& reservation) const;
  // Its driver runs, and the places of those that it has yet to make are kept.
  [[nodiscard]] bool AwaitsExecutors(cluster::GangId id) const;
  // A driver that runs, and whose gang has yet to get its minimum, for which room is kept. Nobody
  // is to evict it: its executors would come to nothing.
  [[nodiscard]] bool IsForming(cluster::PodId id) const;

 private:
  [[nodiscard]] bool KeepsPlacesForAll(cluster::GangId id) const;

  Books books_;
};

}  // namespace knx::engine
