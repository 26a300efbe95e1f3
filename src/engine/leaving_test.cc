// Who was asked to go for others counts as gone, by the room it takes and as a member of its gang,
// until it turns out to stay.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LeavingTest : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
  }

  void Nodes(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string name = fmt::format("n{}", i);
      harness_.Node(NodeBuilder(name).Has("cpu", "1").Has("pods", "110").Label("name", name));
    }
  }
  static PodBuilder Wants(const std::string& name, int priority) {
    PodBuilder pod(name);
    pod.Asks("cpu", "1").Priority(priority);
    return pod;
  }
  static PodBuilder InLow(PodBuilder pod, int minimum) {
    return pod.Label("pod-group.scheduling.kubenexus.io/name", "low")
        .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(minimum));
  }
  // The members of a gang, each on its node.
  void Low(int members, int minimum) {
    for (int i = 0; i < members; ++i) harness_.Pod(LowPod(i, minimum));
  }
  static PodBuilder LowPod(int i, int minimum) {
    return InLow(Wants(fmt::format("low{}", i), 0).On(fmt::format("n{}", i)), minimum);
  }
  void Comes(const std::string& name, int priority = 10) {
    harness_.Pod(Wants(name, priority));
    harness_.Schedule();
  }
  void GangComes(int members) {
    for (int i = 0; i < members; ++i) {
      harness_.Pod(
          Wants(fmt::format("high{}", i), 10)
              .Label("pod-group.scheduling.kubenexus.io/name", "high")
              .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(members)));
    }
    harness_.Schedule();
  }
  void AllGo() {
    while (!harness_.evictions().empty()) harness_.FinishEviction(harness_.evictions().front());
    harness_.Pass(Duration::Seconds(2));
    harness_.ScheduleAndBind();
  }

  testing::Harness harness_{{}, testing::ProfilesWith({"Coscheduling", "GangPreemption"})};
};

TEST_F(LeavingTest, WhatAGangHasAboveItsMinimumGoesOnce) {
  Nodes(3);
  Low(3, 2);
  Comes("vip");
  EXPECT_THAT(harness_.evictions(), ElementsAre("low0"));
  Comes("next");
  EXPECT_EQ(harness_.plans().size(), 2U);
  EXPECT_EQ(harness_.plans().back().victims.size(), 1U);
  EXPECT_EQ(harness_.plans().back().along.size(), 1U) << "the rest of the gang";
  AllGo();
  EXPECT_NE(harness_.NodeOf("vip"), "");
  EXPECT_NE(harness_.NodeOf("next"), "");
}

TEST_F(LeavingTest, WhoseEvictionIsRefusedCountsAgain) {
  Nodes(3);
  Low(3, 2);
  Comes("vip");
  harness_.FinishEviction("low0", "forbidden");
  harness_.PodGone("vip");
  Comes("next");
  EXPECT_EQ(harness_.plans().back().preemptor.name, "next");
  EXPECT_EQ(harness_.plans().back().victims.size(), 1U);
  EXPECT_THAT(harness_.plans().back().along, IsEmpty());
  AllGo();
}

TEST_F(LeavingTest, WhoWasNotAskedYetStaysIfNobodyNeedsItsRoom) {
  Nodes(3);
  Low(3, 3);
  Comes("vip");
  EXPECT_THAT(harness_.evictions(), ElementsAre("low0", "low1")) << "the last one follows";
  const cluster::State& state = harness_.engine().state();
  const cluster::PodId last = state.pods().Find("uid-low2");
  EXPECT_TRUE(state.pod(last).leaves());
  harness_.PodGone("vip");
  EXPECT_FALSE(state.pod(last).leaves());
  EXPECT_EQ(state.gangs().Get(state.gang_of(last)).placed, 1U);
  AllGo();
  EXPECT_FALSE(state.pod(last).leaves());
}

TEST_F(LeavingTest, RoomThatNobodyWasPromisedIsWaitedFor) {
  for (const bool gang : {false, true}) {
    SCOPED_TRACE(gang);
    harness_ = testing::Harness({}, testing::ProfilesWith({"Coscheduling", "GangPreemption"}));
    Nodes(5);
    Low(3, 3);
    harness_.Pod(Wants("other3", 0).On("n3"));
    harness_.Pod(Wants("other4", 0).On("n4"));
    harness_.Pod(Wants("vip", 10).NodeSelector("name", "n0"));
    harness_.Schedule();
    const std::size_t asked = harness_.evictions().size();
    if (gang) {
      GangComes(2);
    } else {
      Comes("high0");
      Comes("high1");
    }
    EXPECT_EQ(harness_.plans().size(), 1U);
    EXPECT_EQ(harness_.evictions().size(), asked);
    AllGo();
    EXPECT_EQ(harness_.NodeOf("vip"), "n0");
    EXPECT_NE(harness_.NodeOf("high0"), "");
    EXPECT_NE(harness_.NodeOf("high1"), "");
    EXPECT_EQ(harness_.plans().size(), 1U);
  }
}

// Of a gang that breaks all members go, also those that the pod needs no room of.
TEST_F(LeavingTest, WhoIsNotInTheWayBesidesTheRestOfAGangStays) {
  harness_.Node(NodeBuilder("n").Has("cpu", "3").Has("pods", "110"));
  for (const char* name : {"low0", "low1"}) harness_.Pod(InLow(Wants(name, 1).On("n"), 2));
  harness_.Pod(Wants("other", 0).On("n"));
  harness_.Pod(PodBuilder("vip").Asks("cpu", "2").Priority(10));
  harness_.Schedule();
  EXPECT_EQ(harness_.plans().back().victims.size(), 2U);
  EXPECT_THAT(harness_.plans().back().along, IsEmpty());
  AllGo();
  EXPECT_EQ(harness_.NodeOf("vip"), "n");
  EXPECT_EQ(harness_.engine().Standing("uid-other"), PodStanding::kBound);
}

// Who counts on somebody's end, without having asked for it, hears when it does not come.
TEST_F(LeavingTest, RoomThatDoesNotBecomeFreeIsLookedForElsewhere) {
  for (const bool gang : {false, true}) {
    SCOPED_TRACE(gang);
    harness_ = testing::Harness({}, testing::ProfilesWith({"Coscheduling", "GangPreemption"}));
    Nodes(5);
    Low(3, 3);
    harness_.Pod(Wants("other3", 1).On("n3"));
    harness_.Pod(Wants("other4", 1).On("n4"));
    harness_.Pod(Wants("vip", 10).NodeSelector("name", "n0"));
    harness_.Schedule();
    EXPECT_THAT(harness_.evictions(), ElementsAre("low0", "low1"));
    gang ? GangComes(2) : Comes("high0");
    EXPECT_EQ(harness_.plans().size(), 1U);
    harness_.FinishEviction("low0", "forbidden");
    harness_.FinishEviction("low1", "forbidden");
    harness_.PodGone("vip");
    harness_.Pass(Duration::Seconds(1));
    std::vector<std::string> others = {"other3"};
    if (gang) others.emplace_back("other4");
    EXPECT_EQ(harness_.evictions(), others);
    AllGo();
    EXPECT_NE(harness_.NodeOf("high0"), "");
  }
}

TEST_F(LeavingTest, AGangWhoseEvictionsAreRefusedIsTriedAgainAfterItsCooldown) {
  Nodes(2);
  harness_.Pod(Wants("other0", 0).On("n0"));
  harness_.Pod(Wants("other1", 0).On("n1"));
  GangComes(2);
  harness_.FinishEviction("other0", "forbidden");
  harness_.FinishEviction("other1", "forbidden");
  harness_.Pass(Duration::Seconds(29));
  EXPECT_THAT(harness_.evictions(), IsEmpty());
  harness_.Pass(Duration::Seconds(2));
  EXPECT_THAT(harness_.evictions(), ElementsAre("other0", "other1"));
  AllGo();
  EXPECT_NE(harness_.NodeOf("high0"), "");
  EXPECT_NE(harness_.NodeOf("high1"), "");
}

}  // namespace
}  // namespace knx::engine
