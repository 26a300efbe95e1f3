// Others take room on a node while a pod of ours is on its way there.
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;

class CrowdTest : public ::testing::Test {
 protected:
  void Node(const std::string& cpu) {
    harness_.Node(NodeBuilder("n").Has("cpu", cpu).Has("pods", "10"));
  }
  static k8s::Pod Theirs(const std::string& name, const std::string& cpu) {
    return PodBuilder(name).Asks("cpu", cpu).On("n");
  }

  testing::Harness harness_;
};

TEST_F(CrowdTest, ABindingIsWantedUntilSomebodyElseHasTakenTheRoom) {
  Node("2");
  harness_.Pod(PodBuilder("ours").Asks("cpu", "1"));
  harness_.Schedule();
  EXPECT_TRUE(harness_.IsWanted("ours"));
  harness_.Pod(Theirs("first", "1"));
  EXPECT_TRUE(harness_.IsWanted("ours"));
  harness_.Pod(Theirs("second", "1"));
  EXPECT_FALSE(harness_.IsWanted("ours"));
  harness_.FinishBinding("ours", "not sent");
  harness_.PodGone("second");
  harness_.Pass(Duration::Seconds(2));
  EXPECT_TRUE(harness_.IsWanted("ours"));
}

TEST_F(CrowdTest, OfManyOnlyThoseWithoutRoomAreNotWanted) {
  Node("2");
  harness_.Pod(PodBuilder("a").Asks("cpu", "1"));
  harness_.Pod(PodBuilder("b").Asks("cpu", "1"));
  harness_.Schedule();
  harness_.Pod(Theirs("theirs", "1"));
  EXPECT_FALSE(harness_.IsWanted("a"));
  harness_.FinishBinding("a", "not sent");
  EXPECT_TRUE(harness_.IsWanted("b"));
}

TEST_F(CrowdTest, ABindingIsNotWantedOnceSomebodyElseHasBoundThePod) {
  Node("2");
  harness_.Pod(PodBuilder("ours").Asks("cpu", "1"));
  harness_.Schedule();
  harness_.Pod(PodBuilder("ours").Asks("cpu", "1").On("elsewhere"));
  EXPECT_FALSE(harness_.IsWanted("ours"));
  harness_.FinishBinding("ours", "not sent");
  EXPECT_EQ(harness_.engine().Standing("uid-ours"), PodStanding::kBound);
}

TEST_F(CrowdTest, WhatThePodDoesNotAskForIsNoRoomThatItLacks) {
  Node("1");
  harness_.Pod(PodBuilder("ours"));
  harness_.Schedule();
  harness_.Pod(Theirs("theirs", "2"));
  EXPECT_TRUE(harness_.IsWanted("ours"));
}

TEST_F(CrowdTest, APodThatWaitsForItsStatusIsNotBoundWithoutRoom) {
  harness_.HoldPatches();
  harness_.Pod(PodBuilder("ours").Asks("cpu", "1"));
  harness_.Schedule();
  Node("1");
  harness_.Pass(Duration::Seconds(2));
  ASSERT_EQ(harness_.engine().Standing("uid-ours"), PodStanding::kPaused);
  harness_.Pod(Theirs("theirs", "1"));
  harness_.LetPatchesGo();
  EXPECT_EQ(harness_.NodeOf("ours"), "");
  EXPECT_EQ(harness_.Why("ours"), "somebody else has taken the room on the node");
}

}  // namespace
}  // namespace knx::engine
