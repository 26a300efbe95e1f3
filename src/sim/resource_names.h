// Kinds as plural and group, which is how errors of an API server speak of them.
#pragma once

#include <string_view>

#include "k8s/objects.h"

namespace knx::sim {

inline std::string_view ResourceOf(const k8s::Pod& /*object*/) { return "pods"; }
inline std::string_view ResourceOf(const k8s::Node& /*object*/) { return "nodes"; }
inline std::string_view ResourceOf(const k8s::Namespace& /*object*/) { return "namespaces"; }
inline std::string_view ResourceOf(const k8s::Service& /*object*/) { return "services"; }
inline std::string_view ResourceOf(const k8s::Job& /*object*/) { return "jobs.batch"; }
inline std::string_view ResourceOf(const k8s::PriorityClass& /*object*/) {
  return "priorityclasses.scheduling.k8s.io";
}
inline std::string_view ResourceOf(const k8s::PodDisruptionBudget& /*object*/) {
  return "poddisruptionbudgets.policy";
}
inline std::string_view ResourceOf(const k8s::PersistentVolumeClaim& /*object*/) {
  return "persistentvolumeclaims";
}
inline std::string_view ResourceOf(const k8s::PersistentVolume& /*object*/) {
  return "persistentvolumes";
}
inline std::string_view ResourceOf(const k8s::StorageClass& /*object*/) {
  return "storageclasses.storage.k8s.io";
}
inline std::string_view ResourceOf(const k8s::CsiNode& /*object*/) {
  return "csinodes.storage.k8s.io";
}
inline std::string_view ResourceOf(const k8s::CsiDriver& /*object*/) {
  return "csidrivers.storage.k8s.io";
}
inline std::string_view ResourceOf(const k8s::CsiStorageCapacity& /*object*/) {
  return "csistoragecapacities.storage.k8s.io";
}
inline std::string_view ResourceOf(const k8s::VolumeAttachment& /*object*/) {
  return "volumeattachments.storage.k8s.io";
}
inline std::string_view ResourceOf(const k8s::PodGroup& group) {
  switch (group.api) {
    case k8s::PodGroupApi::kKubernetes:
      return "podgroups.scheduling.k8s.io";
    case k8s::PodGroupApi::kSigs:
      return "podgroups.scheduling.x-k8s.io";
    case k8s::PodGroupApi::kVolcano:
      return "podgroups.scheduling.volcano.sh";
  }
  return "";
}
inline std::string_view ResourceOf(const k8s::GroupWorkload& /*object*/) {
  return "workloads.scheduling.k8s.io";
}
inline std::string_view ResourceOf(const k8s::ResourceReservation& /*object*/) {
  return "resourcereservations.scheduling.kubenexus.io";
}
inline std::string_view ResourceOf(const k8s::Workload& workload) {
  switch (workload.kind) {
    case k8s::WorkloadKind::kReplicaSet:
      return "replicasets.apps";
    case k8s::WorkloadKind::kStatefulSet:
      return "statefulsets.apps";
    case k8s::WorkloadKind::kReplicationController:
      return "replicationcontrollers";
    case k8s::WorkloadKind::kDeployment:
      return "deployments.apps";
  }
  return "";
}

}  // namespace knx::sim
