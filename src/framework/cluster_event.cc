#include "framework/cluster_event.h"

#include <iterator>

#include "base/check.h"

namespace knx::framework {

namespace {

// In the order of the kinds.
constexpr std::string_view kEventNames[] = {
    "NodeAdd",
    "NodeUpdateNodeAllocatable",
    "NodeUpdateNodeLabel",
    "NodeUpdateNodeTaint",
    "NodeUpdateNodeDeclaredFeature",
    "NodeDelete",
    "AssignedPodAdd",
    "AssignedPodUpdatePodLabel",
    "AssignedPodUpdatePodScaleDown",
    "AssignedPodDelete",
    "UnschedulablePodUpdatePodLabel",
    "UnschedulablePodUpdatePodScaleDown",
    "UnschedulablePodUpdatePodToleration",
    "UnschedulablePodUpdatePodSchedulingGatesEliminated",
    "UnschedulablePodUpdate",
    "UnschedulablePodDelete",
    "PersistentVolumeClaimAdd",
    "PersistentVolumeClaimUpdate",
    "PersistentVolumeAdd",
    "PersistentVolumeUpdate",
    "storage.k8s.io/StorageClassAdd",
    "storage.k8s.io/StorageClassUpdate",
    "storage.k8s.io/CSINodeAdd",
    "storage.k8s.io/CSINodeUpdate",
    "storage.k8s.io/CSIDriverUpdate",
    "storage.k8s.io/CSIStorageCapacityAdd",
    "storage.k8s.io/CSIStorageCapacityUpdate",
    "storage.k8s.io/VolumeAttachmentDelete",
    "ForceActivate",
    "UnschedulableTimeout",
    "UnschedulablePodAdd",
    "ScheduleAttemptFailure",
    "BackoffComplete",
    "PopFromBackoffQ",
};
static_assert(std::size(kEventNames) == static_cast<std::size_t>(EventKind::kCount));

}  // namespace

std::string_view EventName(EventKind kind) {
  KNX_CHECK(kind < EventKind::kCount, "asked for the name of no event");
  return kEventNames[static_cast<std::size_t>(kind)];
}

}  // namespace knx::framework
