// The state of a cluster as the result of a run.
#pragma once

#include "sim/cluster.h"
#include "sim/simulation.h"

namespace knx::sim {

// Fills everything in `result` that can be read from the cluster.
void Report(Cluster& cluster, SimulationResult& result);

}  // namespace knx::sim
