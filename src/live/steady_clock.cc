#include "live/steady_clock.h"

#include <time.h>

#include "net/event_loop.h"

namespace knx::live {
namespace {

Time ReadClock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return Time{} + Duration::Seconds(now.tv_sec) + Duration::Nanoseconds(now.tv_nsec);
}

}  // namespace

SteadyClock::SteadyClock() : wall_at_start_(Wall()), steady_at_start_(net::EventLoop::Now()) {}

Time SteadyClock::now() const {
  return wall_at_start_ + (net::EventLoop::Now() - steady_at_start_);
}

Time SteadyClock::Wall() { return ReadClock(CLOCK_REALTIME); }

Time SteadyClock::SinceBoot() { return ReadClock(CLOCK_BOOTTIME); }

}  // namespace knx::live
