#include "engine/engine.h"

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
using ::testing::StartsWith;

class EngineTest : public ::testing::Test {
 protected:
  static NodeBuilder Node(const std::string& name, const std::string& cpu = "4") {
    return NodeBuilder(name).Has("cpu", cpu).Has("memory", "8Gi").Has("pods", "110");
  }
  [[nodiscard]] bool HasRoom(const std::string& pod) {
    const cluster::State& state = harness_.engine().state();
    return state.pod(state.pods().Find("uid-" + pod)).node.valid();
  }
  void TearDown() override {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
  }
  testing::Harness harness_;
};

TEST_F(EngineTest, PlacesAPodOnTheEmptierNodeAndSaysSo) {
  harness_.Node(Node("full"));
  harness_.Node(Node("empty"));
  harness_.Pod(PodBuilder("there").Asks("cpu", "2").On("full"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("p"), "empty");
  EXPECT_THAT(harness_.notes(), ElementsAre("Scheduled: Successfully assigned default/p to empty"));
  EXPECT_EQ(harness_.engine().Standing("uid-p"), PodStanding::kBound);
}

TEST_F(EngineTest, EqualNodesAreTakenInTheOrderOfTheirNames) {
  for (const char* name : {"c", "a", "b"}) harness_.Node(Node(name));
  for (const char* pod : {"p1", "p2", "p3"}) {
    harness_.Pod(PodBuilder(pod).Asks("cpu", "1"));
    harness_.ScheduleAndBind();
  }
  EXPECT_EQ(harness_.NodeOf("p1"), "a");
  EXPECT_EQ(harness_.NodeOf("p2"), "b");
  EXPECT_EQ(harness_.NodeOf("p3"), "c");
}

TEST_F(EngineTest, SaysWhyAPodFitsNowhereAndTriesAgainWhenThatChanges) {
  harness_.Node(Node("a", "1"));
  harness_.Node(Node("b", "1").Taint("k", "v", k8s::TaintEffect::kNoSchedule));
  harness_.Pod(PodBuilder("p").Asks("cpu", "2"));
  harness_.Schedule();
  const std::string why =
      "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). "
      "no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not "
      "helpful for scheduling.";
  EXPECT_EQ(harness_.Why("p"), why);
  EXPECT_THAT(harness_.notes(), ElementsAre("FailedScheduling: " + why));
  ASSERT_EQ(harness_.patches().size(), 1U);
  EXPECT_EQ(harness_.patches()[0].reason, "Unschedulable");
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kUnschedulable);
  harness_.Node(Node("c", "4"));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("p"), "c");
}

TEST_F(EngineTest, AnUnchangedReasonIsNotWrittenTwice) {
  harness_.Node(Node("a", "1"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "2"));
  harness_.Schedule();
  harness_.Pass(Duration::Minutes(11));
  EXPECT_GE(harness_.notes().size(), 2U) << "it was tried again after five minutes";
  EXPECT_EQ(harness_.patches().size(), 1U);
}

TEST_F(EngineTest, WithoutNodesThePodWaitsForOne) {
  harness_.Pod(PodBuilder("p"));
  harness_.Schedule();
  EXPECT_EQ(harness_.Why("p"), "no nodes available to schedule pods");
  harness_.Node(Node("a"));
  harness_.Pass(Duration::Seconds(1));
  EXPECT_EQ(harness_.NodeOf("p"), "a");
}

TEST_F(EngineTest, AFailedBindingGivesTheRoomBackAndIsTriedAgain) {
  harness_.Node(Node("a", "1"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness_.Pod(PodBuilder("q").Asks("cpu", "1"));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("p"), "a");
  EXPECT_THAT(harness_.Why("q"), StartsWith("0/1 nodes are available: 1 Insufficient cpu. "));
  harness_.FinishBinding("p", "the server is on fire");
  EXPECT_EQ(harness_.Why("p"), "running Bind plugin \"DefaultBinder\": the server is on fire");
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kErrorBackoff);
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("q"), "a") << "the room is free for who waits";
}

TEST_F(EngineTest, ABindingWaitsUntilTheLastStatusIsWritten) {
  harness_.HoldPatches();
  harness_.Node(Node("a", "1"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "2"));
  harness_.Schedule();
  harness_.Node(Node("b", "2"));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("p"), "") << "the status would overwrite that it is bound";
  EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
  harness_.LetPatchesGo();
  EXPECT_EQ(harness_.NodeOf("p"), "b");
}

TEST_F(EngineTest, AStatusNobodyReportsOnHoldsABindingUpForSoLongOnly) {
  harness_.HoldPatches();
  harness_.Node(Node("a", "1"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "2"));
  harness_.Schedule();
  harness_.Node(Node("b", "2"));
  harness_.Pass(Duration::Minutes(16));
  EXPECT_EQ(harness_.NodeOf("p"), "b");
}

TEST_F(EngineTest, ABindingWhoseAnswerWasLostIsRecognised) {
  harness_.Node(Node("a"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness_.Schedule();
  harness_.Pod(PodBuilder("p").Asks("cpu", "1").On("a"));
  harness_.FinishBinding("p", "timeout");
  EXPECT_EQ(harness_.engine().Standing("uid-p"), PodStanding::kBound);
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kNone);
  EXPECT_EQ(harness_.engine().state().nodes().requested(cluster::kCpu)[cluster::NodeRow{0}], 1000);
}

TEST_F(EngineTest, ABindingNobodyReportsOnIsGivenUp) {
  harness_.Node(Node("a"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness_.Schedule();
  harness_.Pass(Duration::Minutes(16));
  EXPECT_THAT(
      harness_.notes(),
      Contains("FailedScheduling: running Bind plugin \"DefaultBinder\": no answer within 15m0s"));
}

TEST_F(EngineTest, SomebodyElsesBindingIsTaken) {
  harness_.Node(Node("a"));
  harness_.Node(Node("b"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("p"), "a");
  harness_.Pod(PodBuilder("p").Asks("cpu", "1").On("b"));
  harness_.FinishBinding("p", "pod p is already assigned to node \"b\"");
  const auto& nodes = harness_.engine().state().nodes();
  EXPECT_EQ(nodes.requested(cluster::kCpu)[nodes.Find("a")], 0);
  EXPECT_EQ(nodes.requested(cluster::kCpu)[nodes.Find("b")], 1000);
}

TEST_F(EngineTest, APodThatIsDeletedOnItsWayLeavesNothing) {
  harness_.Node(Node("a"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness_.Schedule();
  harness_.PodGone("p");
  harness_.FinishBinding("p", "not found");
  EXPECT_EQ(harness_.engine().state().pods().size(), 0U);
  EXPECT_EQ(harness_.engine().state().nodes().requested(cluster::kCpu)[cluster::NodeRow{0}], 0);
}

TEST_F(EngineTest, ATerminatingPodIsNotScheduled) {
  harness_.Node(Node("a"));
  k8s::Pod pod = PodBuilder("p");
  pod.meta.deleted = Time{1};
  harness_.Pod(pod);
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("p"), "");
  EXPECT_THAT(harness_.notes(),
              ElementsAre("FailedScheduling: skip schedule deleting pod: default/p"));
}

TEST_F(EngineTest, AGatedPodWaitsSilentlyUntilItsGatesAreGone) {
  harness_.Node(Node("a"));
  harness_.Pod(PodBuilder("p").Gate("example.com/one").Gate("example.com/two"));
  harness_.Schedule();
  EXPECT_THAT(harness_.notes(), IsEmpty());
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kGated);
  EXPECT_EQ(harness_.Why("p"), "waiting for scheduling gates: [example.com/one example.com/two]");
  harness_.Pod(PodBuilder("p"));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("p"), "a");
}

TEST_F(EngineTest, PodsOfOtherSchedulersTakeRoomAndAreLeftAlone) {
  harness_.Node(Node("a", "1"));
  k8s::Pod foreign = PodBuilder("foreign").Asks("cpu", "1");
  foreign.spec.scheduler_name = "other";
  harness_.Pod(foreign);
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("foreign"), "");
  EXPECT_EQ(harness_.engine().Standing("uid-foreign"), PodStanding::kNotOurs);
  foreign.spec.node_name = "a";
  harness_.Pod(foreign);
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness_.Schedule();
  EXPECT_THAT(harness_.Why("p"), HasSubstr("Insufficient cpu"));
}

TEST_F(EngineTest, APodThatIsBoundNoLongerIsScheduledAgain) {
  harness_.Node(Node("a", "1"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness_.ScheduleAndBind();
  harness_.Pod(PodBuilder("p").Asks("cpu", "1").On("a"));
  harness_.Pod(PodBuilder("waits").Asks("cpu", "1"));
  harness_.Schedule();
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  EXPECT_FALSE(HasRoom("p"));
  harness_.Node(Node("b", "1"));
  harness_.Pass(Duration::Seconds(30));
  EXPECT_TRUE(HasRoom("p"));
  EXPECT_TRUE(HasRoom("waits"));
}

TEST_F(EngineTest, APodWhoseDeletionIsUndoneIsScheduled) {
  k8s::Pod leaving = PodBuilder("p");
  leaving.meta.deleted = Time{1};
  harness_.Pod(leaving);
  harness_.Schedule();
  harness_.Node(Node("a"));
  harness_.Pod(PodBuilder("p"));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("p"), "a");
}

TEST_F(EngineTest, APodMayBeHandedToAnotherSchedulerWhileItIsBeingBound) {
  harness_.Node(Node("a", "1"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness_.Schedule();
  ASSERT_EQ(harness_.NodeOf("p"), "a");
  k8s::Pod foreign = PodBuilder("p").Asks("cpu", "1");
  foreign.spec.scheduler_name = "other";
  harness_.Pod(foreign);
  EXPECT_FALSE(HasRoom("p"));
  harness_.FinishBinding("p", "it is not yours");
  harness_.Pass(Duration::Seconds(30));
  EXPECT_EQ(harness_.engine().Standing("uid-p"), PodStanding::kNotOurs);
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness_.Schedule();
  EXPECT_TRUE(HasRoom("p")) << "and back";
}

TEST_F(EngineTest, AFinishedPodFreesItsRoom) {
  harness_.Node(Node("a", "1"));
  harness_.Pod(PodBuilder("job").Asks("cpu", "1").On("a"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness_.Schedule();
  k8s::Pod done = PodBuilder("job").Asks("cpu", "1").On("a");
  done.status.phase = k8s::PodPhase::kSucceeded;
  harness_.Pod(done);
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("p"), "a");
}

TEST_F(EngineTest, RoomPromisedToAnImportantPodIsNotGivenToALesserOne) {
  harness_.Node(Node("a", "2"));
  harness_.Node(Node("b", "1"));
  harness_.Pod(PodBuilder("there").Asks("cpu", "1").On("b"));
  harness_.Pod(PodBuilder("vip").Asks("cpu", "2").Priority(100).Gate("g").Nominated("a"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1").Priority(10));
  harness_.Schedule();
  EXPECT_EQ(harness_.Why("p"), "0/2 nodes are available: 2 Insufficient cpu.");
  harness_.Pod(PodBuilder("higher").Asks("cpu", "1").Priority(1000));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("higher"), "a") << "who is more important may take it";
}

TEST_F(EngineTest, APodGoesToItsNominatedNodeIfItFitsThere) {
  harness_.Node(Node("a"));
  harness_.Node(Node("b", "2"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1").Nominated("b"));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("p"), "b");
}

// Quirks of kube-scheduler: the nominated node is asked about even if it was left out, and who
// rejects it is listed with those that left nodes out.
TEST_F(EngineTest, ANominatedNodeIsAskedAboutEvenIfItWasLeftOut) {
  k8s::NodeSelectorTerm term;
  term.match_fields.push_back({"metadata.name", k8s::SelectorOperator::kIn, {"a"}});
  harness_.Node(Node("a", "1"));
  harness_.Node(Node("b", "1").Unschedulable());
  harness_.Node(Node("c", "1"));
  harness_.Pod(PodBuilder("full").Asks("cpu", "1").On("a"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1").Requires(term).Nominated("b"));
  harness_.Schedule();
  const std::string why = harness_.Why("p");
  EXPECT_EQ(why.substr(0, why.find(" no new claims")),
            "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) "
            "[NodeAffinity NodeUnschedulable], 1 node(s) were unschedulable.");
}

TEST_F(EngineTest, ADaemonSetPodLooksAtItsOwnNodeOnly) {
  harness_.Node(Node("a"));
  harness_.Node(Node("b", "1"));
  k8s::NodeSelectorTerm term;
  term.match_fields.push_back({"metadata.name", k8s::SelectorOperator::kIn, {"b"}});
  harness_.Pod(PodBuilder("fits").Asks("cpu", "1").Requires(term));
  harness_.Pod(PodBuilder("not").Asks("cpu", "1").Requires(term));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("fits"), "b");
  EXPECT_EQ(harness_.Why("not"),
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) "
            "[NodeAffinity]. no new claims to deallocate, preemption: 0/2 nodes are available: 1 "
            "No preemption victims found "
            "for incoming pod, 1 Preemption is not helpful for scheduling.");
}

}  // namespace
}  // namespace knx::engine
