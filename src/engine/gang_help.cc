#include "engine/gang_help.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/importance.h"
#include "engine/kind_room.h"
#include "engine/node_copies.h"
#include "k8s/names.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;
using cluster::ResourceAmount;
using cluster::ResourceId;

namespace {

// What is looked at, at most. On a node that needs more pods gone than this nobody would wait for
// them; and of shapes of nodes clusters have few.
constexpr std::size_t kMostShapes = 16;
constexpr std::size_t kMostNodes = 1000;
constexpr std::size_t kMostMissing = 100;
constexpr std::size_t kMostRows = 64;
constexpr std::size_t kMostPods = 32;

}  // namespace

StartTrials::StartTrials(Try attempt, std::size_t members, std::size_t nodes)
    : attempt_(std::move(attempt)), of_one_(kOfOne + members * nodes) {}

bool StartTrials::Start() {
  if (spent()) return false;
  const Tried tried = attempt_();
  ++tried_;
  work_ += of_one_ + tried.evaluations * kOfEvaluation;
  return tried.starts;
}

// ---- more nodes ----

bool GangHelpFinder::HelpsMore(NodeRow like, std::size_t count,
                               std::span<const ResourceAmount> at_least) {
  if (trials_.spent()) return false;
  const NodeCopies copies(state_, like, count, at_least);
  return trials_.Start();
}

MoreNodes GangHelpFinder::FindNodes(const Waiting& waiting, std::span<const NodeRow> near) {
  // Where so many are missing that a node makes no difference, one is not tried with each shape.
  constexpr std::size_t kMany = 16;
  const std::vector<NodeRow> shapes = OneOfEachShape(near);
  std::map<NodeRow, std::size_t> guesses;
  for (const NodeRow like : shapes) {
    guesses[like] = Guess(like, waiting);
    if (guesses[like] < kMany && HelpsMore(like, 1)) return {like, 1};
  }
  MoreNodes best;
  std::size_t most = std::min(waiting.most(), kMostNodes);
  for (const NodeRow like : shapes) {
    const auto count = FewestLike(like, guesses[like], most);
    if (!count) continue;
    best = {like, *count};
    most = *count - 1;
  }
  return best;
}

std::vector<NodeRow> GangHelpFinder::OneOfEachShape(std::span<const NodeRow> near) const {
  const Symbol hostname = state_.words().Find(k8s::names::kHostname);
  struct Shape {
    cluster::NodeFacts facts;
    NodeRow first;
    std::size_t nodes = 0;
    bool near = false;
  };
  std::vector<Shape> shapes;
  // Those that are looked at come first here, too: there may be one for each of many racks.
  std::vector<NodeRow> rows(near.begin(), near.end());
  const std::set<NodeRow> close(near.begin(), near.end());
  state_.RefreshRanks();
  std::sort(rows.begin(), rows.end(), [this](NodeRow a, NodeRow b) {
    return state_.nodes().rank(a) < state_.nodes().rank(b);
  });
  for (const NodeRow row : state_.nodes().by_name()) {
    if (state_.nodes().has_node(row) && !close.contains(row)) rows.push_back(row);
  }
  for (const NodeRow row : rows) {
    cluster::NodeFacts facts = state_.nodes().facts(row);
    std::erase_if(facts.labels, [&](const auto& label) { return label.first == hostname; });
    facts.images.clear();
    auto known = std::find_if(shapes.begin(), shapes.end(),
                              [&](const Shape& shape) { return shape.facts == facts; });
    if (known == shapes.end() && shapes.size() == kMostShapes) continue;
    if (known == shapes.end()) {
      known = shapes.insert(known, {std::move(facts), row, 0, close.contains(row)});
    }
    ++known->nodes;
  }
  // What there is most of is what most likely can be had.
  std::stable_sort(shapes.begin(), shapes.end(), [](const Shape& a, const Shape& b) {
    return a.near != b.near ? a.near : a.nodes > b.nodes;
  });
  std::vector<NodeRow> out;
  for (const Shape& shape : shapes) out.push_back(shape.first);
  return out;
}

std::size_t GangHelpFinder::Guess(NodeRow like, const Waiting& waiting) {
  const NodeCopies copies(state_, like, 1);
  const auto mark = state_.Mark();
  std::size_t on_one = 0;
  std::set<cluster::ClassId> hopeless;
  for (const PodId pod : waiting.members) {
    const cluster::ClassId kind = state_.pod(pod).pod_class;
    if (hopeless.contains(kind)) continue;
    if (!doors_.fits(pod, copies.rows()[0])) {
      hopeless.insert(kind);
      continue;
    }
    state_.Assume(pod, copies.rows()[0]);
    ++on_one;
  }
  state_.Rollback(mark);
  const std::size_t missing = waiting.needed - std::min(waiting.needed, waiting.fitting);
  return on_one == 0 ? missing : (missing + on_one - 1) / on_one;
}

std::optional<std::size_t> GangHelpFinder::FewestLike(NodeRow like, std::size_t guess,
                                                      std::size_t most) {
  if (most < 2) return std::nullopt;
  std::size_t too_few = 1, enough = std::clamp<std::size_t>(guess, 2, most);
  if (!HelpsMore(like, enough)) {
    if (enough == most || !HelpsMore(like, most)) return std::nullopt;
    too_few = std::exchange(enough, most);
  } else if (enough - too_few > 1) {
    // It is a good guess more often than not.
    if (!HelpsMore(like, enough - 1)) return enough;
    --enough;
  }
  while (enough - too_few > 1) {
    const std::size_t middle = too_few + (enough - too_few) / 2;
    (HelpsMore(like, middle) ? enough : too_few) = middle;
  }
  return enough;
}

// ---- larger nodes ----

std::vector<GangHelpFinder::Beyond> GangHelpFinder::BeyondAll(const Waiting& waiting) const {
  std::map<ResourceId, std::set<std::int64_t>> asked;
  for (const PodId pod : waiting.members) {
    for (const ResourceAmount& entry : state_.class_of(pod).requests) {
      asked[entry.id].insert(entry.amount);
    }
  }
  std::vector<Beyond> beyond;
  for (const auto& [id, amounts] : asked) {
    std::int64_t most = 0;
    const cluster::Column& column = state_.nodes().allocatable(id);
    state_.nodes().present().ForEach(
        [&](std::uint32_t row) { most = std::max(most, column[NodeRow{row}]); });
    std::vector<std::int64_t> larger(amounts.upper_bound(most), amounts.end());
    std::reverse(larger.begin(), larger.end());
    if (!larger.empty()) beyond.push_back({id, std::move(larger), most});
  }
  return beyond;
}

std::vector<GangHelpFinder::Larger> GangHelpFinder::FindLargerNodes(const Waiting& waiting,
                                                                    std::span<const NodeRow> near) {
  const std::vector<Beyond> beyond = BeyondAll(waiting);
  if (beyond.empty()) return {};
  const std::size_t count = std::min(waiting.most(), kMostNodes);
  cluster::ResourceVector has;
  for (const Beyond& one : beyond) has.push_back({one.id, one.asked.front()});
  const std::vector<NodeRow> shapes = OneOfEachShape(near);
  const auto like = std::find_if(shapes.begin(), shapes.end(),
                                 [&](NodeRow row) { return HelpsMore(row, count, has); });
  if (like == shapes.end()) return {};
  std::vector<Larger> larger;
  for (std::size_t i = 0; i < beyond.size(); ++i) {
    // Less of it, or none, where those who ask for it could be done without.
    std::int64_t& amount = has[i].amount;
    for (std::size_t next = 1; next <= beyond[i].asked.size(); ++next) {
      const bool some = next < beyond[i].asked.size();
      const std::int64_t before = std::exchange(amount, some ? beyond[i].asked[next] : 0);
      if (HelpsMore(*like, count, has)) continue;
      amount = before;
      break;
    }
    if (amount > 0) larger.push_back({beyond[i].id, amount, beyond[i].most});
  }
  return larger;
}

// ---- fewer pods ----

std::vector<PodId> GangHelpFinder::FindPods(const Where& where, std::span<const Order> orders,
                                            GangPlanner& planner) {
  state_.RefreshRanks();
  members_.clear();
  gang_ = {};
  for (const Order& order : orders) {
    members_.insert(order.members.begin(), order.members.end());
    for (const PodId member : order.members) {
      // What stands for those to come is in none.
      if (!gang_.valid()) gang_ = state_.gang_of(member);
    }
  }
  Way fewest;
  for (const Order& order : orders) {
    Way gone = ClearForMembers(where, order, planner);
    if (gone.empty() || !HelpsWithout(gone)) continue;
    gone = WithoutVain(std::move(gone));
    if (fewest.empty() || gone.size() < fewest.size()) fewest = std::move(gone);
  }
  return fewest.empty() ? WithoutVain(ClearNodes(where)) : fewest;
}

bool GangHelpFinder::HelpsWithout(const Way& gone) {
  const auto mark = state_.Mark();
  for (const PodId pod : gone) state_.Displace(pod);
  const bool starts = trials_.Start();
  state_.Rollback(mark);
  return starts;
}

// Some of them may have gone in vain; of them all it is known that it starts without.
GangHelpFinder::Way GangHelpFinder::WithoutVain(Way gone) {
  if (gone.size() < 2) return gone;
  for (std::size_t i = 0; i < gone.size() && !trials_.spent();) {
    Way fewer = gone;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (HelpsWithout(fewer)) {
      gone = std::move(fewer);
    } else {
      ++i;
    }
  }
  return gone;
}

GangHelpFinder::Way GangHelpFinder::ClearForMembers(const Where& where, const Order& order,
                                                    GangPlanner& planner) {
  const auto mark = state_.Mark();
  GangPlan plan;
  std::vector<PodId> without = order.members;
  planner.Fill(without, plan, order.needed);
  std::size_t placed = plan.places.size();
  Way gone;
  if (order.needed - std::min(order.needed, placed) > kMostMissing) without.clear();
  for (const PodId member : without) {
    if (placed >= order.needed) break;
    const auto [row, pods] = ClearFor(where, member);
    if (!row.valid()) continue;
    for (const PodId pod : pods) state_.Displace(pod);
    gone.insert(gone.end(), pods.begin(), pods.end());
    state_.Assume(member, row);
    ++placed;
  }
  state_.Rollback(mark);
  return placed >= order.needed ? gone : Way{};
}

// Who the members are that start is left to the plan: a node alone that is in question, or all of
// them.
GangHelpFinder::Way GangHelpFinder::ClearNodes(const Where& where) {
  constexpr std::size_t kMostAlone = 16;
  std::vector<Way> by_node;
  for (const NodeRow row : NearlyFree(where, 0)) {
    Way pods = MayEndOn(row);
    if (!pods.empty() && pods.size() <= kMostPods) by_node.push_back(std::move(pods));
  }
  Way best, all;
  for (std::size_t i = 0; i < by_node.size(); ++i) {
    all.insert(all.end(), by_node[i].begin(), by_node[i].end());
    const bool fewer = best.empty() || by_node[i].size() < best.size();
    if (i < kMostAlone && fewer && HelpsWithout(by_node[i])) best = by_node[i];
  }
  if (!best.empty() || all.empty() || !HelpsWithout(all)) return best;
  for (const Way& pods : by_node) {
    Way fewer = all;
    std::erase_if(
        fewer, [&](PodId pod) { return std::find(pods.begin(), pods.end(), pod) != pods.end(); });
    if (HelpsWithout(fewer)) all = std::move(fewer);
  }
  return all;
}

std::pair<NodeRow, GangHelpFinder::Way> GangHelpFinder::ClearFor(const Where& where, PodId member) {
  std::pair<NodeRow, Way> best;
  std::size_t fewer_than = kMostPods + 1;
  for (const NodeRow row : NearlyFree(where, ScarceOf(where, member))) {
    auto way = InTheWayOf(where, member, row, fewer_than);
    if (!way) continue;
    fewer_than = way->size();
    best = {row, *std::move(way)};
  }
  return best;
}

// The nodes that lack least of what is scarce, among those that have enough of it altogether; those
// first that nothing else speaks against.
std::vector<NodeRow> GangHelpFinder::NearlyFree(const Where& where, std::int64_t wanted) const {
  using Lack = std::pair<bool, std::int64_t>;
  std::vector<std::pair<Lack, NodeRow>> rows;
  for (const NodeRow row : state_.nodes().by_name()) {
    if (!state_.nodes().has_node(row) || !where.uses(row)) continue;
    const std::int64_t free = where.scarce ? FreeOn(state_, row, *where.scarce) : 0;
    const std::int64_t all = where.scarce ? state_.nodes().allocatable(*where.scarce)[row] : 0;
    if (all < wanted) continue;
    const bool closed = !std::binary_search(where.open.begin(), where.open.end(), row);
    rows.emplace_back(Lack(closed, std::max(wanted - free, std::int64_t{0})), row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  rows.resize(std::min(rows.size(), kMostRows));
  std::vector<NodeRow> out;
  for (const auto& [lack, row] : rows) out.push_back(row);
  return out;
}

std::optional<GangHelpFinder::Way> GangHelpFinder::InTheWayOf(const Where& where, PodId member,
                                                              NodeRow row, std::size_t fewer_than) {
  Way pods = MayEndOn(row);
  // Those that take most of what is scarce, and of equals the least important.
  std::sort(pods.begin(), pods.end(), [&](PodId a, PodId b) {
    const std::int64_t of_a = ScarceOf(where, a), of_b = ScarceOf(where, b);
    return of_a != of_b ? of_a > of_b : MoreImportant(state_, b, a);
  });
  const auto mark = state_.Mark();
  Way gone;
  bool fits = doors_.fits(member, row);
  for (std::size_t i = 0; !fits && i < pods.size() && gone.size() + 1 < fewer_than; ++i) {
    state_.Displace(pods[i]);
    gone.push_back(pods[i]);
    fits = doors_.fits(member, row);
  }
  // Some of them may have gone in vain.
  std::erase_if(gone, [&](PodId pod) {
    if (!fits) return false;
    state_.Assume(pod, row);
    if (doors_.fits(member, row)) return true;
    state_.Displace(pod);
    return false;
  });
  state_.Rollback(mark);
  return fits ? std::optional(gone) : std::nullopt;
}

std::vector<PodId> GangHelpFinder::MayEndOn(NodeRow row) const {
  Way pods(state_.nodes().pods(row).begin(), state_.nodes().pods(row).end());
  std::erase_if(pods, [this](PodId pod) { return !MayEnd(pod); });
  return pods;
}

bool GangHelpFinder::MayEnd(PodId pod) const {
  const bool member = members_.contains(pod) || (gang_.valid() && state_.gang_of(pod) == gang_);
  return !member && state_.pod(pod).priority < kSystemCritical && !doors_.is_replaced(pod) &&
         !BelongsToItsNode(state_.class_of(pod).spec);
}

std::int64_t GangHelpFinder::ScarceOf(const Where& where, PodId pod) const {
  return where.scarce ? cluster::AmountOf(state_.class_of(pod).requests, *where.scarce) : 0;
}

}  // namespace knx::engine
