#include "engine/inquirer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cluster/reservation_hold.h"
#include "engine/core.h"
#include "engine/demand_planner.h"
#include "engine/enough_in_all.h"
#include "engine/gang_shortage.h"

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

std::string Inquirer::NameOf(PodId pod) const {
  const cluster::Pod& record = state_.pod(pod);
  return fmt::format("{}/{}", state_.words().Text(record.namespace_), record.name);
}

// ---- a pod ----

std::optional<PodInquiry> Inquirer::OfPod(std::string_view uid) {
  const PodId id = state_.pods().Find(uid);
  if (!id.valid() || state_.pod(id).node.valid() || !core_.IsOurs(id)) return std::nullopt;
  const framework::Profile& profile = core_.ProfileOf(id);
  CopyWaiting();
  PodInquiry inquiry;
  bool refused = false;
  {
    const Lent lent(*this, id);
    inquiry.asked = core_.placer_.Inquire(profile, id);
    refused = !inquiry.asked.kept_out && !inquiry.asked.error && inquiry.asked.chosen.empty();
    if (refused) core_.placer_.ListObstacles(profile, id, PromisedToOthers(id), inquiry);
  }
  DescribeWait(id, {}, inquiry);
  if (refused || inquiry.held_for) FindHelp(AskFor(id), inquiry);
  return inquiry;
}

// ---- a gang ----

std::optional<GangInquiry> Inquirer::OfGang(std::string_view uid, GangQuestion question) {
  const PodId id = state_.pods().Find(uid);
  if (!id.valid() || state_.pod(id).node.valid() || !core_.IsOurs(id)) return std::nullopt;
  const GangId gang = core_.GangOf(id);
  const WaitingGang* const waiting = gang.valid() ? core_.gangs_.Find(gang) : nullptr;
  if (waiting == nullptr || waiting->ready.empty()) return std::nullopt;
  const cluster::Gang& record = state_.gangs().Get(gang);
  GangInquiry inquiry;
  inquiry.name = GangName(state_, gang);
  inquiry.placed = record.placed + record.finished;
  inquiry.ready = waiting->ready.size();
  inquiry.message = core_.WhyWaiting(uid);
  DescribeWait(id, gang, inquiry);
  if (record.awaits_object()) {
    inquiry.message = WhatIsMissing(state_, gang, *waiting);
    return inquiry;
  }
  inquiry.minimum = static_cast<std::size_t>(record.minimum);
  inquiry.needed = core_.NeededBy(gang);
  inquiry.complete = core_.HasEnough(gang, *waiting);
  if (question == GangQuestion::kWhy) CopyWaiting();
  if (!inquiry.complete) {
    inquiry.message = WhatIsMissing(state_, gang, *waiting);
    DescribeAwaited(gang, *waiting, inquiry);
    if (!inquiry.awaited || question != GangQuestion::kWhy) return inquiry;
  }
  const Turn turn = TurnOf(gang, *waiting);
  inquiry.to_come = turn.in_parts ? core_.gangs_.StillToCome(state_, gang, *waiting) : 0;
  inquiry.with_places = turn.places.has_value();
  if (inquiry.awaited) {
    FindHelp(AskFor(turn, {}), inquiry);
  } else {
    Answer(turn, question, inquiry);
  }
  return inquiry;
}

void Inquirer::Answer(const Turn& turn, GangQuestion question, GangInquiry& inquiry) {
  inquiry.needed = turn.who.needed;
  GangPlan plan;
  {
    const Lent lent(*this, turn);
    plan = Plan(turn);
    const std::size_t placed = plan.places.size() + turn.comers.size() - turn.who.ready.size();
    inquiry.fitting = plan.places.empty() ? plan.fitting : placed;
    // A gang that has all that it needs is content with no more.
    inquiry.answer =
        plan.places.empty() && inquiry.needed == 0 ? GangAnswer::kNotFound : plan.answer;
    if (question != GangQuestion::kWhy || (!plan.places.empty() && !inquiry.held_for)) return;
    if (plan.places.empty()) Explain(turn, plan, inquiry);
  }
  FindHelp(AskFor(turn, plan), inquiry);
}

void Inquirer::DescribeAwaited(GangId gang, const WaitingGang& waiting, GangInquiry& inquiry) {
  const Reservation* const awaited = AwaitedBy(gang, waiting);
  if (awaited == nullptr) return;
  inquiry.awaited = {KeyOf(awaited->object),
                     awaited->stage() == ReservationStage::kPlanned
                         ? fmt::format("it begins at {}", FormatTime(awaited->begins))
                         : awaited->why};
}

void Inquirer::Explain(const Turn& turn, GangPlan& plan, GangInquiry& inquiry) {
  const Aspirants& who = turn.who;
  GangPlanner planner = core_.MakePlanner();
  const auto domains = DomainsFor(state_, who, planner);
  if (domains && !domains->pinned && domains->all.empty() && !turn.in_parts) {
    const auto mark = state_.Mark();
    inquiry.fits_apart = !core_.PlanIn({}, who, core_.PlanHere(who, planner)).places.empty();
    state_.Rollback(mark);
  }
  const GangGoal::Places found = FindMost(turn, domains, plan, inquiry);
  FindMostByEviction(turn, plan, inquiry);
  inquiry.message = WhyRefused(state_, who.gang, who.needed, plan);
  if (plan.bound) {
    inquiry.proof = Describe(state_, *plan.bound);
    inquiry.most = plan.bound->most;
    for (const cluster::ResourceId resource : plan.bound->by) {
      inquiry.scarce.push_back(state_.resources().Name(resource));
    }
  }
  inquiry.lacks_in_all = !plan.shortages.empty();
  if (inquiry.lacks_in_all) inquiry.proof = Describe(state_, plan.shortages);
  for (const GangShortage& shortage : plan.shortages) {
    inquiry.scarce.push_back(state_.resources().Name(shortage.resource));
  }
  // Who finds no place is asked about where most fit.
  std::optional<Placer::Confinement> confinement;
  const auto is_best = [&](const Confines& one) { return one.value == plan.domains[0].value; };
  if (!plan.domains.empty()) {
    confinement.emplace(core_.placer_,
                        *std::find_if(domains->all.begin(), domains->all.end(), is_best));
  }
  std::vector<std::pair<PodId, std::size_t>> by_kind;
  ExplainDomains(who.gang, plan, core_.CountFor(turn.comers, by_kind), inquiry);
  ListUnplaced(turn, found, inquiry);
}

// ---- how many fit ----

namespace {

// The most from `known`, which is known to do, to `most`. Where some do, so do fewer.
std::size_t MostOf(std::size_t known, std::size_t most,
                   const std::function<bool(std::size_t)>& does) {
  if (known >= most || does(most)) return std::max(known, most);
  while (most - known > 1) {
    const std::size_t middle = known + (most - known) / 2;
    (does(middle) ? known : most) = middle;
  }
  return known;
}

}  // namespace

bool Inquirer::NumberDecides(const Turn& turn, const GangInquiry& inquiry) const {
  const cluster::Gang& gang = state_.gangs().Get(turn.who.gang);
  // Without places for the others its driver starts, however many there are to be.
  const bool alone = turn.in_parts && (!turn.places || IsChoosy(gang));
  return !alone && gang.min_sub_groups.empty() && gang.roles.empty() &&
         inquiry.placed + inquiry.needed <= inquiry.minimum;
}

GangGoal::Places Inquirer::FindMost(const Turn& turn, const std::optional<GangDomains>& domains,
                                    GangPlan& plan, GangInquiry& inquiry) {
  GangGoal::Places places;
  const std::size_t all = turn.who.needed;
  if (all < 2 || !NumberDecides(turn, inquiry)) return places;
  // Who needs fewer at once wants no less to be left in all.
  if (!FindShortages(state_, turn.who.gang).empty()) return places;
  const bool choosy = IsChoosy(state_.gangs().Get(turn.who.gang));
  const std::size_t most = std::min(all - 1, plan.bound ? plan.bound->most : all);
  // Whoever is not needed for a part is known to fit; parts may be another matter.
  inquiry.startable = MostOf(choosy ? 0 : plan.fitting, most, [&](std::size_t needed) {
    GangPlan tried = PlanFewer(turn, needed);
    const bool fits = !tried.places.empty();
    if (fits) places = std::move(tried.places);
    return fits;
  });
  if (inquiry.startable <= plan.fitting) places.clear();
  inquiry.fitting = plan.fitting = std::max(plan.fitting, inquiry.startable);
  if (inquiry.startable > 0 && !FewerStart(turn, inquiry.startable)) inquiry.startable = 0;
  if (choosy || !domains) return places;
  for (std::size_t i = 0; i < std::min(plan.domains.size(), GangPlan::kMostNamed); ++i) {
    GangPlan::Domain& domain = plan.domains[i];
    const auto is_it = [&](const Confines& one) { return one.value == domain.value; };
    const auto where = std::find_if(domains->all.begin(), domains->all.end(), is_it);
    const Placer::Confinement confinement(core_.placer_, *where);
    domain.fitting = MostHere(turn, domain.fitting, plan.fitting);
  }
  std::stable_sort(plan.domains.begin(), plan.domains.end(),
                   [](const auto& a, const auto& b) { return a.fitting > b.fitting; });
  return places;
}

void Inquirer::FindMostByEviction(const Turn& turn, const GangPlan& plan, GangInquiry& inquiry) {
  const framework::Profile& profile = core_.ProfileOf(turn.pod);
  const bool decides = plan.shortages.empty() && NumberDecides(turn, inquiry);
  if (!profile.gang_preemption || turn.who.needed < 2 || !decides) return;
  const auto has_room = [&](std::size_t needed) {
    GangRoom room = FindRoomForFewer(turn, needed);
    GangPlan spared;
    SpareThoseInVain(state_, {turn.who.gang, core_.judge_.GangPluginOf(turn.pod)->index}, spared,
                     room);
    if (room.places.empty() || !profile.backfill) return !room.places.empty();
    const Waiter waiter = core_.WaiterOf(turn.pod, turn.who.gang);
    return !core_.backfill_->WouldDelay(waiter, room.places, room.victims, core_.decided_at_);
  };
  // If it were made for all, nobody would have to do with less.
  if (has_room(turn.who.needed)) return;
  const std::size_t most = MostOf(inquiry.startable, turn.who.needed - 1, has_room);
  if (most > inquiry.startable) inquiry.startable_by_eviction = most;
}

std::size_t Inquirer::MostHere(const Turn& turn, std::size_t known, std::size_t most) {
  std::vector<std::pair<PodId, std::size_t>> by_kind;
  const std::size_t bound = core_.CountFor(turn.comers, by_kind).Tightest().most;
  return MostOf(known, std::min(most, bound),
                [&](std::size_t needed) { return !PlanFewerHere(turn, needed).places.empty(); });
}

void Inquirer::ExplainDomains(GangId id, const GangPlan& plan, const GangCount& count,
                              GangInquiry& inquiry) {
  const auto text = [this](Symbol symbol) { return std::string(state_.words().Text(symbol)); };
  inquiry.together = state_.gangs().Get(id).topology_key;
  for (const GangPlan::Domain& domain : plan.domains) {
    inquiry.domains.push_back({text(domain.value), domain.fitting});
  }
  if (!inquiry.together.empty() || !plan.bound || !plan.bound->together.valid()) return;
  inquiry.together = text(plan.bound->together);
  for (const GangCount::Domain& domain : count.ByDomain(plan.bound->together)) {
    inquiry.domains.push_back({text(domain.value), domain.most});
  }
  std::stable_sort(inquiry.domains.begin(), inquiry.domains.end(),
                   [](const auto& a, const auto& b) { return a.most > b.most; });
}

void Inquirer::ListUnplaced(const Turn& turn, const GangGoal::Places& found, GangInquiry& inquiry) {
  // Who has more kinds of members than this does not read about each.
  constexpr std::size_t kMostKinds = 32;
  const auto name = [&](PodId member) {
    if (!cluster::IsHold(state_.pod(member))) return NameOf(member);
    return fmt::format("an executor of {}", NameOf(core_.drivers_.Of(turn.who.gang)->pod));
  };
  const auto mark = state_.Mark();
  GangPlan plan;
  GangPlanner planner = core_.MakePlanner();
  for (const auto& [pod, row] : found) state_.Assume(pod, row);
  std::vector<PodId> without = planner.LargestFirst(turn.comers);
  std::erase_if(without, [this](PodId pod) { return state_.pod(pod).node.valid(); });
  planner.Fill(without, plan, without.size());
  std::map<std::pair<cluster::ClassId, cluster::RelationId>, std::string> reasons;
  for (const PodId member : without) {
    const std::pair kind(state_.pod(member).pod_class, state_.RelationOf(member));
    auto reason = reasons.find(kind);
    if (reason == reasons.end()) {
      if (reasons.size() == kMostKinds) break;
      reason = reasons.emplace(kind, core_.PlaceMember(member).message).first;
    }
    const auto is_same = [&](const auto& one) { return one.why == reason->second; };
    const auto known = std::find_if(inquiry.unplaced.begin(), inquiry.unplaced.end(), is_same);
    if (known != inquiry.unplaced.end()) {
      ++known->members;
    } else {
      inquiry.unplaced.push_back({name(member), 1, reason->second});
    }
  }
  state_.Rollback(mark);
}

// ---- what it waits for ----

void Inquirer::DescribeWait(PodId id, GangId gang, Wait& wait) {
  const WaitingGang* const waiting = gang.valid() ? core_.gangs_.Find(gang) : nullptr;
  const bool stands = waiting != nullptr && waiting->stands.valid();
  const Queue::View view = core_.queue_.Get(stands ? waiting->stands : id);
  wait.place = view.place;
  wait.backoff_until = view.backoff_until;
  wait.attempts = waiting == nullptr ? view.attempts : waiting->attempts;
  const std::vector<PodId> members = waiting == nullptr ? std::vector<PodId>{id} : waiting->ready;
  for (const PodId member : members) {
    const auto plan = core_.evictions_.PlanFor(member);
    if (!plan) continue;
    for (const PodRef& victim : core_.evictions_.at(*plan).victims) {
      wait.going.push_back(fmt::format("{}/{}", victim.namespace_, victim.name));
    }
  }
  std::sort(wait.going.begin(), wait.going.end());
  wait.going.erase(std::unique(wait.going.begin(), wait.going.end()), wait.going.end());
  DescribePromises(id, gang, wait);
}

void Inquirer::DescribePromises(PodId id, GangId gang, Wait& wait) {
  if (core_.backfill_ == nullptr) return;
  const PodId who = core_.WhoWaits(id, gang);
  if (!who.valid()) return;
  const Waiter waiter = core_.WaiterOf(who, gang);
  const bool held = core_.backfill_->IsHeld(who);
  for (const Promise& promise : core_.backfill_->promises()) {
    const PodId owner = core_.WhoWaits(promise.pod, promise.gang);
    if (!owner.valid()) continue;
    if (promise.Is(waiter)) {
      wait.promised = promise.start;
    } else if (held && wait.held_for) {
      ++wait.held_for->others;
    } else if (held && state_.pod(owner).priority >= waiter.priority) {
      wait.held_for = {promise.gang.valid()
                           ? fmt::format("pod group {}", GangName(state_, promise.gang))
                           : fmt::format("pod {}", NameOf(owner)),
                       promise.start};
      wait.held_for->may_pass =
          std::all_of(waiter.members.begin(), waiter.members.end(),
                      [this](PodId member) { return core_.backfill_->times().MayPass(member); });
    }
  }
}

}  // namespace knx::engine
