#include "engine/reservation_book.h"

#include <fmt/format.h>

#include <algorithm>

#include "k8s/names.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;
using cluster::ResourceAmount;
using cluster::ResourceVector;

namespace {

std::string_view LabelOf(const k8s::ObjectMeta& meta, std::string_view key) {
  for (const auto& [name, value] : meta.labels) {
    if (name == key) return value;
  }
  return {};
}

std::string GroupKey(std::string_view namespace_, std::string_view group) {
  return fmt::format("{}/g/{}", namespace_, group);
}

std::string AppKey(std::string_view namespace_, std::string_view app) {
  return fmt::format("{}/a/{}", namespace_, app);
}

std::string KeyFor(const Reservation& reservation) {
  const std::string& namespace_ = reservation.object.meta.namespace_;
  return reservation.group.empty() ? AppKey(namespace_, reservation.app)
                                   : GroupKey(namespace_, reservation.group);
}

void PutBack(ResourceVector& to, const ResourceVector& amounts) {
  for (const ResourceAmount& entry : amounts) {
    const auto at = std::lower_bound(to.begin(), to.end(), entry.id,
                                     [](const ResourceAmount& a, auto id) { return a.id < id; });
    if (at != to.end() && at->id == entry.id) {
      at->amount += entry.amount;
    } else {
      to.insert(at, entry);
    }
  }
}

// How ill a place suits somebody who asks for `wanted`: what it lacks, then what would be left
// over, resource by resource counted rather than added up.
std::pair<std::size_t, std::size_t> Misfit(const ResourceVector& left,
                                           std::span<const ResourceAmount> wanted) {
  std::size_t lacks = 0, over = 0;
  for (const ResourceAmount& want : wanted) {
    if (cluster::AmountOf(left, want.id) < want.amount) ++lacks;
  }
  for (const ResourceAmount& have : left) {
    if (have.amount > cluster::AmountOf(wanted, have.id)) ++over;
  }
  return {lacks, over};
}

}  // namespace

std::string KeyOf(const k8s::ResourceReservation& object) {
  return fmt::format("{}/{}", object.meta.namespace_, object.meta.name);
}

ResourceVector TakeOut(ResourceVector& from, ResourceVector& wanted) {
  ResourceVector taken;
  for (ResourceAmount& want : wanted) {
    for (ResourceAmount& have : from) {
      if (have.id != want.id) continue;
      const std::int64_t amount = std::min(have.amount, want.amount);
      if (amount <= 0) continue;
      taken.push_back({want.id, amount});
      have.amount -= amount;
      want.amount -= amount;
    }
  }
  const auto is_empty = [](const ResourceAmount& entry) { return entry.amount <= 0; };
  std::erase_if(from, is_empty);
  std::erase_if(wanted, is_empty);
  return taken;
}

void NoteRows(Reservation& reservation, const cluster::State& state) {
  for (Reservation::Place& place : reservation.places) {
    if (!place.hold.valid()) continue;
    if (const NodeRow row = state.pod(place.hold).node; row.valid()) place.row = row;
  }
}

bool Reservation::all_taken() const {
  return std::all_of(places.begin(), places.end(),
                     [](const Place& place) { return place.left.empty(); });
}

std::vector<PodId> Reservation::holds() const {
  std::vector<PodId> out;
  for (const Place& place : places) {
    if (place.hold.valid()) out.push_back(place.hold);
  }
  return out;
}

Reservation* ReservationBook::Find(const std::string& key) {
  const auto found = all_.find(key);
  return found == all_.end() ? nullptr : &found->second;
}

Reservation& ReservationBook::Add(const k8s::ResourceReservation& object, Time made, Duration lasts,
                                  cluster::ResourceNames& names) {
  const std::string key = KeyOf(object);
  Reservation& added = all_[key];
  added.object = object;
  added.group = object.pod_group.empty() ? LabelOf(object.meta, k8s::names::kPodGroupOfReservation)
                                         : std::string_view(object.pod_group);
  if (added.group.empty()) {
    added.app = LabelOf(object.meta, k8s::names::kAppId);
    if (added.app.empty()) added.app = object.meta.name;
  }
  added.begins = object.start.value_or(made);
  const Duration duration = object.duration.value_or(lasts);
  // Somebody may write a duration that ends beyond all times.
  const bool endless = added.begins.ns > 0 && duration.ns > kNever.ns - added.begins.ns;
  added.ends = endless ? kNever : added.begins + duration;
  for (const k8s::ReservedPlace& asked : object.places) {
    added.places.push_back({asked, cluster::ToResourceVector(asked.resources, names), {}, {}});
  }
  added.written = object.conditions;
  by_names_[KeyFor(added)].insert(key);
  Remind(added.begins);
  if (!endless) Remind(added.ends);
  NoteChange(added);
  return added;
}

void ReservationBook::Remove(const std::string& key) {
  const auto found = all_.find(key);
  if (found == all_.end()) return;
  const auto named = by_names_.find(KeyFor(found->second));
  named->second.erase(key);
  if (named->second.empty()) by_names_.erase(named);
  NoteChange(found->second);
  for (const auto& [pod, user] : found->second.users_) ForgetUse(found->second, pod);
  all_.erase(found);
}

void ReservationBook::Enter(Reservation& reservation, ReservationStage stage) {
  if (std::exchange(reservation.stage_, stage) != stage) NoteChange(reservation);
}

void ReservationBook::NoteChange(const Reservation& reservation) {
  if (reservation.group.empty()) return;
  changed_.emplace(reservation.object.meta.namespace_, reservation.group);
}

std::vector<std::string> ReservationBook::KeysFor(const BeneficiaryNames& names) const {
  std::vector<std::string> out;
  const auto add = [&](const std::string& whose) {
    const auto named = by_names_.find(whose);
    if (named != by_names_.end()) out.insert(out.end(), named->second.begin(), named->second.end());
  };
  if (!names.group.empty()) add(GroupKey(names.namespace_, names.group));
  if (!names.app.empty()) add(AppKey(names.namespace_, names.app));
  return out;
}

std::vector<Reservation*> ReservationBook::For(const BeneficiaryNames& names) {
  std::vector<Reservation*> out;
  for (const std::string& key : KeysFor(names)) out.push_back(&all_.at(key));
  return out;
}

std::vector<const Reservation*> ReservationBook::For(const BeneficiaryNames& names) const {
  std::vector<const Reservation*> out;
  for (const std::string& key : KeysFor(names)) out.push_back(&all_.at(key));
  return out;
}

std::vector<Reservation*> ReservationBook::UsedBy(PodId pod) const {
  const auto found = uses_.find(pod);
  return found == uses_.end() ? std::vector<Reservation*>() : found->second;
}

void ReservationBook::AddUser(Reservation& reservation, PodId pod, NodeRow row) {
  const auto [user, is_new] = reservation.users_.try_emplace(pod);
  user->second.row = row;
  if (is_new) uses_[pod].push_back(&reservation);
}

void ReservationBook::ForgetUse(const Reservation& reservation, PodId pod) {
  const auto found = uses_.find(pod);
  std::erase(found->second, &reservation);
  if (found->second.empty()) uses_.erase(found);
}

std::vector<std::size_t> ReservationBook::TakeHere(Reservation& reservation, PodId pod, NodeRow row,
                                                   ResourceVector& wanted) {
  std::vector<std::size_t> changed;
  AddUser(reservation, pod, row);
  Reservation::User& user = reservation.users_.at(pod);
  std::vector<std::pair<std::pair<std::size_t, std::size_t>, std::size_t>> here;
  for (std::size_t i = 0; i < reservation.places.size(); ++i) {
    const Reservation::Place& place = reservation.places[i];
    if (!place.hold.valid() || place.row != row) continue;
    here.emplace_back(Misfit(place.left, wanted), i);
  }
  std::sort(here.begin(), here.end());
  for (const auto& [misfit, i] : here) {
    ResourceVector taken = TakeOut(reservation.places[i].left, wanted);
    if (taken.empty()) continue;
    user.taken.push_back({i, std::move(taken)});
    changed.push_back(i);
  }
  return changed;
}

std::optional<std::size_t> ReservationBook::TakeElsewhere(Reservation& reservation, PodId pod,
                                                          ResourceVector& wanted) {
  std::optional<std::size_t> best;
  std::pair<std::size_t, std::size_t> least;
  for (std::size_t i = 0; i < reservation.places.size(); ++i) {
    if (reservation.places[i].left.empty()) continue;
    const auto misfit = Misfit(reservation.places[i].left, wanted);
    if (best && misfit >= least) continue;
    best = i;
    least = misfit;
  }
  if (!best) return std::nullopt;
  ResourceVector taken = TakeOut(reservation.places[*best].left, wanted);
  if (taken.empty()) return std::nullopt;
  reservation.users_.at(pod).taken.push_back({*best, std::move(taken)});
  return best;
}

std::vector<std::size_t> ReservationBook::GiveBack(Reservation& reservation, PodId pod) {
  std::vector<std::size_t> changed;
  const auto user = reservation.users_.find(pod);
  if (user == reservation.users_.end()) return changed;
  for (const Reservation::Taken& taken : user->second.taken) {
    PutBack(reservation.places[taken.place].left, taken.amounts);
    changed.push_back(taken.place);
  }
  reservation.users_.erase(user);
  ForgetUse(reservation, pod);
  return changed;
}

bool ReservationBook::PopMoments(Time now) {
  const auto end = moments_.upper_bound(now);
  const bool any = end != moments_.begin();
  moments_.erase(moments_.begin(), end);
  return any;
}

// ---- what is used ----

bool ReservedRoom::Take(std::span<Reservation* const> usable, NodeRow row, ResourceVector wanted) {
  std::map<PodId, ResourceVector> left;
  for (const Reservation* const reservation : usable) {
    if (reservation->stage() != ReservationStage::kHeld) continue;
    for (const Reservation::Place& place : reservation->places) {
      if (!place.hold.valid() || place.row != row) continue;
      const auto known = left_.find(place.hold);
      ResourceVector here = known == left_.end() ? place.left : known->second;
      TakeOut(here, wanted);
      left.insert_or_assign(place.hold, std::move(here));
    }
  }
  if (!wanted.empty() || left.empty()) return false;
  for (auto& [hold, amounts] : left) left_.insert_or_assign(hold, std::move(amounts));
  return true;
}

}  // namespace knx::engine
