// What would help somebody who waits: what is tried, and with whom.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/core.h"
#include "engine/demand_planner.h"
#include "engine/inquirer.h"

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

namespace {

// As if nobody else were there.
void DisplaceAllBut(GangId gang, cluster::State& state) {
  std::vector<PodId> all;
  state.nodes().present().ForEach([&](std::uint32_t row) {
    const auto pods = state.nodes().pods(NodeRow{row});
    all.insert(all.end(), pods.begin(), pods.end());
  });
  for (const PodId pod : all) {
    if (state.gang_of(pod) != gang) state.Displace(pod);
  }
}

}  // namespace

Inquirer::Question Inquirer::AskFor(PodId id) {
  Question question{.members = {id}};
  question.attempt = AfterReservations([this, id](const Held& /*held*/) {
    const Lent lent(*this, id);
    return StartTrials::Tried{Starts(id), 0};
  });
  return question;
}

Inquirer::Question Inquirer::AskFor(const Turn& turn, const GangPlan& plan) {
  // Of those it could do without, one is a beginning.
  Question question{.members = turn.comers,
                    .turn = &turn,
                    .needed = std::max<std::size_t>(turn.who.needed, 1),
                    .fitting = plan.fitting,
                    .lacks_in_all = !plan.shortages.empty()};
  GangPlanner planner = core_.MakePlanner();
  if (auto domains = DomainsFor(state_, turn.who, planner)) {
    for (const GangPlan::Domain& domain : plan.domains) {
      const auto is_it = [&](const Confines& one) { return one.value == domain.value; };
      const auto where = std::find_if(domains->all.begin(), domains->all.end(), is_it);
      question.domains.push_back(std::move(*where));
    }
  }
  question.attempt = AfterReservations([this, &turn](const Held& held) {
    const Lent lent(*this, turn);
    const bool awaits = turn.in_parts && core_.driven_.AwaitedBy(turn.who.gang) != nullptr;
    if (!awaits) return Starts(turn);
    const GangPlan tried = PlanBeside(turn, held);
    return StartTrials::Tried{!tried.places.empty(), tried.evaluations};
  });
  return question;
}

StartTrials::Try Inquirer::AfterReservations(
    std::function<StartTrials::Tried(const Held&)> attempt) {
  return [this, attempt = std::move(attempt)] {
    // Who has to be in one domain looks for it.
    const Placer::Unconfined anywhere(core_.placer_);
    const auto mark = state_.Mark();
    const StartTrials::Tried tried = attempt(HoldWhatWaits());
    state_.Rollback(mark);
    return tried;
  };
}

Inquirer::Held Inquirer::HoldWhatWaits() {
  Held held;
  for (Reservation reservation : waiting_) {
    if (!core_.PlaceTogether(reservation)) held.push_back(std::move(reservation));
  }
  return held;
}

GangPlan Inquirer::PlanBeside(const Turn& turn, const Held& held) {
  const GangId gang = turn.who.gang;
  GangPlanner planner = core_.MakePlanner();
  std::optional<GangDomains> domains = DomainsFor(state_, turn.who, planner);
  for (const Reservation* const each : core_.driven_.KeptFor(gang)) {
    if (each->made_for.valid() || each->stage() == ReservationStage::kHeld) continue;
    const auto now = std::find_if(held.begin(), held.end(), [&](const Reservation& one) {
      return KeyOf(one.object) == KeyOf(each->object);
    });
    if (now == held.end()) return {};
    // The driver goes where it is, as once it is held.
    for (const Reservation::Place& place : now->places) {
      if (!domains || domains->pinned || !place.row.valid()) continue;
      const Symbol there = state_.nodes().Label(place.row, domains->key);
      std::erase_if(domains->all, [&](const Confines& one) { return one.value != there; });
    }
  }
  if (!FindShortages(state_, gang).empty()) return {};
  const auto mark = state_.Mark();
  GangPlan plan =
      core_.PlanIn(domains, turn.who, [&] { return core_.PlanBothHere(gang, nullptr, planner); });
  state_.Rollback(mark);
  return plan;
}

void Inquirer::FindHelp(const Question& question, Wait& wait) {
  StartTrials trials(question.attempt, question.members.size(), state_.nodes().node_count());
  const PodId first = question.members.front();
  GangHelpFinder finder(
      state_, trials,
      {.fits = [this](PodId pod, NodeRow row) { return core_.FitsOn(pod, row); },
       .is_replaced = [this,
                       first](PodId pod) { return core_.driven_.IsExpectedBack(pod, first); }});
  GangHelpFinder::Waiting waiting{question.members, question.needed, question.fitting,
                                  question.lacks_in_all};
  for (const Reservation& reservation : waiting_) waiting.before += reservation.places.size();
  const std::vector<NodeRow> near =
      question.domains.empty() ? std::vector<NodeRow>{} : question.domains.front().rows;
  const MoreNodes more = finder.FindNodes(waiting, near);
  if (more.count > 0) wait.like = state_.nodes().name(more.like);
  wait.nodes = more.count;
  trials.Renew();
  if (more.count == 0) {
    for (const auto& [id, amount, most] : finder.FindLargerNodes(waiting, near)) {
      wait.too_large.push_back({state_.resources().Name(id), amount, most});
    }
    trials.Renew();
  }
  for (const PodId pod : FindPods(question, finder)) {
    wait.pods.push_back(NameOf(pod));
    if (state_.pod(pod).terminating) ++wait.leaving;
  }
  std::sort(wait.pods.begin(), wait.pods.end());
  trials.Renew();
  FindReserved(question, trials, wait);
}

// ---- pods that end ----

std::vector<PodId> Inquirer::FindPods(const Question& question, GangHelpFinder& finder) {
  // Where most fit already, fewest are in the way.
  constexpr std::size_t kMostDomains = 4;
  const Lent lent = question.turn != nullptr ? Lent(*this, *question.turn)
                                             : Lent(*this, question.members.front());
  std::vector<PodId> fewest;
  if (question.domains.empty()) fewest = FindPodsHere(question, finder);
  for (std::size_t i = 0; i < std::min(question.domains.size(), kMostDomains); ++i) {
    const Placer::Confinement confinement(core_.placer_, question.domains[i]);
    std::vector<PodId> found = FindPodsHere(question, finder);
    if (fewest.empty() || (!found.empty() && found.size() < fewest.size())) {
      fewest = std::move(found);
    }
  }
  return fewest;
}

std::vector<PodId> Inquirer::FindPodsHere(const Question& question, GangHelpFinder& finder) {
  GangPlanner planner = core_.MakePlanner();
  std::vector<std::pair<PodId, std::size_t>> by_kind;
  const GangCount count = core_.CountFor(question.members, by_kind);
  GangHelpFinder::Where where;
  for (const GangCount::Kind& kind : count.kinds()) {
    where.open.insert(where.open.end(), kind.room.open.begin(), kind.room.open.end());
  }
  std::sort(where.open.begin(), where.open.end());
  const GangBound bound = count.Tightest();
  if (bound.most < question.needed && !bound.by.empty()) where.scarce = bound.by.front();
  where.uses = [this](NodeRow row) { return core_.placer_.MayUse(row); };
  using Order = GangHelpFinder::Order;
  std::vector<Order> orders = {{planner.LargestFirst(question.members), question.needed}};
  if (question.needed < question.members.size() && count.kinds().size() > 1) {
    orders.push_back({planner.SmallestFirst(question.members), question.needed});
  }
  const Turn* const turn = question.turn;
  if (turn != nullptr && !turn->in_parts && IsChoosy(state_.gangs().Get(turn->who.gang))) {
    Order chosen;
    chosen.members = DemandPlanner(state_, planner, turn->who).Choose([&] {
      DisplaceAllBut(turn->who.gang, state_);
    });
    chosen.needed = chosen.members.size();
    if (!chosen.members.empty()) orders.insert(orders.begin(), std::move(chosen));
  }
  return finder.FindPods(where, orders, planner);
}

// ---- reservations that end ----

void Inquirer::FindReserved(const Question& question, StartTrials& trials, Wait& wait) {
  // Nobody reads a longer list.
  constexpr std::size_t kMostTried = 64;
  std::size_t tried = 0;
  std::vector<const Reservation*> own;
  if (question.turn != nullptr) own = core_.driven_.KeptFor(question.turn->who.gang);
  for (const auto& [key, reservation] : core_.reservations_.all()) {
    if (std::find(own.begin(), own.end(), &reservation) != own.end()) continue;
    const auto mark = state_.Mark();
    bool held = false;
    for (const Reservation::Place& place : reservation.places) {
      if (!place.hold.valid() || !state_.pod(place.hold).node.valid()) continue;
      state_.Displace(place.hold);
      held = true;
    }
    if (held && trials.Start()) {
      wait.reserved.push_back(
          {key,
           reservation.group.empty()
               ? fmt::format("app {}", reservation.app)
               : fmt::format("pod group {}/{}", reservation.object.meta.namespace_,
                             reservation.group),
           reservation.ends});
    }
    state_.Rollback(mark);
    if (held && ++tried == kMostTried) return;
  }
}

}  // namespace knx::engine
