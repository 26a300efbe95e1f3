#include "engine/driven_gangs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/shortened.h"
#include "engine/beneficiaries.h"

namespace knx::engine {

using cluster::GangId;
using cluster::PodId;

std::vector<const Reservation*> DrivenGangs::KeptFor(GangId id) const {
  std::vector<const Reservation*> out = books_.reservations.For(NamesOf(books_.state, id));
  std::erase_if(out, [id](const Reservation* each) {
    return each->over() || (each->made_for.valid() && each->made_for != id);
  });
  return out;
}

bool DrivenGangs::MayUse(PodId id, const Reservation& reservation) const {
  const GangId gang = books_.state.gang_of(id);
  const bool made = reservation.made_for.valid();
  if (made && reservation.made_for != gang) return false;
  const Drivers::Driver* const driver = gang.valid() ? books_.drivers.Of(gang) : nullptr;
  if (driver == nullptr || driver->pod != id) return true;
  // Fewer places than the gang has pods are for those that the driver makes.
  const auto minimum = static_cast<std::size_t>(books_.state.gangs().Get(gang).minimum);
  return !made && reservation.places.size() >= minimum;
}

GangId DrivenGangs::DrivenBy(const Reservation& reservation) const {
  if (reservation.made_for.valid() || reservation.group.empty()) return reservation.made_for;
  const Drivers::Group group(reservation.object.meta.namespace_, reservation.group);
  const std::vector<GangId> gangs = books_.drivers.GangsOf(group);
  return gangs.empty() ? GangId{} : *gangs.begin();
}

bool DrivenGangs::HasBegun(const Reservation& reservation) const {
  if (!reservation.users().empty()) return true;
  const GangId gang = DrivenBy(reservation);
  const Drivers::Driver* const driver = gang.valid() ? books_.drivers.Of(gang) : nullptr;
  return driver != nullptr && books_.state.pod(driver->pod).node.valid();
}

bool DrivenGangs::IsExpectedBack(PodId id, PodId other) const {
  if (books_.reservations.empty()) return false;
  const std::vector<Reservation*> used = books_.reservations.UsedBy(id);
  return std::any_of(used.begin(), used.end(), [&](const Reservation* each) {
    if (each->over() || each->users().at(id).taken.empty()) return false;
    const auto open_to_other = books_.reservations.For(NamesOf(books_.state, other));
    const bool shared =
        std::find(open_to_other.begin(), open_to_other.end(), each) != open_to_other.end();
    return !shared || !MayUse(other, *each);
  });
}

bool DrivenGangs::MayStartInParts(GangId id) const {
  const Drivers::Driver* const driver = books_.drivers.Of(id);
  if (driver == nullptr || books_.state.gangs().Get(id).awaits_object()) return false;
  const bool runs = books_.state.pod(driver->pod).node.valid();
  const WaitingGang* const waiting = books_.gangs.Find(id);
  const bool waits = waiting != nullptr && std::find(waiting->ready.begin(), waiting->ready.end(),
                                                     driver->pod) != waiting->ready.end();
  if (runs) return KeepsPlacesForAll(id);
  return waits && WhyNotInParts(id).empty();
}

// Without any the others start as a whole.
bool DrivenGangs::KeepsPlacesForAll(GangId id) const {
  const std::size_t needed = books_.needed(id);
  const auto kept = KeptFor(id);
  return std::any_of(kept.begin(), kept.end(), [needed](const Reservation* each) {
    return each->stage() == ReservationStage::kHeld && each->places.size() >= needed;
  });
}

const Reservation* DrivenGangs::AwaitedBy(GangId id) const {
  const Drivers::Driver* const driver = books_.drivers.Of(id);
  if (driver == nullptr || books_.state.pod(driver->pod).node.valid()) return nullptr;
  const auto kept = KeptFor(id);
  const auto awaited = std::find_if(kept.begin(), kept.end(), [](const Reservation* each) {
    // What was made for the gang is left of an earlier attempt.
    return !each->made_for.valid() && each->stage() != ReservationStage::kHeld;
  });
  return awaited == kept.end() ? nullptr : *awaited;
}

std::string DrivenGangs::WhyNotInParts(GangId id) const {
  const Drivers::Driver* const driver = books_.drivers.Of(id);
  if (driver == nullptr || books_.state.gangs().Get(id).awaits_object()) return {};
  if (books_.state.pod(driver->pod).node.valid()) return {};
  if (const Reservation* const awaited = AwaitedBy(id)) {
    return fmt::format("; its driver waits until reservation {} is held",
                       Shortened(KeyOf(awaited->object), kLongestName));
  }
  const auto kept = KeptFor(id);
  const bool reserved = std::any_of(kept.begin(), kept.end(),
                                    [](const auto* each) { return !each->made_for.valid(); });
  if (reserved || driver->executor.empty()) return {};
  const WaitingGang& waiting = *books_.gangs.Find(id);
  if (books_.gangs.StillToCome(books_.state, id, waiting) <= kMostExecutorPlaces) return {};
  return fmt::format(
      "; its driver does not start before the others: places are kept for {} of them at most",
      kMostExecutorPlaces);
}

std::optional<k8s::ResourceReservation> DrivenGangs::PlacesToKeep(GangId id,
                                                                  std::size_t count) const {
  const Drivers::Driver* const driver = books_.drivers.Of(id);
  if (driver == nullptr || driver->executor.empty()) return std::nullopt;
  if (count == 0 || count > kMostExecutorPlaces) return std::nullopt;
  const bool runs = books_.state.pod(driver->pod).node.valid();
  for (const Reservation* const each : KeptFor(id)) {
    if (!each->made_for.valid() || runs) return std::nullopt;
  }
  const BeneficiaryNames whose = NamesOf(books_.state, id);
  k8s::ResourceReservation made;
  made.meta.namespace_ = whose.namespace_;
  made.meta.name = driver->places.substr(made.meta.namespace_.size() + 1);
  made.pod_group = whose.group;
  for (std::size_t i = 0; i < count; ++i) {
    made.places.push_back({fmt::format("{:05}", i), "", {}});
  }
  return made;
}

const Reservation* DrivenGangs::PlacesInTheMaking(GangId id, std::size_t count) const {
  const Drivers::Driver* const driver = books_.drivers.Of(id);
  for (const Reservation* const each : KeptFor(id)) {
    const auto is_alike = [&](const auto& place) { return place.left == driver->executor; };
    const bool same = each->made_for == id && each->places.size() == count &&
                      each->stage() == ReservationStage::kMakingRoom &&
                      std::all_of(each->places.begin(), each->places.end(), is_alike);
    if (same) return each;
  }
  return nullptr;
}

PodId DrivenGangs::PlacedUserOf(const Reservation& reservation) const {
  if (!reservation.users().empty()) return reservation.users().begin()->first;
  PodId first;
  if (!reservation.made_for.valid()) return first;
  for (const PodId member : books_.state.gangs().Get(reservation.made_for).members) {
    const bool uses = books_.state.pod(member).node.valid() && MayUse(member, reservation);
    if (uses && (!first.valid() || member < first)) first = member;
  }
  return first;
}

std::vector<PodId> DrivenGangs::NominatedUsersOf(const Reservation& reservation) const {
  std::vector<PodId> out;
  if (reservation.made_for.valid()) return out;
  const std::string& here = reservation.object.meta.namespace_;
  for (const auto& [row, nominated] : books_.state.nominations()) {
    for (const PodId id : nominated) {
      const BeneficiaryNames names = NamesOf(books_.state, id);
      const bool named = names.namespace_ == here &&
                         (reservation.group.empty() ? names.app == reservation.app
                                                    : names.group == reservation.group);
      if (named && MayUse(id, reservation)) out.push_back(id);
    }
  }
  return out;
}

bool DrivenGangs::AwaitsExecutors(GangId id) const {
  const Drivers::Driver* const driver = books_.drivers.Of(id);
  return driver != nullptr && books_.state.pod(driver->pod).node.valid() && !KeptFor(id).empty();
}

bool DrivenGangs::IsForming(PodId id) const {
  const GangId gang = books_.state.gang_of(id);
  const Drivers::Driver* const driver = gang.valid() ? books_.drivers.Of(gang) : nullptr;
  if (driver == nullptr || driver->pod != id || books_.needed(gang) == 0) return false;
  const auto kept = KeptFor(gang);
  return std::any_of(kept.begin(), kept.end(), [](const Reservation* each) {
    return each->stage() == ReservationStage::kHeld || each->stage() == ReservationStage::kWaiting;
  });
}

}  // namespace knx::engine
