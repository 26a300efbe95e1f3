#include "engine/queue_times.h"

#include <gtest/gtest.h>

namespace knx::engine {
namespace {

constexpr Time AtMs(std::int64_t ms) { return Time{} + Duration::Milliseconds(ms); }

TEST(QueueTimes, ABackoffDoublesWithEachFailureUpToItsMaximum) {
  struct Case {
    std::uint32_t failures;
    Duration initial, max, want;
  };
  const Duration s1 = Duration::Seconds(1);
  const Duration s10 = Duration::Seconds(10);
  const Case cases[] = {
      {0, s1, s10, {}},
      {1, s1, s10, s1},
      {2, s1, s10, Duration::Seconds(2)},
      {4, s1, s10, Duration::Seconds(8)},
      {5, s1, s10, s10},
      {63, s1, s10, s10},
      {64, s1, s10, s10},
      {0xFFFF'FFFF, s1, s10, s10},
      {1, s10, s1, s1},
      {7, s1, {}, {}},
      {7, {}, s10, {}},
      {40, Duration{1}, Duration{INT64_MAX}, Duration{std::int64_t{1} << 39}},
      {0xFFFF'FFFF, Duration{1}, Duration{INT64_MAX}, Duration{std::int64_t{1} << 62}},
      {3, Duration{-5}, s10, {}},
      {3, s1, Duration{-5}, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.failures);
    EXPECT_EQ(BackoffAfter(c.failures, c.initial, c.max), c.want);
  }
}

TEST(QueueTimes, ABackoffIsOverWhenItsSecondHasPassed) {
  struct Case {
    Time since;
    Duration backoff;
    Time want;
  };
  const Case cases[] = {
      {AtMs(0), Duration::Seconds(1), AtMs(2000)},
      {AtMs(300), Duration::Seconds(1), AtMs(2000)},
      {AtMs(999), Duration::Seconds(1), AtMs(2000)},
      {AtMs(1000), Duration::Seconds(1), AtMs(3000)},
      {AtMs(1500), Duration::Milliseconds(499), AtMs(2000)},
      {AtMs(1500), Duration::Milliseconds(500), AtMs(3000)},
      {AtMs(700), {}, AtMs(1000)},
      {AtMs(-1500), Duration::Seconds(1), AtMs(0)},
      {Time{INT64_MAX - 5}, Duration::Seconds(1), kNever},
      {kNever, Duration::Seconds(1), kNever},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.since.ns);
    EXPECT_EQ(BackoffEnd(c.since, c.backoff), c.want);
  }
}

TEST(QueueTimes, AFlushFindsAPodAtTheFirstLookAfterItWaitedTooLong) {
  struct Case {
    Time since;
    Duration max_wait;
    Time first;
    Duration interval;
    Time want;
  };
  const Duration s30 = Duration::Seconds(30);
  const Duration m5 = Duration::Minutes(5);
  const Case cases[] = {
      {AtMs(0), m5, AtMs(0), s30,
       AtMs(330'000)},  // at 300 s it has waited for five minutes, not longer
      {AtMs(-1), m5, AtMs(0), s30, AtMs(300'000)},
      {AtMs(1), m5, AtMs(0), s30, AtMs(330'000)},
      {AtMs(100'000), m5, AtMs(7'000), s30, AtMs(427'000)},
      {AtMs(5), {}, AtMs(0), s30, AtMs(30'000)},
      {AtMs(5), Duration{-1}, AtMs(0), s30, AtMs(30'000)},
      {AtMs(-900'000), m5, AtMs(0), s30, AtMs(0)},
      {AtMs(0), Duration{INT64_MAX}, AtMs(0), s30, kNever},
      {kNever, m5, AtMs(0), s30, kNever},
      {Time{INT64_MAX - 1}, {}, Time{INT64_MIN + 1}, s30, kNever},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.since.ns);
    EXPECT_EQ(FlushTime(c.since, c.max_wait, c.first, c.interval), c.want);
  }
}

}  // namespace
}  // namespace knx::engine
