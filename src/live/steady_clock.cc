#include "live/steady_clock.h"

#include <time.h>

#include "net/event_loop.h"

namespace knx::live {

SteadyClock::SteadyClock() : wall_at_start_(Wall()), steady_at_start_(net::EventLoop::Now()) {}

Time SteadyClock::now() const {
  return wall_at_start_ + (net::EventLoop::Now() - steady_at_start_);
}

Time SteadyClock::Wall() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Time{} + Duration::Seconds(now.tv_sec) + Duration::Nanoseconds(now.tv_nsec);
}

}  // namespace knx::live
