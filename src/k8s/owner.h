// What an object belongs to.
#pragma once

#include "k8s/objects.h"

namespace knx::k8s {

// The owner that acts for it; nullptr if there is none.
const OwnerReference* ControllerOf(const ObjectMeta& meta);

}  // namespace knx::k8s
