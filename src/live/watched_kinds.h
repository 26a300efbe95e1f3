// What the scheduler has to know of a cluster.
#pragma once

#include <vector>

#include "client/reflector.h"

namespace knx::live {

std::vector<client::Collection> WatchedCollections();

}  // namespace knx::live
