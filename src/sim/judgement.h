// Holds a cluster against what a scenario expects of it.
#pragma once

#include <optional>
#include <string>

#include "scenario/expectation.h"

namespace knx::sim {

class Cluster;

// What is found instead of what is expected; nullopt if it is met now.
std::optional<std::string> Unmet(const scenario::Expectation& expectation, const Cluster& cluster);

}  // namespace knx::sim
