#include "plugins/nexus/backfill_scoring/backfill_scoring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using framework::BackfillArgs;
using framework::BackfillMode;
using framework::BackfillOrder;
using ::testing::HasSubstr;

BackfillArgs ReadBackfill(std::string_view yaml) {
  const auto plugin = testing::MakeFromYaml(&BackfillScoring::Make, yaml);
  EXPECT_TRUE(plugin.ok()) << plugin.error().ToString();
  return dynamic_cast<const BackfillScoring&>(**plugin).backfill_args();
}

TEST(BackfillScoring, ReadsItsArgumentsAndHasDefaults) {
  const BackfillArgs defaults = ReadBackfill("{}");
  EXPECT_EQ(defaults.mode, BackfillMode::kEasy);
  EXPECT_EQ(defaults.order, BackfillOrder::kFcfs);
  EXPECT_EQ(defaults.patience, 5);
  EXPECT_EQ(defaults.promises, 16);
  EXPECT_EQ(defaults.assumed_run, Duration::Seconds(3600));
  EXPECT_TRUE(defaults.hold_promises);
  EXPECT_TRUE(defaults.share_nodes);
  EXPECT_EQ(defaults.shared_nodes_tried, 16);

  const BackfillArgs args = ReadBackfill(
      "{mode: conservative, order: best, patience: 7, promises: 3, assumedRunSeconds: 60, "
      "holdPromises: false, shareNodes: false, sharedNodesTried: 0}");
  EXPECT_EQ(args.mode, BackfillMode::kConservative);
  EXPECT_EQ(args.order, BackfillOrder::kBest);
  EXPECT_EQ(args.patience, 7);
  EXPECT_EQ(args.promises, 3);
  EXPECT_EQ(args.assumed_run, Duration::Seconds(60));
  EXPECT_FALSE(args.hold_promises);
  EXPECT_FALSE(args.share_nodes);
  EXPECT_EQ(args.shared_nodes_tried, 0);
}

TEST(BackfillScoring, RefusesWhatMakesNoSense) {
  struct Case {
    std::string_view yaml, complaint;
  };
  const Case cases[] = {
      {"mode: greedy", "conservative"},
      {"order: longest", "fcfs"},
      {"patience: -1", "patience"},
      {"promises: 0", "promises"},
      {"promises: 1001", "promises"},
      {"assumedRunSeconds: 0", "assumedRunSeconds"},
      {"sharedNodesTried: -1", "sharedNodesTried"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.yaml);
    const auto plugin = testing::MakeFromYaml(&BackfillScoring::Make, c.yaml);
    ASSERT_FALSE(plugin.ok());
    EXPECT_THAT(plugin.error().ToString(), HasSubstr(c.complaint));
  }
}

}  // namespace
}  // namespace knx::plugins
