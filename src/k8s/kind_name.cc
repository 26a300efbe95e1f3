#include "k8s/kind_name.h"

namespace knx::k8s {
namespace {

struct Name {
  std::string_view operator()(const Pod&) const { return "Pod"; }
  std::string_view operator()(const Node&) const { return "Node"; }
  std::string_view operator()(const Namespace&) const { return "Namespace"; }
  std::string_view operator()(const PriorityClass&) const { return "PriorityClass"; }
  std::string_view operator()(const PodDisruptionBudget&) const { return "PodDisruptionBudget"; }
  std::string_view operator()(const Service&) const { return "Service"; }
  std::string_view operator()(const Workload& workload) const { return KindName(workload.kind); }
  std::string_view operator()(const Job&) const { return "Job"; }
  std::string_view operator()(const PersistentVolumeClaim&) const {
    return "PersistentVolumeClaim";
  }
  std::string_view operator()(const PersistentVolume&) const { return "PersistentVolume"; }
  std::string_view operator()(const StorageClass&) const { return "StorageClass"; }
  std::string_view operator()(const CsiNode&) const { return "CSINode"; }
  std::string_view operator()(const CsiDriver&) const { return "CSIDriver"; }
  std::string_view operator()(const CsiStorageCapacity&) const { return "CSIStorageCapacity"; }
  std::string_view operator()(const VolumeAttachment&) const { return "VolumeAttachment"; }
  std::string_view operator()(const PodGroup&) const { return "PodGroup"; }
  std::string_view operator()(const GroupWorkload&) const { return "Workload"; }
  std::string_view operator()(const ResourceReservation&) const { return "ResourceReservation"; }
};

}  // namespace

std::string_view KindName(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::kReplicaSet:
      return "ReplicaSet";
    case WorkloadKind::kStatefulSet:
      return "StatefulSet";
    case WorkloadKind::kReplicationController:
      return "ReplicationController";
    case WorkloadKind::kDeployment:
      return "Deployment";
  }
  return "";
}

std::string_view KindName(const Object& object) { return std::visit(Name{}, object); }

const ObjectMeta& MetaOf(const Object& object) {
  return std::visit([](const auto& value) -> const ObjectMeta& { return value.meta; }, object);
}

ObjectMeta& MetaOf(Object& object) {
  return std::visit([](auto& value) -> ObjectMeta& { return value.meta; }, object);
}

}  // namespace knx::k8s
