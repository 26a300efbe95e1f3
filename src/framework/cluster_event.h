// Something happened that may make a pod schedulable. The queue asks the plugins that rejected a
// pod whether it does.
#pragma once

#include <cstdint>
#include <string_view>

#include "cluster/state.h"

namespace knx::framework {

enum class EventKind : std::uint8_t {
  kNodeAdd,
  kNodeAllocatable,
  kNodeLabel,
  kNodeTaint,  // taints or spec.unschedulable
  kNodeDeclaredFeature,
  kNodeDelete,
  kAssignedPodAdd,
  kAssignedPodLabel,
  kAssignedPodScaleDown,  // an assigned pod takes less of something
  kAssignedPodDelete,
  kOwnLabel,  // the waiting pod itself changed
  kOwnScaleDown,
  kOwnTolerations,
  kOwnGatesRemoved,
  kOwnOther,
  kUnassignedPodDelete,  // a pod that waited is gone
  kClaimAdd,
  kClaimUpdate,
  kVolumeAdd,
  kVolumeUpdate,
  kStorageClassAdd,
  kStorageClassUpdate,
  kCsiNodeAdd,
  kCsiNodeUpdate,
  kCsiDriverUpdate,
  kCapacityAdd,
  kCapacityUpdate,
  kAttachmentDelete,
  kForced,   // moves every waiting pod, asked for from outside
  kTimeout,  // has waited for too long without being asked about
  // Why pods change places in the queue besides; no plugin hears of these.
  kOwnAdd,          // the pod is new
  kAttemptFailure,  // it could not be placed
  kBackoffComplete,
  kPopFromBackoff,  // taken before its back-off was over, with nothing else to do
  kCount,
};

// As in kube-scheduler's metrics.
std::string_view EventName(EventKind kind);

class EventSet {
 public:
  constexpr EventSet() = default;
  constexpr EventSet(std::initializer_list<EventKind> kinds) {
    for (const EventKind kind : kinds) bits_ |= Bit(kind);
  }
  static constexpr EventSet All() {
    EventSet all;
    all.bits_ = Bit(EventKind::kCount) - 1;
    return all;
  }
  [[nodiscard]] constexpr bool Contains(EventKind kind) const { return (bits_ & Bit(kind)) != 0; }

 private:
  static_assert(static_cast<unsigned>(EventKind::kCount) < 64);
  static constexpr std::uint64_t Bit(EventKind kind) {
    return std::uint64_t{1} << static_cast<unsigned>(kind);
  }
  std::uint64_t bits_ = 0;
};

// The pod that an event is about, as it was or is. Valid during the call only.
struct PodInEvent {
  const cluster::PodClass* pod_class = nullptr;
  cluster::KinId kin;                                 // its namespace and labels
  std::span<const cluster::ResourceAmount> requests;  // what it takes
  cluster::NodeRow node;                              // invalid: not assigned
  cluster::NodeRow nominated;
  std::int32_t priority = 0;
};

struct ClusterEvent {
  EventKind kind = EventKind::kForced;
  // Node events: the row, and what the Node said before (nullptr when it is new). What it says now
  // is in the state.
  cluster::NodeRow row;
  const cluster::NodeFacts* node_before = nullptr;
  // Pod events: the pod, and what it was before an update.
  cluster::PodId pod;  // invalid for a pod that is gone
  PodInEvent pod_now, pod_before;
  // Events about other objects: as it is now, or was when it went; and as it was before an update.
  const k8s::Object* object = nullptr;
  const k8s::Object* object_before = nullptr;
};

}  // namespace knx::framework
