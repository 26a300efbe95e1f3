// What PodGroup objects of Kubernetes are made to say of themselves.
#include "engine/group_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::HasSubstr;

k8s::PodGroup NativeGroup(std::int32_t minimum) {
  k8s::PodGroup group;
  group.version = "v1alpha2";
  group.meta.name = "train";
  group.meta.namespace_ = "default";
  group.meta.uid = "uid-train";
  group.meta.generation = 1;
  group.minimum = minimum;
  return group;
}

class GroupConditionsTest : public ::testing::Test {
 protected:
  void Node(const std::string& name, const std::string& cpu) {
    harness_.Node(NodeBuilder(name).Has("cpu", cpu).Has("memory", "64Gi").Has("pods", "110"));
  }
  static k8s::Pod Member(const std::string& name, const std::string& cpu = "1") {
    k8s::Pod pod = PodBuilder(name).Asks("cpu", cpu);
    pod.spec.pod_group = k8s::PodGroupReference{"", "train", ""};
    return pod;
  }
  void Members(int count, const std::string& cpu = "1") {
    for (int i = 0; i < count; ++i) harness_.Pod(Member("m" + std::to_string(i), cpu));
  }
  // The API server says that they are bound.
  void Confirm(int count) {
    for (int i = 0; i < count; ++i) {
      k8s::Pod pod = Member("m" + std::to_string(i));
      pod.spec.node_name = harness_.NodeOf(pod.meta.name);
      harness_.Pod(pod);
    }
  }
  // What was written, each as "True Scheduled".
  std::vector<std::string> Written() {
    harness_.Pass(Duration::Milliseconds(1));
    std::vector<std::string> out;
    for (const auto& [action, patch] : harness_.groups()) {
      out.push_back(patch.condition.said.status + " " + patch.condition.said.reason);
    }
    return out;
  }
  void AnswerLast(std::optional<std::string> failure = std::nullopt) {
    harness_.engine().Handle(ActionFinished{harness_.groups().back().first, std::move(failure)},
                             harness_.now());
  }
  // The object as the API server has it after the last write.
  void Echo(k8s::PodGroup group) {
    group.scheduled = harness_.groups().back().second.condition;
    harness_.Object(group);
  }
  void TearDown() override { EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal"); }
  testing::Harness harness_{{}, testing::GangProfiles()};
};

using Texts = std::vector<std::string>;

TEST_F(GroupConditionsTest, SaysThatItHasStartedOnceTheMinimumIsBound) {
  Node("a", "8");
  harness_.Object(NativeGroup(3));
  Members(3);
  harness_.ScheduleAndBind();
  EXPECT_EQ(Written(), Texts()) << "nobody has seen the pods bound yet";
  Confirm(2);
  EXPECT_EQ(Written(), Texts());
  Confirm(3);
  EXPECT_EQ(Written(), (Texts{"True Scheduled"}));
  const PatchPodGroup& patch = harness_.groups().back().second;
  EXPECT_EQ(patch.namespace_ + "/" + patch.name + " " + patch.uid, "default/train uid-train");
  EXPECT_EQ(patch.version, "v1alpha2");
  EXPECT_EQ(patch.condition.said.type, "PodGroupScheduled");
  EXPECT_EQ(patch.condition.observed_generation, 1);
  AnswerLast();
  Echo(NativeGroup(3));
  harness_.Pass(Duration::Seconds(300));
  EXPECT_EQ(Written().size(), 1U);
}

TEST_F(GroupConditionsTest, SinceKubernetes137TheConditionHasAnotherName) {
  Node("a", "8");
  k8s::PodGroup group = NativeGroup(2);
  group.version = "v1beta1";
  harness_.Object(group);
  Members(2);
  harness_.ScheduleAndBind();
  Confirm(2);
  ASSERT_EQ(Written(), (Texts{"True Scheduled"}));
  EXPECT_EQ(harness_.groups().back().second.condition.said.type, "PodGroupInitiallyScheduled");
  EXPECT_EQ(harness_.groups().back().second.version, "v1beta1");
}

TEST_F(GroupConditionsTest, SaysWhyItDoesNotFitAndThenThatItHasStarted) {
  Node("a", "1");
  harness_.Object(NativeGroup(2));
  Members(2);
  harness_.Schedule();
  ASSERT_EQ(Written(), (Texts{"False Unschedulable"}));
  const Time refused = *harness_.groups().back().second.condition.said.last_transition;
  EXPECT_THAT(harness_.groups().back().second.condition.said.message,
              HasSubstr("pod group default/train needs 2 pods at once, 1 fit"));
  AnswerLast();
  Echo(NativeGroup(2));
  harness_.Pass(Duration::Seconds(20));
  Node("b", "4");
  harness_.ScheduleAndBind();
  Confirm(2);
  ASSERT_EQ(Written(), (Texts{"False Unschedulable", "True Scheduled"}));
  EXPECT_GT(*harness_.groups().back().second.condition.said.last_transition, refused);
}

TEST_F(GroupConditionsTest, TheSameInOtherWordsIsWrittenNowAndThen) {
  Node("a", "1");
  harness_.Object(NativeGroup(4));
  Members(4);
  harness_.Schedule();
  ASSERT_EQ(Written().size(), 1U);
  const Time since = *harness_.groups().back().second.condition.said.last_transition;
  AnswerLast();
  Echo(NativeGroup(4));
  // Each of these lets one more fit, and is reason to try again.
  for (const char* const name : {"b", "c"}) {
    Node(name, "1");
    harness_.Pass(Duration::Seconds(11));
    harness_.Schedule();
  }
  EXPECT_EQ(Written().size(), 1U);
  harness_.Pass(Duration::Seconds(60));
  ASSERT_EQ(Written().size(), 2U);
  EXPECT_THAT(harness_.groups().back().second.condition.said.message, HasSubstr("3 fit"));
  EXPECT_EQ(*harness_.groups().back().second.condition.said.last_transition, since)
      << "it is as refused as before";
}

TEST_F(GroupConditionsTest, WhatCouldNotBeWrittenIsWrittenAgain) {
  Node("a", "8");
  harness_.Object(NativeGroup(2));
  Members(2);
  harness_.ScheduleAndBind();
  Confirm(2);
  ASSERT_EQ(Written().size(), 1U);
  AnswerLast("no right");
  harness_.Pass(Duration::Seconds(59));
  EXPECT_EQ(Written().size(), 1U);
  harness_.Pass(Duration::Seconds(1));
  ASSERT_EQ(Written(), (Texts{"True Scheduled", "True Scheduled"}));
  // Nobody answers this one.
  harness_.Pass(Duration::Seconds(60));
  ASSERT_EQ(Written().size(), 3U);
  AnswerLast();
  harness_.Pass(Duration::Seconds(600));
  EXPECT_EQ(Written().size(), 3U);
}

TEST_F(GroupConditionsTest, OnceStartedItSaysSoForGood) {
  k8s::PodGroup group = NativeGroup(2);
  group.scheduled.emplace();
  group.scheduled->said = {"PodGroupScheduled", "True", "Scheduled", "", harness_.now()};
  harness_.Object(group);
  Members(2);
  harness_.Schedule();
  EXPECT_EQ(Written(), Texts());
}

TEST_F(GroupConditionsTest, AnotherGroupOfTheNameBeginsAnew) {
  Node("a", "8");
  harness_.Object(NativeGroup(2));
  Members(2);
  harness_.ScheduleAndBind();
  Confirm(2);
  ASSERT_EQ(Written().size(), 1U);
  harness_.engine().Handle(ObjectDeleted{NativeGroup(2)}, harness_.now());
  AnswerLast();
  k8s::PodGroup next = NativeGroup(2);
  next.meta.uid = "uid-next";
  harness_.Object(next);
  ASSERT_EQ(Written().size(), 2U);
  EXPECT_EQ(harness_.groups().back().second.uid, "uid-next");
}

TEST_F(GroupConditionsTest, AGroupWithoutAMinimumHasStartedWithItsFirstPod) {
  Node("a", "1");
  harness_.Object(NativeGroup(1));
  harness_.Pod(Member("big", "2"));
  harness_.Schedule();
  EXPECT_EQ(Written(), (Texts{"False Unschedulable"}));
  AnswerLast();
  Echo(NativeGroup(1));
  Members(1);
  harness_.ScheduleAndBind();
  Confirm(1);
  EXPECT_EQ(Written(), (Texts{"False Unschedulable", "True Scheduled"}));
}

TEST_F(GroupConditionsTest, NothingIsSaidWhileMembersAreMissingNorOfOtherProjects) {
  Node("a", "8");
  harness_.Object(NativeGroup(3));
  Members(2);
  harness_.Pass(Duration::Seconds(30));
  EXPECT_EQ(Written(), Texts());
  k8s::PodGroup sigs = NativeGroup(2);
  sigs.api = k8s::PodGroupApi::kSigs;
  sigs.meta.name = "other";
  harness_.Object(sigs);
  for (const char* const name : {"x", "y"}) {
    harness_.Pod(PodBuilder(name).Asks("cpu", "9").Label("scheduling.x-k8s.io/pod-group", "other"));
  }
  harness_.Schedule();
  EXPECT_EQ(Written(), Texts());
}

TEST_F(GroupConditionsTest, AStartWithEverythingBoundSaysWhatNobodySaid) {
  Node("a", "8");
  harness_.Object(NativeGroup(2));
  for (const char* const name : {"m0", "m1"}) {
    k8s::Pod pod = Member(name);
    pod.spec.node_name = "a";
    harness_.Pod(pod);
  }
  harness_.Listed();
  EXPECT_EQ(Written(), (Texts{"True Scheduled"}));
}

}  // namespace
}  // namespace knx::engine
