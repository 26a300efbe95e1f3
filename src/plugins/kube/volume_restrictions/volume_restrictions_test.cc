#include "plugins/kube/volume_restrictions/volume_restrictions.h"

#include <gtest/gtest.h>

#include "cluster/testing/volume_builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::AddPod;
using cluster::testing::ClaimBuilder;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using framework::Code;
using framework::EventKind;
using k8s::VolumeSource;

const testing::Answer kDiskInUse = testing::NotNow({"node(s) had no available disk"});
const testing::Answer kClaimInUse = testing::NotNow(
    {"node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
     "in-use by another pod"});

TEST(VolumeRestrictions, RejectsNodesWhereADiskIsInUse) {
  struct Case {
    std::string_view name;
    PodBuilder wanted, present;
    bool fits;
  };
  const auto pod = [] { return PodBuilder("p"); };
  const auto other = [] { return PodBuilder("q"); };
  const Case cases[] = {
      {"nothing there", pod().Disk(VolumeSource::kAwsEbs, "v"), other(), true},
      {"the same EBS volume", pod().Disk(VolumeSource::kAwsEbs, "v"),
       other().Disk(VolumeSource::kAwsEbs, "v"), false},
      {"even if both only read", pod().Disk(VolumeSource::kAwsEbs, "v", true),
       other().Disk(VolumeSource::kAwsEbs, "v", true), false},
      {"another EBS volume", pod().Disk(VolumeSource::kAwsEbs, "v"),
       other().Disk(VolumeSource::kAwsEbs, "w"), true},
      {"the same GCE disk", pod().Disk(VolumeSource::kGcePd, "v"),
       other().Disk(VolumeSource::kGcePd, "v", true), false},
      {"the same GCE disk, both read", pod().Disk(VolumeSource::kGcePd, "v", true),
       other().Disk(VolumeSource::kGcePd, "v", true), true},
      {"a disk of another kind by the same name", pod().Disk(VolumeSource::kGcePd, "v"),
       other().Disk(VolumeSource::kAwsEbs, "v"), true},
      {"the same iSCSI target", pod().Disk(VolumeSource::kIscsi, "iqn"),
       other().Disk(VolumeSource::kIscsi, "iqn"), false},
      {"the same iSCSI target, both read", pod().Disk(VolumeSource::kIscsi, "iqn", true),
       other().Disk(VolumeSource::kIscsi, "iqn", true), true},
      {"the same RBD image", pod().Rbd("pool", "i", {"m1", "m2"}), other().Rbd("pool", "i", {"m2"}),
       false},
      {"the same RBD image, both read", pod().Rbd("pool", "i", {"m1"}, true),
       other().Rbd("pool", "i", {"m1"}, true), true},
      {"an RBD image of another cluster", pod().Rbd("pool", "i", {"m1"}),
       other().Rbd("pool", "i", {"m2"}), true},
      {"an RBD image in another pool", pod().Rbd("pool", "i", {"m1"}),
       other().Rbd("other", "i", {"m1"}), true},
      {"another RBD image", pod().Rbd("pool", "i", {"m1"}), other().Rbd("pool", "j", {"m1"}), true},
  };
  const VolumeRestrictions plugin;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    cluster::State state;
    const cluster::NodeRow row = AddNode(state, NodeBuilder("n"));
    PodBuilder present = c.present;
    AddPod(state, present.On("n"));
    const auto prepared = plugin.PreFilter(testing::View(state, AddPod(state, c.wanted)));
    ASSERT_EQ(prepared.outcome.code, Code::kSuccess);
    EXPECT_EQ(prepared.scope, framework::Scope::kUsage);
    EXPECT_EQ(testing::Judge(prepared, row), c.fits ? testing::Fits() : kDiskInUse);
  }
}

TEST(VolumeRestrictions, HasNothingToSayAboutOtherVolumes) {
  cluster::State state;
  const VolumeRestrictions plugin;
  const auto ask = [&](const k8s::Pod& pod) {
    return plugin.PreFilter(testing::View(state, AddPod(state, pod))).outcome.code;
  };
  EXPECT_EQ(ask(PodBuilder("p")), Code::kSkip);
  EXPECT_EQ(ask(PodBuilder("q").Disk(VolumeSource::kAzureDisk, "d")), Code::kSkip);
  EXPECT_EQ(ask(PodBuilder("r").Ephemeral("v")), Code::kSkip);
}

TEST(VolumeRestrictions, NeedsToSeeEveryClaim) {
  cluster::State state;
  const VolumeRestrictions plugin;
  const auto prepared =
      plugin.PreFilter(testing::View(state, AddPod(state, PodBuilder("p").Claim("x"))));
  EXPECT_EQ(prepared.outcome.code, Code::kUnresolvable);
  EXPECT_EQ(prepared.outcome.reason, "persistentvolumeclaim \"x\" not found");
  EXPECT_EQ(prepared.scope, framework::Scope::kCluster);
}

TEST(VolumeRestrictions, AClaimForOnePodIsUsedByOnePod) {
  cluster::State state;
  const cluster::NodeRow here = AddNode(state, NodeBuilder("here"));
  const cluster::NodeRow there = AddNode(state, NodeBuilder("there"));
  state.UpsertObject(ClaimBuilder("x").Mode(k8s::AccessMode::kReadWriteOncePod));
  state.UpsertObject(ClaimBuilder("y"));
  const VolumeRestrictions plugin;
  const cluster::PodId waiting = AddPod(state, PodBuilder("p").Claim("x").Claim("y"));
  const auto free = plugin.PreFilter(testing::View(state, waiting));
  EXPECT_EQ(testing::Judge(free, here), testing::Fits());
  AddPod(state, PodBuilder("shares").Claim("y").On("here"));
  AddPod(state, PodBuilder("elsewhere").Namespace("shop").Claim("x").On("here"));
  EXPECT_TRUE(free.filter->Current());
  EXPECT_EQ(testing::Judge(free, here), testing::Fits());

  const cluster::PodId user = AddPod(state, PodBuilder("q").Claim("x").On("there"));
  EXPECT_FALSE(free.filter->Current());
  const auto taken = plugin.PreFilter(testing::View(state, waiting));
  EXPECT_EQ(testing::Judge(taken, here), kClaimInUse) << "whatever the node";
  EXPECT_EQ(testing::Judge(taken, there), kClaimInUse);
  // A plan that takes the user away finds the claim free.
  taken.filter->OnPodRemoved(user, there);
  EXPECT_EQ(testing::Judge(taken, here), testing::Fits());
  taken.filter->OnPodAdded(user, there);
  EXPECT_EQ(testing::Judge(taken, here), kClaimInUse);
  state.RemovePod(user);
  EXPECT_FALSE(taken.filter->Current());
}

// Quirks of kube-scheduler, which counts the users of a claim once and goes by its name in a plan.
TEST(VolumeRestrictions, APlanCountsUsersAsKubeSchedulerDoes) {
  cluster::State state;
  const cluster::NodeRow here = AddNode(state, NodeBuilder("here"));
  state.UpsertObject(ClaimBuilder("x").Mode(k8s::AccessMode::kReadWriteOncePod));
  const VolumeRestrictions plugin;
  const cluster::PodId waiting = AddPod(state, PodBuilder("p").Claim("x"));
  AddPod(state, PodBuilder("lost").Claim("x").On("nowhere"));
  const auto free = plugin.PreFilter(testing::View(state, waiting));
  EXPECT_EQ(testing::Judge(free, here), testing::Fits())
      << "its user is on a node that is not there";
  const cluster::PodId nominated = AddPod(state, PodBuilder("n").Claim("x"));
  free.filter->OnPodAdded(nominated, here);
  EXPECT_EQ(testing::Judge(free, here), testing::Fits())
      << "nothing was in the way before the plan";

  const cluster::PodId first = AddPod(state, PodBuilder("a").Claim("x").On("here"));
  AddPod(state, PodBuilder("b").Claim("x").On("here"));
  const auto taken = plugin.PreFilter(testing::View(state, waiting));
  EXPECT_EQ(testing::Judge(taken, here), kClaimInUse);
  taken.filter->OnPodRemoved(first, here);
  EXPECT_EQ(testing::Judge(taken, here), testing::Fits()) << "two users count as one";
  taken.filter->OnPodAdded(first, here);
  const cluster::PodId other =
      AddPod(state, PodBuilder("o").Namespace("shop").Claim("x").On("here"));
  taken.filter->OnPodRemoved(other, here);
  EXPECT_EQ(testing::Judge(taken, here), testing::Fits()) << "the namespace is not looked at";
}

TEST(VolumeRestrictions, IsHelpedByPodsThatGoAndClaimsThatCome) {
  cluster::State state;
  const VolumeRestrictions plugin;
  const cluster::PodId waiting =
      AddPod(state, PodBuilder("p").Claim("x").Disk(VolumeSource::kAwsEbs, "v"));
  const auto helps = [&](const k8s::Pod& gone) {
    framework::ClusterEvent event;
    event.kind = EventKind::kAssignedPodDelete;
    event.pod_now.pod_class = &state.class_of(AddPod(state, gone));
    EXPECT_TRUE(plugin.events().Contains(event.kind));
    return plugin.MayHelp(event, testing::View(state, waiting));
  };
  EXPECT_TRUE(helps(PodBuilder("a").Claim("x")));
  EXPECT_FALSE(helps(PodBuilder("b").Claim("y")));
  EXPECT_FALSE(helps(PodBuilder("c").Namespace("shop").Claim("x")));
  EXPECT_TRUE(helps(PodBuilder("d").Disk(VolumeSource::kAwsEbs, "v")));
  EXPECT_FALSE(helps(PodBuilder("e").Disk(VolumeSource::kAwsEbs, "w")));
  EXPECT_FALSE(helps(PodBuilder("f")));
  const k8s::Object added = ClaimBuilder("x");
  const k8s::Object other = ClaimBuilder("y");
  framework::ClusterEvent claim;
  claim.kind = EventKind::kClaimAdd;
  claim.object = &added;
  EXPECT_TRUE(plugin.MayHelp(claim, testing::View(state, waiting)));
  claim.object = &other;
  EXPECT_FALSE(plugin.MayHelp(claim, testing::View(state, waiting)));
  for (const EventKind kind : {EventKind::kNodeAdd, EventKind::kNodeTaint}) {
    EXPECT_TRUE(plugin.events().Contains(kind));
  }
}

}  // namespace
}  // namespace knx::plugins
