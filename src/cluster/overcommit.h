// Nodes whose pods ask for more than there is.
#pragma once

#include <cstdint>

#include "cluster/state.h"

namespace knx::cluster {

// Of cpu, memory, any other resource, or pods. Never of a row without a Node: nobody knows what it
// has.
bool IsOvercommitted(const State& state, NodeRow row);

// Who is counted: without those that are only assumed to come, or with them.
enum class Among : std::uint8_t { kBound, kAll };

// Whether the node of the pod has less than the pods there ask for, of something that this one asks
// for too; what it does not ask for is none of its doing.
bool IsTooMuch(const State& state, PodId id, Among among);

}  // namespace knx::cluster
