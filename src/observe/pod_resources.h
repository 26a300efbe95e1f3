// The page /metrics/resources: what every pod asks for, as scheduling counts it, and what it may
// use. Made when it is asked for, since it has several lines for every pod.
#pragma once

#include <string>

#include "cluster/state.h"

namespace knx::observe {

std::string PodResourcesText(const cluster::State& state);

}  // namespace knx::observe
