// Gangs between their plan and their bindings: what is lost meanwhile, and who waits for whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "cluster/testing/volume_builders.h"
#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::ClaimBuilder;
using cluster::testing::MakeClass;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using cluster::testing::VolumeBuilder;
using ::testing::Contains;
using ::testing::HasSubstr;

NodeBuilder SmallNode(const std::string& name) {
  return NodeBuilder(name).Has("cpu", "1").Has("memory", "8Gi").Has("pods", "110");
}

PodBuilder OfTrain(const std::string& name, int minimum) {
  return PodBuilder(name)
      .Asks("cpu", "1")
      .Label("pod-group.scheduling.kubenexus.io/name", "train")
      .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(minimum));
}

void TellOf(testing::Harness& harness, const k8s::Object& object) {
  harness.engine().Handle(ObjectUpserted{object}, harness.now());
}

// Two members are on their way, one of which waits for its volume; there are nodes for three.
struct Departing {
  Departing() {
    for (const char* const name : {"a", "b", "c"}) harness.Node(SmallNode(name));
    Object(MakeClass("local", "kubernetes.io/no-provisioner"));
    Object(VolumeBuilder("pv").Class("local"));
    Object(ClaimBuilder("x").Class("local"));
    harness.Pod(OfTrain("m0", 2));
    harness.Pod(OfTrain("m1", 2).Claim("x"));
    harness.Schedule();
  }
  ~Departing() {
    EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness.engine().VerifyCaches().value_or("equal"), "equal");
  }
  Departing(const Departing&) = delete;
  Departing& operator=(const Departing&) = delete;

  void Object(const k8s::Object& object) { TellOf(harness, object); }
  // The volume is there: nothing is left to be waited for.
  void Bound() {
    Object(VolumeBuilder("pv").Class("local").Version("2").For("x", "uid-x"));
    harness.Answer(harness.questions().back().first, {true, "", false});
    Object(ClaimBuilder("x").Class("local").Version("3").BoundTo("pv"));
  }
  std::string PlannedFor(const std::string& pod) {
    const cluster::State& state = harness.engine().state();
    const cluster::NodeRow row = state.pod(state.pods().Find("uid-" + pod)).node;
    return row.valid() ? state.nodes().name(row) : "";
  }
  int Sent() {
    return (harness.NodeOf("m0").empty() ? 0 : 1) + (harness.NodeOf("m1").empty() ? 0 : 1);
  }

  testing::Harness harness{{}, testing::GangProfiles()};
};

TEST(GangDeparture, NobodyIsBoundBeforeEverythingIsDoneForAll) {
  Departing gang;
  EXPECT_EQ(gang.Sent(), 0);
  gang.Bound();
  EXPECT_EQ(gang.Sent(), 2);
}

TEST(GangDeparture, APlaceThatIsLostBeforeTheFirstBindingLetsAllBePlacedAnew) {
  struct Case {
    std::string_view name;
    std::function<void(Departing&, const std::string&)> happens;
  };
  const Case cases[] = {
      {"the node goes",
       [](Departing& gang, const std::string& node) { gang.harness.NodeGone(node); }},
      {"the node is closed",
       [](Departing& gang, const std::string& node) {
         gang.harness.Node(SmallNode(node).Unschedulable());
       }},
      {"the node becomes too small",
       [](Departing& gang, const std::string& node) {
         gang.harness.Node(
             NodeBuilder(node).Has("cpu", "500m").Has("memory", "8Gi").Has("pods", "110"));
       }},
      {"somebody else takes the room",
       [](Departing& gang, const std::string& node) {
         gang.harness.Pod(PodBuilder("stranger").Asks("cpu", "1").On(node));
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Departing gang;
    const std::string lost = gang.PlannedFor("m0");
    c.happens(gang, lost);
    EXPECT_EQ(gang.Sent(), 0);
    gang.Bound();
    EXPECT_EQ(gang.Sent(), 0) << "nobody is bound without the other";
    EXPECT_THAT(gang.harness.notes(),
                Contains(HasSubstr("nobody of the pod group is bound, and all are placed anew")));
    gang.harness.ScheduleAndBind();
    EXPECT_EQ(gang.Sent(), 2) << "without a back-off";
    EXPECT_NE(gang.harness.NodeOf("m0"), lost);
  }
}

TEST(GangDeparture, WhereThereIsNoOtherPlaceNobodyIsBound) {
  Departing gang;
  gang.harness.NodeGone(gang.PlannedFor("m0"));
  for (const char* const name : {"a", "b", "c"}) {
    if (gang.PlannedFor("m1") != name) gang.harness.NodeGone(name);
  }
  gang.Bound();
  gang.harness.Pass(Duration::Minutes(10));
  EXPECT_EQ(gang.Sent(), 0);
  EXPECT_THAT(gang.harness.Why("m0"), HasSubstr("needs 2 pods at once, 1 fit"));
  gang.harness.Node(SmallNode("d"));
  gang.harness.Pass(Duration::Seconds(11));
  EXPECT_EQ(gang.Sent(), 2);
}

TEST(GangDeparture, WhoComesLaterIsNotBoundBeforeThoseThatMustStart) {
  Departing gang;
  gang.harness.Pod(OfTrain("m2", 2));
  gang.harness.Pass(Duration::Seconds(1));
  EXPECT_EQ(gang.harness.NodeOf("m2"), "");
  gang.Bound();
  EXPECT_EQ(gang.Sent(), 2);
  gang.harness.Schedule();
  EXPECT_NE(gang.harness.NodeOf("m2"), "");
}

// Those who are bound are refused while one above the minimum waits for its volume: they may not
// start without it, as long as they count on it.
TEST(GangDeparture, WhoMayComeBackYetIsNotCountedOn) {
  testing::Harness harness({}, testing::GangProfiles());
  for (const char* const name : {"a", "b"}) harness.Node(SmallNode(name));
  harness.Pod(OfTrain("m0", 2));
  harness.Pod(OfTrain("m1", 2));
  harness.Schedule();
  TellOf(harness, MakeClass("local", "kubernetes.io/no-provisioner"));
  TellOf(harness, VolumeBuilder("pv").Class("local"));
  TellOf(harness, ClaimBuilder("x").Class("local"));
  harness.Node(SmallNode("c"));
  harness.Pod(OfTrain("m2", 2).Claim("x"));
  harness.Schedule();
  ASSERT_EQ(harness.engine().Standing("uid-m2"), PodStanding::kPaused);
  harness.NodeGone("a");
  harness.NodeGone("b");
  harness.FinishBinding("m0", "refused");
  harness.FinishBinding("m1", "refused");
  harness.Node(SmallNode("d"));
  harness.Pass(Duration::Seconds(20));
  EXPECT_EQ(harness.engine().Standing("uid-m0"), PodStanding::kWaiting);
  EXPECT_EQ(harness.engine().Standing("uid-m1"), PodStanding::kWaiting);
  EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
}

TEST(GangDeparture, AMemberThatIsBeingDeletedIsNotWaitedForInVain) {
  Departing gang;
  gang.harness.Pod(OfTrain("m2", 2));
  gang.harness.Pod(OfTrain("m0", 2).Terminating());
  gang.Bound();
  EXPECT_EQ(gang.Sent(), 0);
  gang.harness.Schedule();
  EXPECT_EQ(gang.harness.NodeOf("m0"), "");
  EXPECT_NE(gang.harness.NodeOf("m1"), "");
  EXPECT_NE(gang.harness.NodeOf("m2"), "");
}

TEST(GangDeparture, AGangThatNeedsMoreThanArePlannedWaitsForThem) {
  Departing gang;
  gang.harness.Pod(OfTrain("m2", 3).Asks("memory", "20Gi"));
  gang.Bound();
  EXPECT_EQ(gang.Sent(), 0);
  gang.harness.Pass(Duration::Seconds(20));
  EXPECT_EQ(gang.Sent(), 0);
  gang.harness.Node(NodeBuilder("large").Has("cpu", "1").Has("memory", "64Gi").Has("pods", "110"));
  gang.harness.Pass(Duration::Seconds(11));
  EXPECT_EQ(gang.Sent(), 2);
  EXPECT_EQ(gang.harness.NodeOf("m2"), "large");
}

TEST(GangDeparture, WhoHasLeftTheGangIsNotBoundWithIt) {
  Departing gang;
  gang.harness.Pod(OfTrain("m0", 2).Label("pod-group.scheduling.kubenexus.io/name", "another"));
  gang.Bound();
  gang.harness.Pass(Duration::Seconds(20));
  EXPECT_EQ(gang.Sent(), 0);
  gang.harness.Pod(OfTrain("m2", 2));
  gang.harness.Pass(Duration::Seconds(2));
  EXPECT_EQ(gang.Sent(), 1) << "the one that stayed, with the new one";
  EXPECT_NE(gang.harness.NodeOf("m2"), "");
}

TEST(GangDeparture, WhoBecomesAMemberOnItsWayGoesWithTheOthers) {
  Departing gang;
  gang.Bound();
  gang.Object(VolumeBuilder("pw").Class("local"));
  gang.Object(ClaimBuilder("y").Class("local"));
  const auto alone = [] { return PodBuilder("alone").Asks("cpu", "1").Claim("y"); };
  gang.harness.Pod(alone());
  gang.harness.Schedule();
  ASSERT_EQ(gang.harness.engine().Standing("uid-alone"), PodStanding::kPaused);
  gang.harness.Pod(alone()
                       .Label("pod-group.scheduling.kubenexus.io/name", "late")
                       .Label("pod-group.scheduling.kubenexus.io/min-available", "2"));
  EXPECT_EQ(gang.harness.engine().Standing("uid-alone"), PodStanding::kWaiting);
}

TEST(GangDeparture, RoomThatIsKeptForAnotherIsNoLoss) {
  Departing gang;
  // It has its own room beside those that are on their way.
  gang.harness.Node(
      NodeBuilder(gang.PlannedFor("m0")).Has("cpu", "2").Has("memory", "8Gi").Has("pods", "9"));
  gang.harness.Pod(PodBuilder("leaving").Asks("cpu", "1").On(gang.PlannedFor("m0")).Terminating());
  gang.harness.Pod(
      PodBuilder("important").Asks("cpu", "1").Priority(10).Nominated(gang.PlannedFor("m0")));
  const std::string planned = gang.PlannedFor("m0");
  gang.Bound();
  EXPECT_EQ(gang.Sent(), 2);
  EXPECT_EQ(gang.harness.NodeOf("m0"), planned);
}

// ---- what is being written ----

TEST(GangStatus, AConditionThatIsBeingWrittenHoldsAllOfThemBack) {
  testing::Harness harness({}, testing::GangProfiles());
  harness.Node(SmallNode("a"));
  harness.Pod(OfTrain("m0", 2));
  harness.HoldPatches();
  harness.Pod(OfTrain("m1", 2));
  harness.Schedule();
  harness.Node(SmallNode("b"));
  harness.Pass(Duration::Seconds(2));
  EXPECT_EQ(harness.NodeOf("m0") + harness.NodeOf("m1"), "");
  EXPECT_EQ(harness.engine().Standing("uid-m0"), PodStanding::kPaused);
  harness.NodeGone("b");
  harness.Node(SmallNode("c"));
  harness.LetPatchesGo();
  EXPECT_EQ(harness.NodeOf("m0") + harness.NodeOf("m1"), "") << "a place was lost meanwhile";
  harness.ScheduleAndBind();
  EXPECT_NE(harness.NodeOf("m0"), "");
  EXPECT_NE(harness.NodeOf("m1"), "");
  EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
}

// ---- back-off ----

TEST(GangDeparture, TheGangWaitsForLongerEachTimeWhoeverStandsForIt) {
  Departing gang;
  gang.harness.Pod(OfTrain("important", 2).Asks("cpu", "5").Priority(10));
  int failures = 0;
  const Time until = gang.harness.now() + Duration::Seconds(60);
  while (gang.harness.now() < until) {
    if (gang.harness.engine().Standing("uid-m1") == PodStanding::kPaused) {
      ++failures;
      gang.harness.Answer(gang.harness.questions().back().first, {false, "no disks", false});
    }
    gang.harness.Pass(Duration::Milliseconds(100));
  }
  EXPECT_EQ(gang.Sent(), 0);
  EXPECT_GT(failures, 5);
  EXPECT_LT(failures, 12) << "1, 2, 4, 8 and then 10 seconds";
}

}  // namespace
}  // namespace knx::engine
