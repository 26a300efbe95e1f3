// Pods and nodes as JSON on one line, in Kubernetes' form, with every field that our structs have:
// what k8s/read_object.h reads back is equal to what was written.
#pragma once

#include <string>

#include "k8s/objects.h"

namespace knx::sim {

std::string ToJson(const k8s::Pod& pod);
std::string ToJson(const k8s::Node& node);

}  // namespace knx::sim
