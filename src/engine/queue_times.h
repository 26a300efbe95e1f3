// When a back-off is over, and when a pod that waited for too long is tried again. Pure arithmetic;
// times that lie beyond what can be represented are kNever.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace knx::engine {

// Back-offs end at whole seconds of the clock, so that the pods of one second come back together,
// in queue order.
inline constexpr Duration kBackoffWindow = Duration::Seconds(1);

// Doubles with each failure, from `initial` up to `max`. 0 if nothing failed or `max` is 0.
Duration BackoffAfter(std::uint32_t failures, Duration initial, Duration max);

// A back-off is over once the window in which it expires has passed: up to one window later than
// `since` + `backoff`.
Time BackoffEnd(Time since, Duration backoff);

// The first of the times first, first + interval, first + 2 intervals, ... that is more than
// `max_wait` after `since`.
Time FlushTime(Time since, Duration max_wait, Time first, Duration interval);

}  // namespace knx::engine
