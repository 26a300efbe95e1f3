// Longer and longer pauses between attempts, half of each by chance, so that many clients of a
// server that comes back do not all come at once.
#pragma once

#include <algorithm>

#include "base/time.h"
#include "net/event_loop.h"

namespace knx::net {

class Backoff {
 public:
  Backoff(Duration first, Duration longest) : first_(first), longest_(longest) {}

  void Reset() { pause_ = {}; }
  Duration Next() {
    pause_ = std::min(std::max(pause_ * 2, first_), longest_);
    // The last digits of the clock are chance enough.
    return pause_ - Duration::Nanoseconds(EventLoop::Now().ns % (pause_.ns / 2));
  }

 private:
  Duration first_, longest_, pause_;
};

}  // namespace knx::net
