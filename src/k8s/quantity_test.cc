#include "k8s/quantity.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace knx::k8s {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// The expectations below are what resource.ParseQuantity of apimachinery v0.36.3 answers, Value and
// MilliValue included, unless a line says otherwise.

TEST(Quantity, ReadsTheGrammarOfKubernetes) {
  struct Case {
    std::string_view text;
    std::int64_t value, milli;
  };
  const Case cases[] = {
      {"0", 0, 0},
      {"-0", 0, 0},
      {"0Ki", 0, 0},
      {"00012", 12, 12'000},
      {"+5", 5, 5'000},
      {"1.", 1, 1'000},
      {".5", 1, 500},
      {"1.5", 2, 1'500},
      {"100m", 1, 100},
      {"1500m", 2, 1'500},
      {"1u", 1, 1},
      {"1n", 1, 1},
      {"1000000n", 1, 1},
      {"1000001n", 1, 2},
      {"1k", 1'000, 1'000'000},
      {"1M", 1'000'000, 1'000'000'000},
      {"1G", 1'000'000'000, 1'000'000'000'000},
      {"1T", 1'000'000'000'000, 1'000'000'000'000'000},
      {"1P", 1'000'000'000'000'000, 1'000'000'000'000'000'000},
      {"1Ki", 1'024, 1'024'000},
      {"1Mi", 1'048'576, 1'048'576'000},
      {"2Gi", 2'147'483'648, 2'147'483'648'000},
      {"1Ti", 1'099'511'627'776, 1'099'511'627'776'000},
      {"1Pi", 1'125'899'906'842'624, 1'125'899'906'842'624'000},
      {"1.5Gi", 1'610'612'736, 1'610'612'736'000},
      {"0.1Mi", 104'858, 104'857'600},
      {".5Ki", 512, 512'000},
      {"1.Ki", 1'024, 1'024'000},
      {"3e6", 3'000'000, 3'000'000'000},
      {"3E6", 3'000'000, 3'000'000'000},
      {"1e+3", 1'000, 1'000'000},
      {"1e-3", 1, 1},
      {"1.25e1", 13, 12'500},
      {"1e4294967299", 1'000, 1'000'000},  // the exponent is cut to 32 bits
      {"-1", -1, -1'000},
      {"-1.5", -2, -1'500},
      {"-100m", -1, -100},
      {"-2Ki", -2'048, -2'048'000},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const Result<Quantity> got = Quantity::Parse(c.text);
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->Value(), c.value);
    EXPECT_EQ(got->MilliValue(), c.milli);
  }
}

TEST(Quantity, TakesAMissingNumberForZeroWhereKubernetesDoes) {
  for (const std::string_view text :
       {"-", "+", ".", "-.", "k", "E", "Ki", "Ti", ".Gi", "e5", "n"}) {
    SCOPED_TRACE(text);
    const Result<Quantity> got = Quantity::Parse(text);
    ASSERT_TRUE(got.ok());
    EXPECT_TRUE(got->IsZero());
  }
}

TEST(Quantity, RefusesWhatKubernetesRefuses) {
  for (const std::string_view text :
       {"",    " 1",   "1 ",    "1 Ki", "1,5",  "1.2.3", "--1",   "+-1",
        "1-",  "1+",   "1e",    "1ee1", "1e5e", "1e1.5", "1e+-5", "1e--5",
        "1i",  "1ki",  "1KI",   "1K",   "1mi",  "1Kim",  "1Ki5",  "1m3",
        "1B",  "0x10", "1_000", "abc",  "1g",   "\xff",  "Pi",    "Ei",
        "-Ei", "e-10", ".e-10", "inf",  "NaN",  "1\n",   "1%",    "1e9223372036854775808"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(Quantity::Parse(text).ok());
  }
  EXPECT_FALSE(Quantity::Parse(std::string_view("1\0", 2)).ok());
}

TEST(Quantity, SaysWhatIsWrongAndWhatIsAllowed) {
  EXPECT_EQ(Quantity::Parse("4GB").error().message,
            "invalid quantity \"4GB\": malformed; use a decimal number with an optional suffix n, "
            "u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent like e3");
  EXPECT_NE(Quantity::Parse("4K").error().message.find("unknown suffix \"K\""), std::string::npos);
}

TEST(Quantity, RoundsWhatIsFinerThanABillionthAwayFromZero) {
  struct Case {
    std::string_view text, same;
  };
  const Case cases[] = {
      {"0.1n", "1n"},
      {"-0.1n", "-1n"},
      {"1.000000001n", "2n"},
      {"0.0000000011", "2n"},
      {"1e-10", "1n"},
      {"1e-400", "1n"},
      {"0.0000000000000000000000000000000000000000000000000001", "1n"},
      {"0.000000001000000000000000000000000000000000000000000", "1n"},
      {"0.000000001000000000000000000000000000000000000000001", "2n"},
      {"0.0000000001Ki", "103n"},
      {"-0.0000000001Ki", "-103n"},
      {"0e-400", "0"},
      // More digits than 128 bits hold: still exact.
      {"1.0000000000000000000000000000000000000000000000000Ei", "1152921504606846976"},
      {"1.0000000000000000000000000000000000000000000000001Ei", "1152921504606846976000000001n"},
      {"0.00000000000000000000000000000000000000000000000009765625Ki", "1n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(Quantity::Parse(c.text)->ToString(), Quantity::Parse(c.same)->ToString());
  }
}

TEST(Quantity, EndsAt63BitsOnlyWithABinarySuffix) {
  EXPECT_EQ(*Quantity::Parse("8Ei"), Quantity::FromUnits(kMax));
  EXPECT_EQ(*Quantity::Parse("-8Ei"), Quantity::FromUnits(-kMax));
  EXPECT_EQ(*Quantity::Parse("100000000000000000000000000000000000000000Ki"),
            Quantity::FromUnits(kMax));
  EXPECT_LT(*Quantity::Parse("7.99Ei"), Quantity::FromUnits(kMax));
  EXPECT_GT(*Quantity::Parse("10E"), Quantity::FromUnits(kMax));
  EXPECT_GT(*Quantity::Parse("1e20"), *Quantity::Parse("99999999999999999999"));
}

// Kubernetes answers 0 or a wrapped number where the result does not fit.
TEST(Quantity, StopsAtTheEndsOf64BitsInsteadOfWrapping) {
  struct Case {
    std::string_view text;
    std::int64_t value, milli;
  };
  const Case cases[] = {
      {"9223372036854775807", kMax, kMax},
      {"9223372036854775808", kMax, kMax},
      {"-9223372036854775808", kMin, kMin},
      {"-9223372036854775809", kMin, kMin},
      {"9223372036854775806500m", kMax, kMax},
      {"9223372036854775.807", 9223372036854776, kMax},
      {"9223372036854775.808", 9223372036854776, kMax},
      {"10E", kMax, kMax},
      {"-10E", kMin, kMin},
      {"1e20", kMax, kMax},
      {"1e2147483647", kMax, kMax},
      {"-1e100", kMin, kMin},
      {"8Ei", kMax, kMax},
      {"1Ei", 1'152'921'504'606'846'976, kMax},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(Quantity::Parse(c.text)->Value(), c.value);
    EXPECT_EQ(Quantity::Parse(c.text)->MilliValue(), c.milli);
  }
}

TEST(Quantity, AddsExactlyAndStopsAtTheLimits) {
  EXPECT_EQ(*Quantity::Parse("1500m") + *Quantity::Parse("0.5"), Quantity::FromUnits(2));
  EXPECT_EQ((*Quantity::Parse("0.1n") + *Quantity::Parse("-1n")), Quantity());
  const Quantity most = *Quantity::Parse("1e100");
  const Quantity least = *Quantity::Parse("-1e100");
  EXPECT_EQ(most + most, most);
  EXPECT_EQ(least + least, least);
  EXPECT_EQ(most + least, Quantity());
  EXPECT_EQ(most + *Quantity::Parse("1n"), most);
  EXPECT_EQ(*Quantity::Parse("170141183460469231731687303715884105728n"), most);
}

TEST(Quantity, IsWrittenWithTheLargestDecimalSuffixThatLosesNothing) {
  struct Case {
    std::string_view text, want;
  };
  const Case cases[] = {
      {"0", "0"},     {"-0.0", "0"},         {"0.1", "100m"},
      {"2", "2"},     {"1.5", "1500m"},      {"1000m", "1"},
      {"2000", "2k"}, {"1024", "1024"},      {"2Gi", "2147483648"},
      {"1e3", "1k"},  {"-0.0015", "-1500u"}, {"1n", "1n"},
      {"1E", "1E"},   {"1000E", "1000E"},    {"1e30", "170141183460469231731687303715884105727n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(Quantity::Parse(c.text)->ToString(), c.want);
  }
}

TEST(Quantity, IsMadeFromUnitsAndThousandths) {
  EXPECT_EQ(Quantity::FromUnits(kMin).Value(), kMin);
  EXPECT_EQ(Quantity::FromUnits(kMax).Value(), kMax);
  EXPECT_EQ(Quantity::FromMilli(kMin).MilliValue(), kMin);
  EXPECT_EQ(Quantity::FromMilli(-1).Value(), -1);
  EXPECT_EQ(Quantity::FromMilli(1500).ToString(), "1500m");
}

}  // namespace
}  // namespace knx::k8s
