#include "cluster/finished_members.h"

#include <gtest/gtest.h>

#include "cluster/state.h"
#include "cluster/testing/builders.h"

namespace knx::cluster {
namespace {

using testing::PodBuilder;

constexpr Time At(std::int64_t second) { return Time{} + Duration::Seconds(second); }

TEST(FinishedMembers, ArePodsOfTheRunThatTheyWereIn) {
  const GangKey key{Symbol{1}, GangSource::kPod, "train"};
  FinishedMembers finished;
  EXPECT_TRUE(finished.Add(key, {"a", "job-1", At(10), At(20)}));
  EXPECT_FALSE(finished.Add(key, {"a", "job-1", At(10), At(20)})) << "told twice";
  EXPECT_TRUE(finished.Add(key, {"b", "job-2", At(10), At(30)}));
  struct Case {
    Time begun;
    std::uint32_t count;
  };
  for (const Case& c : {Case{At(0), 2},
                        {At(10), 2},
                        {At(19), 2},
                        {At(20), 1},
                        {At(29), 1},
                        {At(30), 0},
                        {kNever, 0}}) {
    EXPECT_EQ(finished.Count(key, c.begun), c.count) << c.begun.ns;
  }
  EXPECT_EQ(finished.BegunBy(key, "job-1"), At(10));
  EXPECT_EQ(finished.BegunBy(key, "job-3"), kNever);
  const GangKey other{Symbol{1}, GangSource::kPod, "other"};
  EXPECT_EQ(finished.Count(other, At(0)), 0U);
  ASSERT_TRUE(finished.Remove("a").has_value());
  EXPECT_FALSE(finished.Remove("a").has_value());
  EXPECT_EQ(finished.Count(key, At(0)), 1U);
  EXPECT_EQ(finished.BegunBy(key, "job-1"), kNever);
  // It says now that it was of another gang.
  EXPECT_TRUE(finished.Add(other, {"b", "job-2", At(10), At(30)}));
  EXPECT_FALSE(finished.Contains(key));
  EXPECT_EQ(finished.Count(other, At(0)), 1U);
}

// As a pod is told that has ended: the last of its conditions says when.
TEST(FinishedMembers, AreReadFromPods) {
  k8s::Pod pod = PodBuilder("p").Created(At(5)).ControlledBy("Job", "train");
  EXPECT_EQ(ReadFinishedMember(pod).ended, At(5));
  pod.status.conditions = {{"Initialized", "True", "", "", At(6)},
                           {"Ready", "False", "PodCompleted", "", At(60)},
                           {"PodScheduled", "True", "", "", std::nullopt}};
  const FinishedMember read = ReadFinishedMember(pod);
  EXPECT_EQ(read.uid, "uid-p");
  EXPECT_EQ(read.owner, "train");
  EXPECT_EQ(read.created, At(5));
  EXPECT_EQ(read.ended, At(60));
}

// What the state makes of it, pod by pod.
class FinishedInState : public ::testing::Test {
 protected:
  static PodBuilder Member(const std::string& name, const std::string& owner, int created) {
    PodBuilder pod(name);
    pod.Created(At(created))
        .Label("pod-group.scheduling.kubenexus.io/name", "train")
        .Label("pod-group.scheduling.kubenexus.io/min-available", "3");
    if (!owner.empty()) pod.ControlledBy("Job", owner);
    return pod;
  }
  PodId Add(const std::string& name, const std::string& owner, int created, bool runs = false) {
    PodBuilder pod = Member(name, owner, created);
    return state_.AddPod(runs ? pod.On("node") : pod);
  }
  GangId Finish(const std::string& name, const std::string& owner, int created, int ended) {
    k8s::Pod pod = Member(name, owner, created);
    pod.status.phase = k8s::PodPhase::kSucceeded;
    pod.status.conditions = {{"Ready", "False", "PodCompleted", "", At(ended)}};
    return state_.AddFinished(pod);
  }
  std::uint32_t FinishedBeside(PodId member) {
    EXPECT_EQ(state_.Verify().value_or("equal"), "equal");
    return state_.gangs().Get(state_.gang_of(member)).finished;
  }
  State state_;
};

TEST_F(FinishedInState, CountWhetherTheyAreToldOfBeforeTheMembersOrAfter) {
  EXPECT_FALSE(Finish("a", "", 0, 50).valid()) << "no member is there yet";
  const PodId member = Add("m", "", 0);
  EXPECT_EQ(FinishedBeside(member), 1U);
  EXPECT_EQ(Finish("b", "", 0, 60), state_.gang_of(member));
  EXPECT_EQ(FinishedBeside(member), 2U);
}

TEST_F(FinishedInState, ThoseOfAnotherRunDoNotCount) {
  Finish("a", "job-1", 0, 50);
  const PodId next = Add("m", "job-2", 100);
  EXPECT_EQ(FinishedBeside(next), 0U);
  // One that its Job makes again, long after the others have ended.
  const PodId again = Add("n", "job-1", 100);
  EXPECT_EQ(FinishedBeside(again), 1U);
  state_.RemovePod(again);
  EXPECT_EQ(FinishedBeside(next), 0U);
}

// One Job of several that make up a gang is done.
TEST_F(FinishedInState, ThoseOfAnotherOwnerCountIfTheyWereThereTogether) {
  Finish("a", "job-1", 0, 50);
  Finish("b", "job-2", 0, 60);
  const PodId again = Add("m", "job-2", 100);
  EXPECT_EQ(FinishedBeside(again), 2U);
}

TEST_F(FinishedInState, WhoIsAboutToLeaveDoesNotMakeTwoRunsOne) {
  Finish("a", "", 0, 50);
  const PodId old = Add("m", "", 0, true);
  const PodId next = Add("n", "", 100);
  EXPECT_EQ(FinishedBeside(next), 1U);
  state_.UpdatePod(old, Member("m", "", 0).On("node").Terminating());
  EXPECT_EQ(FinishedBeside(next), 0U);
}

// Somebody sweeps up pods that have ended.
TEST_F(FinishedInState, ThatAreDeletedCountAsLongAsSomebodyOfTheRunHasAPlace) {
  Finish("a", "job-1", 0, 50);
  const PodId runs = Add("m", "job-1", 0, true);
  EXPECT_TRUE(state_.RemoveFinished("uid-a").valid());
  EXPECT_EQ(FinishedBeside(runs), 1U);
  state_.UpdatePod(runs, Member("m", "job-1", 0).On("node").Terminating());
  const PodId next = Add("n", "job-2", 100);
  EXPECT_EQ(FinishedBeside(next), 0U);
  EXPECT_FALSE(state_.RemoveFinished("uid-a").valid());
}

TEST_F(FinishedInState, OfNoGangAreNotKept) {
  const std::size_t before = state_.gangs().bytes();
  for (int i = 0; i < 1000; ++i) {
    k8s::Pod pod = PodBuilder("p" + std::to_string(i));
    pod.status.phase = k8s::PodPhase::kSucceeded;
    EXPECT_FALSE(state_.AddFinished(pod).valid());
  }
  EXPECT_EQ(state_.gangs().bytes(), before);
}

}  // namespace
}  // namespace knx::cluster
