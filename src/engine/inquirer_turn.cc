// What is asked about, as it is when it is decided about: with the places of those that a driver
// has yet to make, and with what is reserved for it.
#include <algorithm>

#include "engine/core.h"
#include "engine/inquirer.h"

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

Inquirer::Inquirer(Core& core) : core_(core), state_(core.state_) {}

Inquirer::~Inquirer() {
  // The last first: then the next pod gets the id that it would have got without us.
  for (auto hold = holds_.rbegin(); hold != holds_.rend(); ++hold) core_.EraseHold(*hold);
}

// ---- what stands for places ----

void Inquirer::MakeHolds(Reservation& places) {
  std::vector<std::size_t> without;
  for (std::size_t i = 0; i < places.places.size(); ++i) {
    if (!places.places[i].hold.valid()) without.push_back(i);
  }
  core_.MakeHolds(places);
  for (const std::size_t i : without) {
    if (places.places[i].hold.valid()) holds_.push_back(places.places[i].hold);
  }
}

void Inquirer::CopyWaiting() {
  for (const auto& [key, reservation] : core_.reservations_.all()) {
    if (reservation.stage() == ReservationStage::kWaiting) waiting_.push_back(reservation);
  }
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const Reservation& a, const Reservation& b) { return a.begins < b.begins; });
  for (Reservation& reservation : waiting_) MakeHolds(reservation);
}

std::optional<Reservation> Inquirer::PlacesToCome(GangId gang, std::size_t count) {
  const auto object = core_.driven_.PlacesToKeep(gang, count);
  if (!object) return std::nullopt;
  if (const auto* const known = core_.driven_.PlacesInTheMaking(gang, count)) return *known;
  Reservation places;
  places.object = *object;
  places.object.meta.uid = "inquiry";  // beside what is left of an earlier attempt
  places.made_for = gang;
  for (const k8s::ReservedPlace& asked : object->places) {
    places.places.push_back({asked, core_.drivers_.Of(gang)->executor, {}, {}});
  }
  MakeHolds(places);
  return places;
}

// ---- turns ----

const Reservation* Inquirer::AwaitedBy(GangId gang, const WaitingGang& waiting) const {
  const Reservation* const awaited = core_.driven_.AwaitedBy(gang);
  if (awaited == nullptr) return nullptr;
  const PodId driver = core_.drivers_.Of(gang)->pod;
  const bool waits =
      std::find(waiting.ready.begin(), waiting.ready.end(), driver) != waiting.ready.end();
  return waits ? awaited : nullptr;
}

Inquirer::Turn Inquirer::TurnOf(GangId gang, const WaitingGang& waiting) {
  Turn turn{.who = {gang, waiting.ready, core_.NeededBy(gang)},
            .pod = waiting.stands.valid() ? waiting.stands : waiting.ready.front(),
            .comers = waiting.ready};
  const auto add = [&turn](const Reservation& places) {
    const std::vector<PodId> holds = places.holds();
    turn.comers.insert(turn.comers.end(), holds.begin(), holds.end());
  };
  const std::size_t to_come = core_.gangs_.StillToCome(state_, gang, waiting);
  const Reservation* const awaited = to_come > 0 ? AwaitedBy(gang, waiting) : nullptr;
  turn.in_parts = to_come > 0 && (awaited != nullptr || core_.driven_.MayStartInParts(gang));
  if (!turn.in_parts) return turn;
  if (awaited == nullptr) turn.places = PlacesToCome(gang, to_come);
  if (turn.places) add(*turn.places);
  for (const Reservation& each : waiting_) {
    if (awaited != nullptr && core_.driven_.DrivenBy(each) == gang) add(each);
  }
  turn.who.needed = turn.comers.size();
  return turn;
}

// ---- plans ----

GangPlan Inquirer::PlanWith(const Turn& turn, GangPlanner& planner) {
  const Reservation* const places = turn.places ? &*turn.places : nullptr;
  return turn.in_parts ? core_.PlanInParts(turn.pod, turn.who.gang, places, planner)
                       : core_.PlanNow(turn.who.gang, planner);
}

GangPlan Inquirer::Plan(const Turn& turn) {
  const auto mark = state_.Mark();
  GangPlanner planner = core_.MakePlanner();
  GangPlan plan = PlanWith(turn, planner);
  state_.Rollback(mark);
  return plan;
}

bool Inquirer::Starts(PodId id) {
  NodeRow node = core_.PlaceMember(id).node;
  if (!node.valid() || !core_.ProfileOf(id).backfill) return node.valid();
  const Backfill::Unchanged unchanged(*core_.backfill_);
  return core_.MayStart(core_.WaiterOf(id, {}), node, core_.decided_at_) != Passing::kForbidden;
}

StartTrials::Tried Inquirer::Starts(const Turn& turn) {
  GangPlan plan = Plan(turn);
  const StartTrials::Tried tried{!plan.places.empty(), plan.evaluations};
  if (!tried.starts || !core_.ProfileOf(turn.pod).backfill) return tried;
  const Backfill::Unchanged unchanged(*core_.backfill_);
  const auto mark = state_.Mark();
  GangPlanner planner = core_.MakePlanner();
  const Reservation* const places = turn.places ? &*turn.places : nullptr;
  const GangTurn decided{turn.pod, turn.who.gang, turn.in_parts, places,
                         [&](GangPlanner& with) { return PlanWith(turn, with); }};
  Passing passing = Passing::kNobody;
  const Waiter waiter = core_.WaiterOf(turn.pod, turn.who.gang);
  plan = core_.PlanInTurn(decided, waiter, planner, passing, core_.decided_at_);
  state_.Rollback(mark);
  return {!plan.places.empty() && passing != Passing::kForbidden,
          tried.evaluations + plan.evaluations};
}

bool Inquirer::FewerStart(const Turn& turn, std::size_t needed) {
  if (!core_.ProfileOf(turn.pod).backfill) return true;
  const GangPlan plan = PlanFewer(turn, needed);
  const Waiter waiter = core_.WaiterOf(turn.pod, turn.who.gang);
  return !plan.places.empty() &&
         !core_.backfill_->WouldDelay(waiter, plan.places, {}, core_.decided_at_);
}

std::vector<NodeRow> Inquirer::PromisedToOthers(PodId id) {
  if (!core_.ProfileOf(id).backfill) return {};
  const Backfill::Unchanged unchanged(*core_.backfill_);
  const Waiter waiter = core_.WaiterOf(id, {});
  if (const auto detour = core_.backfill_->Around(waiter, core_.decided_at_)) return detour->closed;
  std::vector<NodeRow> all;  // it passes nobody
  state_.nodes().present().ForEach([&](std::uint32_t row) { all.push_back(NodeRow{row}); });
  return all;
}

namespace {

// Beside those that are there, so many in all. None: these are enough.
std::optional<Reservation> PlacesFor(const std::optional<Reservation>& all, std::size_t ready,
                                     std::size_t needed) {
  if (!all || needed <= ready) return std::nullopt;
  Reservation fewer = *all;
  fewer.places.resize(std::min(fewer.places.size(), needed - ready));
  return fewer;
}

}  // namespace

GangPlan Inquirer::PlanFewer(const Turn& turn, std::size_t needed) {
  const auto mark = state_.Mark();
  GangPlanner planner = core_.MakePlanner();
  const auto places = PlacesFor(turn.places, turn.who.ready.size(), needed);
  GangPlan plan = places ? core_.PlanInParts(turn.pod, turn.who.gang, &*places, planner)
                         : core_.PlanNow(turn.who.gang, planner, needed);
  state_.Rollback(mark);
  return plan;
}

GangPlan Inquirer::PlanFewerHere(const Turn& turn, std::size_t needed) {
  const auto mark = state_.Mark();
  GangPlanner planner = core_.MakePlanner();
  GangPlan plan;
  if (const auto places = PlacesFor(turn.places, turn.who.ready.size(), needed)) {
    plan = core_.PlanBothHere(turn.who.gang, &*places, planner);
  } else {
    const Aspirants fewer{turn.who.gang, turn.who.ready, needed};
    plan = core_.PlanHere(fewer, planner)();
    if (plan.places.empty()) core_.ConcludeHere(fewer, planner, plan);
  }
  state_.Rollback(mark);
  return plan;
}

GangRoom Inquirer::FindRoomForFewer(const Turn& turn, std::size_t needed) {
  GangPlanner planner = core_.MakePlanner();
  const Aspirants fewer{turn.who.gang, turn.who.ready, needed};
  const auto places = PlacesFor(turn.places, turn.who.ready.size(), needed);
  return places ? core_.FindRoomInParts(turn.pod, fewer.gang, &*places, core_.decided_at_)
                : core_.FindRoom(turn.pod, fewer, planner, core_.decided_at_);
}

// ---- what is lent meanwhile ----

Inquirer::Lent::Lent(Inquirer& inquirer, const Turn& turn)
    : core_(inquirer.core_), mark_(core_.state_.Mark()) {
  const GangId gang = turn.who.gang;
  // What was kept for it in an earlier attempt is given up when it is decided about.
  for (const Reservation* const each : core_.driven_.KeptFor(gang)) {
    if (!each->made_for.valid()) continue;
    const bool stays = turn.places ? turn.places->object.meta.uid == each->object.meta.uid
                                   : each->stage() != ReservationStage::kMakingRoom;
    for (const PodId hold : stays ? std::vector<PodId>() : each->holds()) {
      if (core_.state_.pod(hold).node.valid()) core_.state_.Displace(hold);
      if (core_.state_.pod(hold).nominated.valid()) core_.state_.ClearNomination(hold);
    }
  }
  loan_ = core_.lent_.Lend(turn.who.ready, turn.places ? &*turn.places : nullptr);
}

Inquirer::Lent::Lent(Inquirer& inquirer, PodId pod)
    : core_(inquirer.core_),
      mark_(core_.state_.Mark()),
      loan_(core_.lent_.Lend(std::span(&pod, 1))) {}

Inquirer::Lent::~Lent() {
  core_.lent_.TakeBack(loan_);
  core_.state_.Rollback(mark_);
}

}  // namespace knx::engine
