#include "cluster/state.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "cluster/testing/builders.h"

namespace knx::cluster {
namespace {

using testing::NodeBuilder;
using testing::PodBuilder;

NodeBuilder SmallNode(const std::string& name) {
  return NodeBuilder(name).Has("cpu", "4").Has("memory", "8Gi").Has("pods", "110");
}

class StateTest : public ::testing::Test {
 protected:
  NodeRow Row(std::string_view name) const { return state_.nodes().Find(name); }
  std::int64_t Requested(std::string_view node, ResourceId id) const {
    return state_.nodes().requested(id)[Row(node)];
  }
  void TearDown() override { EXPECT_EQ(state_.Verify().value_or("equal"), "equal"); }

  State state_;
};

TEST_F(StateTest, APodTakesRoomOnItsNodeUntilItIsGone) {
  state_.UpsertNode(SmallNode("n1"));
  const PodId pod =
      state_.AddPod(PodBuilder("p").Asks("cpu", "500m").Asks("example.com/x", "2").On("n1"));
  EXPECT_EQ(Requested("n1", kCpu), 500);
  EXPECT_EQ(Requested("n1", state_.resources().Find("example.com/x")), 2);
  EXPECT_EQ(state_.nodes().pod_count(Row("n1")), 1);
  state_.RemovePod(pod);
  EXPECT_EQ(Requested("n1", kCpu), 0);
  EXPECT_EQ(state_.nodes().pod_count(Row("n1")), 0);
}

TEST_F(StateTest, SumsBeyondEveryNumberAreTheGreatestUntilEnoughHasLeft) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kSeven = std::int64_t{7} << 60;  // 7Ei; there is room for one of them
  state_.UpsertNode(SmallNode("n1"));
  std::vector<PodId> pods;
  for (const char* name : {"a", "b", "c"}) {
    pods.push_back(
        state_.AddPod(PodBuilder(name).Asks("memory", "7Ei").Asks("cpu", "9Ei").On("n1")));
  }
  state_.AddPod(PodBuilder("small").Asks("memory", "1Gi").On("n1"));
  EXPECT_EQ(Requested("n1", kMemory), kMost);
  EXPECT_EQ(Requested("n1", kCpu), kMost);
  EXPECT_EQ(state_.nodes().assumed_memory()[Row("n1")], kMost);
  EXPECT_EQ(state_.Verify().value_or("equal"), "equal");
  state_.RemovePod(pods[1]);
  EXPECT_EQ(Requested("n1", kMemory), kMost);
  EXPECT_EQ(state_.Verify().value_or("equal"), "equal");
  state_.RemovePod(pods[0]);
  EXPECT_EQ(Requested("n1", kMemory), kSeven + (std::int64_t{1} << 30));
  state_.RemovePod(pods[2]);
  EXPECT_EQ(Requested("n1", kMemory), std::int64_t{1} << 30);
  EXPECT_EQ(Requested("n1", kCpu), 0);
}

TEST_F(StateTest, ARowLivesAsLongAsANodeOrAPodNamesIt) {
  const PodId pod = state_.AddPod(PodBuilder("p").Asks("cpu", "1").On("later"));
  ASSERT_TRUE(Row("later").valid());
  EXPECT_EQ(state_.nodes().node_count(), 0U);
  state_.UpsertNode(SmallNode("later"));
  EXPECT_EQ(state_.nodes().node_count(), 1U);
  EXPECT_EQ(Requested("later", kCpu), 1000);
  state_.RemoveNode(Row("later"));
  ASSERT_TRUE(Row("later").valid()) << "its pod is still there";
  const NodeRow row = Row("later");
  state_.RemovePod(pod);
  EXPECT_FALSE(Row("later").valid());
  state_.UpsertNode(SmallNode("next"));
  EXPECT_EQ(Row("next"), row) << "a row is used again";
}

TEST_F(StateTest, PodsThatNoPluginCanTellApartAreOneClass) {
  const PodId a = state_.AddPod(PodBuilder("a").Asks("cpu", "1").Label("pod-name", "a"));
  const PodId b =
      state_.AddPod(PodBuilder("b").Asks("cpu", "1000m").Label("pod-name", "b").On("n1"));
  const PodId c = state_.AddPod(PodBuilder("c").Asks("cpu", "1001m"));
  EXPECT_EQ(state_.pod(a).pod_class, state_.pod(b).pod_class);
  EXPECT_NE(state_.pod(a).pod_class, state_.pod(c).pod_class);
  EXPECT_EQ(state_.classes().size(), 2U);
  state_.RemovePod(c);
  EXPECT_EQ(state_.classes().size(), 1U);
}

TEST_F(StateTest, AnAssumedPodIsConfirmedByItsOwnNodeAndMovedByAnother) {
  state_.UpsertNode(SmallNode("n1"));
  state_.UpsertNode(SmallNode("n2"));
  const PodId pod = state_.AddPod(PodBuilder("p").Asks("cpu", "1"));
  state_.Assume(pod, Row("n1"));
  EXPECT_TRUE(state_.pod(pod).assumed);
  EXPECT_FALSE(state_.UpdatePod(pod, PodBuilder("p").Asks("cpu", "1")).moved)
      << "an update that does not know the node yet is older than what we assume";
  EXPECT_TRUE(state_.pod(pod).assumed);
  EXPECT_FALSE(state_.UpdatePod(pod, PodBuilder("p").Asks("cpu", "1").On("n1")).moved);
  EXPECT_FALSE(state_.pod(pod).assumed);
  EXPECT_TRUE(state_.UpdatePod(pod, PodBuilder("p").Asks("cpu", "1").On("n2")).moved);
  EXPECT_EQ(Requested("n1", kCpu), 0);
  EXPECT_EQ(Requested("n2", kCpu), 1000);
}

TEST_F(StateTest, UpdatesSayWhatTheyChanged) {
  state_.UpsertNode(SmallNode("n1"));
  EXPECT_FALSE(state_.UpsertNode(SmallNode("n1")).any());
  EXPECT_TRUE(state_.UpsertNode(SmallNode("n1").Label("zone", "a")).labels);
  EXPECT_TRUE(state_.UpsertNode(SmallNode("n1").Label("zone", "a").Has("cpu", "8")).allocatable);
  EXPECT_TRUE(
      state_.UpsertNode(SmallNode("n1").Taint("k", "v", k8s::TaintEffect::kNoSchedule)).taints);
  const PodId pod = state_.AddPod(PodBuilder("p").Asks("cpu", "2").On("n1"));
  const PodChange smaller = state_.UpdatePod(pod, PodBuilder("p").Asks("cpu", "1").On("n1"));
  EXPECT_TRUE(smaller.spec && smaller.usage && smaller.requests_lower);
  EXPECT_EQ(Requested("n1", kCpu), 1000);
  EXPECT_TRUE(
      state_.UpdatePod(pod, PodBuilder("p").Asks("cpu", "1").Label("a", "b").On("n1")).labels);
}

TEST_F(StateTest, PostingListsFollowTheLabels) {
  state_.UpsertNode(SmallNode("n1").Label("zone", "a"));
  state_.UpsertNode(SmallNode("n2").Label("zone", "a"));
  const Symbol zone = state_.words().Find("zone");
  const Symbol a = state_.words().Find("a");
  EXPECT_EQ(state_.nodes().WithLabel(zone, a).size(), 2U);
  state_.UpsertNode(SmallNode("n1").Label("zone", "b"));
  ASSERT_EQ(state_.nodes().WithLabel(zone, a).size(), 1U);
  EXPECT_EQ(state_.nodes().WithLabel(zone, a)[0], Row("n2"));
  EXPECT_EQ(state_.nodes().WithLabel(zone).Count(), 2U);
  state_.RemoveNode(Row("n2"));
  EXPECT_TRUE(state_.nodes().WithLabel(zone, a).empty());
}

TEST_F(StateTest, RanksFollowNamesWhateverOrderNodesComeIn) {
  for (const char* name : {"m", "z", "a"}) state_.UpsertNode(SmallNode(name));
  state_.RefreshRanks();
  EXPECT_LT(state_.nodes().rank(Row("a")), state_.nodes().rank(Row("m")));
  state_.UpsertNode(SmallNode("b"));
  state_.RefreshRanks();
  EXPECT_LT(state_.nodes().rank(Row("a")), state_.nodes().rank(Row("b")));
  EXPECT_LT(state_.nodes().rank(Row("b")), state_.nodes().rank(Row("m")));
  EXPECT_LT(state_.nodes().rank(Row("m")), state_.nodes().rank(Row("z")));
}

TEST_F(StateTest, ANominationOutlivesItsNodeWhichMayComeBack) {
  state_.UpsertNode(SmallNode("n1"));
  const PodId pod = state_.AddPod(PodBuilder("p").Asks("cpu", "1"));
  state_.Nominate(pod, Row("n1"));
  EXPECT_EQ(state_.nominated(Row("n1")).size(), 1U);
  state_.RemoveNode(Row("n1"));
  EXPECT_EQ(state_.pod(pod).nominated, Row("n1"));
  state_.UpsertNode(SmallNode("n1"));
  EXPECT_EQ(state_.nominated(Row("n1")).size(), 1U);
  state_.RemoveNode(Row("n1"));
  state_.ClearNomination(pod);
  EXPECT_FALSE(Row("n1").valid());
}

TEST_F(StateTest, ANominationIsFollowedWhenSomebodyElseChangesIt) {
  for (const char* name : {"n1", "n2"}) state_.UpsertNode(SmallNode(name));
  const PodId pod = state_.AddPod(PodBuilder("p").Asks("cpu", "1"));
  EXPECT_FALSE(state_.UpdatePod(pod, PodBuilder("p").Asks("cpu", "1")).nomination);
  state_.Nominate(pod, Row("n1"));
  state_.UpdatePod(pod, PodBuilder("p").Asks("cpu", "1").Label("a", "b"));
  EXPECT_EQ(state_.pod(pod).nominated, Row("n1")) << "older news does not take it back";
  EXPECT_FALSE(state_.UpdatePod(pod, PodBuilder("p").Asks("cpu", "1").Nominated("n1")).nomination);
  EXPECT_TRUE(state_.UpdatePod(pod, PodBuilder("p").Asks("cpu", "1").Nominated("n2")).nomination);
  EXPECT_EQ(state_.pod(pod).nominated, Row("n2"));
  state_.Nominate(pod, Row("n1"));
  state_.UpdatePod(pod, PodBuilder("p").Asks("cpu", "1").Nominated("n2"));
  EXPECT_EQ(state_.pod(pod).nominated, Row("n1"));
  state_.UpdatePod(pod, PodBuilder("p").Asks("cpu", "1"));
  EXPECT_FALSE(state_.pod(pod).nominated.valid());
  state_.UpdatePod(pod, PodBuilder("p").Asks("cpu", "1").Nominated("later"));
  state_.UpsertNode(SmallNode("later"));
  EXPECT_EQ(state_.pod(pod).nominated, Row("later")) << "told of the pod before the node";
}

TEST_F(StateTest, ANodeIsMarkedAsChangedWhenAPodOnItBecomesAnotherVictim) {
  state_.UpsertNode(SmallNode("n1"));
  const PodId pod = state_.AddPod(PodBuilder("p").On("n1"));
  const auto changes = [&](const k8s::Pod& next) {
    const std::uint64_t before = state_.usage_changes().end();
    state_.UpdatePod(pod, next);
    return state_.usage_changes().ChangedSince(before, Row("n1"));
  };
  EXPECT_FALSE(changes(PodBuilder("p").On("n1")));
  EXPECT_TRUE(changes(PodBuilder("p").On("n1").Started(Time{5})));
  EXPECT_TRUE(changes(PodBuilder("p").On("n1").Started(Time{5}).Label("a", "b")));
  EXPECT_TRUE(changes(PodBuilder("p").On("n1").Started(Time{5}).Label("a", "b").Priority(3)));
  EXPECT_FALSE(changes(PodBuilder("p").On("n1").Started(Time{5}).Label("a", "b").Priority(3)));
}

TEST_F(StateTest, KnowsWhoLeavesBecauseRoomWasMadeForAnother) {
  k8s::Pod evicted = PodBuilder("evicted").On("n1").Preempted();
  k8s::Pod drained = evicted;
  drained.meta.uid = "drained";
  drained.status.conditions[0].reason = "EvictionByEvictionAPI";
  k8s::Pod reprieved = evicted;
  reprieved.meta.uid = "reprieved";
  reprieved.status.conditions[0].status = "False";
  k8s::Pod stays = evicted;
  stays.meta.uid = "stays";
  stays.meta.deleted.reset();
  EXPECT_TRUE(state_.pod(state_.AddPod(evicted)).preempted);
  for (const k8s::Pod& pod : {drained, reprieved, stays}) {
    EXPECT_FALSE(state_.pod(state_.AddPod(pod)).preempted) << pod.meta.uid;
  }
  EXPECT_FALSE(state_.pod(state_.AddPod(PodBuilder("leaves").On("n1").Terminating())).preempted);
}

TEST_F(StateTest, TwoPodsOnOnePortLeaveItOneAfterTheOther) {
  state_.UpsertNode(SmallNode("n1"));
  const PodId a = state_.AddPod(PodBuilder("a").Port(80).On("n1"));
  state_.AddPod(PodBuilder("b").Port(80).On("n1"));
  const auto wanted = HostPortsOf(state_.class_of(a).spec);
  state_.RemovePod(a);
  EXPECT_TRUE(state_.nodes().ports(Row("n1")).ConflictsWith(wanted));
}

TEST_F(StateTest, ARollbackIsSeenAsAChange) {
  state_.UpsertNode(SmallNode("n1"));
  const PodId pod = state_.AddPod(PodBuilder("p").Asks("cpu", "1"));
  const auto position = state_.usage_changes().end();
  const auto mark = state_.Mark();
  state_.Assume(pod, Row("n1"));
  EXPECT_EQ(Requested("n1", kCpu), 1000);
  state_.Rollback(mark);
  EXPECT_EQ(Requested("n1", kCpu), 0);
  std::vector<NodeRow> changed;
  state_.usage_changes().ChangedSince(position, changed);
  EXPECT_EQ(changed, std::vector<NodeRow>{Row("n1")});
}

TEST_F(StateTest, AnInnerPlanCanBeKeptAndTheOuterTakenBack) {
  state_.UpsertNode(SmallNode("n1"));
  const PodId a = state_.AddPod(PodBuilder("a").Asks("cpu", "1"));
  const PodId b = state_.AddPod(PodBuilder("b").Asks("cpu", "2").On("n1"));
  const auto outer = state_.Mark();
  state_.Displace(b);
  const auto inner = state_.Mark();
  state_.Assume(a, Row("n1"));
  state_.Commit(inner);
  EXPECT_EQ(Requested("n1", kCpu), 1000);
  state_.Rollback(outer);
  EXPECT_EQ(Requested("n1", kCpu), 2000);
  EXPECT_FALSE(state_.pod(b).assumed);
}

TEST_F(StateTest, ImagesAreCountedByNode) {
  state_.UpsertNode(SmallNode("n1").Image("app:1", 100));
  state_.UpsertNode(SmallNode("n2").Image("app:1", 200));
  const ImageId image = state_.images().Find("app:1");
  EXPECT_EQ(state_.images().Get(image).nodes, 2U);
  EXPECT_EQ(state_.images().Get(image).size_bytes, 100) << "as the first node reported";
  state_.RemoveNode(Row("n1"));
  EXPECT_EQ(state_.images().Get(image).nodes, 1U);
  state_.UpsertNode(SmallNode("n2"));
  EXPECT_FALSE(state_.images().Find("app:1").valid());
}

}  // namespace
}  // namespace knx::cluster
