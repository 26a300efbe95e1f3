// Places for a gang: anywhere, or in one domain of a label of the nodes.
#include <algorithm>
#include <utility>

#include "engine/core.h"
#include "engine/demand_planner.h"
#include "engine/enough_in_all.h"
#include "engine/gang_domains.h"
#include "engine/gang_planner.h"

namespace knx::engine {

using cluster::GangId;
using cluster::PodId;

namespace {

// Beyond so many domains nobody waits until all of them have been searched through, one by one.
constexpr std::size_t kMostSearched = 64;

}  // namespace

GangPlan Core::PlanNow(GangId gang, GangPlanner& planner, std::optional<std::size_t> needed) {
  const Aspirants who{gang, gangs_.Find(gang)->ready, needed.value_or(NeededBy(gang))};
  const PodId stands = gangs_.Find(gang)->stands;
  const PodId first = stands.valid() ? stands : who.ready.front();
  return PlanWithEnough(state_, {gang, judge_.GangPluginOf(first)->index}, [&] {
    const std::optional<GangDomains> domains = DomainsFor(state_, who, planner);
    GangPlan plan = PlanIn(domains, who, PlanHere(who, planner));
    if (!plan.places.empty() || plan.refusal.attempt.error) return plan;
    const bool by_affinity = !domains && who.needed > 0;
    if (const auto near = by_affinity ? DomainsByAffinity(state_, who, planner) : std::nullopt) {
      GangPlan together = PlanIn(near, who, PlanHere(who, planner));
      if (!together.places.empty()) return together;
    }
    domains ? ConcludeInDomains(who, *domains, planner, plan) : ConcludeHere(who, planner, plan);
    return plan;
  });
}

GangPlan Core::PlanInParts(PodId id, GangId gang, const Reservation* executors,
                           GangPlanner& planner) {
  const std::vector<PodId>& ready = gangs_.Find(gang)->ready;
  const Aspirants who{gang, ready, NeededBy(gang)};
  const std::optional<GangDomains> domains = DomainsInParts(who, planner);
  GangPlan plan = PlanWithEnough(state_, {gang, judge_.GangPluginOf(id)->index}, [&] {
    return PlanIn(domains, who, [&] { return PlanBothHere(gang, executors, planner); });
  });
  plan.comers = ready.size() + (executors == nullptr ? 0 : executors->holds().size());
  return plan;
}

std::function<GangPlan()> Core::PlanHere(const Aspirants& who, GangPlanner& planner) {
  if (!IsChoosy(state_.gangs().Get(who.gang))) {
    return [orders = planner.OrdersFor(who.ready, who.needed), needed = who.needed, &planner] {
      return planner.PlanInOrders(orders, needed);
    };
  }
  return [chooser = DemandPlanner(state_, planner, who)]() mutable { return chooser.Plan(); };
}

// ---- in one domain ----

GangPlan Core::PlanIn(const std::optional<GangDomains>& domains, const Aspirants& who,
                      const std::function<GangPlan()>& plan_here) {
  if (!domains) return plan_here();
  GangPlan best;
  best.refusal.message = domains->pinned ? "the nodes of members that have a place lack the label."
                                         : "no node has the label.";
  if (domains->all.empty() && who.needed > 0) {
    best.answer = GangAnswer::kImpossible;
    best.bound = GangBound{.by = {}, .together = domains->key};
  }
  PluginSet rejected_by;
  BlockedKinds blocked;
  std::vector<GangPlan::Domain> tried;
  bool impossible = true, counted = true, anything_helps = false;
  std::size_t evaluations = 0;
  for (const Confines& domain : domains->all) {
    const Placer::Confinement confinement(placer_, domain);
    GangPlan plan = plan_here();
    if (!plan.places.empty() || plan.refusal.attempt.error) return plan;
    rejected_by = rejected_by | plan.refusal.attempt.rejected_by;
    blocked.Add(state_, plan.blocked_kinds);
    anything_helps |= plan.refusal.attempt.rejected_by.empty() && plan.blocked_kinds.all().empty();
    tried.push_back({domain.value, plan.fitting});
    impossible = impossible && plan.answer == GangAnswer::kImpossible;
    counted = counted && plan.bound;
    evaluations += plan.evaluations;
    if (tried.size() == 1 || plan.fitting > best.fitting) best = std::move(plan);
  }
  // Who is held back by a label waits for its change, too.
  const framework::GangEntry* const plugin = judge_.GangPluginOf(who.ready.front());
  if (!tried.empty() && plugin != nullptr) rejected_by.Add(plugin->index);
  best.refusal.attempt.rejected_by = anything_helps ? PluginSet() : rejected_by;
  best.blocked_kinds = anything_helps ? BlockedKinds() : std::move(blocked);
  best.evaluations = evaluations;
  // What is known of one of several domains says nothing of the others.
  if (tried.size() > 1) {
    best.bound.reset();
    best.answer = impossible ? GangAnswer::kImpossible : GangAnswer::kNotFound;
    best.none_is_enough = impossible && counted;
  }
  std::stable_sort(tried.begin(), tried.end(),
                   [](const auto& a, const auto& b) { return a.fitting > b.fitting; });
  best.domains = std::move(tried);
  best.pinned = domains->pinned;
  return best;
}

void Core::ConcludeInDomains(const Aspirants& who, const GangDomains& domains, GangPlanner& planner,
                             GangPlan& plan) {
  if (who.needed == 0 || plan.refusal.attempt.error) return;
  if (domains.all.empty()) return;
  if (!domains.pinned && CountInDomains(who, domains.key, planner, plan)) {
    // What all of them together have too little of need not be what each of them has.
    if (plan.bound->by.size() > 1) NameWhatIsScarce(who, domains, planner, plan);
    return;
  }
  bool impossible = domains.all.size() <= kMostSearched, counted = true;
  for (std::size_t i = 0; i < std::min(domains.all.size(), kMostSearched); ++i) {
    const Placer::Confinement confinement(placer_, domains.all[i]);
    GangPlan tried;
    tried.blocked = plan.blocked;
    tried.evaluations = plan.evaluations;
    ConcludeHere(who, planner, tried);
    if (!tried.places.empty()) {
      plan = std::move(tried);
      return;
    }
    plan.evaluations = tried.evaluations;
    impossible = impossible && tried.answer == GangAnswer::kImpossible;
    counted = counted && tried.bound;
    if (domains.pinned) plan.bound = tried.bound;
  }
  if (!impossible) {
    plan.bound.reset();
    return;
  }
  plan.answer = GangAnswer::kImpossible;
  plan.none_is_enough = counted;
  if (counted) NameWhatIsScarce(who, domains, planner, plan);
}

void Core::NameWhatIsScarce(const Aspirants& who, const GangDomains& domains, GangPlanner& planner,
                            GangPlan& plan) {
  for (std::size_t i = 0; i < std::min(plan.domains.size(), GangPlan::kMostNamed); ++i) {
    GangPlan::Domain& domain = plan.domains[i];
    const auto is_it = [&](const Confines& one) { return one.value == domain.value; };
    const auto where = std::find_if(domains.all.begin(), domains.all.end(), is_it);
    const Placer::Confinement confinement(placer_, *where);
    std::vector<std::pair<PodId, std::size_t>> by_kind;
    GangBound bound = CountFor(planner.LargestFirst(who.ready), by_kind).Tightest();
    if (bound.most < who.needed) domain.by = std::move(bound.by);
  }
}

// One count over all domains says it best, if it shows anything.
bool Core::CountInDomains(const Aspirants& who, Symbol key, GangPlanner& planner, GangPlan& plan) {
  std::vector<std::pair<PodId, std::size_t>> by_kind;
  const GangCount count = CountFor(planner.LargestFirst(who.ready), by_kind, key);
  const auto known = [](const GangCount::Kind& kind) { return kind.room.known; };
  if (!std::all_of(count.kinds().begin(), count.kinds().end(), known)) return false;
  GangBound bound = count.Tightest();
  if (bound.most >= who.needed) return false;
  plan.answer = GangAnswer::kImpossible;
  plan.bound = std::move(bound);
  return true;
}

}  // namespace knx::engine
