#include "cluster/overcommit.h"

#include <algorithm>

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

bool IsTooMuch(const State& state, PodId id, Among among) {
  const NodeRow row = state.pod(id).node;
  if (!IsOvercommitted(state, row)) return false;
  const NodeTable& nodes = state.nodes();
  const auto counts = [&](PodId other) {
    return other == id || among == Among::kAll || !state.pod(other).assumed;
  };
  const auto pods = nodes.pods(row);
  if (std::count_if(pods.begin(), pods.end(), counts) > nodes.allocatable(kPods)[row]) return true;
  const auto requests = state.usage_of(id).requests;
  return std::any_of(requests.begin(), requests.end(), [&](const ResourceAmount& request) {
    if (request.id == kPods || request.amount <= 0) return false;
    __int128 asked = 0;
    for (const PodId other : pods) {
      if (counts(other)) asked += AmountOf(state.usage_of(other).requests, request.id);
    }
    return asked > nodes.allocatable(request.id)[row];
  });
}

}  // namespace knx::cluster
