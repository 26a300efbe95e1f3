// Gangs of which some members may use what is reserved, and others may not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LentRoomTest : public ::testing::Test {
 protected:
  void Node(const std::string& name, const std::string& cpu, const std::string& pods = "110") {
    harness_.Node(NodeBuilder(name).Has("cpu", cpu).Has("memory", "64Gi").Has("pods", pods));
  }
  // For the pods with the app-id of its name.
  void Reserve(const std::string& app, const std::string& node, int cpu) {
    k8s::ResourceReservation made;
    made.meta.namespace_ = "default";
    made.meta.name = made.meta.uid = app;
    made.meta.created = harness_.now();
    made.places.push_back({"p", node, {{"cpu", k8s::Quantity::FromUnits(cpu)}}});
    harness_.Object(made);
    harness_.Schedule();
  }
  static PodBuilder Member(const std::string& name, const std::string& cpu, int minimum) {
    return PodBuilder(name)
        .Asks("cpu", cpu)
        .Priority(10)
        .Label("pod-group.scheduling.kubenexus.io/name", "train")
        .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(minimum));
  }
  static PodBuilder User(const std::string& name, const std::string& cpu, int minimum,
                         const std::string& app = "app") {
    return Member(name, cpu, minimum).Label("scheduling.kubenexus.io/app-id", app);
  }
  std::int64_t UsedOn(const std::string& node) {
    const cluster::State& state = harness_.engine().state();
    return state.nodes().requested(cluster::kCpu)[state.nodes().Find(node)] / 1000;
  }
  void TearDown() override {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
  }
  testing::Harness harness_{
      {}, testing::ProfilesWith({"Coscheduling", "ResourceReservation", "GangPreemption"})};
};

TEST_F(LentRoomTest, OthersOfTheGangDoNotTakeIt) {
  Node("a", "4");
  Node("b", "1");
  Reserve("app", "a", 4);
  harness_.Pod(User("user", "1", 2));
  harness_.Pod(Member("other", "4", 2));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("other"), "");
  EXPECT_EQ(harness_.NodeOf("user"), "");
  EXPECT_EQ(UsedOn("a"), 4);
  Node("c", "4");
  harness_.Pass(Duration::Seconds(12));
  EXPECT_EQ(harness_.NodeOf("other"), "c");
  EXPECT_NE(harness_.NodeOf("user"), "");
}

TEST_F(LentRoomTest, WhatOneHasUsedIsNotKeptFromTheNext) {
  Node("a", "9");
  Reserve("app", "a", 4);
  // Those that ask for as much are placed in the order in which they come.
  harness_.Pod(User("user", "4", 3));
  harness_.Pod(Member("other", "4", 3));
  harness_.Pod(User("more", "1", 3));
  harness_.ScheduleAndBind();
  for (const std::string name : {"user", "other", "more"}) EXPECT_EQ(harness_.NodeOf(name), "a");
  EXPECT_EQ(UsedOn("a"), 9);
}

TEST_F(LentRoomTest, WhatIsLeftOfAPlaceIsKept) {
  Node("a", "8");
  Reserve("app", "a", 4);
  harness_.Pod(User("user", "3", 2));
  harness_.Pod(Member("other", "5", 2));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("other"), "") << "one of the four is still kept";
  Node("b", "5");
  harness_.Pass(Duration::Seconds(12));
  EXPECT_EQ(harness_.NodeOf("other"), "b");
  EXPECT_EQ(harness_.NodeOf("user"), "a");
  EXPECT_EQ(UsedOn("a"), 4);
}

TEST_F(LentRoomTest, WhoMayUseItFindsItWhereOneLikeItThatMayNotDoesNot) {
  Node("a", "2");
  Node("b", "2");
  Reserve("app", "a", 2);
  harness_.Pod(Member("o1", "2", 2));
  harness_.Pod(Member("o2", "2", 2));
  harness_.Pod(User("user", "2", 2));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("user"), "a");
  EXPECT_EQ(harness_.NodeOf("o1"), "b");
  EXPECT_EQ(harness_.NodeOf("o2"), "");
}

TEST_F(LentRoomTest, EachUsesWhatIsForIt) {
  Node("a", "4");
  Node("b", "4");
  Reserve("x", "a", 4);
  Reserve("y", "b", 4);
  harness_.Pod(User("of-y", "4", 2, "y"));
  harness_.Pod(User("of-x", "4", 2, "x"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("of-x"), "a");
  EXPECT_EQ(harness_.NodeOf("of-y"), "b");
}

TEST_F(LentRoomTest, TheRestOfTheNodeIsThereForOthers) {
  Node("a", "6");
  Node("b", "4");
  Reserve("app", "a", 2);
  harness_.Pod(Member("other", "4", 3));
  harness_.Pod(Member("second", "4", 3));
  harness_.Pod(User("user", "2", 3));
  harness_.ScheduleAndBind();
  EXPECT_NE(harness_.NodeOf("other"), "");
  EXPECT_NE(harness_.NodeOf("second"), "");
  EXPECT_EQ(harness_.NodeOf("user"), "a");
}

TEST_F(LentRoomTest, AnotherGoesBeforeItIsTaken) {
  Node("a", "4");
  Node("b", "4");
  Reserve("app", "a", 4);
  harness_.Pod(PodBuilder("guest").Asks("cpu", "4").On("b"));
  harness_.Pod(User("user", "1", 2));
  harness_.Pod(Member("other", "4", 2));
  harness_.ScheduleAndBind();
  ASSERT_THAT(harness_.evictions(), ElementsAre("guest"));
  harness_.FinishEviction("guest");
  harness_.Pass(Duration::Seconds(12));
  EXPECT_EQ(harness_.NodeOf("other"), "b");
  EXPECT_EQ(harness_.NodeOf("user"), "a");
  EXPECT_EQ(UsedOn("a"), 4);
  EXPECT_THAT(harness_.evictions(), IsEmpty());
}

TEST_F(LentRoomTest, PlacesOfExecutorsAreNotInItWhereTheirDriverMayNotUseIt) {
  Node("a", "4");
  Node("b", "1");
  Reserve("app", "a", 4);
  harness_.Pod(Member("driver", "1", 4)
                   .Label("spark-role", "driver")
                   .Annotation("scheduling.kubenexus.io/executor-resources", "cpu=1"));
  harness_.Pod(User("user", "1", 4));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("driver"), "");
  Node("c", "2");
  harness_.Pass(Duration::Seconds(12));
  EXPECT_NE(harness_.NodeOf("driver"), "");
  EXPECT_EQ(harness_.NodeOf("user"), "a");
  EXPECT_EQ(UsedOn("a"), 4);
  EXPECT_EQ(UsedOn("b") + UsedOn("c"), 3);
}

}  // namespace
}  // namespace knx::engine
