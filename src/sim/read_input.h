// The files of a request, read and checked: a scenario, or objects that are there from the
// beginning.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "k8s/read_object.h"
#include "scenario/scenario.h"
#include "sim/simulation.h"

namespace knx::sim {

struct Input {
  std::optional<scenario::Scenario> scenario;
  std::vector<k8s::ObjectAt> objects;
  std::vector<std::string> warnings;  // what is in the files and is not simulated
};

// `variant`: which of those that a scenario has; manifests have one.
Result<Input> ReadInput(const std::vector<TextFile>& files, std::size_t variant = 0);

// Manifests without a node and without anything that makes pods: nothing could happen.
Status CheckNotEmpty(const std::vector<k8s::ObjectAt>& objects, const std::vector<TextFile>& files);

}  // namespace knx::sim
