// Gangs that do not fit: what lets them be tried again, and what their members say meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/gang_book.h"
#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class GangRetry : public ::testing::Test {
 protected:
  static NodeBuilder Machine(const std::string& name, const std::string& cpu) {
    return NodeBuilder(name).Has("cpu", cpu).Has("memory", "64Gi").Has("pods", "110");
  }
  static PodBuilder Member(const std::string& name, const std::string& cpu, int minimum) {
    return PodBuilder(name)
        .Asks("cpu", cpu)
        .Label("pod-group.scheduling.kubenexus.io/name", "train")
        .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(minimum));
  }
  // What was last written about the pod.
  std::string Condition(const std::string& pod) {
    std::string message;
    for (const PatchPodStatus& patch : harness_.patches()) {
      if (patch.pod.name == pod) message = patch.message;
    }
    return message;
  }
  // A place is free for a moment, so that the gang is tried once more, in vain.
  void TryInVain() {
    harness_.PodGone("guest" + std::to_string(guests_));
    harness_.Pod(Guest());
    harness_.Pass(Duration::Seconds(11));
  }
  PodBuilder Guest() {
    return PodBuilder("guest" + std::to_string(++guests_)).Asks("cpu", "1").On("b");
  }
  void TearDown() override {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
  }
  testing::Harness harness_{{}, testing::GangProfiles()};
  int guests_ = 0;
};

TEST_F(GangRetry, NobodyKeepsAPlaceOnANodeThatIsGone) {
  harness_.Node(Machine("a", "1"));
  harness_.Node(Machine("b", "1"));
  for (const char* name : {"m0", "m1"}) harness_.Pod(Member(name, "1", 2));
  harness_.Schedule();
  const std::string lost = harness_.NodeOf("m0");
  harness_.NodeGone(lost);
  harness_.FinishBinding("m0", "node is gone");
  harness_.FinishBinding("m1");
  for (const PatchPodStatus& patch : harness_.patches()) {
    EXPECT_EQ(patch.nominated_node.value_or(""), "") << patch.pod.name;
  }
  EXPECT_TRUE(harness_.engine().state().nominations().empty());
  harness_.Node(Machine("c", "1"));
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(harness_.NodeOf("m0"), "c");
}

TEST_F(GangRetry, AnotherPlaceForWhoIsInTheWayLetsTheGangTryAgain) {
  for (const bool with_roles : {false, true}) {
    testing::Harness harness({}, testing::GangProfiles());
    const auto member = [&](const std::string& name, const std::string& cpu) {
      PodBuilder pod = Member(name, cpu, 2);
      if (!with_roles) return pod;
      return pod.Label("pod-group.scheduling.kubenexus.io/role", name)
          .Label("pod-group.scheduling.kubenexus.io/role-min-available", "1");
    };
    harness.Node(Machine("a", "4").Has("x/gpu", "1"));
    harness.Pod(member("device", "1").Asks("x/gpu", "1"));
    harness.Pod(member("large", "4"));
    harness.Pass(Duration::Seconds(20));
    EXPECT_EQ(harness.NodeOf("large"), "");
    harness.Node(Machine("b", "1").Has("x/gpu", "1"));
    harness.Pass(Duration::Seconds(11));
    EXPECT_EQ(harness.NodeOf("device"), "b");
    EXPECT_EQ(harness.NodeOf("large"), "a") << "which had no room on b";
  }
}

TEST_F(GangRetry, WhatHelpsAnyOfThoseWithoutAPlaceLetsTheGangTryAgain) {
  harness_.Node(Machine("a", "4"));
  harness_.Pod(Member("large", "6", 2));
  harness_.Pod(Member("picky", "1", 2).NodeSelector("disk", "ssd"));
  harness_.Pod(Member("easy", "1", 2));
  harness_.Pass(Duration::Seconds(20));
  EXPECT_EQ(harness_.NodeOf("easy"), "");
  const auto attempts = [&] {
    const cluster::State& state = harness_.engine().state();
    return harness_.engine().queue().Get(state.pods().Find("uid-large")).attempts;
  };
  const auto before = attempts();
  harness_.Node(Machine("a", "4").Label("colour", "red"));
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(attempts(), before) << "that helps nobody";
  harness_.Node(Machine("a", "4").Label("disk", "ssd"));
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(harness_.NodeOf("picky"), "a");
  EXPECT_EQ(harness_.NodeOf("easy"), "a");
}

TEST_F(GangRetry, SoDoesAMemberThatChangesItself) {
  harness_.Node(Machine("a", "4").Taint("key", "", k8s::TaintEffect::kNoSchedule));
  harness_.Node(Machine("b", "4"));
  harness_.Pod(Member("large", "6", 2));
  harness_.Pod(Member("fits", "4", 2));
  harness_.Pod(Member("other", "4", 2));
  harness_.Pass(Duration::Seconds(20));
  EXPECT_EQ(harness_.NodeOf("fits"), "");
  k8s::Toleration all;
  all.op = k8s::TolerationOperator::kExists;
  harness_.Pod(Member("other", "4", 2).Tolerates(all));
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(harness_.NodeOf("other"), "a");
  EXPECT_EQ(harness_.NodeOf("fits"), "b");
}

TEST_F(GangRetry, ThoseLikeOneThatHasGoneAreHelpedToo) {
  harness_.Node(Machine("a", "4"));
  harness_.Pod(Member("m0", "5", 2));
  harness_.Pod(Member("m1", "5", 2));
  harness_.Pod(Member("m2", "5", 2));
  harness_.Schedule();
  harness_.PodGone("m0");
  harness_.Pass(Duration::Seconds(20));
  harness_.Node(Machine("b", "10"));
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(harness_.NodeOf("m1"), "b");
  EXPECT_EQ(harness_.NodeOf("m2"), "b");
}

TEST_F(GangRetry, ItsAttemptsAreCountedAndItsBackOffGrowsWhoeverStandsForIt) {
  harness_.Node(Machine("a", "1"));
  harness_.Node(Machine("b", "1"));
  harness_.Pod(Guest());
  harness_.Pod(Member("m0", "1", 2));
  harness_.Pod(Member("m1", "1", 2));
  harness_.Schedule();
  for (int i = 0; i < 4; ++i) TryInVain();
  const auto attempts = [&] { return harness_.engine().InquireGang("uid-m1")->attempts; };
  EXPECT_EQ(attempts(), 5U);
  const auto of = [&](const std::string& name) {
    return harness_.engine().queue().Get(harness_.engine().state().pods().Find("uid-" + name));
  };
  ASSERT_EQ(of("m0").attempts, 5U) << "it stands for the gang";
  harness_.PodGone("m0");
  harness_.Pod(Member("m2", "1", 2));
  harness_.Schedule();
  EXPECT_EQ(attempts(), 6U);
  EXPECT_EQ(of("m1").attempts, 1U);
  EXPECT_GE(of("m1").backoff_until, harness_.now() + Duration::Seconds(10));
  // It starts, and what comes after begins anew.
  harness_.PodGone("guest" + std::to_string(guests_));
  harness_.Pass(Duration::Seconds(11));
  harness_.ScheduleAndBind();
  harness_.Pod(Member("m3", "1", 2));
  harness_.Schedule();
  EXPECT_EQ(harness_.engine().InquireGang("uid-m3")->attempts, 8U);
  EXPECT_LE(of("m3").backoff_until, harness_.now() + Duration::Seconds(2));
}

TEST_F(GangRetry, WhoIsNotNeededAnyMoreSaysSo) {
  for (const char* const name : {"a", "b"}) harness_.Node(Machine(name, "1"));
  for (int i = 0; i < 5; ++i) harness_.Pod(Member("m" + std::to_string(i), "1", 3));
  harness_.Schedule();
  EXPECT_THAT(Condition("m4"), HasSubstr("needs 3 pods at once, 2 fit"));
  harness_.Node(Machine("c", "1"));
  harness_.Pass(Duration::Seconds(5));
  harness_.ScheduleAndBind();
  int waiting = 0;
  for (int i = 0; i < 5; ++i) {
    const std::string name = "m" + std::to_string(i);
    if (!harness_.NodeOf(name).empty()) continue;
    ++waiting;
    EXPECT_THAT(Condition(name), StartsWith("pod group default/train has all pods it needs"));
  }
  EXPECT_EQ(waiting, 2);
}

TEST_F(GangRetry, AfterAMinuteAllSayWhatOneOfThemSaysAlready) {
  harness_.Node(Machine("a", "1"));
  for (int i = 0; i < 3; ++i) harness_.Pod(Member("m" + std::to_string(i), "1", 3));
  harness_.Schedule();
  harness_.Pass(Duration::Seconds(15));
  harness_.Node(Machine("b", "1"));
  harness_.Pass(Duration::Seconds(15));
  EXPECT_THAT(Condition("m0"), HasSubstr("2 fit")) << "it stands for the gang";
  EXPECT_THAT(Condition("m1"), HasSubstr("1 fit")) << "not with every node";
  harness_.Pass(Duration::Seconds(31));
  for (const char* const name : {"m0", "m1", "m2"}) {
    EXPECT_THAT(Condition(name), HasSubstr("2 fit"));
  }
}

TEST(GangEvictions, AreCountedAnewOnceTheGangHasStarted) {
  WaitingGang gang;
  GangBook::NoteEvictions(gang, Time{});
  EXPECT_EQ(gang.evicted_times, 1U);
  GangBook::NoteEvictions(gang, Time{} + Duration::Seconds(30));
  EXPECT_EQ(gang.evicted_times, 2U);
  EXPECT_EQ(gang.evicted_at, Time{} + Duration::Seconds(30));
  gang.evicted_at.reset();  // as when it starts
  GangBook::NoteEvictions(gang, Time{} + Duration::Seconds(90));
  EXPECT_EQ(gang.evicted_times, 1U);
}

}  // namespace
}  // namespace knx::engine
