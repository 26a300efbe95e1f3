#include "live/process_metrics.h"

#include <gtest/gtest.h>

#include "observe/testing/prometheus_text.h"

namespace knx::live {
namespace {

using observe::testing::PrometheusText;

TEST(ProcessMetrics, AreThoseOfThisProgram) {
  observe::MetricRegistry registry;
  AddProcessMetrics(registry);
  const auto text = PrometheusText::Read(registry.Text());
  ASSERT_TRUE(text.ok());
  const PrometheusText& read = *text;
  EXPECT_GT(read.Find("process_resident_memory_bytes").value_or(0), 1 << 20);
  EXPECT_GT(read.Find("process_virtual_memory_bytes").value_or(0), 1 << 20);
  EXPECT_GE(read.Find("process_cpu_seconds_total").value_or(-1), 0);
  EXPECT_GE(read.Find("process_open_fds").value_or(0), 3);
  EXPECT_GE(read.Find("process_max_fds").value_or(0), 3);
  EXPECT_GT(read.Find("process_start_time_seconds").value_or(0), 1.6e9);
}

TEST(ParseProcessStat, ReadsPastANameThatLooksLikeNumbers) {
  const auto stat = ParseProcessStat(
      "12 (a) 3 (b) S 1 12 12 0 -1 4194560 1 2 3 4 500 60 7 8 20 0 1 0 9000 123456 789 1844\n");
  ASSERT_TRUE(stat.ok());
  EXPECT_EQ(stat->user_ticks, 500U);
  EXPECT_EQ(stat->system_ticks, 60U);
  EXPECT_EQ(stat->start_ticks, 9000U);
  EXPECT_EQ(stat->virtual_bytes, 123456U);
  EXPECT_EQ(stat->resident_pages, 789U);
  for (const std::string_view text : {"", "12 (a", "12 (a) S 1 2"}) {
    EXPECT_FALSE(ParseProcessStat(text).ok()) << text;
  }
}

}  // namespace
}  // namespace knx::live
