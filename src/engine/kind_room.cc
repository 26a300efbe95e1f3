#include "engine/kind_room.h"

#include <algorithm>
#include <limits>

namespace knx::engine {

using cluster::NodeRow;
using cluster::ResourceAmount;
using framework::Scope;

namespace {

void TakeAlso(cluster::ResourceVector& takes, std::span<const ResourceAmount> more) {
  for (const ResourceAmount& entry : more) {
    const auto at = std::find_if(takes.begin(), takes.end(),
                                 [&](const ResourceAmount& known) { return known.id == entry.id; });
    if (at == takes.end()) {
      takes.push_back(entry);
    } else {
      at->amount = std::max(at->amount, entry.amount);
    }
  }
}

}  // namespace

KindRoom RoomBy(const cluster::State& state, const PreparedClass& prepared, bool alone) {
  KindRoom room;
  // Prepared for one pod, what is said of nodes need not hold for the others of its kind.
  const bool for_all = !prepared.asks_anew();
  room.rejections_last = room.amounts_only = for_all;
  if (!prepared.outcome().ok()) {
    room.known = prepared.outcome().rejected() && for_all;
    return room;
  }
  if (prepared.only_rows() && for_all) {
    room.open = *prepared.only_rows();
  } else {
    state.nodes().present().ForEach([&](std::uint32_t row) { room.open.push_back(NodeRow{row}); });
  }
  for (const PreparedFilter& filter : prepared.filters()) {
    const framework::ClassLimits limits = filter.filter->limits();
    room.apart.insert(room.apart.end(), limits.apart.begin(), limits.apart.end());
    if (!limits.takes.empty()) {
      TakeAlso(room.takes, limits.takes);
      continue;
    }
    const bool of_node = filter.scope == Scope::kFacts || filter.scope == Scope::kUsage;
    const bool lasts = for_all && (of_node || (alone && limits.rejections_last));
    room.rejections_last &= lasts;
    room.of_nodes_alone &= of_node && for_all;
    room.amounts_only &= filter.scope == Scope::kFacts;
    if (!lasts) continue;
    filter.filter->Keep(room.open);
    room.together.insert(room.together.end(), limits.together.begin(), limits.together.end());
  }
  return room;
}

std::int64_t FreeOn(const cluster::State& state, NodeRow row, cluster::ResourceId id) {
  const cluster::NodeTable& nodes = state.nodes();
  const std::int64_t used = id == cluster::kPods ? nodes.pod_count(row) : nodes.requested(id)[row];
  return std::max(nodes.allocatable(id)[row] - used, std::int64_t{0});
}

std::size_t RoomOn(const cluster::State& state, NodeRow row,
                   std::span<const ResourceAmount> takes) {
  std::int64_t room = std::numeric_limits<std::int64_t>::max();
  for (const ResourceAmount& entry : takes) {
    if (entry.amount > 0) room = std::min(room, FreeOn(state, row, entry.id) / entry.amount);
  }
  return static_cast<std::size_t>(room);
}

}  // namespace knx::engine
