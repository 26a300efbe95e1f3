// Times of objects. An API server takes any year, such as the end of a grace period that is meant
// to have none, and an object is not left out for that: what lies too far away is taken for the
// nearest time that we can still reckon with, so that sums and differences are times, too.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace knx::k8s {

inline constexpr Time kEarliestTime = Time{} - Duration::Seconds(2'208'988'800);  // 1900-01-01
inline constexpr Time kLatestTime = Time{} + Duration::Seconds(7'258'118'400);    // 2200-01-01

constexpr Time NearestTime(Time time) { return std::clamp(time, kEarliestTime, kLatestTime); }

}  // namespace knx::k8s
