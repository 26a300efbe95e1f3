// From the choice of a node to bound volumes: what is reserved, written and waited for.
#include <gtest/gtest.h>

#include "cluster/testing/volume_builders.h"
#include "plugins/kube/volume_binding/volume_binding.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::AddPod;
using cluster::testing::ClaimBuilder;
using cluster::testing::MakeClass;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using cluster::testing::VolumeBuilder;
using framework::Code;
using framework::StepResult;

class BindingSteps : public ::testing::Test {
 protected:
  BindingSteps() {
    a_ = AddNode(state_, NodeBuilder("a").Label("zone", "a"));
    state_.UpsertObject(MakeClass("local", "kubernetes.io/no-provisioner"));
    state_.UpsertObject(MakeClass("fast", "disks.example.com"));
  }
  void TearDown() override { EXPECT_EQ(state_.Verify().value_or("equal"), "equal"); }

  framework::PodView Place(const k8s::Pod& pod) {
    const cluster::PodId id = AddPod(state_, pod);
    state_.Assume(id, a_);
    EXPECT_TRUE(plugin_.Reserve(testing::View(state_, id), a_, state_).ok());
    return testing::View(state_, id);
  }
  StepResult Answered(const framework::PodView& pod, bool ok, std::string text = "") {
    return plugin_.ResumePreBind(pod, a_, {ok, std::move(text), false});
  }
  StepResult Rechecked(const framework::PodView& pod, bool ok = true) {
    return plugin_.ResumePreBind(pod, a_, {ok, "", true});
  }
  static std::string Why(const StepResult& result) {
    return result.outcome.code == Code::kError ? result.outcome.reason : "no error";
  }

  cluster::State state_;
  cluster::NodeRow a_;
  VolumeBinding plugin_;
};

TEST_F(BindingSteps, NothingIsToBeDoneForBoundClaims) {
  state_.UpsertObject(VolumeBuilder("pv"));
  state_.UpsertObject(ClaimBuilder("x").BoundTo("pv"));
  const auto pod = Place(PodBuilder("p").Claim("x"));
  EXPECT_EQ(state_.volumes().FindPlan(pod.id), nullptr);
  EXPECT_EQ(plugin_.PreBind(pod, a_).outcome.code, Code::kSuccess);
}

TEST_F(BindingSteps, AFreeVolumeIsSetAsideWrittenAndWaitedFor) {
  state_.UpsertObject(VolumeBuilder("small").Class("local").Size("5Gi").Version("7"));
  state_.UpsertObject(VolumeBuilder("big").Class("local").Size("50Gi"));
  state_.UpsertObject(ClaimBuilder("x").Class("local").Asks("2Gi"));
  const auto pod = Place(PodBuilder("p").Claim("x"));
  EXPECT_TRUE(state_.volumes().IsAssumed("small")) << "the smallest that will do";

  const StepResult asked = plugin_.PreBind(pod, a_);
  ASSERT_TRUE(asked.question.has_value());
  ASSERT_EQ(asked.question->writes.size(), 1u);
  const framework::VolumeWrite& write = asked.question->writes[0];
  EXPECT_EQ(write.volume, "small");
  EXPECT_EQ(write.claim, (k8s::ClaimReference{"default", "x", "uid-x"}));
  EXPECT_TRUE(write.bound_by_controller);
  EXPECT_EQ(write.resource_version, "7");
  EXPECT_EQ(asked.question->timeout, Duration::Seconds(600));

  StepResult waits = Answered(pod, true);
  ASSERT_TRUE(waits.recheck.has_value()) << "the API server has not told of it";
  EXPECT_EQ(waits.recheck->every, Duration::Seconds(1));
  EXPECT_EQ(waits.recheck->timeout, Duration::Seconds(600));
  state_.UpsertObject(
      VolumeBuilder("small").Class("local").Size("5Gi").Version("8").For("x", "uid-x"));
  EXPECT_TRUE(Rechecked(pod).recheck.has_value()) << "the claim is not bound yet";
  state_.UpsertObject(ClaimBuilder("x").Class("local").Asks("2Gi").Version("9").BoundTo("small"));
  EXPECT_EQ(Rechecked(pod).outcome.code, Code::kSuccess);
}

TEST_F(BindingSteps, AVolumeThatAPersonSetAsideStaysTheirs) {
  state_.UpsertObject(VolumeBuilder("pv").Class("local").For("x"));
  state_.UpsertObject(ClaimBuilder("x").Class("local"));
  const auto pod = Place(PodBuilder("p").Claim("x"));
  const StepResult asked = plugin_.PreBind(pod, a_);
  ASSERT_TRUE(asked.question.has_value());
  EXPECT_FALSE(asked.question->writes.at(0).bound_by_controller);
  EXPECT_EQ(asked.question->writes.at(0).claim.uid, "uid-x") << "which was not said before";
}

TEST_F(BindingSteps, TwoPodsWithOneClaimGetOneVolume) {
  state_.UpsertObject(VolumeBuilder("one").Class("local"));
  state_.UpsertObject(VolumeBuilder("two").Class("local"));
  state_.UpsertObject(ClaimBuilder("x").Class("local"));
  const auto first = Place(PodBuilder("p").Claim("x"));
  const auto second = Place(PodBuilder("q").Claim("x"));
  EXPECT_EQ(state_.volumes().FreeVolumes("local").size(), 1u);
  EXPECT_TRUE(plugin_.PreBind(first, a_).question.has_value());
  EXPECT_TRUE(plugin_.PreBind(second, a_).recheck.has_value()) << "the first pod writes it";
  plugin_.Unreserve(second, a_, state_);
  EXPECT_TRUE(state_.volumes().IsAssumed("one")) << "which is still the first pod's";
}

TEST_F(BindingSteps, AVolumeToBeMadeIsAskedForAndWaitedFor) {
  state_.UpsertObject(ClaimBuilder("x").Class("fast").Asks("2Gi").Version("3"));
  const auto pod = Place(PodBuilder("p").Claim("x"));
  EXPECT_EQ(*state_.volumes().SelectedNode("default/x"), "a");
  const StepResult asked = plugin_.PreBind(pod, a_);
  ASSERT_TRUE(asked.question.has_value());
  const framework::VolumeWrite& write = asked.question->writes.at(0);
  EXPECT_EQ(write.volume, "");
  EXPECT_EQ(write.node, "a");
  EXPECT_EQ(write.resource_version, "3");
  EXPECT_TRUE(Answered(pod, true).recheck.has_value());
  state_.UpsertObject(ClaimBuilder("x").Class("fast").Asks("2Gi").Version("4").SelectedNode("a"));
  EXPECT_TRUE(Rechecked(pod).recheck.has_value());
  state_.UpsertObject(ClaimBuilder("x").Class("fast").Version("5").SelectedNode("a").BoundTo("pv"));
  EXPECT_TRUE(Rechecked(pod).recheck.has_value()) << "we were not told of the volume yet";
  state_.UpsertObject(VolumeBuilder("pv").OnlyWhere("zone", {"a"}));
  EXPECT_EQ(Rechecked(pod).outcome.code, Code::kSuccess);
}

TEST_F(BindingSteps, WhatGoesWrongIsSaidAndEverythingGivenBack) {
  state_.UpsertObject(VolumeBuilder("pv").Class("local"));
  state_.UpsertObject(ClaimBuilder("x").Class("local"));
  state_.UpsertObject(ClaimBuilder("y").Class("fast"));
  const auto pod = Place(PodBuilder("p").Claim("x").Claim("y"));
  EXPECT_EQ(Why(Answered(pod, false, "conflict")), "conflict");
  EXPECT_EQ(Why(Rechecked(pod, false)), "binding volumes: context deadline exceeded");
  plugin_.Unreserve(pod, a_, state_);
  EXPECT_FALSE(state_.volumes().IsAssumed("pv"));
  EXPECT_EQ(state_.volumes().SelectedNode("default/y"), nullptr);
  plugin_.Unreserve(pod, a_, state_);
}

TEST_F(BindingSteps, ABindingThatIsUndoneFails) {
  state_.UpsertObject(VolumeBuilder("pv").Class("local"));
  state_.UpsertObject(ClaimBuilder("x").Class("local"));
  const auto pod = Place(PodBuilder("p").Claim("x"));
  state_.UpsertObject(VolumeBuilder("pv").Class("local").Version("2"));
  EXPECT_EQ(Why(Rechecked(pod)), "binding volumes: ClaimRef got reset for pv \"pv\"");
  state_.UpsertObject(
      VolumeBuilder("pv").Class("local").Version("3").For("x", "uid-x").OnlyWhere("zone", {"b"}));
  EXPECT_EQ(Why(Rechecked(pod)),
            "binding volumes: pv \"pv\" node affinity doesn't match node \"a\": no matching "
            "NodeSelectorTerms");
  k8s::PersistentVolume gone = VolumeBuilder("pv");
  state_.RemoveObject(gone);
  EXPECT_EQ(Why(Rechecked(pod)),
            "binding volumes: failed to check binding: persistentvolumes \"pv\" not found");
}

TEST_F(BindingSteps, AVolumeThatCannotBeMadeIsTriedElsewhere) {
  state_.UpsertObject(ClaimBuilder("x").Class("fast"));
  const auto pod = Place(PodBuilder("p").Claim("x"));
  state_.UpsertObject(ClaimBuilder("x").Class("fast").Version("2"));
  EXPECT_EQ(Why(Rechecked(pod)), "binding volumes: selectedNode annotation reset for PVC \"x\"");
  state_.UpsertObject(ClaimBuilder("x").Class("fast").Version("3").Annotate("other", ""));
  EXPECT_EQ(Why(Rechecked(pod)), "binding volumes: provisioning failed for PVC \"x\"");
  k8s::PersistentVolumeClaim gone = ClaimBuilder("x");
  state_.RemoveObject(gone);
  EXPECT_EQ(Why(Rechecked(pod)),
            "binding volumes: failed to check provisioning pvc: persistentvolumeclaims "
            "\"default/x\" not found");
}

TEST_F(BindingSteps, ANodeThatIsGoneFails) {
  state_.UpsertObject(ClaimBuilder("x").Class("fast"));
  const auto pod = Place(PodBuilder("p").Claim("x"));
  state_.RemoveNode(a_);
  EXPECT_EQ(Why(Rechecked(pod)), "binding volumes: failed to get node \"a\": node \"a\" not found");
}

}  // namespace
}  // namespace knx::plugins
