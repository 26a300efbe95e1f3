// The claims of a pod, sorted by what has to happen before the pod can run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/plugin.h"

namespace knx::plugins {

// Keys of claims, in the order of the pod's volumes.
struct PodClaims {
  std::vector<std::string> bound;    // have their volume
  std::vector<std::string> delayed;  // get one when the pod has a node
  bool immediate = false;            // some should have had one by now, and have none
};

// Why the pod can be placed nowhere: a claim is not there, lost, about to go, or not the pod's own.
std::optional<std::string> ClaimsComplaint(const cluster::Volumes& volumes,
                                           const cluster::PodClass& pod_class);

// Every claim must be there.
PodClaims SortClaims(const cluster::Volumes& volumes, const cluster::PodClass& pod_class);

}  // namespace knx::plugins
