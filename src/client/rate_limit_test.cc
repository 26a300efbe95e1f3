#include "client/rate_limit.h"

#include <gtest/gtest.h>

#include <limits>

namespace knx::client {
namespace {

constexpr Time kMorning = Time{} + Duration::Seconds(1000);

TEST(RateLimit, LetsABurstThroughAndThenOneAtATime) {
  RateLimit limit(10, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.Take(kMorning), Duration{});
  EXPECT_EQ(limit.Take(kMorning), Duration::Milliseconds(100));
  EXPECT_EQ(limit.Take(kMorning), Duration::Milliseconds(200));
  // What was waited for is over, and one more has become free.
  EXPECT_EQ(limit.Take(kMorning + Duration::Milliseconds(300)), Duration{});
  EXPECT_EQ(limit.Take(kMorning + Duration::Milliseconds(300)), Duration::Milliseconds(100));
}

TEST(RateLimit, AQuietTimeGivesNoMoreThanABurst) {
  RateLimit limit(10, 3);
  (void)limit.Take(kMorning);
  const Time later = kMorning + Duration::Seconds(1000);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.Take(later), Duration{});
  EXPECT_GT(limit.Take(later), Duration{});
}

TEST(RateLimit, AnyNumbersAreTaken) {
  for (const double rate : {-1.0, 0.0, 1e-300, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    for (const std::int32_t burst : {std::numeric_limits<std::int32_t>::min(), 0, 1,
                                     std::numeric_limits<std::int32_t>::max()}) {
      RateLimit limit(rate, burst);
      for (int i = 0; i < 1000; ++i) EXPECT_GE(limit.Take(kMorning), Duration{});
    }
  }
  RateLimit none(-1, 5);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(none.Take(kMorning), Duration{});
}

}  // namespace
}  // namespace knx::client
