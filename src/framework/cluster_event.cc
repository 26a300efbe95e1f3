#include "framework/cluster_event.h"

#include "base/check.h"

namespace knx::framework {

std::string_view EventName(EventKind kind) {
  switch (kind) {
    case EventKind::kNodeAdd:
      return "NodeAdd";
    case EventKind::kNodeAllocatable:
      return "NodeUpdateNodeAllocatable";
    case EventKind::kNodeLabel:
      return "NodeUpdateNodeLabel";
    case EventKind::kNodeTaint:
      return "NodeUpdateNodeTaint";
    case EventKind::kNodeDeclaredFeature:
      return "NodeUpdateNodeDeclaredFeature";
    case EventKind::kNodeDelete:
      return "NodeDelete";
    case EventKind::kAssignedPodAdd:
      return "AssignedPodAdd";
    case EventKind::kAssignedPodLabel:
      return "AssignedPodUpdatePodLabel";
    case EventKind::kAssignedPodScaleDown:
      return "AssignedPodUpdatePodScaleDown";
    case EventKind::kAssignedPodDelete:
      return "AssignedPodDelete";
    case EventKind::kOwnLabel:
      return "UnschedulablePodUpdatePodLabel";
    case EventKind::kOwnScaleDown:
      return "UnschedulablePodUpdatePodScaleDown";
    case EventKind::kOwnTolerations:
      return "UnschedulablePodUpdatePodToleration";
    case EventKind::kOwnGatesRemoved:
      return "UnschedulablePodUpdatePodSchedulingGatesEliminated";
    case EventKind::kOwnOther:
      return "UnschedulablePodUpdate";
    case EventKind::kUnassignedPodDelete:
      return "UnschedulablePodDelete";
    case EventKind::kClaimAdd:
      return "PersistentVolumeClaimAdd";
    case EventKind::kClaimUpdate:
      return "PersistentVolumeClaimUpdate";
    case EventKind::kVolumeAdd:
      return "PersistentVolumeAdd";
    case EventKind::kVolumeUpdate:
      return "PersistentVolumeUpdate";
    case EventKind::kStorageClassAdd:
      return "storage.k8s.io/StorageClassAdd";
    case EventKind::kStorageClassUpdate:
      return "storage.k8s.io/StorageClassUpdate";
    case EventKind::kCsiNodeAdd:
      return "storage.k8s.io/CSINodeAdd";
    case EventKind::kCsiNodeUpdate:
      return "storage.k8s.io/CSINodeUpdate";
    case EventKind::kCsiDriverUpdate:
      return "storage.k8s.io/CSIDriverUpdate";
    case EventKind::kCapacityAdd:
      return "storage.k8s.io/CSIStorageCapacityAdd";
    case EventKind::kCapacityUpdate:
      return "storage.k8s.io/CSIStorageCapacityUpdate";
    case EventKind::kAttachmentDelete:
      return "storage.k8s.io/VolumeAttachmentDelete";
    case EventKind::kForced:
      return "ForceActivate";
    case EventKind::kTimeout:
      return "UnschedulableTimeout";
    case EventKind::kCount:
      break;
  }
  KNX_CHECK(false, "asked for the name of no event");
}

}  // namespace knx::framework
