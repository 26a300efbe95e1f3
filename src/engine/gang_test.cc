#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/volume_builders.h"
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

class GangTest : public ::testing::Test {
 protected:
  void Node(const std::string& name, const std::string& cpu = "4") {
    harness_.Node(NodeBuilder(name).Has("cpu", cpu).Has("memory", "64Gi").Has("pods", "110"));
  }
  static PodBuilder Member(const std::string& name, int minimum, const std::string& cpu = "1",
                           const std::string& gang = "train") {
    return PodBuilder(name)
        .Asks("cpu", cpu)
        .Label("pod-group.scheduling.kubenexus.io/name", gang)
        .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(minimum));
  }
  // A pod that has done its work.
  static k8s::Pod Done(k8s::Pod pod, Time when) {
    pod.status.phase = k8s::PodPhase::kSucceeded;
    pod.status.conditions = {{"Ready", "False", "PodCompleted", "", when}};
    return pod;
  }
  void Members(const std::string& prefix, int count, int minimum, const std::string& cpu = "1") {
    for (int i = 0; i < count; ++i) {
      harness_.Pod(Member(prefix + std::to_string(i), minimum, cpu, "gang-" + prefix));
    }
  }
  // How many of the pods prefix0, prefix1, ... were sent to a node.
  int Sent(const std::string& prefix, int count) {
    int sent = 0;
    for (int i = 0; i < count; ++i)
      sent += harness_.NodeOf(prefix + std::to_string(i)).empty() ? 0 : 1;
    return sent;
  }
  void TearDown() override {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
  }
  testing::Harness harness_{{}, testing::GangProfiles()};
};

TEST_F(GangTest, NobodyStartsBeforeEnoughAreThereAndThenAllDo) {
  Node("a");
  Node("b");
  for (int i = 0; i < 3; ++i) {
    harness_.Pod(Member("m" + std::to_string(i), 4));
    harness_.Schedule();
    EXPECT_EQ(Sent("m", 3), 0);
  }
  EXPECT_EQ(harness_.Why("m1"),
            "waiting for pod group default/train: it has 3 pods, needs at least 4");
  harness_.Pod(Member("m3", 4));
  harness_.ScheduleAndBind();
  EXPECT_EQ(Sent("m", 4), 4);
}

TEST_F(GangTest, AGangThatDoesNotFitHoldsNothing) {
  Node("a", "3");
  Members("m", 4, 4);
  harness_.Schedule();
  EXPECT_EQ(Sent("m", 4), 0);
  EXPECT_THAT(harness_.Why("m0"),
              HasSubstr("pod group default/gang-m needs 4 pods at once, 3 fit; for the next: 0/1 "
                        "nodes are available: 1 Insufficient cpu."));
  for (int i = 1; i < 4; ++i) EXPECT_EQ(harness_.Why("m" + std::to_string(i)), harness_.Why("m0"));
  // Each of them is known to be unschedulable, so that who adds nodes sees how many it takes.
  EXPECT_EQ(harness_.patches().size(), 4U);
  harness_.Pod(PodBuilder("single").Asks("cpu", "3"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("single"), "a");
  Node("b");
  harness_.Pass(Duration::Seconds(2));
  EXPECT_EQ(Sent("m", 4), 4);
}

TEST_F(GangTest, TwoGangsThatShareTheRoomNeverStartHalf) {
  Node("a", "4");
  // As they would come in: one member of each in turn, each gang for itself fits.
  for (int i = 0; i < 3; ++i) {
    harness_.Pod(Member("x" + std::to_string(i), 3, "1", "x"));
    harness_.Pod(Member("y" + std::to_string(i), 3, "1", "y"));
  }
  harness_.ScheduleAndBind();
  EXPECT_EQ(Sent("x", 3), 3);
  EXPECT_EQ(Sent("y", 3), 0);
  for (int i = 0; i < 3; ++i) harness_.PodGone("x" + std::to_string(i));
  harness_.Pass(Duration::Seconds(2));
  EXPECT_EQ(Sent("y", 3), 3);
}

TEST_F(GangTest, MembersAboveTheMinimumStartAsTheyFit) {
  Node("a", "3");
  Members("m", 5, 2);
  harness_.ScheduleAndBind();
  EXPECT_EQ(Sent("m", 5), 3);
  EXPECT_THAT(harness_.Why("m4"), HasSubstr("has all pods it needs; for one more: 0/1 nodes"));
  Node("b", "1");
  harness_.Pass(Duration::Seconds(2));
  EXPECT_EQ(Sent("m", 5), 4);
}

TEST_F(GangTest, WhoJoinsAGangThatDoesNotFitMayHelpAndSaysWhyItWaits) {
  Node("a");
  Members("m", 2, 2, "3");
  harness_.Schedule();
  EXPECT_EQ(Sent("m", 2), 0);
  harness_.Pod(Member("m2", 2, "3", "gang-m"));
  harness_.Pass(Duration::Seconds(11));
  EXPECT_THAT(harness_.Why("m2"), HasSubstr("needs 2 pods at once, 1 fit"));
  EXPECT_EQ(Sent("m", 3), 0);
  harness_.Pod(Member("m3", 2, "1", "gang-m"));
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(harness_.NodeOf("m3"), "a");
  EXPECT_EQ(Sent("m", 4), 2);
}

TEST_F(GangTest, MembersThatHaveDoneTheirWorkAreNotMissed) {
  Node("a", "3");
  Members("m", 5, 3);
  harness_.ScheduleAndBind();
  ASSERT_EQ(Sent("m", 5), 3);
  for (int i = 0; i < 3; ++i) {
    harness_.Pod(Done(Member("m" + std::to_string(i), 3, "1", "gang-m").On("a"), harness_.now()));
  }
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(Sent("m", 5), 5) << "the others follow";
}

// The last of a gang fails when all others have done their work, and is made again by whoever made
// it; a gang of the same name that somebody else makes is another one.
TEST_F(GangTest, OneThatIsMadeAgainWhenAllOthersAreDoneStartsForItself) {
  Node("a", "3");
  const auto member = [this](const std::string& name, const std::string& job) {
    return Member(name, 3).Created(harness_.now()).ControlledBy("Job", job);
  };
  std::vector<k8s::Pod> first = {member("m0", "first"), member("m1", "first"),
                                 member("m2", "first")};
  for (const k8s::Pod& pod : first) harness_.Pod(pod);
  harness_.ScheduleAndBind();
  harness_.Pass(Duration::Minutes(1));
  for (const int i : {0, 1}) harness_.Pod(Done(first[static_cast<std::size_t>(i)], harness_.now()));
  harness_.PodGone("m2");
  harness_.Pass(Duration::Seconds(2));
  harness_.Pod(member("m3", "first"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("m3"), "a");
  harness_.PodGone("m3");
  harness_.Pod(member("m4", "second"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("m4"), "");
}

TEST_F(GangTest, LargeMembersComeFirstWhateverOrderTheyWereMadeIn) {
  Node("a", "4");
  Node("b", "2");
  harness_.Pod(Member("small0", 3, "1"));
  harness_.Pod(Member("small1", 3, "1"));
  harness_.Pod(Member("large", 3, "4"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("large"), "a");
  EXPECT_EQ(Sent("small", 2), 2);
}

TEST_F(GangTest, AMemberOfARunningGangThatIsReplacedStartsAlone) {
  Node("a");
  Members("m", 3, 3);
  harness_.ScheduleAndBind();
  harness_.PodGone("m1");
  harness_.Pod(Member("again", 3, "1", "gang-m"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("again"), "a");
}

TEST_F(GangTest, WholeGangsThatAreReplacedWaitUntilAllOfThemFit) {
  Node("a", "3");
  Members("m", 3, 3);
  harness_.ScheduleAndBind();
  for (int i = 0; i < 3; ++i) {
    harness_.Pod(Member("m" + std::to_string(i), 3, "1", "gang-m").BeingDeleted(true).On("a"));
  }
  for (int i = 0; i < 3; ++i) harness_.Pod(Member("n" + std::to_string(i), 3, "1", "gang-m"));
  harness_.Schedule();
  harness_.PodGone("m0");
  harness_.PodGone("m1");
  harness_.Pass(Duration::Seconds(5));
  EXPECT_EQ(Sent("n", 3), 0) << "room for two of three";
  harness_.PodGone("m2");
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(Sent("n", 3), 3);
}

TEST_F(GangTest, ABindingThatFailsIsRepairedWithAnotherPlace) {
  Node("a", "2");
  Node("b", "2");
  Members("m", 2, 2, "2");
  harness_.Schedule();
  ASSERT_EQ(Sent("m", 2), 2);
  const std::string lost = harness_.NodeOf("m1");
  Node("c", "2");
  harness_.FinishBinding("m0");
  harness_.FinishBinding("m1", "the node is on fire");
  harness_.Pass(Duration::Seconds(2));
  EXPECT_EQ(harness_.NodeOf("m1"), "c") << "not again " << lost;
  harness_.FinishBinding("m1");
}

TEST_F(GangTest, WhatIsMissingIsSaidAfterAWhile) {
  Node("a");
  Members("m", 2, 3);
  harness_.Pass(Duration::Seconds(9));
  EXPECT_TRUE(harness_.patches().empty());
  harness_.Pass(Duration::Seconds(2));
  ASSERT_EQ(harness_.patches().size(), 2U);
  EXPECT_EQ(harness_.patches()[0].reason, "WaitingForPodGroup");
  EXPECT_EQ(harness_.patches()[0].message,
            "waiting for pod group default/gang-m: it has 2 pods, needs at least 3");
  harness_.Pass(Duration::Minutes(20));
  EXPECT_EQ(harness_.patches().size(), 2U) << "once";
}

TEST_F(GangTest, AnIncompleteGangIsReportedAfterItsGrace) {
  Node("a", "2");
  Members("m", 3, 2);
  harness_.ScheduleAndBind();
  ASSERT_EQ(Sent("m", 3), 2);
  // The gang asks for more than it has, and its third member has no room.
  for (int i = 0; i < 3; ++i) {
    auto member = Member("m" + std::to_string(i), 3, "1", "gang-m");
    harness_.Pod(i < 2 ? member.On("a") : member);
  }
  harness_.Pass(Duration::Seconds(61));
  EXPECT_THAT(harness_.notes(), Contains("PodGroupIncomplete: pod group default/gang-m is "
                                         "incomplete: 2 of 3 pods have a place"));
}

TEST_F(GangTest, AMinimumThatCannotBeReadIsAnError) {
  Node("a");
  harness_.Pod(PodBuilder("p")
                   .Label("pod-group.scheduling.kubenexus.io/name", "g")
                   .Label("pod-group.scheduling.kubenexus.io/min-available", "two"));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("p"), "");
  EXPECT_EQ(harness_.Why("p"),
            "failed to parse min-available value \"two\": a whole number is wanted");
  ASSERT_EQ(harness_.patches().size(), 1U);
  EXPECT_EQ(harness_.patches()[0].reason, "SchedulerError");
}

TEST_F(GangTest, AMemberThatGoesMayLeaveTooFew) {
  Node("a", "1");
  Members("m", 3, 3);
  harness_.Schedule();
  harness_.PodGone("m0");  // it stood for them
  harness_.Schedule();
  EXPECT_EQ(harness_.Why("m1"),
            "waiting for pod group default/gang-m: it has 2 pods, needs at least 3");
  Node("b");
  harness_.Pass(Duration::Seconds(5));
  EXPECT_EQ(Sent("m", 3), 0);
  harness_.Pod(Member("m3", 3, "1", "gang-m"));
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(Sent("m", 4), 3);
}

TEST_F(GangTest, WhoLeavesItsGangIsAPodLikeAnyOtherAndWhoJoinsOneWaits) {
  Node("a");
  Members("m", 2, 3);
  harness_.Pod(PodBuilder("free").Asks("cpu", "9"));
  harness_.Schedule();
  EXPECT_EQ(Sent("m", 2), 0);
  harness_.Pod(PodBuilder("m0").Asks("cpu", "1"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("m0"), "a");
  harness_.Pod(Member("free", 3, "9", "gang-m"));
  harness_.Schedule();
  EXPECT_EQ(harness_.PlaceOf("free"), QueuePlace::kGated);
  EXPECT_EQ(harness_.Why("free"),
            "waiting for pod group default/gang-m: it has 2 pods, needs at least 3");
  harness_.Pod(PodBuilder("free")
                   .Asks("cpu", "1")
                   .Label("pod-group.scheduling.kubenexus.io/name", "gang-m")
                   .Label("pod-group.scheduling.kubenexus.io/min-available", "0"));
  harness_.Pass(Duration::Seconds(20));
  EXPECT_EQ(harness_.NodeOf("free"), "");
  EXPECT_EQ(harness_.Why("free"), "min-available must be at least 1, got 0");
}

TEST_F(GangTest, WhoStandsForItsGangMayLeaveIt) {
  Node("a", "2");
  Members("m", 4, 3);
  harness_.Schedule();
  EXPECT_EQ(Sent("m", 4), 0);
  harness_.Pod(PodBuilder("m0").Asks("cpu", "9"));
  Node("b", "1");
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(Sent("m", 4), 3);
  EXPECT_EQ(harness_.NodeOf("m0"), "");
}

// A volume that cannot be set aside for one member: nobody is bound, nothing is held.
TEST_F(GangTest, OneThatFailsBeforeTheBindingTakesAllBack) {
  Node("a");
  harness_.Object(cluster::testing::MakeClass("local", "kubernetes.io/no-provisioner"));
  harness_.Object(cluster::testing::VolumeBuilder("pv").Class("local"));
  harness_.Object(cluster::testing::ClaimBuilder("x").Class("local"));
  harness_.Pod(Member("m0", 2));
  harness_.Pod(Member("m1", 2).Claim("x"));
  harness_.Schedule();
  ASSERT_EQ(harness_.questions().size(), 1U);
  EXPECT_EQ(Sent("m", 2), 0) << "the one without a volume waits for the other";
  EXPECT_EQ(harness_.engine().Standing("uid-m0"), PodStanding::kPaused);
  harness_.Answer(harness_.questions()[0].first, framework::Answer{false, "no", false});
  EXPECT_EQ(harness_.engine().Standing("uid-m0"), PodStanding::kWaiting);
  harness_.Schedule();
  EXPECT_EQ(harness_.questions().size(), 1U) << "not before the back-off of who failed";
  harness_.Pass(Duration::Seconds(2));
  ASSERT_EQ(harness_.questions().size(), 2U);
  harness_.PodGone("m1");
  EXPECT_EQ(harness_.engine().Standing("uid-m0"), PodStanding::kWaiting);
  EXPECT_EQ(Sent("m", 2), 0);
}

TEST(GangTimeout, WhatIsNotReadyInTimeIsTakenBackAsAWhole) {
  testing::Harness harness({}, testing::GangProfiles("attemptTimeoutSeconds: 20"));
  harness.Node(NodeBuilder("a").Has("cpu", "4").Has("memory", "64Gi").Has("pods", "110"));
  harness.Object(cluster::testing::MakeClass("local", "kubernetes.io/no-provisioner"));
  harness.Object(cluster::testing::VolumeBuilder("pv").Class("local"));
  harness.Object(cluster::testing::ClaimBuilder("x").Class("local"));
  const auto member = [](const std::string& name) {
    return PodBuilder(name)
        .Asks("cpu", "1")
        .Label("pod-group.scheduling.kubenexus.io/name", "train")
        .Label("pod-group.scheduling.kubenexus.io/min-available", "2");
  };
  harness.Pod(member("m0"));
  harness.Pod(member("m1").Claim("x"));
  harness.Schedule();
  harness.Pass(Duration::Seconds(19));
  EXPECT_EQ(harness.engine().Standing("uid-m0"), PodStanding::kPaused);
  // Nobody answers about the volume.
  harness.Pass(Duration::Milliseconds(1000));
  EXPECT_EQ(harness.engine().Standing("uid-m0"), PodStanding::kWaiting);
  EXPECT_EQ(harness.engine().state().nodes().pods(cluster::NodeRow{0}).size(), 0U);
  EXPECT_THAT(harness.Why("m1"),
              ::testing::HasSubstr("not all of the pod group were ready to start "
                                   "within 20s: m1 was not"));
  EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
  // Later it is tried again, and given its time again.
  harness.Pass(Duration::Seconds(5));
  EXPECT_EQ(harness.engine().Standing("uid-m0"), PodStanding::kPaused);
  EXPECT_EQ(harness.NodeOf("m0"), "");
}

TEST_F(GangTest, AMemberThatSomebodyElsePlacesCounts) {
  Node("a");
  harness_.Pod(Member("worker", 2));
  harness_.Pass(Duration::Seconds(20));
  EXPECT_EQ(harness_.NodeOf("worker"), "");
  k8s::Pod driver = Member("driver", 2);
  driver.spec.scheduler_name = "another-scheduler";
  harness_.Pod(driver);
  driver.spec.node_name = "a";
  harness_.Pod(driver);
  harness_.Pass(Duration::Seconds(2));
  EXPECT_EQ(harness_.NodeOf("worker"), "a");
  harness_.FinishBinding("worker");
  harness_.PodGone("worker");
  harness_.PodGone("driver");
}

TEST_F(GangTest, AMemberOfAnotherSchedulerMayAskForMore) {
  Members("m", 2, 2);
  harness_.Schedule();
  EXPECT_EQ(Sent("m", 2), 0) << "there is no node yet";
  k8s::Pod other = Member("other", 3, "1", "gang-m");
  other.spec.scheduler_name = "another-scheduler";
  harness_.Pod(other);
  EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
  Node("a");
  harness_.Pass(Duration::Seconds(20));
  EXPECT_EQ(Sent("m", 2), 0);
  other.spec.node_name = "a";
  harness_.Pod(other);
  harness_.Pass(Duration::Seconds(5));
  EXPECT_EQ(Sent("m", 2), 2);
}

TEST_F(GangTest, WhoJoinsAGangWhileRoomIsMadeForItIsNotLost) {
  Node("a", "1");
  harness_.Pod(PodBuilder("low").Asks("cpu", "1").On("a"));
  harness_.Pod(PodBuilder("m0").Asks("cpu", "1").Priority(10));
  harness_.Schedule();
  ASSERT_THAT(harness_.evictions(), ElementsAre("low"));
  k8s::Pod joins = Member("m0", 2);
  joins.spec.priority = 10;
  harness_.Pod(joins);
  harness_.Pod(Member("m1", 2));
  harness_.FinishEviction("low");
  Node("b", "1");
  harness_.Pass(Duration::Seconds(5));
  EXPECT_EQ(Sent("m", 2), 2);
}

TEST_F(GangTest, EveryMemberSaysWhyButNotWithEveryNewNumber) {
  Node("a", "1");
  Members("m", 20, 20);
  harness_.Schedule();
  EXPECT_EQ(harness_.patches().size(), 20U);
  for (int i = 0; i < 10; ++i) {
    Node(fmt::format("b{}", i), "1");
    harness_.Pass(Duration::Seconds(4));
  }
  EXPECT_LE(harness_.patches().size(), 31U) << "one speaks for all of them";
  harness_.Pass(Duration::Seconds(60));
  EXPECT_THAT(harness_.Why("m7"), HasSubstr("20 pods at once, 11 fit")) << "after a while all do";
  Node("c", "1");
  harness_.Pass(Duration::Seconds(61));
  EXPECT_THAT(harness_.Why("m7"), HasSubstr("20 pods at once, 12 fit"));
}

// One of two is lost and nobody makes it again: after the grace the other goes too, if that is
// asked for, and nobody else.
TEST(GangEviction, WhoIsLeftOfAGangGoesAfterTheGrace) {
  for (const bool evict : {false, true}) {
    testing::Harness harness({}, testing::GangProfiles(evict ? "evictIncomplete: true" : ""));
    harness.Node(NodeBuilder("a").Has("cpu", "4").Has("memory", "64Gi").Has("pods", "110"));
    for (const std::string name : {"m0", "m1"}) {
      harness.Pod(PodBuilder(name)
                      .On("a")
                      .Label("pod-group.scheduling.kubenexus.io/name", "train")
                      .Label("pod-group.scheduling.kubenexus.io/min-available", "2"));
    }
    harness.Pod(PodBuilder("other").On("a"));
    harness.PodGone("m0");
    harness.Pass(Duration::Seconds(59));
    EXPECT_THAT(harness.evictions(), IsEmpty());
    harness.Pass(Duration::Seconds(2));
    EXPECT_THAT(harness.notes(),
                Contains(HasSubstr("default/train is incomplete: 1 of 2 pods have a place")));
    if (!evict) {
      EXPECT_THAT(harness.evictions(), IsEmpty());
      continue;
    }
    EXPECT_THAT(harness.evictions(), ElementsAre("m1"));
    harness.FinishEviction("m1", "the server is busy");
    harness.Pass(Duration::Seconds(61));
    EXPECT_THAT(harness.evictions(), ElementsAre("m1")) << "asked again";
    harness.FinishEviction("m1");
    harness.Pass(Duration::Seconds(61));
    EXPECT_THAT(harness.evictions(), IsEmpty());
    EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
  }
}

TEST_F(GangTest, GangsOfOnePriorityKeepTheOrderInWhichTheyCame) {
  Node("a", "1");
  harness_.Pod(Member("x0", 2, "1", "x"));
  harness_.Pass(Duration::Seconds(1));
  harness_.Pod(Member("y0", 2, "1", "y"));
  harness_.Pod(Member("y1", 2, "1", "y"));
  harness_.Pod(Member("x1", 2, "1", "x"));
  harness_.Schedule();
  EXPECT_EQ(Sent("x", 2) + Sent("y", 2), 0);
  harness_.Pass(Duration::Minutes(1));
  Node("b", "1");
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(Sent("x", 2), 2) << "its first member came first";
  EXPECT_EQ(Sent("y", 2), 0);
}

TEST(GangsElsewhere, WithoutCoschedulingAMemberIsAPodLikeAnyOther) {
  testing::Harness harness;
  harness.Node(NodeBuilder("a").Has("cpu", "1").Has("pods", "10"));
  for (const char* name : {"p", "q"}) {
    harness.Pod(PodBuilder(name)
                    .Asks("cpu", "1")
                    .Label("pod-group.scheduling.kubenexus.io/name", "g")
                    .Label("pod-group.scheduling.kubenexus.io/min-available", "2"));
  }
  harness.ScheduleAndBind();
  EXPECT_EQ(harness.NodeOf("p"), "a");
  EXPECT_EQ(harness.NodeOf("q"), "");
}

}  // namespace
}  // namespace knx::engine
