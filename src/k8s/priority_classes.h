// The priority classes that every cluster has.
#pragma once

#include <vector>

#include "k8s/objects.h"

namespace knx::k8s {

std::vector<PriorityClass> SystemPriorityClasses();

}  // namespace knx::k8s
