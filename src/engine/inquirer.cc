#include "engine/inquirer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/core.h"
#include "engine/demand_planner.h"

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

Inquirer::Inquirer(Core& core) : core_(core), state_(core.state_) {}

std::string Inquirer::NameOf(PodId pod) const {
  const cluster::Pod& record = state_.pod(pod);
  return fmt::format("{}/{}", state_.words().Text(record.namespace_), record.name);
}

// ---- a pod ----

std::optional<PodInquiry> Inquirer::OfPod(std::string_view uid) {
  const PodId id = state_.pods().Find(uid);
  if (!id.valid() || state_.pod(id).node.valid() || !core_.IsOurs(id)) return std::nullopt;
  const framework::Profile& profile = core_.ProfileOf(id);
  PodInquiry inquiry;
  const Loan loan = core_.lent_.Lend(std::span(&id, 1));
  inquiry.asked = core_.placer_.Inquire(profile, id);
  const bool refused =
      !inquiry.asked.kept_out && !inquiry.asked.error && inquiry.asked.chosen.empty();
  if (refused) core_.placer_.ListObstacles(profile, id, inquiry);
  core_.lent_.TakeBack(loan);
  if (refused) FindHelp(AskFor(id), inquiry);
  DescribeWait(id, {}, inquiry);
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
  inquiry.awaits_executors = inquiry.complete && !core_.gangs_.AreEnough(state_, gang, *waiting);
  if (!inquiry.complete) inquiry.message = WhatIsMissing(state_, gang, *waiting);
  if (!inquiry.complete || inquiry.awaits_executors) return inquiry;
  const Aspirants who{gang, waiting->ready, inquiry.needed};
  const Loan loan = core_.lent_.Lend(who.ready);
  const auto mark = state_.Mark();
  GangPlanner planner = core_.MakePlanner();
  GangPlan plan = core_.PlanNow(gang, planner);
  inquiry.fitting = plan.places.empty() ? plan.fitting : plan.places.size();
  state_.Rollback(mark);
  // A gang that has all that it needs is content with no more.
  inquiry.answer = plan.places.empty() && inquiry.needed == 0 ? GangAnswer::kNotFound : plan.answer;
  const bool why = plan.places.empty() && question == GangQuestion::kWhy;
  if (why) Explain(who, plan, inquiry);
  core_.lent_.TakeBack(loan);
  if (why) FindHelp(AskFor(who, plan), inquiry);
  return inquiry;
}

void Inquirer::Explain(const Aspirants& who, GangPlan& plan, GangInquiry& inquiry) {
  GangPlanner planner = core_.MakePlanner();
  const auto domains = DomainsFor(state_, who, planner);
  const GangGoal::Places found = FindMost(who, domains, plan, inquiry);
  inquiry.message = WhyRefused(state_, who.gang, who.needed, plan);
  if (plan.bound) {
    inquiry.proof = Describe(state_, *plan.bound);
    inquiry.most = plan.bound->most;
    for (const cluster::ResourceId resource : plan.bound->by) {
      inquiry.scarce.push_back(state_.resources().Name(resource));
    }
  }
  if (!plan.shortages.empty()) inquiry.proof = Describe(state_, plan.shortages);
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
  ExplainDomains(who.gang, plan, core_.CountFor(who.ready, by_kind), inquiry);
  ListUnplaced(who.ready, found, inquiry);
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

bool Inquirer::NumberDecides(const GangInquiry& inquiry, GangId id) const {
  const cluster::Gang& gang = state_.gangs().Get(id);
  return gang.min_sub_groups.empty() && gang.roles.empty() &&
         inquiry.placed + inquiry.needed <= inquiry.minimum;
}

GangGoal::Places Inquirer::FindMost(const Aspirants& who, const std::optional<GangDomains>& domains,
                                    GangPlan& plan, GangInquiry& inquiry) {
  GangGoal::Places places;
  const bool decides = plan.shortages.empty() && NumberDecides(inquiry, who.gang);
  if (who.needed < 2 || !decides) return places;
  const bool choosy = IsChoosy(state_.gangs().Get(who.gang));
  const std::size_t most = std::min(who.needed - 1, plan.bound ? plan.bound->most : who.needed);
  // Whoever is not needed for a part is known to fit; parts may be another matter.
  inquiry.startable = MostOf(choosy ? 0 : plan.fitting, most, [&](std::size_t needed) {
    const auto mark = state_.Mark();
    GangPlanner planner = core_.MakePlanner();
    GangPlan tried = core_.PlanNow(who.gang, planner, needed);
    state_.Rollback(mark);
    const bool fits = !tried.places.empty();
    if (fits) places = std::move(tried.places);
    return fits;
  });
  if (inquiry.startable <= plan.fitting) places.clear();
  inquiry.fitting = plan.fitting = std::max(plan.fitting, inquiry.startable);
  if (choosy || !domains) return places;
  for (std::size_t i = 0; i < std::min(plan.domains.size(), GangPlan::kMostNamed); ++i) {
    GangPlan::Domain& domain = plan.domains[i];
    const auto is_it = [&](const Confines& one) { return one.value == domain.value; };
    const auto where = std::find_if(domains->all.begin(), domains->all.end(), is_it);
    const Placer::Confinement confinement(core_.placer_, *where);
    domain.fitting = MostHere(who, domain.fitting, plan.fitting);
  }
  std::stable_sort(plan.domains.begin(), plan.domains.end(),
                   [](const auto& a, const auto& b) { return a.fitting > b.fitting; });
  return places;
}

std::size_t Inquirer::MostHere(const Aspirants& who, std::size_t known, std::size_t most) {
  GangPlanner planner = core_.MakePlanner();
  std::vector<std::pair<PodId, std::size_t>> by_kind;
  const std::size_t bound = core_.CountFor(who.ready, by_kind).Tightest().most;
  return MostOf(known, std::min(most, bound), [&](std::size_t needed) {
    const auto mark = state_.Mark();
    const Aspirants fewer{who.gang, who.ready, needed};
    GangPlan tried = core_.PlanHere(fewer, planner)();
    if (tried.places.empty()) core_.ConcludeHere(fewer, planner, tried);
    state_.Rollback(mark);
    return !tried.places.empty();
  });
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

void Inquirer::ListUnplaced(std::span<const PodId> members, const GangGoal::Places& found,
                            GangInquiry& inquiry) {
  // Who has more kinds of members than this does not read about each.
  constexpr std::size_t kMostKinds = 32;
  const auto mark = state_.Mark();
  GangPlan plan;
  GangPlanner planner = core_.MakePlanner();
  for (const auto& [pod, row] : found) state_.Assume(pod, row);
  std::vector<PodId> without = planner.LargestFirst(members);
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
      inquiry.unplaced.push_back({NameOf(member), 1, reason->second});
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
  if (!who.valid() || !core_.ProfileOf(who).backfill) return;
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
