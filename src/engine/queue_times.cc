#include "engine/queue_times.h"

#include <algorithm>
#include <limits>

namespace knx::engine {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

std::int64_t Add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? kMin : kMax;
}

// Rounded down, also below zero.
std::int64_t Steps(std::int64_t distance, std::int64_t step) {
  return distance / step - (distance % step < 0 ? 1 : 0);
}

// The first start + n * step after `time`.
std::int64_t NextStep(std::int64_t time, std::int64_t start, std::int64_t step) {
  std::int64_t distance = 0;
  if (__builtin_sub_overflow(time, start, &distance)) return time < start ? start : kMax;
  std::int64_t steps = 0;
  if (__builtin_mul_overflow(Add(Steps(distance, step), 1), step, &steps)) return kMax;
  return Add(start, steps);
}

}  // namespace

Duration BackoffAfter(std::uint32_t failures, Duration initial, Duration max) {
  if (failures == 0 || max.ns <= 0) return {};
  const std::uint32_t doublings = std::min<std::uint32_t>(failures - 1, 62);
  if (initial.ns > (max.ns >> doublings)) return max;
  return {std::max<std::int64_t>(initial.ns, 0) << doublings};
}

Time BackoffEnd(Time since, Duration backoff) {
  return {NextStep(Add(since.ns, backoff.ns), 0, kBackoffWindow.ns)};
}

Time FlushTime(Time since, Duration max_wait, Time first, Duration interval) {
  const std::int64_t enough = Add(since.ns, std::max<std::int64_t>(max_wait.ns, 0));
  if (enough < first.ns) return first;
  return {NextStep(enough, first.ns, interval.ns)};
}

}  // namespace knx::engine
