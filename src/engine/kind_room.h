// Room for several pods of one kind at once, as far as it can be known without placing them: the
// nodes that come into question whoever else is placed, and what each of the pods takes there.
// A kind is a class and a relation: pods that no plugin can tell apart.
#pragma once

#include <vector>

#include "base/symbol.h"
#include "cluster/state.h"
#include "engine/prepared_class.h"

namespace knx::engine {

struct KindRoom {
  bool known = true;  // false: something went wrong when the plugins were asked
  // Nodes that nothing speaks against for good but what they have left.
  std::vector<cluster::NodeRow> open;
  cluster::ResourceVector takes;        // each of the pods, of its node
  std::vector<Symbol> apart, together;  // as in framework::ClassLimits
  // Every "no" of the plugins stays a "no" while pods are added, so that trying them in one order
  // tries all orders.
  bool rejections_last = true;
  // No answer depends on pods of other nodes.
  bool of_nodes_alone = true;
  // Beside its Node object only what it has left makes a difference between nodes.
  bool amounts_only = true;
};

// `alone`: no pods of other kinds are placed at the same time.
KindRoom RoomBy(const cluster::State& state, const PreparedClass& prepared, bool alone);

// What the node has left of a resource, not below zero.
std::int64_t FreeOn(const cluster::State& state, cluster::NodeRow row, cluster::ResourceId id);
// How many pods that each take this have room on the node.
std::size_t RoomOn(const cluster::State& state, cluster::NodeRow row,
                   std::span<const cluster::ResourceAmount> takes);

}  // namespace knx::engine
