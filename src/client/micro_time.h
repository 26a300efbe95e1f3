// Times of events and leases, of which Kubernetes wants microseconds.
#pragma once

#include <string>

#include "base/time.h"

namespace knx::client {

// In quotes, for JSON, and always with six digits after the point.
std::string MicroMoment(Time time);

}  // namespace knx::client
