#include "engine/gang_help.h"

#include <algorithm>
#include <set>

#include "engine/importance.h"
#include "k8s/names.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;

namespace {

// What is looked at, at most. On a node that needs more pods gone than this nobody would wait for
// them; and of shapes of nodes clusters have few.
constexpr std::size_t kMostShapes = 16;
constexpr std::size_t kMostNodes = 1000;
constexpr std::size_t kMostMissing = 100;
constexpr std::size_t kMostRows = 64;
constexpr std::size_t kMostPods = 32;

// As those of a DaemonSet do, of which a new node would have one, too.
bool NamesItsNode(const k8s::PodSpec& spec) {
  if (!spec.node_affinity || !spec.node_affinity->required) return false;
  const auto& terms = spec.node_affinity->required->terms;
  return std::any_of(terms.begin(), terms.end(),
                     [](const auto& term) { return !term.match_fields.empty(); });
}

}  // namespace

GangHelp GangHelpFinder::Find(std::span<const PodId> members, std::size_t needed,
                              const GangCount& count, std::span<const cluster::ResourceId> scarce) {
  members_ = planner_.LargestFirst(members);
  needed_ = needed;
  scarce_ = scarce.empty() ? std::nullopt : std::optional(scarce.front());
  open_.clear();
  for (const GangCount::Kind& kind : count.kinds()) {
    open_.insert(open_.end(), kind.room.open.begin(), kind.room.open.end());
  }
  std::sort(open_.begin(), open_.end());
  state_.RefreshRanks();
  GangHelp help;
  if (NodesStandForOthers(count)) FindNodes(help);
  help.pods = FindPods();
  return help;
}

// ---- more nodes ----

// Not where its pods, which are taken off, are in a domain with those of the new ones, and that
// makes a difference. Members that share no node with each other do not share a new one either.
bool GangHelpFinder::NodesStandForOthers(const GangCount& count) const {
  const Symbol hostname = state_.words().Find(k8s::names::kHostname);
  return std::all_of(count.kinds().begin(), count.kinds().end(), [&](const auto& kind) {
    const std::vector<Symbol>& apart = kind.room.apart;
    const bool by_node =
        std::all_of(apart.begin(), apart.end(), [hostname](Symbol key) { return key == hostname; });
    return kind.room.of_nodes_alone || (kind.room.rejections_last && by_node);
  });
}

void GangHelpFinder::FindNodes(GangHelp& help) {
  std::size_t fewer_than = kMostNodes;
  for (const NodeRow row : OneOfEachShape()) {
    const auto count = CountNodesLike(row, fewer_than);
    if (!count) continue;
    help.like = row;
    help.nodes = fewer_than = *count;
  }
}

std::vector<NodeRow> GangHelpFinder::OneOfEachShape() const {
  const Symbol hostname = state_.words().Find(k8s::names::kHostname);
  struct Shape {
    cluster::NodeFacts facts;
    NodeRow first;
    std::size_t nodes = 0;
  };
  std::vector<Shape> shapes;
  for (const NodeRow row : state_.nodes().by_name()) {
    if (!state_.nodes().has_node(row)) continue;
    cluster::NodeFacts facts = state_.nodes().facts(row);
    std::erase_if(facts.labels, [&](const auto& label) { return label.first == hostname; });
    facts.images.clear();
    auto known = std::find_if(shapes.begin(), shapes.end(),
                              [&](const Shape& shape) { return shape.facts == facts; });
    if (known == shapes.end() && shapes.size() == kMostShapes) continue;
    if (known == shapes.end()) known = shapes.insert(known, {std::move(facts), row});
    ++known->nodes;
  }
  // What there is most of is what most likely can be had.
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const Shape& a, const Shape& b) { return a.nodes > b.nodes; });
  std::vector<NodeRow> rows;
  for (const Shape& shape : shapes) rows.push_back(shape.first);
  return rows;
}

// A node that is there is emptied and filled with members again and again: each time it is another
// new one. What is taken off it would still be there, in the same zone or with the same volume, and
// must not be what kept members away.
std::optional<std::size_t> GangHelpFinder::CountNodesLike(NodeRow row, std::size_t fewer_than) {
  const auto mark = state_.Mark();
  GangPlan plan;
  std::vector<PodId> without = members_;
  planner_.Fill(without, plan, needed_);
  std::size_t nodes = 0, placed = plan.places.size();
  std::erase_if(without, [&](PodId pod) { return !doors_.fits_beside(pod, row); });
  while (placed < needed_ && nodes + 1 < fewer_than) {
    Empty(row);
    const std::size_t before = placed;
    std::set<cluster::ClassId> hopeless;
    std::erase_if(without, [&](PodId pod) {
      const cluster::ClassId kind = state_.pod(pod).pod_class;
      if (placed >= needed_ || hopeless.contains(kind)) return false;
      if (!doors_.fits(pod, row)) {
        hopeless.insert(kind);
        return false;
      }
      state_.Assume(pod, row);
      ++placed;
      return true;
    });
    if (placed == before) break;
    ++nodes;
  }
  state_.Rollback(mark);
  return placed >= needed_ && nodes > 0 ? std::optional(nodes) : std::nullopt;
}

void GangHelpFinder::Empty(NodeRow row) {
  const std::vector<PodId> pods(state_.nodes().pods(row).begin(), state_.nodes().pods(row).end());
  for (const PodId pod : pods) {
    if (!NamesItsNode(state_.class_of(pod).spec)) state_.Displace(pod);
  }
}

// ---- fewer pods ----

GangHelpFinder::Way GangHelpFinder::FindPods() {
  const auto mark = state_.Mark();
  GangPlan plan;
  std::vector<PodId> without = members_;
  planner_.Fill(without, plan, needed_);
  std::size_t placed = plan.places.size();
  Way gone;
  if (needed_ - placed > kMostMissing) without.clear();
  for (const PodId member : without) {
    if (placed >= needed_) break;
    const auto [row, pods] = ClearFor(member);
    if (!row.valid()) continue;
    for (const PodId pod : pods) state_.Displace(pod);
    gone.insert(gone.end(), pods.begin(), pods.end());
    state_.Assume(member, row);
    ++placed;
  }
  state_.Rollback(mark);
  return placed >= needed_ ? gone : Way{};
}

std::pair<NodeRow, GangHelpFinder::Way> GangHelpFinder::ClearFor(PodId member) {
  std::pair<NodeRow, Way> best;
  std::size_t fewer_than = kMostPods + 1;
  for (const NodeRow row : NearlyFree(member)) {
    auto way = InTheWayOf(member, row, fewer_than);
    if (!way) continue;
    fewer_than = way->size();
    best = {row, *std::move(way)};
  }
  return best;
}

// The nodes that lack least of what is scarce, among those that have enough of it altogether; those
// first that nothing else speaks against.
std::vector<NodeRow> GangHelpFinder::NearlyFree(PodId member) const {
  const std::int64_t wanted = ScarceOf(member);
  using Lack = std::pair<bool, std::int64_t>;
  std::vector<std::pair<Lack, NodeRow>> rows;
  for (const NodeRow row : state_.nodes().by_name()) {
    if (!state_.nodes().has_node(row)) continue;
    const std::int64_t free = scarce_ ? FreeOn(state_, row, *scarce_) : 0;
    const std::int64_t all = scarce_ ? state_.nodes().allocatable(*scarce_)[row] : 0;
    if (all < wanted) continue;
    const bool closed = !std::binary_search(open_.begin(), open_.end(), row);
    rows.emplace_back(Lack(closed, std::max(wanted - free, std::int64_t{0})), row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  rows.resize(std::min(rows.size(), kMostRows));
  std::vector<NodeRow> out;
  for (const auto& [lack, row] : rows) out.push_back(row);
  return out;
}

std::optional<GangHelpFinder::Way> GangHelpFinder::InTheWayOf(PodId member, NodeRow row,
                                                              std::size_t fewer_than) {
  Way pods(state_.nodes().pods(row).begin(), state_.nodes().pods(row).end());
  std::erase_if(pods, [this](PodId pod) { return !MayEnd(pod); });
  // Those that take most of what is scarce, and of equals the least important.
  std::sort(pods.begin(), pods.end(), [this](PodId a, PodId b) {
    const std::int64_t of_a = ScarceOf(a), of_b = ScarceOf(b);
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

bool GangHelpFinder::MayEnd(PodId pod) const {
  const cluster::GangId gang = state_.gang_of(members_.front());
  const bool member = std::find(members_.begin(), members_.end(), pod) != members_.end() ||
                      (gang.valid() && state_.gang_of(pod) == gang);
  return !member && state_.pod(pod).priority < kSystemCritical && !doors_.is_replaced(pod) &&
         !NamesItsNode(state_.class_of(pod).spec);
}

std::int64_t GangHelpFinder::ScarceOf(PodId pod) const {
  return scarce_ ? cluster::AmountOf(state_.class_of(pod).requests, *scarce_) : 0;
}

}  // namespace knx::engine
