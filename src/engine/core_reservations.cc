// Room that is kept for pods which have yet to come. A place is a pod of the state that takes room
// on a node (cluster/reservation_hold.h). While a pod is planned that it is for, it is lent to that
// pod; when the pod has a place, what is left of the hold is what the pod does not use. So what is
// held and what is used never count twice, and nobody else comes in between.
#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "base/shortened.h"
#include "cluster/overcommit.h"
#include "cluster/reservation_hold.h"
#include "engine/beneficiaries.h"
#include "engine/core.h"
#include "k8s/names.h"

namespace knx::engine {

namespace names = k8s::names;
using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

namespace {

// Beyond this nobody reads why there is no room.
constexpr std::size_t kLongestWhy = 1000;

// A status that could not be written is written again then.
constexpr Duration kWriteAgainAfter = Duration::Seconds(60);

constexpr std::string_view kHeld = "Held", kWaiting = "WaitingForRoom", kPlanned = "NotStarted",
                           kUsed = "Used", kExpired = "Expired";

// Another that asks for the same, its status aside.
bool AsksTheSame(const k8s::ResourceReservation& a, const k8s::ResourceReservation& b) {
  return a.meta.uid == b.meta.uid && a.meta.labels == b.meta.labels && a.pod_group == b.pod_group &&
         a.places == b.places && a.start == b.start && a.duration == b.duration;
}

// Where it begins: a scheduler before this one may have seen its end. One that has got more time
// since it expired is not over.
ReservationStage FirstStage(const Reservation& reservation, Time now) {
  for (const k8s::Condition& condition : reservation.object.conditions) {
    if (condition.type != names::kReservationActive || condition.status != "False") continue;
    if (condition.reason == kUsed) return ReservationStage::kUsed;
    if (condition.reason == kExpired && now >= reservation.ends) return ReservationStage::kExpired;
  }
  return ReservationStage::kPlanned;
}

}  // namespace

// ---- they come and go ----

void Core::OnReservation(const k8s::ResourceReservation& object, bool there, Time now) {
  if (!reserving_) return;
  const std::string key = KeyOf(object);
  if (Reservation* const known = reservations_.Find(key)) {
    if (there && !object.meta.deleted && AsksTheSame(known->object, object)) return;
    RemoveReservation(key, now);
  }
  if (!there || object.meta.deleted) return;
  const Duration lasts = profiles_[*reserving_].reservations->plugin->reservation_args().lasts;
  Reservation& added =
      reservations_.Add(object, object.meta.created.value_or(now), lasts, state_.resources());
  reservations_.Enter(added, FirstStage(added, now));
  reservations_due_ = true;
  for (std::uint32_t i = 0; i < state_.pods().id_limit() && !added.over(); ++i) {
    const PodId id{i};
    if (state_.pods().Contains(id) && state_.pod(id).node.valid()) NoteUse(id, now);
  }
}

void Core::RemoveReservation(const std::string& key, Time now) {
  Reservation& reservation = *reservations_.Find(key);
  if (!reservation.over()) EndReservation(reservation, ReservationStage::kExpired, now);
  reservations_.Remove(key);
}

void Core::EndReservation(Reservation& reservation, ReservationStage stage, Time now) {
  reservations_.Enter(reservation, stage);
  reservation.why.clear();
  for (Reservation::Place& place : reservation.places) DropHold(place, now);
  // Their room would not be kept for them any more: whoever could do with it may make them go.
  for (const auto& [pod, user] : reservation.users()) {
    if (state_.pod(pod).node.valid() && !user.taken.empty()) TellMayGo(pod, now);
  }
}

void Core::DropHold(Reservation::Place& place, Time now) {
  if (!place.hold.valid()) return;
  const PodId hold = std::exchange(place.hold, {});
  // As if a pod went: whoever waits for room hears of it. Of what had none there is nothing to
  // hear; told of it, a driver would be tried again because it was just tried in vain.
  const bool had_room = state_.pod(hold).node.valid() || state_.pod(hold).nominated.valid();
  had_room ? RemovePod(hold, now) : EraseHold(hold);
}

// Another pod may get its id.
void Core::EraseHold(PodId hold) {
  if (backfill_ != nullptr) backfill_->Forget(hold);
  state_.RemovePod(hold);
}

// ---- who they are for ----

std::vector<Reservation*> Core::ReservationsFor(PodId id) {
  std::vector<Reservation*> out = reservations_.For(NamesOf(state_, id));
  std::erase_if(out, [&](const Reservation* each) { return !driven_.MayUse(id, *each); });
  return out;
}

void Core::NoteUse(PodId id, Time now) {
  if (!reservations_.empty()) Use(id, state_.pod(id).node, now);
}

void Core::Use(PodId id, NodeRow row, Time now) {
  const std::vector<Reservation*> used = reservations_.UsedBy(id);
  std::vector<Reservation*> all = row.valid() ? ReservationsFor(id) : std::vector<Reservation*>();
  if (used.empty() && all.empty()) return;
  // It may be bound now, and all that was needed.
  reservations_due_ = true;
  // Of those that are over, who has used them is known.
  std::erase_if(
      all, [&](const Reservation* each) { return each->over() && !each->users().contains(id); });
  const bool known = used.size() == all.size() &&
                     std::all_of(all.begin(), all.end(), [&](const Reservation* each) {
                       const auto user = each->users().find(id);
                       return user != each->users().end() && user->second.row == row;
                     });
  if (known) return;
  for (Reservation* const each : used) StopUse(*each, id);
  std::erase_if(all, [](const Reservation* each) { return each->over(); });
  if (all.empty()) return;
  const auto requests = state_.usage_of(id).requests;
  cluster::ResourceVector wanted(requests.begin(), requests.end());
  bool took = false;
  for (Reservation* const each : all) {
    for (const std::size_t taken : reservations_.TakeHere(*each, id, row, wanted)) {
      took = true;
      FreeHold(each->places[taken], now);
    }
  }
  for (auto each = all.begin(); each != all.end() && !took; ++each) {
    const std::optional<std::size_t> taken = ReservationBook::TakeElsewhere(**each, id, wanted);
    took = taken.has_value();
    if (took) FreeHold((*each)->places[*taken], now);
  }
}

// The pod has the room that it needs, and this is there for others.
void Core::FreeHold(Reservation::Place& place, Time now) {
  if (!place.hold.valid()) return;
  const Departed before = Remember(place.hold);
  state_.Hold(before.pod_class, before.kin);
  ResizeHold(place);
  framework::ClusterEvent event;
  event.kind = framework::EventKind::kAssignedPodDelete;
  event.pod_now = event.pod_before = InEvent(before);
  if (before.node.valid()) Tell(event, now);
  state_.Release(before.pod_class, before.kin);
}

void Core::StopUse(Reservation& reservation, PodId id) {
  for (const std::size_t given : reservations_.GiveBack(reservation, id)) {
    Reservation::Place& place = reservation.places[given];
    reservations_due_ = reservation.unsettled = true;
    if (!place.hold.valid()) continue;
    // What grows has to find its room again, on the same node first.
    if (state_.pod(place.hold).node.valid()) state_.Displace(place.hold);
    ResizeHold(place);
  }
}

void Core::ResizeHold(Reservation::Place& place) {
  if (place.left.empty()) return EraseHold(std::exchange(place.hold, {}));
  const cluster::Pod& hold = state_.pod(place.hold);
  cluster::HoldShape shape{hold.name, hold.uid.substr(cluster::kHoldUid.size()), place.asked.node,
                           state_.class_of(place.hold).spec};
  state_.UpdatePod(place.hold, cluster::MakeHold(shape, place.left, state_.resources()));
}

// ---- planning those they are for ----

void Core::SettleLoan(const Loan& loan, std::span<const std::pair<PodId, NodeRow>> places,
                      Time now) {
  lent_.Keep(loan);
  if (reservations_.empty()) return;
  for (const auto& [pod, row] : places) Use(pod, row, now);
  for (const auto& [hold, row] : loan.holds) {
    const bool there = state_.pods().Contains(hold) && cluster::IsHold(state_.pod(hold)) &&
                       !state_.pod(hold).node.valid();
    if (!there) continue;
    state_.Assume(hold, row);
    // Amounts always fit; one more pod on the node may not.
    YieldHolds(row);
  }
}

Placement Core::PlaceOne(PodId id, Time now) {
  const Loan loan = lent_.Lend(std::span(&id, 1));
  Placement placement = placer_.Place(ProfileOf(id), id, FailedOn(id));
  if (backfill_ != nullptr) ConsiderPromises(id, placement, now);
  lent_.TakeBack(loan);
  return placement;
}

void Core::YieldHolds(NodeRow row, bool all) {
  if (reservations_.empty() || !row.valid()) return;
  const std::vector<PodId> pods(state_.nodes().pods(row).begin(), state_.nodes().pods(row).end());
  for (const PodId id : pods) {
    if (!cluster::IsHold(state_.pod(id))) continue;
    if (!all && !cluster::IsOvercommitted(state_, row)) return;
    state_.Displace(id);
    reservations_due_ = holds_moved_ = true;
  }
}

// ---- what is due ----

void Core::SettleReservations(Time now) {
  reservations_due_ = false;
  const bool moved = std::exchange(holds_moved_, false);
  // The oldest first: it does not depend on names who gets the room.
  std::vector<Reservation*> all;
  for (auto& [key, reservation] : reservations_.all()) all.push_back(&reservation);
  std::stable_sort(all.begin(), all.end(), [](const Reservation* a, const Reservation* b) {
    return a->begins < b->begins;
  });
  for (Reservation* const reservation : all) {
    SettleReservation(*reservation, moved, now);
    ReportReservation(*reservation, now);
  }
}

void Core::SettleReservation(Reservation& reservation, bool moved, Time now) {
  if (reservation.over() || now < reservation.begins) return;
  // They are planned together with their driver.
  if (reservation.stage() == ReservationStage::kMakingRoom) return;
  if (now >= reservation.ends) {
    return EndReservation(reservation, ReservationStage::kExpired, now);
  }
  if (HasServed(reservation)) return EndReservation(reservation, ReservationStage::kUsed, now);
  const bool held = reservation.stage() == ReservationStage::kHeld;
  if (moved || reservation.unsettled || !held) HoldPlaces(reservation, now);
}

bool Core::HasServed(const Reservation& reservation) const {
  if (reservation.users().empty()) return false;
  GangId gang;
  for (const auto& [pod, user] : reservation.users()) {
    if (state_.pod(pod).assumed) return false;  // it may lose its place yet
    if (!gang.valid() && !reservation.group.empty()) gang = state_.gang_of(pod);
  }
  return gang.valid() ? NeededBy(gang) == 0 : reservation.all_taken();
}

void Core::HoldPlaces(Reservation& reservation, Time now) {
  MakeHolds(reservation);
  std::optional<Placement> refusal = PlaceTogether(reservation);
  const std::vector<PodId> holds = reservation.holds();
  const auto has_room = [this](PodId hold) { return state_.pod(hold).node.valid(); };
  // Where it cannot be better it stays as it is, and is looked at again: its driver waits for that.
  const bool stays = refusal && std::all_of(holds.begin(), holds.end(), has_room);
  if (stays) refusal.reset();
  reservations_.Enter(reservation, refusal ? ReservationStage::kWaiting : ReservationStage::kHeld);
  reservation.why = refusal ? refusal->message : "";
  reservation.unsettled = stays;
  if (!refusal || driven_.HasBegun(reservation)) return;
  // Two that have lost a place each would wait for what the other has left.
  for (Reservation::Place& place : reservation.places) {
    if (place.hold.valid() && has_room(place.hold)) DropHold(place, now);
  }
}

namespace {

std::vector<std::pair<PodId, NodeRow>> TakeNominations(cluster::State& state,
                                                       const std::vector<PodId>& pods) {
  std::vector<std::pair<PodId, NodeRow>> taken;
  for (const PodId pod : pods) {
    taken.emplace_back(pod, state.pod(pod).nominated);
    state.ClearNomination(pod);
  }
  return taken;
}

}  // namespace

// The places of a gang that has to be together are together, and with its driver, which has yet to
// find room there unless it runs.
std::optional<Placement> Core::PlaceTogether(Reservation& reservation) {
  const auto has_node = [](const Reservation::Place& place) { return !place.asked.node.empty(); };
  const bool anywhere =
      std::none_of(reservation.places.begin(), reservation.places.end(), has_node);
  const GangId gang = anywhere ? driven_.DrivenBy(reservation) : GangId{};
  std::optional<GangDomains> domains;
  if (gang.valid()) domains = DomainsFor(state_, {gang, {}, 0}, MakePlanner());
  const auto attempt = [&](bool together) {
    const auto plan = state_.Mark();
    for (const PodId hold : reservation.holds()) {
      if (together && state_.pod(hold).node.valid()) state_.Displace(hold);
    }
    // What was promised to those it is for does not keep it away.
    const auto promised = TakeNominations(state_, driven_.NominatedUsersOf(reservation));
    std::optional<Placement> refusal = PlaceHolds(reservation);
    for (const auto& [pod, row] : promised) state_.Nominate(pod, row);
    if (together && !refusal) refusal = RefuseDriver(drivers_.Of(gang)->pod);
    refusal ? state_.Rollback(plan) : state_.Commit(plan);
    if (!refusal) NoteRows(reservation, state_);
    return refusal;
  };
  if (!domains || domains->all.empty()) return attempt(false);
  std::optional<Placement> refusal;
  for (const Confines& domain : domains->all) {
    const Placer::Confinement confinement(placer_, domain);
    refusal = attempt(true);
    if (!refusal) break;
  }
  return refusal;
}

std::optional<Placement> Core::RefuseDriver(PodId driver) {
  if (state_.pod(driver).node.valid() || !IsOurs(driver)) return std::nullopt;
  const Loan loan = lent_.Lend(std::span(&driver, 1));
  Placement found = PlaceMember(driver);
  lent_.TakeBack(loan);
  if (found.node.valid()) return std::nullopt;
  found.message = fmt::format("no room for the driver beside it: {}", found.message);
  return found;
}

void Core::MakeHolds(Reservation& reservation) {
  const PodId like = driven_.PlacedUserOf(reservation);
  const Drivers::Driver* const driver =
      reservation.made_for.valid() ? drivers_.Of(reservation.made_for) : nullptr;
  for (Reservation::Place& place : reservation.places) {
    if (place.left.empty() || place.hold.valid()) continue;
    cluster::HoldShape shape;
    shape.name = fmt::format("{}/{}", KeyOf(reservation.object), place.asked.name);
    shape.id = fmt::format("{}/{}", shape.name, reservation.object.meta.uid);
    shape.node = place.asked.node;
    if (like.valid()) shape.like = state_.class_of(like).spec;
    place.hold = state_.AddPod(cluster::MakeHold(shape, place.left, state_.resources()));
    if (driver != nullptr) {
      state_.SetBeneficiaryPriority(place.hold, state_.pod(driver->pod).priority);
    }
    if (backfill_ != nullptr) backfill_->times().NoteHold(place.hold, reservation.ends);
  }
}

namespace {

// A place may name a node that is not there.
bool IsMissing(const cluster::State& state, const std::string& node) {
  if (node.empty()) return false;
  const NodeRow row = state.nodes().Find(node);
  return !row.valid() || !state.nodes().has_node(row);
}

}  // namespace

std::optional<Placement> Core::PlaceHolds(const Reservation& reservation) {
  for (const Reservation::Place& place : reservation.places) {
    if (!place.hold.valid() || state_.pod(place.hold).node.valid()) continue;
    NodeRow row = place.row;
    const bool known =
        row.valid() && row.index < state_.nodes().row_count() && state_.nodes().has_node(row);
    if (!known || !placer_.MayUse(row) || !FitsOn(place.hold, row)) {
      Placement found = PlaceMember(place.hold);
      row = found.node;
      if (!row.valid()) {
        const std::string what = reservation.made_for.valid()
                                     ? "an executor of its driver"
                                     : fmt::format("place {}", place.asked.name);
        const std::string why =
            IsMissing(state_, place.asked.node)
                ? fmt::format("there is no node {}", Shortened(place.asked.node, kLongestName))
                : found.message;
        found.message = fmt::format("no room for {}: {}", what, why);
        return found;
      }
    }
    // The book is told once the plan stays.
    state_.Assume(place.hold, row);
  }
  return std::nullopt;
}

// ---- saying so ----

namespace {

k8s::Condition ActiveCondition(const Reservation& reservation) {
  const auto say = [](std::string_view status, std::string_view reason, std::string message) {
    return k8s::Condition{std::string(names::kReservationActive),
                          std::string(status),
                          std::string(reason),
                          std::move(message),
                          {}};
  };
  const std::string end = reservation.ends == kNever ? "" : FormatTime(reservation.ends);
  switch (reservation.stage()) {
    case ReservationStage::kPlanned:
      return say("False", kPlanned, fmt::format("begins at {}", FormatTime(reservation.begins)));
    case ReservationStage::kWaiting:
    case ReservationStage::kMakingRoom:
      return say("False", kWaiting, Shortened(reservation.why, kLongestWhy));
    case ReservationStage::kHeld:
      return say("True", kHeld,
                 fmt::format("{} reserved{}",
                             FormatCount(reservation.places.size(), "place is", "places are"),
                             end.empty() ? "" : fmt::format(" until {}", end)));
    case ReservationStage::kUsed:
      return say("False", kUsed, "its pods have their places");
    case ReservationStage::kExpired:
      return say("False", kExpired, fmt::format("ended at {}", end));
  }
  return {};
}

// The time of a transition is that of the status, as everywhere in Kubernetes.
void KeepTime(k8s::Condition& condition, const std::vector<k8s::Condition>& before, Time now) {
  condition.last_transition = now;
  for (const k8s::Condition& was : before) {
    if (was.type != condition.type || was.status != condition.status) continue;
    if (was.last_transition) condition.last_transition = was.last_transition;
  }
}

bool SaysTheSame(const std::vector<k8s::Condition>& a, const std::vector<k8s::Condition>& b) {
  return std::is_permutation(a.begin(), a.end(), b.begin(), b.end(),
                             [](const k8s::Condition& x, const k8s::Condition& y) {
                               return x.type == y.type && x.status == y.status &&
                                      x.reason == y.reason && x.message == y.message;
                             });
}

}  // namespace

void Core::ReportReservation(Reservation& reservation, Time now) {
  if (reservation.made_for.valid()) return;  // it has no object
  std::pair<ReservationStage, std::string> say(reservation.stage(), reservation.why);
  if (reservation.said == say) return;
  reservation.said = std::move(say);
  std::vector<k8s::Condition> conditions = {ActiveCondition(reservation)};
  if (!reservation.group.empty()) {
    const bool complete = reservation.stage() == ReservationStage::kUsed;
    conditions.push_back({std::string(names::kGangComplete),
                          complete ? "True" : "False",
                          complete ? "PodGroupComplete" : "PodGroupIncomplete",
                          complete ? "the pods that must start have their places"
                                   : "pods that must start have no place yet",
                          {}});
  }
  if (SaysTheSame(conditions, reservation.written)) return;
  PatchReservation patch{reservation.object.meta.namespace_,
                         reservation.object.meta.name,
                         reservation.object.meta.uid,
                         {},
                         {}};
  for (k8s::Condition& condition : conditions) KeepTime(condition, reservation.written, now);
  for (const auto& [pod, user] : reservation.users()) {
    for (const Reservation::Taken& taken : user.taken) {
      patch.pods.emplace_back(reservation.places[taken.place].asked.name, state_.pod(pod).name);
    }
  }
  std::sort(patch.pods.begin(), patch.pods.end());
  // Of several that share a place the first is named.
  patch.pods.erase(std::unique(patch.pods.begin(), patch.pods.end(),
                               [](const auto& a, const auto& b) { return a.first == b.first; }),
                   patch.pods.end());
  patch.conditions = reservation.written = std::move(conditions);
  reservation.patch = Emit(std::move(patch));
}

void Core::OnReservationWritten(const ActionFinished& finished, Time now) {
  if (!finished.failure) return;
  for (auto& [key, reservation] : reservations_.all()) {
    if (reservation.patch != finished.action) continue;
    reservation.written.clear();
    reservation.said.reset();
    reservations_.Remind(now + kWriteAgainAfter);
  }
}

}  // namespace knx::engine
