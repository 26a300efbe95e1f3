// What would help somebody who waits behind others who were promised a start: nothing is named that
// would only let it wait for its turn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::IsEmpty;

class PromiseHelp : public ::testing::Test {
 protected:
  void Node(const std::string& name) {
    harness_.Node(NodeBuilder(name).Has("cpu", "4").Has("memory", "64Gi").Has("pods", "110"));
  }
  void Gang(const std::string& name, int members, const std::string& cpu) {
    for (int i = 0; i < members; ++i) {
      harness_.Pod(
          PodBuilder(name + std::to_string(i))
              .Asks("cpu", cpu)
              .Label("pod-group.scheduling.kubenexus.io/name", name)
              .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(members)));
    }
    harness_.ScheduleAndBind();
  }
  void Pod(const std::string& name, const std::string& cpu) {
    harness_.Pod(PodBuilder(name).Asks("cpu", cpu));
    harness_.ScheduleAndBind();
  }
  PodInquiry Ask(const std::string& name) {
    const auto inquiry = harness_.engine().InquirePod("uid-" + name);
    EXPECT_TRUE(inquiry.has_value());
    return inquiry.value_or(PodInquiry{});
  }
  testing::Harness harness_{{}, testing::ProfilesWith({"Coscheduling", "BackfillScoring"})};
};

TEST_F(PromiseHelp, TheEndOfAPodIsNamedOnNodesThatNobodyWasPromised) {
  for (const char* node : {"a", "b", "c"}) Node(node);
  for (const char* pod : {"one", "two", "three"}) Pod(pod, "4");
  Gang("first", 2, "4");
  Pod("waits", "2");
  const PodInquiry inquiry = Ask("waits");
  ASSERT_EQ(inquiry.pods.size(), 1U);
  harness_.PodGone(inquiry.pods.front().substr(std::string("default/").size()));
  harness_.Pass(Duration::Seconds(11));
  harness_.ScheduleAndBind();
  EXPECT_NE(harness_.NodeOf("waits"), "");
}

TEST_F(PromiseHelp, NeitherTheEndOfAPodNorASmallerRequestHelpsWhereAllNodesWerePromised) {
  for (const char* node : {"a", "b"}) Node(node);
  for (const char* pod : {"one", "two"}) Pod(pod, "2");
  Gang("first", 2, "4");
  Pod("waits", "3");
  const PodInquiry inquiry = Ask("waits");
  EXPECT_THAT(inquiry.pods, IsEmpty());
  EXPECT_FALSE(inquiry.less.has_value());
  EXPECT_EQ(inquiry.nodes, 1U);
}

TEST_F(PromiseHelp, ANodeHelpsWhoIsHeldBack) {
  for (const char* node : {"a", "b"}) Node(node);
  for (const char* pod : {"one", "two"}) Pod(pod, "2");
  Gang("first", 2, "4");
  Pod("held", "2");
  const PodInquiry inquiry = Ask("held");
  EXPECT_TRUE(inquiry.held_for.has_value());
  EXPECT_EQ(inquiry.nodes, 1U);
}

TEST_F(PromiseHelp, AGangIsToldNeitherOfAPodNorOfASmallerMinimum) {
  for (const char* node : {"a", "b", "c"}) Node(node);
  for (const char* pod : {"one", "two", "three"}) Pod(pod, "2");
  Gang("first", 3, "4");
  Gang("waits", 4, "2");
  const auto inquiry = harness_.engine().InquireGang("uid-waits0");
  ASSERT_TRUE(inquiry.has_value());
  EXPECT_THAT(inquiry->pods, IsEmpty());
  EXPECT_EQ(inquiry->startable, 0U);
  EXPECT_EQ(inquiry->fitting, 3U);
  EXPECT_EQ(inquiry->nodes, 2U);
}

}  // namespace
}  // namespace knx::engine
