// The time that the core is told: that of the clock on the wall when we began, and from then on
// what has really passed. Somebody who sets the clock changes nothing for us.
#pragma once

#include "base/time.h"

namespace knx::live {

class SteadyClock {
 public:
  SteadyClock();
  [[nodiscard]] Time now() const;
  // The clock on the wall, for what people and other programs read.
  [[nodiscard]] static Time Wall();
  // Since the machine was started, the time that it slept included.
  [[nodiscard]] static Time SinceBoot();

 private:
  Time wall_at_start_, steady_at_start_;
};

}  // namespace knx::live
