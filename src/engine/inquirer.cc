#include "engine/inquirer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/core.h"
#include "engine/demand_planner.h"
#include "engine/gang_help.h"

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
  const Loan loan = core_.Lend(std::span(&id, 1));
  inquiry.asked = core_.placer_.Inquire(profile, id);
  const bool refused =
      !inquiry.asked.kept_out && !inquiry.asked.error && inquiry.asked.chosen.empty();
  if (refused) {
    GangPlanner planner = core_.MakePlanner();
    std::vector<std::pair<PodId, std::size_t>> by_kind;
    const GangCount count = core_.CountFor(std::span(&id, 1), by_kind);
    const GangBound bound = count.Tightest();
    const bool counted = count.kinds().front().room.known && bound.most == 0;
    FindHelp({std::span(&id, 1)}, count,
             counted ? std::span(bound.by) : std::span<const cluster::ResourceId>(), planner,
             inquiry);
    FindReserved([&] { return core_.PlaceMember(id).node.valid(); }, inquiry);
    core_.placer_.ListObstacles(profile, id, inquiry);
  }
  core_.TakeBackLoan(loan);
  DescribeWait(id, {}, inquiry);
  return inquiry;
}

// ---- a gang ----

std::optional<GangInquiry> Inquirer::OfGang(std::string_view uid) {
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
  inquiry.awaits_executors = inquiry.complete && inquiry.ready < inquiry.needed;
  if (!inquiry.complete) inquiry.message = WhatIsMissing(state_, gang, *waiting);
  if (!inquiry.complete || inquiry.awaits_executors) return inquiry;
  const Loan loan = core_.Lend(waiting->ready);
  const auto mark = state_.Mark();
  GangPlanner planner = core_.MakePlanner();
  const GangPlan plan = core_.PlanNow(gang, planner);
  inquiry.fitting = plan.places.empty() ? plan.fitting : plan.places.size();
  state_.Rollback(mark);
  // A gang that has all that it needs is content with no more.
  inquiry.answer = plan.places.empty() && inquiry.needed == 0 ? GangAnswer::kNotFound : plan.answer;
  if (plan.places.empty()) {
    inquiry.message = WhyRefused(state_, gang, inquiry.needed, plan);
    Explain(gang, planner, plan, inquiry);
  }
  core_.TakeBackLoan(loan);
  return inquiry;
}

void Inquirer::Explain(GangId id, GangPlanner& planner, const GangPlan& plan,
                       GangInquiry& inquiry) {
  const std::vector<PodId> members = core_.gangs_.Find(id)->ready;
  std::vector<cluster::ResourceId> scarce;
  if (plan.bound) {
    scarce = plan.bound->by;
    inquiry.proof = Describe(state_, *plan.bound);
    inquiry.most = plan.bound->most;
    for (const cluster::ResourceId resource : scarce) {
      inquiry.scarce.push_back(state_.resources().Name(resource));
    }
  }
  const auto domains = DomainsFor(state_, {id, members, inquiry.needed}, planner);
  // What helps is looked for where most fit already.
  std::optional<Placer::Confinement> confinement;
  const auto is_best = [&](const Confines& one) { return one.value == plan.domains[0].value; };
  if (!plan.domains.empty()) {
    confinement.emplace(core_.placer_,
                        *std::find_if(domains->all.begin(), domains->all.end(), is_best));
  }
  std::vector<std::pair<PodId, std::size_t>> by_kind;
  const GangCount count = core_.CountFor(members, by_kind);
  ExplainDomains(id, plan, count, inquiry);
  ListUnplaced(members, planner, inquiry);
  // Without a domain nothing but the label would help.
  if (domains && domains->all.empty()) return;
  std::vector<PodId> wanted = members;
  // Of those it could do without, one is a beginning.
  std::size_t needed = std::max<std::size_t>(inquiry.needed, 1);
  if (IsChoosy(state_.gangs().Get(id))) {
    if (inquiry.needed == 0) return;
    wanted = DemandPlanner(state_, planner, {id, members, needed}).Choose([&] {
      DisplaceAllBut(id, state_);
    });
    // Who would start if there were more room is known only where nobody may be missing.
    if (wanted.empty() && needed < members.size()) return;
    if (wanted.empty()) wanted = members;
    needed = wanted.size();
  }
  FindHelp({wanted, needed}, count, scarce, planner, inquiry);
  FindReserved(
      [&] {
        GangPlan tried;
        std::vector<PodId> without = planner.LargestFirst(wanted);
        planner.Fill(without, tried, needed);
        return tried.places.size() >= needed;
      },
      inquiry);
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

void Inquirer::ListUnplaced(std::span<const PodId> members, GangPlanner& planner,
                            GangInquiry& inquiry) {
  // Who has more kinds of members than this does not read about each.
  constexpr std::size_t kMostKinds = 32;
  const auto mark = state_.Mark();
  GangPlan plan;
  std::vector<PodId> without = planner.LargestFirst(members);
  planner.Fill(without, plan, members.size());
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

// ---- what would help ----

void Inquirer::FindHelp(const Wanted& wanted, const GangCount& count,
                        std::span<const cluster::ResourceId> scarce, GangPlanner& planner,
                        Wait& wait) {
  ListTooLarge(count, wait);
  // Whose place is reserved is expected back, but by those who may use it themselves.
  std::set<PodId> expected_back;
  for (const auto& [key, reservation] : core_.reservations_.all()) {
    const auto own = core_.ReservationsFor(wanted.members.front());
    if (reservation.over() || std::find(own.begin(), own.end(), &reservation) != own.end())
      continue;
    for (const auto& [pod, use] : reservation.users()) expected_back.insert(pod);
  }
  GangHelpFinder finder(
      state_, planner,
      {.fits = [this](PodId pod,
                      NodeRow row) { return core_.placer_.Fits(core_.ProfileOf(pod), pod, row); },
       .fits_beside =
           [this](PodId pod, NodeRow row) {
             return core_.placer_.FitsBeside(core_.ProfileOf(pod), pod, row);
           },
       .is_replaced = [&](PodId pod) { return expected_back.contains(pod); }});
  const GangHelp help = finder.Find(wanted.members, wanted.needed, count, scarce);
  if (help.like.valid()) wait.like = state_.nodes().name(help.like);
  wait.nodes = help.nodes;
  for (const PodId pod : help.pods) {
    wait.pods.push_back(NameOf(pod));
    if (state_.pod(pod).terminating) ++wait.leaving;
  }
  std::sort(wait.pods.begin(), wait.pods.end());
}

void Inquirer::ListTooLarge(const GangCount& count, Wait& wait) const {
  std::map<cluster::ResourceId, std::int64_t> asked;
  for (const GangCount::Kind& kind : count.kinds()) {
    for (const cluster::ResourceAmount& entry : kind.room.takes) {
      asked[entry.id] = std::max(asked[entry.id], entry.amount);
    }
  }
  for (const auto& [id, amount] : asked) {
    std::int64_t most = 0;
    const cluster::Column& column = state_.nodes().allocatable(id);
    state_.nodes().present().ForEach(
        [&](std::uint32_t row) { most = std::max(most, column[NodeRow{row}]); });
    if (amount > most) wait.too_large.push_back({state_.resources().Name(id), amount, most});
  }
}

void Inquirer::FindReserved(const Fits& fits, Wait& wait) {
  // Nobody reads a longer list.
  constexpr std::size_t kMostTried = 64;
  std::size_t tried = 0;
  const auto as_it_is = state_.Mark();
  const bool fits_already = fits();
  state_.Rollback(as_it_is);
  if (fits_already) return;
  for (const auto& [key, reservation] : core_.reservations_.all()) {
    const auto mark = state_.Mark();
    bool held = false;
    for (const Reservation::Place& place : reservation.places) {
      if (!place.hold.valid() || !state_.pod(place.hold).node.valid()) continue;
      state_.Displace(place.hold);
      held = true;
    }
    if (held && fits()) {
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

// ---- what it waits for ----

void Inquirer::DescribeWait(PodId id, GangId gang, Wait& wait) {
  const WaitingGang* const waiting = gang.valid() ? core_.gangs_.Find(gang) : nullptr;
  const bool stands = waiting != nullptr && waiting->stands.valid();
  const Queue::View view = core_.queue_.Get(stands ? waiting->stands : id);
  wait.place = view.place;
  wait.backoff_until = view.backoff_until;
  wait.attempts = view.attempts;
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
