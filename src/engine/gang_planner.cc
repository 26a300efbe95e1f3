#include "engine/gang_planner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/counted.h"
#include "base/shortened.h"
#include "engine/gang_book.h"
#include "engine/gang_roles.h"
#include "engine/sub_groups.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;

namespace {

// What is known beyond one failed attempt.
std::string HowSure(const cluster::State& state, const GangPlan& plan) {
  if (plan.refusal.attempt.error) return {};
  if (plan.bound) return fmt::format(" Impossible now: {}.", Describe(state, *plan.bound));
  if (plan.none_is_enough) return " Impossible now: none of them has room for so many.";
  if (plan.answer == GangAnswer::kImpossible) return " Impossible now: every way was tried.";
  return fmt::format(" No way was found within {}; there may be one.",
                     FormatCount(plan.evaluations, "evaluation", "evaluations"));
}

// "b" of "needs 2 more at once in b", for a gang that has to be in one domain.
std::string Where(const cluster::State& state, const cluster::Gang& gang, const GangPlan& plan) {
  if (gang.topology_key.empty()) return {};
  const std::string key = Shortened(gang.topology_key, kLongestValue);
  if (!plan.pinned || plan.domains.empty()) return fmt::format(" in one {}", key);
  return fmt::format(" in {} {}", key, state.words().Text(plan.domains[0].value));
}

// " in 2 whole sub-groups", for a gang that has such.
std::string InWhat(const cluster::State& state, const cluster::Gang& gang) {
  if (!HasSubGroups(gang)) return {};
  const std::size_t missing = MissingSubGroups(gang, SubGroupsOf(state, gang));
  if (missing == 0) return " in whole sub-groups";
  return fmt::format(" in {} whole sub-group{}", missing, missing == 1 ? "" : "s");
}

// " of role ps", for a gang that lacks nothing else.
std::string OfRoles(const cluster::State& state, const cluster::Gang& gang) {
  const auto missing = MissingInRoles(state, gang);
  if (missing.empty()) return {};
  const std::string first = Shortened(missing.begin()->first, kLongestValue);
  if (missing.size() == 1) return fmt::format(" of role {}", first);
  return fmt::format(" of role {} and {}", first,
                     FormatCount(missing.size() - 1, "other", "others"));
}

// How many fit, and where.
std::string HowMany(const cluster::State& state, const cluster::Gang& gang, std::size_t needed,
                    const GangPlan& plan) {
  std::string text = fmt::format("{} fit", plan.fitting);
  if (HasSubGroups(gang)) text += fmt::format(" in {} of them", plan.sub_groups);
  if (plan.domains.empty() || plan.pinned) return text;
  std::vector<std::string> named;
  for (const GangPlan::Domain& domain : plan.domains) {
    if (named.size() == GangPlan::kMostNamed) break;
    std::vector<std::string_view> scarce;
    for (const cluster::ResourceId id : domain.by) scarce.push_back(state.resources().Name(id));
    named.push_back(fmt::format("{}: {} of {}{}{}", state.words().Text(domain.value),
                                domain.fitting, needed, scarce.empty() ? "" : " by ",
                                fmt::join(scarce, " and ")));
  }
  const std::size_t others = plan.domains.size() - named.size();
  if (others > 0) named.push_back(FormatCount(others, "other", "others") + " no more");
  return fmt::format("{} ({})", text, fmt::join(named, ", "));
}

}  // namespace

std::string WhyRefused(const cluster::State& state, cluster::GangId id, std::size_t needed,
                       const GangPlan& plan) {
  const std::string name = GangName(state, id);
  const cluster::Gang& gang = state.gangs().Get(id);
  if (plan.comers > 0) needed = plan.comers;
  const std::string& why = plan.refusal.message;
  if (!plan.shortages.empty()) {
    return fmt::format("pod group {} {}.{}", name, Describe(state, plan.shortages), why);
  }
  if (needed == 0) {
    return fmt::format("pod group {} has all pods it needs; for one more: {}", name, why);
  }
  const std::uint32_t there = gang.placed + gang.finished;
  const std::string sure = HowSure(state, plan);
  const std::string where = InWhat(state, gang) + Where(state, gang, plan);
  const std::string fit = HowMany(state, gang, needed, plan);
  if (there == 0) {
    return fmt::format("pod group {} needs {} at once{}, {}; for the next: {}{}", name,
                       FormatCount(needed, "pod", "pods"), where, fit, why, sure);
  }
  // It may have as many as it needs in all, and too few of a role or in sub-groups.
  const bool of_all = there < static_cast<std::uint32_t>(gang.minimum);
  const std::string has = of_all ? fmt::format("{} of {} pods", there, gang.minimum)
                                 : FormatCount(there, "pod", "pods");
  return fmt::format("pod group {} has {}, needs {} more at once{}{}, {}; for the next: {}{}", name,
                     has, needed, of_all ? "" : OfRoles(state, gang), where, fit, why, sure);
}

// What is hard to place comes first, while there is most room: devices and the like, then CPU, then
// memory. Members that are alike stay in the order in which they came.
std::vector<PodId> GangPlanner::LargestFirst(std::span<const PodId> members) const {
  return BySize(members, true);
}

std::vector<PodId> GangPlanner::SmallestFirst(std::span<const PodId> members) const {
  return BySize(members, false);
}

std::vector<PodId> GangPlanner::BySize(std::span<const PodId> members, bool largest_first) const {
  using Size = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  const auto size_of = [this](PodId pod) {
    std::int64_t extended = 0, cpu = 0, memory = 0;
    for (const cluster::ResourceAmount& entry : state_.class_of(pod).requests) {
      if (entry.id == cluster::kCpu) {
        cpu = entry.amount;
      } else if (entry.id == cluster::kMemory) {
        memory = entry.amount;
      } else if (entry.id.index >= cluster::kFirstScalar) {
        extended = std::max(extended, entry.amount);
      }
    }
    return Size(extended, cpu, memory);
  };
  std::vector<std::pair<Size, PodId>> sized;
  sized.reserve(members.size());
  for (const PodId pod : members) sized.emplace_back(size_of(pod), pod);
  std::stable_sort(sized.begin(), sized.end(), [&](const auto& a, const auto& b) {
    const std::int32_t first = state_.pod(a.second).priority;
    const std::int32_t second = state_.pod(b.second).priority;
    if (first != second) return first > second;
    return largest_first ? a.first > b.first : a.first < b.first;
  });
  std::vector<PodId> out;
  out.reserve(sized.size());
  for (const auto& [size, pod] : sized) out.push_back(pod);
  return out;
}

GangPlanner::Orders GangPlanner::OrdersFor(std::span<const PodId> members,
                                           std::size_t needed) const {
  Orders orders = {LargestFirst(members)};
  if (needed == 0 || members.size() <= needed) return orders;
  std::vector<PodId> smallest_first = SmallestFirst(members);
  if (smallest_first != orders[0]) orders.push_back(std::move(smallest_first));
  return orders;
}

GangPlan GangPlanner::PlanInOrders(const Orders& orders, std::size_t needed) {
  GangPlan best;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    GangPlan plan = PlanInOrder(orders[i], needed);
    if (!plan.places.empty() || plan.refusal.attempt.error) return plan;
    if (i > 0 && plan.fitting <= best.fitting) std::swap(plan, best);
    plan.blocked_kinds.Add(state_, best.blocked_kinds);
    best = std::move(plan);
  }
  return best;
}

GangPlan GangPlanner::PlanInOrder(std::vector<PodId> members, std::size_t needed) {
  GangPlan plan;
  const auto mark = state_.Mark();
  Fill(members, plan, members.size());
  if (plan.places.size() >= needed || (halves_ && !plan.places.empty())) {
    state_.Commit(mark);
    plan.answer = GangAnswer::kPlaced;
    return plan;
  }
  state_.Rollback(mark);
  std::vector<PodId> placed;
  for (const auto& [pod, row] : plan.places) placed.push_back(pod);
  plan.blocked_kinds.AddThoseInTheWay(state_, placed);
  plan.fitting = plan.places.size();
  plan.places.clear();
  return plan;
}

void GangPlanner::Fill(std::vector<PodId>& without, GangPlan& plan, std::size_t enough) {
  Fill(without, plan, [&](PodId) { return plan.places.size() < enough; });
}

void GangPlanner::Fill(std::vector<PodId>& without, GangPlan& plan, const Wants& wants) {
  // A member may want to be near another that finds its place after it.
  while (!without.empty() && PlaceSome(without, plan, wants)) continue;
}

bool GangPlanner::PlaceSome(std::vector<PodId>& without, GangPlan& plan, const Wants& wants) {
  const std::size_t before = plan.places.size();
  // Where one of a kind finds no place, the next finds none either; room only becomes less.
  std::set<Kind> hopeless;
  Kind last;  // that was found to be: there may be thousands of it, one after the other
  std::erase_if(without, [&](PodId pod) {
    const Kind kind = KindOf(pod);
    if (kind == last || hopeless.contains(kind)) {
      last = kind;
      return false;
    }
    if (!wants(pod)) return false;
    if (PlaceOne(pod, plan)) return true;
    hopeless.insert(kind);
    return false;
  });
  return plan.places.size() > before;
}

bool GangPlanner::PlaceOne(PodId pod, GangPlan& plan) {
  Placement placement = place_(pod);
  if (placement.node.valid()) {
    const auto mark = state_.Mark();
    state_.Assume(pod, placement.node);
    const framework::Outcome outcome = reserve_(pod, placement.node);
    if (outcome.ok()) {
      state_.Commit(mark);
      plan.places.emplace_back(pod, placement.node);
      return true;
    }
    state_.Rollback(mark);
    placement.attempt.error = !outcome.rejected();
    placement.message = outcome.reason;
    placement.node = {};
  }
  plan.blocked_kinds.Add(state_, pod, placement.attempt);
  if (!plan.blocked.valid()) {
    plan.blocked = pod;
    plan.refusal = std::move(placement);
  }
  return false;
}

}  // namespace knx::engine
