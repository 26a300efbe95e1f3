// Nodes whose pods ask for more than there is.
#pragma once

#include "cluster/state.h"

namespace knx::cluster {

// Of cpu, memory, any other resource, or pods. Never of a row without a Node: nobody knows what it
// has.
bool IsOvercommitted(const State& state, NodeRow row);

}  // namespace knx::cluster
