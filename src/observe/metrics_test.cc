#include "observe/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "observe/testing/prometheus_text.h"

namespace knx::observe {
namespace {

using testing::PrometheusText;

constexpr MetricSpec kPlain{"a_total", MetricType::kCounter, "Counts \\ and\nmore \"things\"."};
constexpr MetricSpec kByLabel{"b_bytes", MetricType::kGauge, "By label.", {"x", "y"}};
constexpr MetricSpec kSpread{
    "c_seconds", MetricType::kHistogram, "Spread.", {"result"}, {0.001, 2, 4}};
constexpr MetricSpec kElsewhere{"d", MetricType::kGauge, "Looked up.", {"part"}};

TEST(MetricRegistry, WritesWhatPrometheusReads) {
  MetricRegistry registry;
  registry.AddCounter(kPlain).With().Add(3);
  registry.AddHistogram(kSpread).With({"good"}).Observe(0.003);
  auto& gauge = registry.AddGauge(kByLabel);
  gauge.With({"2", "z"}).Set(-0.5);
  gauge.With({"1", "z"}).Add(7);
  EXPECT_EQ(registry.Text(),
            "# HELP a_total Counts \\\\ and\\nmore \"things\".\n"
            "# TYPE a_total counter\n"
            "a_total 3\n"
            "# HELP b_bytes By label.\n"
            "# TYPE b_bytes gauge\n"
            "b_bytes{x=\"1\",y=\"z\"} 7\n"
            "b_bytes{x=\"2\",y=\"z\"} -0.5\n"
            "# HELP c_seconds Spread.\n"
            "# TYPE c_seconds histogram\n"
            "c_seconds_bucket{result=\"good\",le=\"0.001\"} 0\n"
            "c_seconds_bucket{result=\"good\",le=\"0.002\"} 0\n"
            "c_seconds_bucket{result=\"good\",le=\"0.004\"} 1\n"
            "c_seconds_bucket{result=\"good\",le=\"0.008\"} 1\n"
            "c_seconds_bucket{result=\"good\",le=\"+Inf\"} 1\n"
            "c_seconds_sum{result=\"good\"} 0.003\n"
            "c_seconds_count{result=\"good\"} 1\n");
}

TEST(MetricRegistry, ValuesOfLabelsComeBackAsTheyWere) {
  for (const std::string value :
       {"", "plain", "a\"b", "back\\slash", "\\n", "line\nend\n", "{x=\"1\"}", "grün"}) {
    SCOPED_TRACE(value);
    MetricRegistry registry;
    registry.AddGauge(kByLabel).With({value, "y"}).Set(1);
    const auto read = PrometheusText::Read(registry.Text());
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    EXPECT_EQ(read->Find("b_bytes", {{"x", value}, {"y", "y"}}), 1);
  }
}

TEST(MetricRegistry, WhatIsNotUtf8OrNotSeenIsReplaced) {
  MetricRegistry registry;
  registry.AddGauge(kByLabel).With({"\xff\xfe", "\x1b[31m"}).Set(1);
  const std::string text = registry.Text();
  EXPECT_EQ(text.find('\xff'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_TRUE(PrometheusText::Read(text).ok());
}

TEST(MetricRegistry, AMetricWithoutLabelsIsThereFromTheBeginningAndOthersAreNot) {
  MetricRegistry registry;
  registry.AddCounter(kPlain);
  registry.AddGauge(kByLabel);
  registry.AddCollected(kElsewhere, [](const MetricRegistry::Report&) {});
  const auto read = PrometheusText::Read(registry.Text());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->families().size(), 1U);
  EXPECT_EQ(read->Find("a_total"), 0);
  EXPECT_EQ(registry.specs().size(), 3U);
}

TEST(MetricRegistry, WhatIsLookedUpIsLookedUpEveryTime) {
  MetricRegistry registry;
  double value = 1;
  registry.AddCollected(kElsewhere, [&](const MetricRegistry::Report& report) {
    report({"one"}, value);
    report({"none"}, std::numeric_limits<double>::quiet_NaN());
    report({"all"}, std::numeric_limits<double>::infinity());
  });
  EXPECT_EQ(PrometheusText::Read(registry.Text())->Find("d", {{"part", "one"}}), 1);
  value = 2;
  const std::string text = registry.Text();
  EXPECT_EQ(PrometheusText::Read(text)->Find("d", {{"part", "one"}}), 2);
  EXPECT_THAT(text, ::testing::HasSubstr("d{part=\"none\"} NaN\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("d{part=\"all\"} +Inf\n"));
}

TEST(Histogram, AValueOnABoundIsWithinIt) {
  Histogram histogram({1, 2, 4});
  for (const double value : {0.5, 1.0, 1.5, 4.0, 5.0}) histogram.Observe(value);
  EXPECT_THAT(histogram.counts(), ::testing::ElementsAre(2, 1, 1, 1));
  EXPECT_EQ(histogram.sum(), 12);
}

TEST(PrometheusText, RefusesWhatPrometheusRefuses) {
  const std::string head = "# HELP a x\n# TYPE a gauge\n";
  const std::string histogram = "# HELP a x\n# TYPE a histogram\n";
  EXPECT_TRUE(PrometheusText::Read(head + "a{l=\"v\"} 1\n").ok());
  for (const std::string& text :
       {head, head + "a 1", head + "a{l=\"v} 1\n", head + "a{l=\"\\x\"} 1\n", head + "a\n",
        head + "a{l=\"v\"}1\n", head + "a one\n", head + "b 1\n", head + "a 1\na 2\n",
        head + "1a 1\n", head + "a{l-m=\"v\"} 1\n", head + "a 1\n" + head + "a 1\n",
        std::string("# TYPE a gauge\na 1\n"), std::string("# HELP a x\n# TYPE a thing\na 1\n"),
        histogram + "a_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
        histogram + "a_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n",
        histogram + "a_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 2\n"}) {
    EXPECT_FALSE(PrometheusText::Read(text).ok()) << text;
  }
}

}  // namespace
}  // namespace knx::observe
