// Gangs whose minimum is said by an object.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

k8s::PodGroup Group(const std::string& name, std::int32_t minimum,
                    k8s::PodGroupApi api = k8s::PodGroupApi::kSigs) {
  k8s::PodGroup group;
  group.api = api;
  group.meta.name = name;
  group.meta.namespace_ = "default";
  group.minimum = minimum;
  return group;
}

class GangObjectTest : public ::testing::Test {
 protected:
  void Node(const std::string& name, const std::string& cpu) {
    harness_.Node(NodeBuilder(name).Has("cpu", cpu).Has("memory", "64Gi").Has("pods", "110"));
  }
  static PodBuilder Member(const std::string& name) {
    return PodBuilder(name).Asks("cpu", "1").Label("scheduling.x-k8s.io/pod-group", "train");
  }
  void Members(int count) {
    for (int i = 0; i < count; ++i) harness_.Pod(Member("m" + std::to_string(i)));
  }
  int Sent(int count) {
    int sent = 0;
    for (int i = 0; i < count; ++i)
      sent += harness_.NodeOf("m" + std::to_string(i)).empty() ? 0 : 1;
    return sent;
  }
  void Gone(const k8s::Object& object) {
    harness_.engine().Handle(ObjectDeleted{object}, harness_.now());
  }
  void TearDown() override {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
  }
  testing::Harness harness_{{}, testing::GangProfiles()};
};

TEST_F(GangObjectTest, ObjectBeforeItsPods) {
  Node("a", "8");
  harness_.Object(Group("train", 3));
  Members(2);
  harness_.Schedule();
  EXPECT_EQ(Sent(2), 0);
  EXPECT_EQ(harness_.Why("m0"),
            "waiting for pod group default/train: it has 2 pods, needs at least 3");
  Members(3);
  harness_.ScheduleAndBind();
  EXPECT_EQ(Sent(3), 3);
}

TEST_F(GangObjectTest, HowLongThoseWithAPlaceWaitMayBeSaidByTheObject) {
  Node("a", "8");
  k8s::PodGroup group = Group("train", 2);
  group.schedule_timeout_seconds = 300;
  harness_.Object(group);
  Members(2);
  harness_.Schedule();
  harness_.FinishBinding("m0");
  harness_.FinishBinding("m1", "refused");
  harness_.NodeGone("a");  // m1 finds no other place
  harness_.Pass(Duration::Seconds(290));
  EXPECT_THAT(harness_.notes(), Not(Contains(HasSubstr("PodGroupIncomplete"))));
  harness_.Pass(Duration::Seconds(11));
  EXPECT_THAT(harness_.notes(),
              Contains("PodGroupIncomplete: pod group default/train is incomplete: 1 of 2 pods "
                       "have a place"));
}

TEST_F(GangObjectTest, ObjectAfterItsPods) {
  Node("a", "8");
  Members(3);
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(Sent(3), 0);
  ASSERT_EQ(harness_.patches().size(), 3U);
  EXPECT_EQ(harness_.patches()[0].reason, "WaitingForPodGroup");
  EXPECT_EQ(harness_.patches()[0].message,
            "waiting for pod group default/train: the PodGroup object (scheduling.x-k8s.io) does "
            "not exist");
  // One of another project by that name is another one.
  harness_.Object(Group("train", 2, k8s::PodGroupApi::kKubernetes));
  harness_.Schedule();
  EXPECT_EQ(Sent(3), 0);
  harness_.Object(Group("train", 3));
  harness_.ScheduleAndBind();
  EXPECT_EQ(Sent(3), 3);
}

TEST_F(GangObjectTest, AMinimumThatIsRaisedWhileTheyWait) {
  Node("a", "2");
  harness_.Object(Group("train", 3));
  Members(3);
  harness_.Schedule();
  EXPECT_THAT(harness_.Why("m0"), HasSubstr("needs 3 pods at once, 2 fit"));
  harness_.Object(Group("train", 4));
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(harness_.Why("m1"),
            "waiting for pod group default/train: it has 3 pods, needs at least 4");
  EXPECT_EQ(harness_.patches().back().message,
            "waiting for pod group default/train: it has 3 pods, needs at least 4");
  Node("b", "8");
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(Sent(3), 0);
  Members(4);
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(Sent(4), 4);
}

TEST_F(GangObjectTest, AMinimumThatIsLoweredIsTriedAtOnce) {
  Node("a", "2");
  harness_.Object(Group("train", 3));
  Members(3);
  harness_.Schedule();
  EXPECT_EQ(Sent(3), 0);
  harness_.Object(Group("train", 2));
  harness_.ScheduleAndBind();
  EXPECT_EQ(Sent(3), 2);
}

TEST_F(GangObjectTest, TheSameObjectAgainChangesNothing) {
  Node("a", "2");
  harness_.Object(Group("train", 3));
  Members(3);
  harness_.Schedule();
  const std::size_t notes = harness_.notes().size();
  harness_.Object(Group("train", 3));
  harness_.Schedule();
  EXPECT_EQ(harness_.notes().size(), notes);
}

TEST_F(GangObjectTest, PodsWhoseObjectGoesWaitAndThoseThatRunStay) {
  Node("a", "8");
  harness_.Object(Group("train", 2));
  Members(2);
  harness_.ScheduleAndBind();
  ASSERT_EQ(Sent(2), 2);
  Gone(Group("train", 2));
  harness_.Pod(Member("m2"));
  harness_.Pass(Duration::Minutes(2));
  EXPECT_EQ(harness_.NodeOf("m2"), "");
  EXPECT_EQ(harness_.Why("m2"),
            "waiting for pod group default/train: the PodGroup object (scheduling.x-k8s.io) does "
            "not exist");
  EXPECT_THAT(harness_.notes(), Not(Contains(HasSubstr("PodGroupIncomplete"))));
  harness_.Object(Group("train", 2));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("m2"), "a");
}

// The policy "basic", or a minimum of one.
TEST_F(GangObjectTest, PodsOfAGroupThatIsNoGangArePodsLikeAnyOther) {
  Node("a", "2");
  harness_.Object(Group("train", 1));
  Members(3);
  harness_.ScheduleAndBind();
  EXPECT_EQ(Sent(3), 2);
  EXPECT_THAT(harness_.Why("m2"), HasSubstr("0/1 nodes are available"));
  EXPECT_THAT(harness_.Why("m2"), Not(HasSubstr("pod group")));
  // It becomes one: who waits waits for the others now, and those who run count.
  harness_.Object(Group("train", 4));
  harness_.Schedule();
  EXPECT_EQ(harness_.PlaceOf("m2"), QueuePlace::kGated);
  EXPECT_EQ(harness_.Why("m2"),
            "waiting for pod group default/train: it has 3 pods, needs at least 4");
  Node("b", "1");
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(harness_.NodeOf("m2"), "");
  // And is none again.
  harness_.Object(Group("train", 0));
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(harness_.NodeOf("m2"), "b");
}

TEST_F(GangObjectTest, WhoStoodForAGangThatIsNoneAnyMoreGoesOn) {
  Node("a", "2");
  harness_.Object(Group("train", 3));
  Members(3);
  harness_.Schedule();
  harness_.Object(Group("train", 1));
  harness_.ScheduleAndBind();
  EXPECT_EQ(Sent(3), 2);
  EXPECT_EQ(harness_.patches().back().message.rfind("0/1 nodes are available", 0), 0U)
      << "not what it said as a gang";
  for (int i = 0; i < 3; ++i) harness_.PodGone("m" + std::to_string(i));
}

TEST_F(GangObjectTest, GroupsOfAWorkloadAreGangsForThemselvesAndSoAreTheirReplicas) {
  Node("a", "8");
  const auto pod = [](const std::string& name, const std::string& group, const std::string& key) {
    k8s::Pod made = PodBuilder(name).Asks("cpu", "1");
    made.spec.pod_group = k8s::PodGroupReference{"job", group, key};
    return made;
  };
  for (const char* name : {"m0", "m1"}) harness_.Pod(pod(name, "workers", "0"));
  harness_.Pod(pod("m2", "workers", "1"));
  harness_.Pod(pod("m3", "driver", ""));
  harness_.Schedule();
  EXPECT_EQ(Sent(4), 0);
  EXPECT_EQ(harness_.Why("m2"),
            "waiting for pod group default/job/workers/1: the Workload object with such a group "
            "(scheduling.k8s.io) does not exist");
  k8s::GroupWorkload job;
  job.meta.name = "job";
  job.meta.namespace_ = "default";
  job.groups = {{"driver", 1}, {"workers", 2}};
  harness_.Object(job);
  harness_.ScheduleAndBind();
  EXPECT_EQ(Sent(4), 3);
  EXPECT_EQ(harness_.Why("m2"),
            "waiting for pod group default/job/workers/1: it has 1 pod, needs at least 2");
}

TEST_F(GangObjectTest, WhoContradictsItsObjectIsWarnedOfOnce) {
  Node("a", "8");
  const auto said = [this] {
    return std::count_if(harness_.notes().begin(), harness_.notes().end(),
                         [](const auto& note) { return note.starts_with("PodGroupConflict: "); });
  };
  harness_.Pod(Member("m0").Label("pod-group.scheduling.kubenexus.io/min-available", "2"));
  harness_.Pod(Member("m1").Label("pod-group.scheduling.kubenexus.io/name", "other"));
  harness_.Schedule();
  EXPECT_THAT(harness_.notes(),
              Contains("PodGroupConflict: pod group default/train: label "
                       "scheduling.x-k8s.io/pod-group says train, label "
                       "pod-group.scheduling.kubenexus.io/name says other: the first counts"));
  EXPECT_EQ(said(), 1);
  harness_.Object(Group("train", 3));
  harness_.Schedule();
  EXPECT_THAT(harness_.notes(),
              Contains("PodGroupConflict: pod group default/train: the PodGroup object "
                       "(scheduling.x-k8s.io) wants 3 pods to start together, the pod 2: the "
                       "object counts"));
  EXPECT_EQ(said(), 2);
  harness_.Object(Group("train", 5));
  harness_.Pass(Duration::Minutes(1));
  EXPECT_EQ(said(), 2) << "once a pod";
}

// Members on their way when their gang is a gang no more: one that fails fails for itself.
TEST_F(GangObjectTest, MembersOnTheirWayOfAGangThatIsNoneAnyMore) {
  Node("a", "8");
  harness_.Object(Group("train", 2));
  Members(2);
  harness_.Schedule();
  ASSERT_EQ(Sent(2), 2);
  harness_.Object(Group("train", 1));
  harness_.FinishBinding("m0", "refused");
  harness_.FinishBinding("m1");
  harness_.Pass(Duration::Seconds(11));
  harness_.FinishBinding("m0");
  EXPECT_EQ(harness_.engine().Standing("uid-m0"), PodStanding::kBound);
}

TEST_F(GangObjectTest, AMemberOfOneGangMayBecomeOneOfNone) {
  harness_.Object(Group("alone", 1));
  k8s::Pod pod = Member("m0");
  harness_.Pod(pod);
  pod.meta.labels = {{"scheduling.x-k8s.io/pod-group", "alone"}};
  harness_.Pod(pod);
  EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
  harness_.PodGone("m0");
}

TEST_F(GangObjectTest, WithoutAnyNode) {
  harness_.Object(Group("train", 2));
  Members(2);
  harness_.Schedule();
  EXPECT_EQ(Sent(2), 0);
}

}  // namespace
}  // namespace knx::engine
