// Gangs of which some have done their work, and gangs that a scheduler finds when it starts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

k8s::Node Machine(const std::string& name, const std::string& cpu) {
  return NodeBuilder(name).Has("cpu", cpu).Has("memory", "64Gi").Has("pods", "110");
}

PodBuilder GangMember(const std::string& name, int minimum) {
  return PodBuilder(name)
      .Asks("cpu", "1")
      .Label("pod-group.scheduling.kubenexus.io/name", "train")
      .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(minimum));
}

k8s::Pod Succeeded(k8s::Pod pod, Time when) {
  pod.status.phase = k8s::PodPhase::kSucceeded;
  pod.status.conditions = {{"Ready", "False", "PodCompleted", "", when}};
  return pod;
}

// Somebody deletes pods that have ended, and another member fails.
TEST(GangAfterItsWork, PodsThatAreSweptUpAfterTheirWorkAreNotMissed) {
  testing::Harness harness({}, testing::GangProfiles());
  harness.Node(Machine("a", "3"));
  for (const char* name : {"m0", "m1", "m2"}) harness.Pod(GangMember(name, 3));
  harness.ScheduleAndBind();
  harness.Pod(Succeeded(GangMember("m0", 3).On("a"), harness.now()));
  harness.PodGone("m0");
  harness.Pass(Duration::Minutes(2));
  EXPECT_THAT(harness.notes(), Not(Contains(HasSubstr("incomplete"))));
  harness.PodGone("m1");
  harness.Pod(GangMember("m3", 3));
  harness.ScheduleAndBind();
  EXPECT_EQ(harness.NodeOf("m3"), "a");
  EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
}

// The last of a gang fails when all others have done their work. Those that have are told of.
TEST(GangAfterARestart, OneThatIsMadeAgainWhenAllOthersAreDoneStartsForItself) {
  for (const bool done_first : {true, false}) {
    testing::Harness harness({}, testing::GangProfiles());
    const Time made = harness.now() - Duration::Minutes(10);
    const auto done = [&] {
      for (const std::string name : {"m0", "m1"}) {
        harness.Pod(
            Succeeded(GangMember(name, 3).Created(made).ControlledBy("Job", "first").On("a"),
                      made + Duration::Minutes(1)));
      }
    };
    harness.Node(Machine("a", "3"));
    if (done_first) done();
    harness.Pod(GangMember("m3", 3).Created(harness.now()).ControlledBy("Job", "first"));
    if (!done_first) done();
    harness.Listed();
    harness.ScheduleAndBind();
    EXPECT_EQ(harness.NodeOf("m3"), "a");
    EXPECT_EQ(harness.engine().state().pods().size(), 1U);
    EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
  }
}

// Members that did their work and were deleted before the scheduler came are not told of.
TEST(GangAfterARestart, WhoIsMissedMayHaveDoneItsWork) {
  struct Case {
    const char* what;
    Duration started;               // before the restart
    std::optional<Duration> waits;  // a member that was made so long before
    int goes_after;                 // after so long; 0: it stays
    bool leaves = false;            // another member, from a node that is dead
  };
  const Case cases[] = {
      {"running for long", Duration::Minutes(10), std::nullopt, 0},
      {"killed between two bindings", Duration::Seconds(20), Duration::Seconds(20), 40},
      {"just started", Duration::Seconds(20), std::nullopt, 40},
      {"never whole", Duration::Minutes(10), Duration::Minutes(10), 10},
      {"one was made again", Duration::Minutes(10), Duration::Seconds(30), 30},
      {"one is on a dead node", Duration::Minutes(10), std::nullopt, 10, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    testing::Harness harness({}, testing::GangProfiles("evictIncomplete: true"));
    const Time started = harness.now() - c.started;
    harness.Node(Machine("a", "1"));
    harness.Pod(GangMember("m0", 3).Created(started).On("a").Started(started));
    if (c.waits) harness.Pod(GangMember("m1", 3).Created(harness.now() - *c.waits));
    if (c.leaves) harness.Pod(GangMember("m2", 3).Created(started).On("dead").Terminating());
    harness.Listed();
    if (c.goes_after > 0) {
      harness.Pass(Duration::Seconds(c.goes_after - 1));
      EXPECT_THAT(harness.evictions(), IsEmpty());
      harness.Pass(Duration::Seconds(2));
      EXPECT_THAT(harness.evictions(), ElementsAre("m0"));
      continue;
    }
    harness.Pass(Duration::Seconds(61));
    EXPECT_THAT(harness.notes(), Contains(HasSubstr("incomplete: 1 of 3 pods have a place")));
    EXPECT_THAT(harness.evictions(), IsEmpty());
    // One that joins shows that it is not over.
    harness.Pod(GangMember("again", 3).Created(harness.now()));
    harness.Pass(Duration::Seconds(61));
    EXPECT_THAT(harness.evictions(), ElementsAre("m0"));
    EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
  }
}

// As a scheduler finds it that starts: in whatever order it is told.
TEST(GangAfterARestart, WhatIsIncompleteIsCompletedBeforeOthersOfItsPriority) {
  for (const bool placed_first : {true, false}) {
    for (const int priority : {0, 1000}) {
      testing::Harness harness({}, testing::GangProfiles());
      harness.Node(Machine("a", "4"));
      harness.Pod(PodBuilder("stranger").Asks("cpu", "1").Priority(priority));
      const auto placed = [&] {
        for (const char* name : {"m0", "m1"}) harness.Pod(GangMember(name, 4).On("a"));
      };
      if (placed_first) placed();
      // Enough to start without the others, too.
      for (const char* name : {"m2", "m3", "m4", "m5"}) harness.Pod(GangMember(name, 4));
      if (!placed_first) placed();
      harness.Listed();
      harness.ScheduleAndBind();
      EXPECT_EQ(harness.NodeOf("stranger"), priority > 0 ? "a" : "");
      EXPECT_EQ(harness.NodeOf("m2"), priority > 0 ? "" : "a");
      EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
    }
  }
}

TEST(GangInHalves, WhatIsIncompleteIsTriedWithoutABackOffAndHoldsUpNobody) {
  testing::Harness harness({}, testing::GangProfiles());
  harness.Node(Machine("a", "2"));
  harness.Node(Machine("b", "1"));
  harness.Pod(GangMember("m0", 3).On("a"));
  harness.Pod(PodBuilder("x").Asks("cpu", "1").On("a"));
  harness.Pod(PodBuilder("y").Asks("cpu", "1").On("b"));
  for (const char* name : {"m1", "m2"}) harness.Pod(GangMember(name, 3));
  harness.Schedule();
  // Room for one of two is room for anybody.
  harness.PodGone("x");
  harness.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness.ScheduleAndBind();
  EXPECT_EQ(harness.NodeOf("p"), "a");
  harness.Pod(PodBuilder("q").Asks("cpu", "1"));
  harness.Schedule();
  EXPECT_EQ(harness.NodeOf("q"), "");
  harness.Pass(Duration::Minutes(1));
  harness.PodGone("y");  // tried, in vain
  harness.ScheduleAndBind();
  EXPECT_EQ(harness.NodeOf("q"), "b");
  harness.Pod(PodBuilder("r").Asks("cpu", "1"));
  harness.Schedule();
  harness.Node(Machine("c", "2"));
  harness.Schedule();
  for (const char* name : {"m1", "m2"}) EXPECT_EQ(harness.NodeOf(name), "c") << "at once";
  EXPECT_EQ(harness.NodeOf("r"), "");
}

}  // namespace
}  // namespace knx::engine
