// Drivers and eviction: whom they may evict to start with the places of their executors, and who
// may evict them while those are awaited.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DriverRoomTest : public ::testing::Test {
 protected:
  void Node(const std::string& name, const std::string& cpu) {
    harness_.Node(NodeBuilder(name).Has("cpu", cpu).Has("memory", "64Gi").Has("pods", "110"));
  }
  // Of a gang of four.
  static PodBuilder Member(const std::string& name, const std::string& cpu, std::int32_t priority) {
    return PodBuilder(name)
        .Asks("cpu", cpu)
        .Priority(priority)
        .Label("pod-group.scheduling.kubenexus.io/name", "spark")
        .Label("pod-group.scheduling.kubenexus.io/min-available", "4");
  }
  // Its executors ask for 2 CPUs each.
  void Driver(std::int32_t priority) {
    harness_.Pod(Member("driver", "1", priority)
                     .Label("spark-role", "driver")
                     .Annotation("scheduling.kubenexus.io/executor-resources", "cpu=2"));
  }
  void Guest(const std::string& name, const std::string& node, const std::string& cpu) {
    harness_.Pod(PodBuilder(name).Asks("cpu", cpu).On(node));
  }
  // A driver and the places of its executors on one node of 8 CPUs.
  void Formed() {
    Node("a", "8");
    Driver(0);
    harness_.ScheduleAndBind();
    ASSERT_EQ(harness_.NodeOf("driver"), "a");
    ASSERT_EQ(UsedOn("a"), 7);
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

// ---- making room ----

TEST_F(DriverRoomTest, MakesRoomForItsExecutorsToo) {
  Node("a", "8");
  Node("b", "4");
  Guest("large", "a", "6");
  Guest("small", "b", "4");
  Driver(10);
  harness_.ScheduleAndBind();
  EXPECT_THAT(harness_.evictions(), ElementsAre("large")) << "one place is there without";
  EXPECT_EQ(harness_.NodeOf("driver"), "");
  harness_.FinishEviction("large");
  harness_.Pass(Duration::Seconds(12));
  EXPECT_EQ(harness_.NodeOf("driver"), "a");
  EXPECT_EQ(UsedOn("a"), 7);
  EXPECT_THAT(harness_.evictions(), IsEmpty());
}

TEST_F(DriverRoomTest, NobodyTakesTheRoomThatIsBeingMade) {
  Node("a", "4");
  Node("b", "4");
  Guest("first", "a", "4");
  Guest("second", "b", "4");
  Driver(10);
  harness_.ScheduleAndBind();
  ASSERT_EQ(harness_.evictions().size(), 1u);
  harness_.FinishEviction(harness_.evictions().front());
  harness_.Pod(PodBuilder("thief").Asks("cpu", "2").Priority(10));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("thief"), "");
  ASSERT_EQ(harness_.evictions().size(), 1u);
  harness_.FinishEviction(harness_.evictions().front());
  harness_.Pass(Duration::Seconds(12));
  EXPECT_NE(harness_.NodeOf("driver"), "");
  EXPECT_EQ(UsedOn("a") + UsedOn("b"), 7);
  EXPECT_EQ(harness_.NodeOf("thief"), "");
  EXPECT_EQ(harness_.plans().size(), 1u);
}

TEST_F(DriverRoomTest, WaitsForVictimsThatTakeTheirTime) {
  Node("a", "8");
  Node("b", "8");
  PodBuilder slow("slow");
  slow.Asks("cpu", "8").On("a");
  harness_.Pod(slow);
  harness_.Pod(PodBuilder("other").Asks("cpu", "8").Priority(5).On("b"));
  Driver(10);
  harness_.ScheduleAndBind();
  ASSERT_THAT(harness_.evictions(), ElementsAre("slow"));
  k8s::Pod leaving = slow.Preempted();
  leaving.meta.deleted = harness_.now() + Duration::Minutes(2);
  harness_.Pod(leaving);
  harness_.Pass(Duration::Seconds(60));
  EXPECT_EQ(harness_.plans().size(), 1u) << "nobody else is asked to go";
  harness_.PodGone("slow");
  harness_.Pod(PodBuilder("thief").Asks("cpu", "2").Priority(10));
  harness_.Pass(Duration::Seconds(60));
  EXPECT_EQ(harness_.NodeOf("driver"), "a");
  EXPECT_EQ(harness_.NodeOf("thief"), "");
  EXPECT_EQ(UsedOn("a"), 7);
}

TEST_F(DriverRoomTest, ADriverThatHasLostItsPlaceHoldsNothing) {
  Formed();
  harness_.Pod(PodBuilder("other").Asks("cpu", "2"));
  harness_.NodeGone("a");
  harness_.PodGone("driver");
  Node("b", "6");
  Driver(0);
  harness_.Pass(Duration::Seconds(20));
  EXPECT_EQ(harness_.NodeOf("other"), "b");
  EXPECT_EQ(UsedOn("b"), 2) << "there is no room for the driver and all of its executors";
}

TEST_F(DriverRoomTest, EvictsNobodyForNothing) {
  Node("a", "6");
  Guest("guest", "a", "6");
  Driver(10);
  harness_.ScheduleAndBind();
  harness_.Pass(Duration::Seconds(100));
  EXPECT_THAT(harness_.plans(), IsEmpty()) << "the third place would not fit either way";
}

TEST_F(DriverRoomTest, EvictsNobodyWhoIsAsImportant) {
  Node("a", "8");
  Guest("guest", "a", "6");
  Driver(0);
  harness_.ScheduleAndBind();
  EXPECT_THAT(harness_.plans(), IsEmpty());
  EXPECT_EQ(UsedOn("a"), 6);
}

TEST_F(DriverRoomTest, ADriverThatGoesLeavesTheRoomThatWasBeingMadeToOthers) {
  Node("a", "4");
  Node("b", "4");
  Guest("first", "a", "4");
  Guest("second", "b", "4");
  Driver(10);
  harness_.ScheduleAndBind();
  ASSERT_EQ(harness_.evictions().size(), 1u);
  harness_.FinishEviction(harness_.evictions().front());
  harness_.PodGone("driver");
  harness_.Pod(PodBuilder("other").Asks("cpu", "4"));
  harness_.ScheduleAndBind();
  EXPECT_NE(harness_.NodeOf("other"), "");
}

TEST_F(DriverRoomTest, ExecutorsThatComeWithoutItNeedNoPlaces) {
  Node("a", "4");
  Node("b", "4");
  Guest("first", "a", "4");
  Guest("second", "b", "4");
  Driver(10);
  harness_.ScheduleAndBind();
  ASSERT_EQ(harness_.evictions().size(), 1u);
  // Somebody else has made them.
  for (const std::string name : {"e0", "e1", "e2"}) harness_.Pod(Member(name, "2", 10));
  while (!harness_.evictions().empty()) harness_.FinishEviction(harness_.evictions().front());
  harness_.Pass(Duration::Seconds(60));
  for (const std::string name : {"driver", "e0", "e1", "e2"}) {
    EXPECT_NE(harness_.NodeOf(name), "") << name;
  }
  EXPECT_EQ(UsedOn("a") + UsedOn("b"), 7);
}

// ---- being evicted ----

TEST_F(DriverRoomTest, IsNotEvictedWhileItsGangForms) {
  Formed();
  harness_.Pod(PodBuilder("important").Asks("cpu", "2").Priority(100));
  harness_.ScheduleAndBind();
  EXPECT_THAT(harness_.plans(), IsEmpty());
  // Nor for a gang.
  for (const std::string name : {"m0", "m1"}) {
    harness_.Pod(PodBuilder(name)
                     .Asks("cpu", "1")
                     .Priority(100)
                     .Label("pod-group.scheduling.kubenexus.io/name", "other")
                     .Label("pod-group.scheduling.kubenexus.io/min-available", "2"));
  }
  harness_.Pass(Duration::Seconds(60));
  EXPECT_THAT(harness_.plans(), IsEmpty());
}

TEST_F(DriverRoomTest, IsEvictedAsAnybodyOnceItsGangIsThere) {
  Formed();
  harness_.Pod(PodBuilder("important").Asks("cpu", "2").Priority(100));
  for (const std::string name : {"e0", "e1", "e2"}) {
    harness_.Pod(Member(name, "2", 0));
    harness_.ScheduleAndBind();
    ASSERT_EQ(harness_.NodeOf(name), "a");
  }
  harness_.Pass(Duration::Seconds(400));
  EXPECT_FALSE(harness_.plans().empty());
}

TEST_F(DriverRoomTest, IsEvictedAsAnybodyWhenItsExecutorsDoNotCome) {
  Formed();
  harness_.Pass(Duration::Minutes(10));
  ASSERT_EQ(UsedOn("a"), 1);
  harness_.Pod(PodBuilder("important").Asks("cpu", "8").Priority(100));
  harness_.ScheduleAndBind();
  EXPECT_THAT(harness_.evictions(), ElementsAre("driver"));
}

TEST_F(DriverRoomTest, WhatKeepsTheClusterGoingComesFirst) {
  Formed();
  harness_.Pod(PodBuilder("critical").Asks("cpu", "2").Priority(2'000'000'000));
  harness_.ScheduleAndBind();
  EXPECT_THAT(harness_.evictions(), ElementsAre("driver"));
}

TEST_F(DriverRoomTest, NothingIsKeptAfterAStartForOneThatIsBeingEvicted) {
  Node("a", "8");
  Node("b", "8");
  harness_.Pod(Member("driver", "1", 0)
                   .Label("spark-role", "driver")
                   .Annotation("scheduling.kubenexus.io/executor-resources", "cpu=2")
                   .On("a"));
  harness_.Pod(Member("e0", "2", 20).On("b"));
  harness_.Pod(PodBuilder("important").Asks("cpu", "8").Priority(10));
  harness_.ScheduleAndBind();
  ASSERT_THAT(harness_.evictions(), ElementsAre("driver"));
  harness_.Listed();
  harness_.ScheduleAndBind();
  EXPECT_EQ(UsedOn("a"), 1);
  EXPECT_EQ(UsedOn("b"), 2);
}

}  // namespace
}  // namespace knx::engine
