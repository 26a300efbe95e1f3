#include "engine/held_alike.h"

#include <gtest/gtest.h>

namespace knx::engine {
namespace {

constexpr Time kNow = Time{} + Duration::Minutes(60);

Promise At(Time start, std::uint32_t row) {
  return {.pod = cluster::PodId{1},
          .gang = {},
          .start = start,
          .places = {{cluster::PodId{1}, cluster::NodeRow{row}}}};
}

TEST(HeldAlike, OneStandsForAllThatAreLikeItForAMoment) {
  HeldAlike alike;
  const std::vector<Promise> promises = {At(kNow + Duration::Minutes(5), 3)};
  const HeldAlike::Kind kind{.pod_class = 1, .priority = 2, .run_ns = 3, .may_pass = true};
  EXPECT_FALSE(alike.Contains(kind, promises, kNow));
  alike.Add(kind, promises, kNow);
  EXPECT_TRUE(alike.Contains(kind, promises, kNow + Duration::Milliseconds(999)));
  EXPECT_FALSE(alike.Contains(kind, promises, kNow + Duration::Seconds(1)));
  HeldAlike::Kind others[] = {kind, kind, kind, kind};
  others[0].pod_class = 9;
  others[1].priority = 9;
  others[2].run_ns = 9;
  others[3].may_pass = false;
  for (const HeldAlike::Kind& other : others) EXPECT_FALSE(alike.Contains(other, promises, kNow));
}

TEST(HeldAlike, AnotherPromiseOrWhateverHappensEndsThat) {
  const HeldAlike::Kind kind;
  const std::vector<Promise> promises = {At(kNow + Duration::Minutes(5), 3)};
  const std::vector<Promise> others[] = {
      {}, {At(kNow + Duration::Minutes(6), 3)}, {At(kNow + Duration::Minutes(5), 4)}};
  for (const std::vector<Promise>& other : others) {
    HeldAlike alike;
    alike.Add(kind, promises, kNow);
    EXPECT_FALSE(alike.Contains(kind, other, kNow));
    alike.Add({.pod_class = 7}, other, kNow);
    EXPECT_FALSE(alike.Contains(kind, other, kNow)) << "that was found out beside other promises";
    alike.Clear();
    EXPECT_FALSE(alike.Contains({.pod_class = 7}, other, kNow));
  }
}

}  // namespace
}  // namespace knx::engine
