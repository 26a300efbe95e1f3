#include "cmd/human_units.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace knx::cmd {
namespace {

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = 1024 * kKi;
constexpr std::int64_t kGi = 1024 * kMi;
constexpr std::int64_t kTi = 1024 * kGi;

TEST(FormatCores, SaysThousandthsExactlyAndBriefly) {
  struct Case {
    std::int64_t thousandths;
    std::string_view want;
  };
  const Case cases[] = {
      {.thousandths = 0, .want = "0"},
      {.thousandths = 1, .want = "0.001"},
      {.thousandths = 250, .want = "0.25"},
      {.thousandths = 1500, .want = "1.5"},
      {.thousandths = 96'000, .want = "96"},
      {.thousandths = -500, .want = "-0.5"},
      {.thousandths = std::numeric_limits<std::int64_t>::max(), .want = "9223372036854775.807"},
      {.thousandths = std::numeric_limits<std::int64_t>::min(), .want = "-9223372036854775.808"},
  };
  for (const Case& c : cases) EXPECT_EQ(FormatCores(c.thousandths), c.want);
}

TEST(FormatBytes, ChoosesAUnitThatPeopleCompareIn) {
  struct Case {
    std::int64_t bytes;
    std::string_view want;
  };
  const Case cases[] = {
      {.bytes = 0, .want = "0 B"},
      {.bytes = 1023, .want = "1023 B"},
      {.bytes = kKi, .want = "1 KiB"},
      {.bytes = 512 * kMi, .want = "512 MiB"},
      {.bytes = 3 * kGi / 2, .want = "1.5 GiB"},
      {.bytes = 1536 * kGi, .want = "1536 GiB"},
      {.bytes = 20 * kTi, .want = "20 TiB"},
      {.bytes = -kGi, .want = "-1 GiB"},
      {.bytes = std::numeric_limits<std::int64_t>::max(), .want = "8192 PiB"},
      {.bytes = std::numeric_limits<std::int64_t>::min(), .want = "-8192 PiB"},
  };
  for (const Case& c : cases) EXPECT_EQ(FormatBytes(c.bytes), c.want) << c.bytes;
}

TEST(FormatUsedBytes, SaysBothInTheUnitOfTheWhole) {
  EXPECT_EQ(FormatUsedBytes(512 * kMi, 2 * kGi), "0.5/2 GiB");
  EXPECT_EQ(FormatUsedBytes(0, 0), "0/0 B");
}

TEST(FormatElapsed, SaysWhatMattersAtThatLength) {
  struct Case {
    Duration elapsed;
    std::string_view want;
  };
  const Case cases[] = {
      {.elapsed = {}, .want = "0ms"},
      {.elapsed = Duration::Milliseconds(350), .want = "350ms"},
      {.elapsed = Duration::Milliseconds(12'540), .want = "12.5s"},
      {.elapsed = Duration::Seconds(59), .want = "59s"},
      {.elapsed = Duration::Seconds(60), .want = "1m00s"},
      {.elapsed = Duration::Seconds(2050), .want = "34m10s"},
      {.elapsed = Duration::Milliseconds(2'050'499), .want = "34m10s"},
      {.elapsed = Duration::Milliseconds(2'050'500), .want = "34m11s"},
      {.elapsed = Duration::Nanoseconds(std::numeric_limits<std::int64_t>::max()),
       .want = "2562047h47m17s"},
      {.elapsed = Duration::Seconds(7500), .want = "2h05m00s"},
  };
  for (const Case& c : cases) EXPECT_EQ(FormatElapsed(c.elapsed), c.want);
}

TEST(FormatRequest, NamesTheUnit) {
  EXPECT_EQ(FormatRequest("cpu", "1"), "1 core");
  EXPECT_EQ(FormatRequest("cpu", "500m"), "0.5 cores");
  EXPECT_EQ(FormatRequest("memory", "68719476736"), "64 GiB");
  EXPECT_EQ(FormatRequest("hugepages-2Mi", "4Mi"), "4 MiB of hugepages-2Mi");
  EXPECT_EQ(FormatRequest("nvidia.com/gpu", "8"), "8 nvidia.com/gpu");
  EXPECT_EQ(FormatRequest("cpu", "many"), "many cpu");
}

}  // namespace
}  // namespace knx::cmd
