#include "plugins/nexus/coscheduling/coscheduling.h"

#include <gtest/gtest.h>

#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

TEST(Coscheduling, ReadsItsArguments) {
  const auto made = testing::MakeFromYaml(
      &Coscheduling::Make,
      "{stragglerWaitSeconds: 5, graceSeconds: 30, evictIncomplete: true, operatorGangs: true, "
      "attemptTimeoutSeconds: 120, "
      "starvationSeconds: 90, starvationBoost: 7, tierBoosts: {gold: 5, silver: 3}}");
  ASSERT_TRUE(made.ok()) << made.error().ToString();
  const framework::GangArgs& args = dynamic_cast<const Coscheduling&>(**made).gang_args();
  EXPECT_EQ(args.straggler_wait, Duration::Seconds(5));
  EXPECT_EQ(args.grace, Duration::Seconds(30));
  EXPECT_EQ(args.attempt_timeout, Duration::Seconds(120));
  EXPECT_TRUE(args.evict_incomplete);
  EXPECT_TRUE(args.operator_gangs);
  EXPECT_EQ(args.starvation_wait, Duration::Seconds(90));
  EXPECT_EQ(args.starvation_boost, 7);
  EXPECT_EQ(args.gold_boost, 5);
  EXPECT_EQ(args.silver_boost, 3);
  EXPECT_EQ(args.bronze_boost, 0);
}

TEST(Coscheduling, HasTheDefaultsThatAreDocumented) {
  const auto made = testing::MakeFromYaml(&Coscheduling::Make, "");
  ASSERT_TRUE(made.ok()) << made.error().ToString();
  const framework::GangArgs& args = dynamic_cast<const Coscheduling&>(**made).gang_args();
  EXPECT_FALSE(args.operator_gangs);
  EXPECT_EQ(args.attempt_timeout, Duration{});
  EXPECT_EQ(args.starvation_wait, Duration::Seconds(60));
  EXPECT_EQ(args.starvation_boost, 100);
  EXPECT_EQ(args.gold_boost, 20);
  EXPECT_EQ(args.silver_boost, 0);
  EXPECT_EQ(args.bronze_boost, 0);
}

TEST(Coscheduling, RefusesArgumentsThatMakeNoSense) {
  struct Case {
    std::string_view yaml, want;
  };
  const Case cases[] = {
      {"{starvationSeconds: 0}", "starvationSeconds"},
      {"{starvationSeconds: 86401}", "starvationSeconds"},
      {"{attemptTimeoutSeconds: -1}", "attemptTimeoutSeconds"},
      {"{starvationBoost: -1}", "starvationBoost"},
      {"{starvationBoost: 1000000001}", "starvationBoost"},
      {"{starvation: 1}", "starvation"},
      {"{tierBoosts: {gold: -1}}", "tierBoosts.gold"},
      {"{tierBoosts: {platinum: 1}}", "platinum"},
      {"{kind: NodeAffinityArgs}", "CoschedulingArgs"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.yaml);
    const auto made = testing::MakeFromYaml(&Coscheduling::Make, c.yaml);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().ToString().find(c.want), std::string::npos) << made.error().ToString();
  }
}

}  // namespace
}  // namespace knx::plugins
