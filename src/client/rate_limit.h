// So many calls a second, and a few more at once after a quiet time. Every call is given its turn
// when it asks, in the order of asking.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace knx::client {

class RateLimit {
 public:
  // Zero or less a second: no limit.
  RateLimit(double per_second, std::int32_t burst) {
    if (!(per_second > 0)) return;
    // Nobody waits longer for a turn, which also keeps sums of turns within 64 bits.
    constexpr double kLongest = 3600e9;
    const double gap = std::min(1e9 / per_second, kLongest);
    gap_ = Duration::Nanoseconds(static_cast<std::int64_t>(gap));
    burst_ = Duration::Nanoseconds(
        static_cast<std::int64_t>(std::min(gap * (std::max(burst, 1) - 1), kLongest)));
  }

  // How long to wait before the call.
  Duration Take(Time now) {
    if (gap_ == Duration{}) return {};
    next_ = std::max(next_, now - burst_);
    const Duration wait = std::max(next_ - now, Duration{});
    next_ = next_ + gap_;
    return wait;
  }

 private:
  Duration gap_, burst_;
  Time next_{INT64_MIN};
};

}  // namespace knx::client
