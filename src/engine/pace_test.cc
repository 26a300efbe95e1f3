#include "engine/pace.h"

#include <gtest/gtest.h>

namespace knx::engine {
namespace {

constexpr Time kNoon = Time{} + Duration::Seconds(1'800'000'000);

// Of one try every ten milliseconds in a second.
int TakenIn(Pace& pace, Time second) {
  int taken = 0;
  for (int i = 0; i < 100; ++i) taken += pace.TakeOne(second + Duration::Milliseconds(10 * i));
  return taken;
}

TEST(Pace, WhoTriesAllTheTimeIsLetTryLessAndLess) {
  Pace pace;
  Time second = kNoon;
  for (const int want : {8, 4, 2, 1, 1, 1}) {
    EXPECT_EQ(TakenIn(pace, second), want);
    second = second + Duration::Seconds(1);
    EXPECT_EQ(pace.next_moment(), second);
  }
}

TEST(Pace, AQuietMomentEndsThat) {
  Pace pace;
  const auto at = [](int second) { return kNoon + Duration::Seconds(second); };
  EXPECT_EQ(TakenIn(pace, at(0)), 8);
  EXPECT_EQ(TakenIn(pace, at(1)), 4);
  EXPECT_EQ(TakenIn(pace, at(3)), 8) << "nobody tried in the second before";
  EXPECT_TRUE(pace.TakeOne(at(4)));
  EXPECT_EQ(TakenIn(pace, at(5)), 8) << "it was one try only";
}

}  // namespace
}  // namespace knx::engine
