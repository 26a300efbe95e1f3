#include "framework/cluster_event.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace knx::framework {
namespace {

TEST(EventName, IsTheLabelKubeSchedulerPutsOnItsMetrics) {
  struct Case {
    EventKind kind;
    std::string_view want;
  };
  const Case cases[] = {
      {EventKind::kNodeAdd, "NodeAdd"},
      {EventKind::kNodeAllocatable, "NodeUpdateNodeAllocatable"},
      {EventKind::kNodeLabel, "NodeUpdateNodeLabel"},
      {EventKind::kNodeTaint, "NodeUpdateNodeTaint"},
      {EventKind::kNodeDeclaredFeature, "NodeUpdateNodeDeclaredFeature"},
      {EventKind::kNodeDelete, "NodeDelete"},
      {EventKind::kAssignedPodAdd, "AssignedPodAdd"},
      {EventKind::kAssignedPodLabel, "AssignedPodUpdatePodLabel"},
      {EventKind::kAssignedPodScaleDown, "AssignedPodUpdatePodScaleDown"},
      {EventKind::kAssignedPodDelete, "AssignedPodDelete"},
      {EventKind::kOwnLabel, "UnschedulablePodUpdatePodLabel"},
      {EventKind::kOwnScaleDown, "UnschedulablePodUpdatePodScaleDown"},
      {EventKind::kOwnTolerations, "UnschedulablePodUpdatePodToleration"},
      {EventKind::kOwnGatesRemoved, "UnschedulablePodUpdatePodSchedulingGatesEliminated"},
      {EventKind::kOwnOther, "UnschedulablePodUpdate"},
      {EventKind::kUnassignedPodDelete, "UnschedulablePodDelete"},
      {EventKind::kClaimAdd, "PersistentVolumeClaimAdd"},
      {EventKind::kClaimUpdate, "PersistentVolumeClaimUpdate"},
      {EventKind::kVolumeAdd, "PersistentVolumeAdd"},
      {EventKind::kVolumeUpdate, "PersistentVolumeUpdate"},
      {EventKind::kStorageClassAdd, "storage.k8s.io/StorageClassAdd"},
      {EventKind::kStorageClassUpdate, "storage.k8s.io/StorageClassUpdate"},
      {EventKind::kCsiNodeAdd, "storage.k8s.io/CSINodeAdd"},
      {EventKind::kCsiNodeUpdate, "storage.k8s.io/CSINodeUpdate"},
      {EventKind::kCsiDriverUpdate, "storage.k8s.io/CSIDriverUpdate"},
      {EventKind::kCapacityAdd, "storage.k8s.io/CSIStorageCapacityAdd"},
      {EventKind::kCapacityUpdate, "storage.k8s.io/CSIStorageCapacityUpdate"},
      {EventKind::kAttachmentDelete, "storage.k8s.io/VolumeAttachmentDelete"},
      {EventKind::kForced, "ForceActivate"},
      {EventKind::kTimeout, "UnschedulableTimeout"},
      {EventKind::kOwnAdd, "UnschedulablePodAdd"},
      {EventKind::kAttemptFailure, "ScheduleAttemptFailure"},
      {EventKind::kBackoffComplete, "BackoffComplete"},
      {EventKind::kPopFromBackoff, "PopFromBackoffQ"},
  };
  for (const Case& c : cases) EXPECT_EQ(EventName(c.kind), c.want);
  EXPECT_EQ(std::size(cases), static_cast<std::size_t>(EventKind::kCount));
}

TEST(EventName, TellsAllKindsApart) {
  std::set<std::string_view> names;
  const int count = static_cast<int>(EventKind::kCount);
  for (int kind = 0; kind < count; ++kind) names.insert(EventName(static_cast<EventKind>(kind)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(count));
}

TEST(EventSet, HoldsWhatItWasMadeOf) {
  constexpr EventSet set{EventKind::kNodeAdd, EventKind::kTimeout};
  EXPECT_TRUE(set.Contains(EventKind::kNodeAdd));
  EXPECT_TRUE(set.Contains(EventKind::kTimeout));
  EXPECT_FALSE(set.Contains(EventKind::kNodeDelete));
  EXPECT_FALSE(EventSet{}.Contains(EventKind::kNodeAdd));
}

}  // namespace
}  // namespace knx::framework
