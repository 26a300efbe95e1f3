#include "cluster/volumes.h"

#include <gtest/gtest.h>

#include "cluster/state.h"
#include "cluster/testing/volume_builders.h"

namespace knx::cluster {
namespace {

using testing::AddNode;
using testing::AddPod;
using testing::ClaimBuilder;
using testing::NodeBuilder;
using testing::PodBuilder;
using testing::VolumeBuilder;

constexpr const char* kDriver = "disks.example.com";

std::uint32_t CountOn(const State& state, std::string_view node) {
  const auto& by_driver = state.volumes().OnNode(node).by_driver;
  const auto found = by_driver.find(kDriver);
  return found == by_driver.end() ? 0 : found->second;
}

class VolumesTest : public ::testing::Test {
 protected:
  VolumesTest() {
    AddNode(state_, NodeBuilder("n1"));
    AddNode(state_, NodeBuilder("n2"));
    state_.UpsertObject(testing::MakeClass("fast", kDriver));
  }
  void TearDown() override { EXPECT_EQ(state_.Verify().value_or("equal"), "equal"); }
  void Bound(const std::string& claim, const std::string& handle) {
    state_.UpsertObject(VolumeBuilder("pv-" + claim).Csi(kDriver, handle).For(claim));
    state_.UpsertObject(ClaimBuilder(claim).Class("fast").BoundTo("pv-" + claim));
  }
  State state_;
};

TEST_F(VolumesTest, CountsWhatPodsBringToANodeOnce) {
  Bound("a", "h1");
  Bound("b", "h2");
  const PodId one = AddPod(state_, PodBuilder("one").Claim("a").Claim("b").On("n1"));
  const PodId two = AddPod(state_, PodBuilder("two").Claim("a").On("n1"));
  EXPECT_EQ(CountOn(state_, "n1"), 2u);
  EXPECT_EQ(CountOn(state_, "n2"), 0u);
  state_.RemovePod(one);
  EXPECT_EQ(CountOn(state_, "n1"), 1u) << "the other pod still has it";
  state_.RemovePod(two);
  EXPECT_EQ(CountOn(state_, "n1"), 0u);
}

TEST_F(VolumesTest, CountsAClaimThatIsStillToGetItsVolume) {
  AddPod(state_, PodBuilder("p").Claim("a").On("n1"));
  EXPECT_EQ(CountOn(state_, "n1"), 0u) << "of a claim that is not there nothing is known";
  state_.UpsertObject(ClaimBuilder("a").Class("fast"));
  EXPECT_EQ(CountOn(state_, "n1"), 1u);
  const std::uint64_t position = state_.usage_changes().end();
  Bound("a", "h1");
  EXPECT_EQ(CountOn(state_, "n1"), 1u) << "as another one now";
  EXPECT_TRUE(state_.volumes().OnNode("n1").in_use.contains("disks.example.com/h1"));
  EXPECT_TRUE(state_.usage_changes().ChangedSince(position, state_.nodes().Find("n1")));
  k8s::PersistentVolume gone;
  gone.meta.name = "pv-a";
  state_.RemoveObject(gone);
  EXPECT_EQ(CountOn(state_, "n1"), 1u) << "by its class again";
  state_.RemoveObject(testing::MakeClass("fast", kDriver));
  EXPECT_EQ(CountOn(state_, "n1"), 0u);
}

TEST_F(VolumesTest, CountsDisksThatADriverTookOver) {
  AddPod(state_, PodBuilder("p").Disk(k8s::VolumeSource::kAwsEbs, "vol-1").On("n1"));
  EXPECT_EQ(state_.volumes().OnNode("n1").by_driver.at("ebs.csi.aws.com"), 1u);
  EXPECT_EQ(state_.volumes().OnNode("n1").with_disks.size(), 1u);
}

TEST_F(VolumesTest, CountsWhatIsAttachedBesidesWhatPodsUse) {
  Bound("a", "h1");
  Bound("b", "h2");
  AddPod(state_, PodBuilder("p").Claim("a").On("n1"));
  state_.UpsertObject(testing::MakeAttachment("at-1", kDriver, "n1", "pv-a"));
  EXPECT_EQ(CountOn(state_, "n1"), 1u) << "which is the same volume";
  state_.UpsertObject(testing::MakeAttachment("at-2", kDriver, "n1", "pv-b"));
  EXPECT_EQ(CountOn(state_, "n1"), 2u);
  state_.UpsertObject(testing::MakeAttachment("at-2", kDriver, "n2", "pv-b"));
  EXPECT_EQ(CountOn(state_, "n1"), 1u);
  EXPECT_EQ(CountOn(state_, "n2"), 1u);
  state_.UpsertObject(testing::MakeAttachment("at-3", kDriver, "n1", "pv-unknown"));
  EXPECT_EQ(CountOn(state_, "n1"), 1u) << "of a volume nobody knows";
  state_.RemoveObject(testing::MakeAttachment("at-2", kDriver, "n2", "pv-b"));
  EXPECT_EQ(CountOn(state_, "n2"), 0u);
}

TEST_F(VolumesTest, KnowsWhoUsesAClaimInWhichNamespace) {
  const PodId here = AddPod(state_, PodBuilder("here").Claim("a").On("n1"));
  AddPod(state_, PodBuilder("there").Namespace("shop").Claim("a").On("n1"));
  EXPECT_NE(state_.pod(here).pod_class, state_.pod(state_.pods().Find("uid-there")).pod_class);
  EXPECT_TRUE(state_.volumes().InUse("default/a"));
  EXPECT_TRUE(state_.volumes().InUse("shop/a"));
  state_.RemovePod(here);
  EXPECT_FALSE(state_.volumes().InUse("default/a"));
}

TEST_F(VolumesTest, PodsShareAClassUnlessAClaimIsTheirOwn) {
  const auto class_of = [&](const k8s::Pod& pod) {
    return state_.pod(AddPod(state_, pod)).pod_class;
  };
  EXPECT_EQ(class_of(PodBuilder("a").Claim("x")), class_of(PodBuilder("b").Claim("x")));
  EXPECT_NE(class_of(PodBuilder("c").Claim("y")), class_of(PodBuilder("d").Claim("x")));
  EXPECT_NE(class_of(PodBuilder("e").Ephemeral("v")), class_of(PodBuilder("f").Ephemeral("v")));
  EXPECT_EQ(class_of(PodBuilder("g").Namespace("n").Disk(k8s::VolumeSource::kRbd, "i")),
            class_of(PodBuilder("h").Disk(k8s::VolumeSource::kRbd, "i")));
  EXPECT_EQ(state_.class_of(state_.pods().Find("uid-e")).claims,
            (std::vector<ClaimUse>{{"default/e-v", true}}));
}

TEST_F(VolumesTest, WhatIsAssumedHoldsUntilSomethingNewerIsKnown) {
  state_.UpsertObject(VolumeBuilder("pv").Class("fast").Size("1Gi"));
  state_.UpsertObject(ClaimBuilder("a").Class("fast"));
  state_.UpsertObject(ClaimBuilder("b").Class("fast"));
  const PodId pod = AddPod(state_, PodBuilder("p").Claim("a").Claim("b"));
  const Volumes& volumes = state_.volumes();
  EXPECT_EQ(volumes.FreeVolumes("fast").size(), 1u);
  VolumePlan plan;
  plan.node = "n1";
  plan.bindings.push_back({"pv", "1", "default/a", {"default", "a", "uid-a"}, true, false});
  plan.provisions.push_back({"default/b", "1", false});
  state_.ReserveVolumes(pod, plan);
  EXPECT_TRUE(volumes.FreeVolumes("fast").empty());
  EXPECT_EQ(volumes.VolumesFor("default/a").size(), 1u);
  EXPECT_EQ(*volumes.SelectedNode("default/b"), "n1");
  EXPECT_EQ(state_.Verify().value_or("equal"), "equal");

  state_.UpsertObject(ClaimBuilder("b").Class("fast").Version("2").SelectedNode("n2"));
  EXPECT_EQ(*volumes.SelectedNode("default/b"), "n2") << "somebody else was faster";
  EXPECT_TRUE(volumes.IsAssumed("pv"));
  state_.ReleaseVolumes(pod);
  EXPECT_EQ(*volumes.SelectedNode("default/b"), "n2");
  EXPECT_EQ(volumes.FreeVolumes("fast").size(), 1u);
  EXPECT_EQ(volumes.FindPlan(pod), nullptr);
}

TEST_F(VolumesTest, APlanIsTakenBackWithTheJournal) {
  state_.UpsertObject(VolumeBuilder("pv").Class("fast").Size("1Gi"));
  state_.UpsertObject(ClaimBuilder("a").Class("fast"));
  const PodId pod = AddPod(state_, PodBuilder("p").Claim("a"));
  VolumePlan plan;
  plan.node = "n1";
  plan.bindings.push_back({"pv", "1", "default/a", {"default", "a", "uid-a"}, true, false});
  const auto outer = state_.Mark();
  state_.Assume(pod, state_.nodes().Find("n1"));
  state_.ReserveVolumes(pod, plan);
  const auto inner = state_.Mark();
  state_.ReleaseVolumes(pod);
  EXPECT_FALSE(state_.volumes().IsAssumed("pv"));
  state_.Rollback(inner);
  EXPECT_TRUE(state_.volumes().IsAssumed("pv"));
  state_.Rollback(outer);
  EXPECT_FALSE(state_.volumes().IsAssumed("pv"));
  EXPECT_EQ(state_.volumes().FindPlan(pod), nullptr);
  EXPECT_FALSE(state_.volumes().InUse("default/a"));
}

TEST_F(VolumesTest, EveryKindHasItsGeneration) {
  const Volumes& volumes = state_.volumes();
  const auto grows = [&](Volumes::Kind kind, const k8s::Object& object) {
    const std::uint64_t before = volumes.generation(kind);
    state_.UpsertObject(object);
    const bool grew = volumes.generation(kind) > before;
    const std::uint64_t after = volumes.generation(kind);
    state_.UpsertObject(object);
    return grew && volumes.generation(kind) == after;
  };
  EXPECT_TRUE(grows(Volumes::Kind::kClaim, ClaimBuilder("a")));
  EXPECT_TRUE(grows(Volumes::Kind::kVolume, VolumeBuilder("v")));
  EXPECT_TRUE(grows(Volumes::Kind::kClass, testing::MakeClass("slow", kDriver)));
  EXPECT_TRUE(grows(Volumes::Kind::kDriver, testing::MakeDriver(kDriver, true)));
  EXPECT_TRUE(
      grows(Volumes::Kind::kCapacity, testing::MakeCapacity("c", "fast", "1Gi", "zone", "a")));
  const std::uint64_t facts = state_.fact_changes().end();
  state_.UpsertObject(testing::MakeCsiNode("n1", {{kDriver, 1}}));
  EXPECT_TRUE(state_.fact_changes().ChangedSince(facts, state_.nodes().Find("n1")));
}

}  // namespace
}  // namespace knx::cluster
