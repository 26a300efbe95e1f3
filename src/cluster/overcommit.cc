#include "cluster/overcommit.h"

namespace knx::cluster {

bool IsOvercommitted(const State& state, NodeRow row) {
  const NodeTable& nodes = state.nodes();
  if (!row.valid() || !nodes.has_node(row)) return false;
  if (nodes.pod_count(row) > nodes.allocatable(kPods)[row]) return true;
  for (std::uint32_t i = 0; i < state.resources().size(); ++i) {
    const ResourceId id{i};
    if (id != kPods && nodes.requested(id)[row] > nodes.allocatable(id)[row]) return true;
  }
  return false;
}

}  // namespace knx::cluster
