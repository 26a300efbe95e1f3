#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::HasSubstr;

class ReservationTest : public ::testing::Test {
 protected:
  static k8s::Node NodeOf(const std::string& name, const std::string& cpu = "4",
                          const std::string& pods = "110") {
    return NodeBuilder(name)
        .Label("kubernetes.io/hostname", name)
        .Has("cpu", cpu)
        .Has("memory", "64Gi")
        .Has("pods", pods);
  }
  void Node(const std::string& name, const std::string& cpu = "4",
            const std::string& pods = "110") {
    harness_.Node(NodeOf(name, cpu, pods));
  }
  // For the pods with the app-id "app", so many places of so many CPUs.
  k8s::ResourceReservation Places(int count, int cpu, const std::string& node = "") const {
    k8s::ResourceReservation made;
    made.meta.namespace_ = "default";
    made.meta.name = "app";
    made.meta.uid = "uid-app";
    made.meta.created = harness_.now();
    for (int i = 0; i < count; ++i) {
      made.places.push_back(
          {"p" + std::to_string(i), node, {{"cpu", k8s::Quantity::FromUnits(cpu)}}});
    }
    return made;
  }
  static PodBuilder User(const std::string& name, const std::string& cpu = "1") {
    return PodBuilder(name).Asks("cpu", cpu).Label("scheduling.kubenexus.io/app-id", "app");
  }
  static PodBuilder Other(const std::string& name, const std::string& cpu = "1") {
    return PodBuilder(name).Asks("cpu", cpu);
  }
  static PodBuilder Member(const std::string& name, int minimum, const std::string& cpu = "1") {
    return PodBuilder(name)
        .Asks("cpu", cpu)
        .Label("pod-group.scheduling.kubenexus.io/name", "train")
        .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(minimum));
  }
  std::int64_t UsedOn(const std::string& node) {
    const cluster::State& state = harness_.engine().state();
    return state.nodes().requested(cluster::kCpu)[state.nodes().Find(node)] / 1000;
  }
  // What the condition says that was written last: "True Held".
  std::string Active() {
    harness_.Schedule();
    if (harness_.reservations().empty()) return "";
    const k8s::Condition& said = harness_.reservations().back().second.conditions.front();
    return said.status + " " + said.reason;
  }
  void TearDown() override {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
  }
  testing::Harness harness_{{}, testing::ReservingProfiles()};
};

TEST_F(ReservationTest, OthersSeeTheRoomAsTakenAndThoseItIsForUseIt) {
  Node("a");
  harness_.Object(Places(3, 1));
  harness_.Pod(Other("big", "2"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(Active(), "True Held");
  EXPECT_EQ(harness_.NodeOf("big"), "");
  EXPECT_EQ(UsedOn("a"), 3);
  for (const std::string name : {"u0", "u1", "u2"}) harness_.Pod(User(name));
  harness_.ScheduleAndBind();
  for (const std::string name : {"u0", "u1", "u2"}) EXPECT_EQ(harness_.NodeOf(name), "a");
  EXPECT_EQ(UsedOn("a"), 3) << "what is used is held no longer";
  EXPECT_EQ(Active(), "True Held") << "they may lose their places until they are known to be bound";
  for (const std::string name : {"u0", "u1", "u2"}) harness_.Pod(User(name).On("a"));
  EXPECT_EQ(Active(), "False Used");
}

TEST_F(ReservationTest, WhatAPodDoesNotUseStaysHeld) {
  Node("a");
  harness_.Object(Places(1, 3));
  harness_.Pod(User("u0"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(UsedOn("a"), 3);
  harness_.Pod(Other("o", "2"));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("o"), "");
  harness_.Pod(User("u1", "2"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("u1"), "a");
  EXPECT_EQ(UsedOn("a"), 3);
}

TEST_F(ReservationTest, APlaceThatIsLostIsHeldAgain) {
  Node("a");
  harness_.Object(Places(2, 2));
  harness_.Pod(User("u0", "2"));
  harness_.ScheduleAndBind();
  harness_.Pod(User("u0", "2").On("a"));
  harness_.Pod(Other("o", "2"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("o"), "");
  harness_.PodGone("u0");
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("o"), "") << "kept for the one that comes in its stead";
  EXPECT_EQ(UsedOn("a"), 4);
}

TEST_F(ReservationTest, ItEndsWhenItsTimeIsOver) {
  Node("a", "2");
  k8s::ResourceReservation made = Places(1, 2);
  made.duration = Duration::Seconds(30);
  harness_.Object(made);
  harness_.Pod(Other("o", "2"));
  harness_.Schedule();
  harness_.Pass(Duration::Seconds(29));
  EXPECT_EQ(harness_.NodeOf("o"), "");
  harness_.Pass(Duration::Seconds(12));
  EXPECT_EQ(harness_.NodeOf("o"), "a");
  EXPECT_EQ(Active(), "False Expired");
}

TEST_F(ReservationTest, OneThatGetsMoreTimeAfterItsEndIsHeldAgain) {
  Node("a", "2");
  k8s::ResourceReservation made = Places(1, 2);
  made.duration = Duration::Seconds(30);
  harness_.Object(made);
  harness_.Pass(Duration::Seconds(31));
  ASSERT_EQ(Active(), "False Expired");
  EXPECT_EQ(UsedOn("a"), 0);
  made.conditions = harness_.reservations().back().second.conditions;
  made.meta.labels = {{"color", "blue"}};
  harness_.Object(made);
  EXPECT_EQ(Active(), "False Expired") << "another change gives it no time";
  made.duration = Duration::Seconds(60);
  harness_.Object(made);
  EXPECT_EQ(Active(), "True Held");
  EXPECT_EQ(UsedOn("a"), 2);
  harness_.Pass(Duration::Seconds(30));
  EXPECT_EQ(Active(), "False Expired") << "sixty seconds after its creation";
}

TEST_F(ReservationTest, OneThatWasUsedStaysSoHoweverLongItLasts) {
  Node("a", "2");
  k8s::ResourceReservation made = Places(1, 2);
  made.conditions = {{"ReservationActive", "False", "Used", "its pods have their places", {}}};
  made.duration = Duration::Minutes(60);
  harness_.Object(made);
  harness_.Schedule();
  EXPECT_EQ(UsedOn("a"), 0);
}

TEST_F(ReservationTest, OneThatDoesNotSayLastsAsLongAsTheArgumentSays) {
  Node("a", "2");
  harness_.Object(Places(1, 2));
  harness_.Schedule();
  harness_.Pass(Duration::Seconds(99));
  EXPECT_EQ(Active(), "True Held");
  harness_.Pass(Duration::Seconds(2));
  EXPECT_EQ(Active(), "False Expired");
  EXPECT_EQ(UsedOn("a"), 0);
}

TEST_F(ReservationTest, PlannedWorkHoldsNothingBeforeItsTime) {
  Node("a", "2");
  k8s::ResourceReservation made = Places(1, 2);
  made.start = harness_.now() + Duration::Minutes(10);
  harness_.Object(made);
  EXPECT_EQ(Active(), "False NotStarted");
  EXPECT_EQ(UsedOn("a"), 0);
  harness_.Pass(Duration::Minutes(10));
  EXPECT_EQ(Active(), "True Held");
  EXPECT_EQ(UsedOn("a"), 2);
}

TEST_F(ReservationTest, AllOfItIsHeldOrNothing) {
  Node("a", "3");
  harness_.Object(Places(2, 2));
  EXPECT_EQ(Active(), "False WaitingForRoom");
  EXPECT_THAT(harness_.reservations().back().second.conditions.front().message,
              HasSubstr("no room for place p1: 0/1 nodes are available: 1 Insufficient cpu."));
  EXPECT_EQ(UsedOn("a"), 0);
  Node("b", "2");
  EXPECT_EQ(Active(), "True Held");
}

TEST_F(ReservationTest, ANodeThatIsNotThereIsNamed) {
  Node("a", "8");
  k8s::ResourceReservation made = Places(1, 2);
  made.places[0].node = "b";
  harness_.Object(made);
  EXPECT_EQ(Active(), "False WaitingForRoom");
  EXPECT_EQ(harness_.reservations().back().second.conditions.front().message,
            "no room for place p0: there is no node b");
  Node("b", "2");
  EXPECT_EQ(Active(), "True Held");
}

TEST_F(ReservationTest, ItIsServedBeforeOtherWorkThatWaitsForTheSameRoom) {
  Node("a", "2");
  harness_.Pod(Other("first", "2"));
  harness_.ScheduleAndBind();
  harness_.Object(Places(1, 2));
  harness_.Pod(Other("second", "2"));
  EXPECT_EQ(Active(), "False WaitingForRoom");
  harness_.PodGone("first");
  harness_.Pass(Duration::Seconds(20));
  EXPECT_EQ(Active(), "True Held");
  EXPECT_EQ(harness_.NodeOf("second"), "");
}

TEST_F(ReservationTest, ADeletedOneGivesItsRoomToWhoWaits) {
  Node("a", "2");
  const k8s::ResourceReservation made = Places(1, 2);
  harness_.Object(made);
  harness_.Pod(Other("o", "2"));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("o"), "");
  harness_.ObjectGone(made);
  harness_.Pass(Duration::Seconds(12));
  EXPECT_EQ(harness_.NodeOf("o"), "a");
}

TEST_F(ReservationTest, AChangedOneIsHeldAsItIsNow) {
  Node("a");
  harness_.Object(Places(1, 2));
  harness_.Pod(User("u"));
  harness_.ScheduleAndBind();
  harness_.Object(Places(1, 4));
  harness_.Schedule();
  EXPECT_EQ(UsedOn("a"), 4) << "one CPU is used, three are held";
}

TEST_F(ReservationTest, ItsStatusComingBackChangesNothing) {
  Node("a");
  k8s::ResourceReservation made = Places(1, 2);
  harness_.Object(made);
  harness_.Schedule();
  ASSERT_EQ(harness_.reservations().size(), 1U);
  made.conditions = harness_.reservations().front().second.conditions;
  made.meta.resource_version = "2";
  harness_.Object(made);
  harness_.Schedule();
  EXPECT_EQ(harness_.reservations().size(), 1U);
  EXPECT_EQ(UsedOn("a"), 2);
}

TEST_F(ReservationTest, AStatusThatCouldNotBeWrittenIsWrittenAgain) {
  Node("a");
  harness_.Object(Places(1, 2));
  harness_.Schedule();
  ASSERT_EQ(harness_.reservations().size(), 1U);
  harness_.engine().Handle(ActionFinished{harness_.reservations().front().first, "no"},
                           harness_.now());
  harness_.Pass(Duration::Seconds(61));
  EXPECT_EQ(harness_.reservations().size(), 2U);
}

TEST_F(ReservationTest, AnotherSchedulerKnowsWhatIsUsedAndWhatIsOver) {
  Node("a");
  harness_.Pod(User("u", "2").On("a"));
  harness_.Object(Places(2, 2));
  EXPECT_EQ(Active(), "True Held");
  EXPECT_EQ(UsedOn("a"), 4) << "two are used, two are held";
  k8s::ResourceReservation over = Places(1, 4);
  over.meta.name = "over";
  over.meta.uid = "uid-over";
  over.conditions = {{"ReservationActive", "False", "Used", "its pods have their places", {}}};
  harness_.Object(over);
  harness_.Schedule();
  EXPECT_EQ(UsedOn("a"), 4);
}

TEST_F(ReservationTest, ItLeavesANodeThatGoesOrIsFilledByOthers) {
  Node("a", "2");
  harness_.Object(Places(1, 2));
  EXPECT_EQ(Active(), "True Held");
  Node("b", "2");
  harness_.Pod(Other("foreign", "1").On("a"));
  harness_.Schedule();
  EXPECT_EQ(UsedOn("a"), 1);
  EXPECT_EQ(UsedOn("b"), 2);
  harness_.NodeGone("b");
  EXPECT_EQ(Active(), "False WaitingForRoom");
  Node("c", "2");
  EXPECT_EQ(Active(), "True Held");
  EXPECT_EQ(UsedOn("c"), 2);
}

TEST_F(ReservationTest, OneThatLosesAPlaceAndFindsNoOtherHoldsNothing) {
  Node("a", "3");
  Node("b", "3");
  harness_.Object(Places(2, 3));
  harness_.Pod(Other("o", "2"));
  EXPECT_EQ(Active(), "True Held");
  EXPECT_EQ(harness_.NodeOf("o"), "");
  harness_.NodeGone("b");
  EXPECT_EQ(Active(), "False WaitingForRoom");
  harness_.Pass(Duration::Seconds(12));
  EXPECT_EQ(harness_.NodeOf("o"), "a") << "it hears of it";
}

TEST_F(ReservationTest, TwoThatLostAPlaceEachDoNotBlockEachOther) {
  for (const std::string name : {"a", "b", "c", "d"}) Node(name, "2");
  harness_.Object(Places(2, 2));
  harness_.Schedule();
  k8s::ResourceReservation second = Places(2, 2);
  second.meta.name = second.meta.uid = "second";
  harness_.Object(second);
  harness_.Schedule();
  harness_.NodeGone("b");
  harness_.NodeGone("c");
  harness_.Schedule();
  const auto& all = harness_.engine().reservations().all();
  EXPECT_EQ(all.at("default/app").stage(), ReservationStage::kWaiting);
  EXPECT_EQ(all.at("default/second").stage(), ReservationStage::kHeld);
  EXPECT_EQ(UsedOn("a") + UsedOn("d"), 4);
}

TEST_F(ReservationTest, WorkThatHasBegunKeepsWhatIsLeftOfIt) {
  for (const std::string name : {"a", "b", "c"}) Node(name, "2");
  harness_.Object(Places(3, 2));
  harness_.Schedule();
  harness_.Pod(User("u", "2").On("a"));
  harness_.Pod(Other("o", "2"));
  harness_.NodeGone("c");
  EXPECT_EQ(Active(), "False WaitingForRoom");
  harness_.Pass(Duration::Seconds(12));
  EXPECT_EQ(UsedOn("b"), 2);
  EXPECT_EQ(harness_.NodeOf("o"), "") << "what is left is there for the next of them";
  harness_.PodGone("u");
  harness_.Pass(Duration::Seconds(12));
  EXPECT_NE(harness_.NodeOf("o"), "") << "nobody has begun any more, and not all of it fits";
}

TEST_F(ReservationTest, WhatOneGivesUpIsHeldAtOnceForAnOlderOne) {
  Node("a", "2");
  Node("b", "2");
  k8s::ResourceReservation younger = Places(2, 2);
  younger.meta.name = younger.meta.uid = "younger";
  harness_.Object(younger);
  harness_.Schedule();
  k8s::ResourceReservation older = Places(1, 2);
  older.meta.created = harness_.now() - Duration::Seconds(10);
  harness_.Object(older);
  EXPECT_EQ(Active(), "False WaitingForRoom");
  harness_.NodeGone("b");
  EXPECT_FALSE(harness_.engine().ScheduleOne(harness_.now())) << "no pod waits";
  const auto& all = harness_.engine().reservations().all();
  EXPECT_EQ(all.at("default/younger").stage(), ReservationStage::kWaiting);
  EXPECT_EQ(all.at("default/app").stage(), ReservationStage::kHeld);
}

TEST_F(ReservationTest, APlaceOnANamedNodeIsNowhereElse) {
  Node("a", "2");
  Node("b", "2");
  harness_.Pod(Other("o", "1").On("b"));
  harness_.Object(Places(1, 2, "b"));
  EXPECT_EQ(Active(), "False WaitingForRoom");
  harness_.PodGone("o");
  EXPECT_EQ(Active(), "True Held");
  EXPECT_EQ(UsedOn("b"), 2);
}

TEST_F(ReservationTest, NobodyIsEvictedForItAndItIsNobodysVictim) {
  Node("a", "2");
  harness_.Object(Places(1, 2));
  harness_.Schedule();
  harness_.Pod(Other("vip", "2").Priority(1'000'000));
  harness_.Schedule();
  EXPECT_TRUE(harness_.evictions().empty());
  EXPECT_EQ(harness_.NodeOf("vip"), "");
}

TEST_F(ReservationTest, AGangUsesItAsAWholeAndEndsIt) {
  Node("a");
  Node("b");
  k8s::ResourceReservation made = Places(4, 2);
  made.pod_group = "train";
  harness_.Object(made);
  harness_.Pod(Other("o"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("o"), "") << "everything is held";
  const std::vector<std::string> members = {"m0", "m1", "m2"};
  for (const std::string& name : members) harness_.Pod(Member(name, 3, "2"));
  harness_.ScheduleAndBind();
  for (const std::string& name : members) {
    ASSERT_NE(harness_.NodeOf(name), "");
    harness_.Pod(Member(name, 3, "2").On(harness_.NodeOf(name)));
  }
  EXPECT_EQ(Active(), "False Used");
  harness_.Pass(Duration::Seconds(12));
  EXPECT_NE(harness_.NodeOf("o"), "") << "the fourth place is not needed";
}

TEST_F(ReservationTest, AGangThatDoesNotFitLeavesItAsItIs) {
  Node("a");
  k8s::ResourceReservation made = Places(1, 2);
  made.pod_group = "train";
  harness_.Object(made);
  for (const std::string name : {"m0", "m1", "m2"}) harness_.Pod(Member(name, 3, "2"));
  harness_.Schedule();
  EXPECT_EQ(UsedOn("a"), 2);
  EXPECT_EQ(Active(), "True Held");
  Node("b", "2");
  harness_.Pass(Duration::Seconds(12));
  EXPECT_NE(harness_.NodeOf("m0"), "");
  EXPECT_EQ(UsedOn("a") + UsedOn("b"), 6);
}

TEST_F(ReservationTest, ABindingThatFailsGivesThePlaceBackToIt) {
  Node("a", "2");
  harness_.Object(Places(1, 2));
  harness_.Pod(User("u", "2"));
  harness_.Schedule();
  harness_.Pod(Other("o", "2"));
  harness_.FinishBinding("u", "no");
  harness_.Schedule();
  EXPECT_EQ(UsedOn("a"), 2);
  EXPECT_EQ(harness_.NodeOf("o"), "");
}

TEST_F(ReservationTest, APodThatTwoAreForUsesEachOnlyAsFarAsTheOtherDoesNot) {
  Node("a");
  harness_.Object(Places(1, 2));
  k8s::ResourceReservation second = Places(1, 2);
  second.meta.name = second.meta.uid = "second";
  second.meta.labels = {{"scheduling.kubenexus.io/app-id", "app"}};
  harness_.Object(second);
  harness_.Schedule();
  EXPECT_EQ(UsedOn("a"), 4);
  harness_.Pod(User("u", "3"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("u"), "a");
  EXPECT_EQ(UsedOn("a"), 4) << "three are used, one is held";
}

TEST_F(ReservationTest, OneWhoFindsABetterPlaceLeavesTheReservedOneToOthers) {
  Node("a", "2");
  harness_.Object(Places(1, 2, "a"));
  harness_.Schedule();
  Node("b", "16");
  harness_.Pod(Other("o", "2").NodeSelector("kubernetes.io/hostname", "a"));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("o"), "");
  harness_.Pod(User("u", "2"));
  harness_.Pass(Duration::Seconds(12));
  EXPECT_EQ(harness_.NodeOf("u"), "b") << "the emptier node";
  EXPECT_EQ(harness_.NodeOf("o"), "a") << "it hears of it";
}

TEST_F(ReservationTest, ANodeWithoutRoomForOneMorePodIsNotOvercommitted) {
  Node("a", "4", "1");
  harness_.Object(Places(1, 3));
  harness_.Pod(User("u"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("u"), "a");
  EXPECT_EQ(UsedOn("a"), 1);
  EXPECT_EQ(Active(), "False WaitingForRoom");
}

TEST(ReservationWithoutThePlugin, DoesNothing) {
  testing::Harness harness;
  harness.Node(NodeBuilder("a").Has("cpu", "1").Has("memory", "1Gi").Has("pods", "110"));
  k8s::ResourceReservation made;
  made.meta.name = made.meta.uid = "r";
  made.places = {{"p", "", {{"cpu", k8s::Quantity::FromUnits(1)}}}};
  harness.Object(made);
  harness.Pod(PodBuilder("o").Asks("cpu", "1"));
  harness.ScheduleAndBind();
  EXPECT_EQ(harness.NodeOf("o"), "a");
  EXPECT_TRUE(harness.reservations().empty());
}

}  // namespace
}  // namespace knx::engine
