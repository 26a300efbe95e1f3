#include "plugins/common/go_math.h"

#include <gtest/gtest.h>

#include <bit>

namespace knx::plugins {
namespace {

TEST(GoMath, LogarithmsAreThoseOfGoToTheLastBit) {
  const std::pair<double, std::uint64_t> cases[] = {
      {2, 0x3fe62e42fefa39ef},     {3, 0x3ff193ea7aad030a},      {4, 0x3ff62e42fefa39ef},
      {5, 0x3ff9c041f7ed8d33},     {7, 0x3fff2272ae325a57},      {12, 0x4003e116bcd39e7d},
      {42, 0x400de6bf542e3d2d},    {102, 0x40127ff8df87c7bd},    {502, 0x4018dfd8b5b3e920},
      {1002, 0x401ba3965d405f5f},  {4097, 0x4020a2d23e3bb61e},   {5002, 0x40210901f6dc84b9},
      {15002, 0x40233b5c54bb9573}, {100002, 0x402706a0c9b7a3ab}, {1000002, 0x402ba18adcabd9bd},
  };
  for (const auto& [x, bits] : cases) EXPECT_EQ(std::bit_cast<std::uint64_t>(GoLog(x)), bits) << x;
}

TEST(GoMath, HalvesAreRoundedUp) {
  EXPECT_EQ(RoundHalfUp(0), 0);
  EXPECT_EQ(RoundHalfUp(0.49999999999999994), 0);
  EXPECT_EQ(RoundHalfUp(0.5), 1);
  EXPECT_EQ(RoundHalfUp(2.5), 3);
  EXPECT_EQ(RoundHalfUp(1e15), 1000000000000000);
}

}  // namespace
}  // namespace knx::plugins
