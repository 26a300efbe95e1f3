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
  question.attempt = AfterReservations([this, id] {
    const Loan loan = core_.lent_.Lend(std::span(&id, 1));
    const bool fits = core_.PlaceMember(id).node.valid();
    core_.lent_.TakeBack(loan);
    return StartTrials::Tried{fits, 0};
  });
  return question;
}

Inquirer::Question Inquirer::AskFor(const Aspirants& who, const GangPlan& plan) {
  // Of those it could do without, one is a beginning.
  Question question{.members = {who.ready.begin(), who.ready.end()},
                    .gang = who.gang,
                    .needed = std::max<std::size_t>(who.needed, 1),
                    .fitting = plan.fitting,
                    .lacks_in_all = !plan.shortages.empty()};
  GangPlanner planner = core_.MakePlanner();
  if (auto domains = DomainsFor(state_, who, planner)) {
    for (const GangPlan::Domain& domain : plan.domains) {
      const auto is_it = [&](const Confines& one) { return one.value == domain.value; };
      const auto where = std::find_if(domains->all.begin(), domains->all.end(), is_it);
      question.domains.push_back(std::move(*where));
    }
  }
  question.attempt = AfterReservations([this, gang = who.gang] {
    const Loan loan = core_.lent_.Lend(core_.gangs_.Find(gang)->ready);
    const auto mark = state_.Mark();
    GangPlanner by_itself = core_.MakePlanner();
    const GangPlan tried = core_.PlanNow(gang, by_itself);
    state_.Rollback(mark);
    core_.lent_.TakeBack(loan);
    return StartTrials::Tried{!tried.places.empty(), tried.evaluations};
  });
  return question;
}

StartTrials::Try Inquirer::AfterReservations(StartTrials::Try attempt) {
  return [this, attempt = std::move(attempt)] {
    // Who has to be in one domain looks for it.
    const Placer::Unconfined anywhere(core_.placer_);
    const auto mark = state_.Mark();
    HoldWhatWaits();
    const StartTrials::Tried tried = attempt();
    state_.Rollback(mark);
    return tried;
  };
}

void Inquirer::HoldWhatWaits() {
  // Copies, which remember other places than they had.
  std::vector<Reservation> waiting;
  for (const auto& [key, reservation] : core_.reservations_.all()) {
    if (reservation.stage() == ReservationStage::kWaiting) waiting.push_back(reservation);
  }
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const Reservation& a, const Reservation& b) { return a.begins < b.begins; });
  for (Reservation& reservation : waiting) {
    core_.PlaceTogether(reservation);
  }
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
  for (const auto& [key, reservation] : core_.reservations_.all()) {
    if (reservation.stage() == ReservationStage::kWaiting) {
      waiting.before += reservation.places.size();
    }
  }
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
  FindReserved(trials, wait);
}

// ---- pods that end ----

std::vector<PodId> Inquirer::FindPods(const Question& question, GangHelpFinder& finder) {
  // Where most fit already, fewest are in the way.
  constexpr std::size_t kMostDomains = 4;
  const Loan loan = core_.lent_.Lend(question.members);
  std::vector<PodId> fewest;
  if (question.domains.empty()) fewest = FindPodsHere(question, finder);
  for (std::size_t i = 0; i < std::min(question.domains.size(), kMostDomains); ++i) {
    const Placer::Confinement confinement(core_.placer_, question.domains[i]);
    std::vector<PodId> found = FindPodsHere(question, finder);
    if (fewest.empty() || (!found.empty() && found.size() < fewest.size())) {
      fewest = std::move(found);
    }
  }
  core_.lent_.TakeBack(loan);
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
  if (question.gang.valid() && IsChoosy(state_.gangs().Get(question.gang))) {
    Order chosen;
    chosen.members = DemandPlanner(state_, planner,
                                   {question.gang, question.members, core_.NeededBy(question.gang)})
                         .Choose([&] { DisplaceAllBut(question.gang, state_); });
    chosen.needed = chosen.members.size();
    if (!chosen.members.empty()) orders.insert(orders.begin(), std::move(chosen));
  }
  return finder.FindPods(where, orders, planner);
}

// ---- reservations that end ----

void Inquirer::FindReserved(StartTrials& trials, Wait& wait) {
  // Nobody reads a longer list.
  constexpr std::size_t kMostTried = 64;
  std::size_t tried = 0;
  for (const auto& [key, reservation] : core_.reservations_.all()) {
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
