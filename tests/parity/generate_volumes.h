// Random claims, volumes and storage classes, and pods that use them.
#pragma once

#include <string>
#include <vector>

#include "dice.h"

namespace knx::parity {

// Everything about storage but the pods, for nodes 0..nodes-1.
std::vector<std::string> StorageJson(Dice& dice, std::int64_t nodes);
// spec.volumes of a pod.
std::string VolumesJson(Dice& dice);

}  // namespace knx::parity
