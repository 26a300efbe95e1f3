#include "base/time.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace knx {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

struct ReadCase {
  std::string_view text;
  std::optional<std::int64_t> want_ns;  // nullopt: must be refused
};

TEST(Duration, ReadsWhatGoReadsAndRefusesTheRest) {
  const ReadCase cases[] = {
      {"0", 0},
      {"-0", 0},
      {"+0", 0},
      {"0s", 0},
      {"5s", 5'000'000'000},
      {"+5s", 5'000'000'000},
      {"-2m", -120'000'000'000},
      {"250ms", 250'000'000},
      {"1.5s", 1'500'000'000},
      {".5s", 500'000'000},
      {"5.s", 5'000'000'000},
      {"1h30m", 5'400'000'000'000},
      {"1h1h", 7'200'000'000'000},
      {"3us4ns", 3'004},
      {"3\u00B5s", 3'000},
      {"3\u03BCs", 3'000},
      {"1.0000000009s", 1'000'000'000},
      {"0.3333333333333333333h", 1'200'000'000'000},  // as Go's floating point has it
      {"0.9223372036854775807h", 3'320'413'933'267},
      {"9223372036854775807ns", kMax},
      {"-9223372036854775808ns", kMin},
      {"2562047h47m16.854775807s", kMax},
      {"9223372036854775808ns", std::nullopt},
      {"-9223372036854775809ns", std::nullopt},
      {"9223372036854775808ns9223372036854775808ns", std::nullopt},
      {"2562047h47m16.854775808s", std::nullopt},
      {"2562048h", std::nullopt},
      {"99999999999999999999999s", std::nullopt},
      {"", std::nullopt},
      {"-", std::nullopt},
      {"00", std::nullopt},
      {"3", std::nullopt},
      {".", std::nullopt},
      {".s", std::nullopt},
      {"s", std::nullopt},
      {"1d", std::nullopt},
      {"1S", std::nullopt},
      {"1 s", std::nullopt},
      {" 1s", std::nullopt},
      {"1s ", std::nullopt},
      {"--1s", std::nullopt},
      {"1h-1m", std::nullopt},
      {"1.2.3s", std::nullopt},
      {"1e3s", std::nullopt},
  };
  for (const ReadCase& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<Duration> got = ParseDuration(c.text);
    ASSERT_EQ(got.ok(), c.want_ns.has_value());
    if (got.ok()) {
      EXPECT_EQ(got->ns, *c.want_ns);
    }
  }
}

TEST(Duration, SaysWhatIsWrongAndWhatIsAllowed) {
  EXPECT_EQ(ParseDuration("3d").error().message,
            "invalid duration \"3d\": unknown unit \"d\"; use numbers with units ns, us, ms, s, m "
            "or h, like \"1h30m\"");
}

TEST(Duration, IsWrittenAsGoWritesItAndReadBack) {
  struct Case {
    std::int64_t ns;
    std::string_view want;
  };
  const Case cases[] = {
      {0, "0s"},
      {1, "1ns"},
      {-1, "-1ns"},
      {999, "999ns"},
      {1'100, "1.1\u00B5s"},
      {2'200'000, "2.2ms"},
      {250'000'000, "250ms"},
      {1'000'000'000, "1s"},
      {3'300'000'000, "3.3s"},
      {60'000'000'000, "1m0s"},
      {5'400'000'000'000, "1h30m0s"},
      {3'600'000'000'001, "1h0m0.000000001s"},
      {-245'000'000'000, "-4m5s"},
      {kMax, "2562047h47m16.854775807s"},
      {kMin, "-2562047h47m16.854775808s"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(FormatDuration(Duration{c.ns}), c.want);
    EXPECT_EQ(ParseDuration(c.want)->ns, c.ns);
  }
}

TEST(Time, ReadsRfc3339AndRefusesTheRest) {
  const ReadCase cases[] = {
      {"1970-01-01T00:00:00Z", 0},
      {"1970-01-01T00:00:00.000000001Z", 1},
      {"1969-12-31T23:59:59.999999999Z", -1},
      {"2026-11-15T05:41:36Z", 1'794'721'296'000'000'000},
      {"2026-11-15T05:41:36.25Z", 1'794'721'296'250'000'000},
      {"2026-11-15T06:41:36+01:00", 1'794'721'296'000'000'000},
      {"2026-11-15T00:11:36-05:30", 1'794'721'296'000'000'000},
      {"1970-01-01T00:00:00.1234567899Z", 123'456'789},  // finer than a nanosecond: cut off
      {"2024-02-29T00:00:00Z", 1'709'164'800'000'000'000},
      {"2000-02-29T00:00:00Z", 951'782'400'000'000'000},
      {"2262-04-11T23:47:16.854775807Z", kMax},
      {"1677-09-21T00:12:43.145224192Z", kMin},
      {"2262-04-11T23:47:16.854775808Z", kMax},  // as far away as can be held
      {"1677-09-21T00:12:43.145224191Z", kMin},
      {"0001-01-01T00:00:00Z", kMin},
      {"9999-12-31T23:59:59Z", kMax},
      {"9999-02-29T00:00:00Z", std::nullopt},
      {"2023-02-29T00:00:00Z", std::nullopt},
      {"1900-02-29T00:00:00Z", std::nullopt},
      {"2026-04-31T00:00:00Z", std::nullopt},
      {"2026-00-01T00:00:00Z", std::nullopt},
      {"2026-13-01T00:00:00Z", std::nullopt},
      {"2026-01-00T00:00:00Z", std::nullopt},
      {"2026-01-01T24:00:00Z", std::nullopt},
      {"2026-01-01T00:60:00Z", std::nullopt},
      {"2026-01-01T00:00:60Z", std::nullopt},
      {"2026-01-01T00:00:00", std::nullopt},
      {"2026-01-01T00:00:00.Z", std::nullopt},
      {"2026-01-01T00:00:00,5Z", std::nullopt},
      {"2026-01-01T00:00:00+24:00", std::nullopt},
      {"2026-01-01T00:00:00+01:60", std::nullopt},
      {"2026-01-01T00:00:00+0100", std::nullopt},
      {"2026-01-01T00:00:00Zulu", std::nullopt},
      {"2026-01-01 00:00:00Z", std::nullopt},
      {"2026-01-01t00:00:00z", std::nullopt},
      {"2026-1-1T00:00:00Z", std::nullopt},
      {"-026-01-01T00:00:00Z", std::nullopt},
      {"2026-01-01T0:00:00Z", std::nullopt},
      {"2026-01-01", std::nullopt},
      {"", std::nullopt},
  };
  for (const ReadCase& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<Time> got = ParseTime(c.text);
    ASSERT_EQ(got.ok(), c.want_ns.has_value());
    if (got.ok()) {
      EXPECT_EQ(got->ns, *c.want_ns);
    }
  }
}

TEST(Time, IsWrittenInUtcWithAFractionOnlyIfThereIsOne) {
  for (const std::string_view text :
       {"1970-01-01T00:00:00Z", "2026-11-15T05:41:36Z", "2026-11-15T05:41:36.25Z",
        "1969-12-31T23:59:59.999999999Z", "1900-02-28T23:59:59Z", "1969-12-31T00:00:00Z",
        "2262-04-11T23:47:16.854775807Z", "1677-09-21T00:12:43.145224192Z"}) {
    EXPECT_EQ(FormatTime(*ParseTime(text)), text);
  }
}

}  // namespace
}  // namespace knx
