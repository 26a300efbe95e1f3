// The kinds of objects that are read, and by what. For the files that read whole objects.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "k8s/object_fields.h"

namespace knx::k8s {

template <class Fields>
struct KnownKind {
  std::string_view api_version, kind;
  void (*read)(Fields& fields, Object& out);
};

template <class Fields, class T>
void ReadAs(Fields& fields, Object& out) {
  ReadFields(fields, out.emplace<T>());
}

template <class Fields, WorkloadKind kind>
void ReadAsWorkload(Fields& fields, Object& out) {
  Workload& workload = out.emplace<Workload>();
  workload.kind = kind;
  ReadFields(fields, workload);
}

template <class Fields, PodGroupApi api>
void ReadAsPodGroup(Fields& fields, Object& out) {
  PodGroup& group = out.emplace<PodGroup>();
  group.api = api;
  ReadFields(fields, group);
}

// The version is written nowhere in an item of a list.
inline constexpr char kV1Beta1[] = "v1beta1", kV1Alpha3[] = "v1alpha3", kV1Alpha2[] = "v1alpha2";
template <class Fields, const char* version>
void ReadAsNativePodGroup(Fields& fields, Object& out) {
  PodGroup& group = out.emplace<PodGroup>();
  group.version = version;
  ReadFields(fields, group);
}

template <class Fields>
constexpr std::array<KnownKind<Fields>, 25> kKnownKinds = {{
    {"v1", "Pod", &ReadAs<Fields, Pod>},
    {"v1", "Node", &ReadAs<Fields, Node>},
    {"v1", "Namespace", &ReadAs<Fields, Namespace>},
    {"v1", "Service", &ReadAs<Fields, Service>},
    {"v1", "ReplicationController", &ReadAsWorkload<Fields, WorkloadKind::kReplicationController>},
    {"scheduling.k8s.io/v1", "PriorityClass", &ReadAs<Fields, PriorityClass>},
    {"policy/v1", "PodDisruptionBudget", &ReadAs<Fields, PodDisruptionBudget>},
    {"apps/v1", "ReplicaSet", &ReadAsWorkload<Fields, WorkloadKind::kReplicaSet>},
    {"apps/v1", "StatefulSet", &ReadAsWorkload<Fields, WorkloadKind::kStatefulSet>},
    {"apps/v1", "Deployment", &ReadAsWorkload<Fields, WorkloadKind::kDeployment>},
    {"batch/v1", "Job", &ReadAs<Fields, Job>},
    {"v1", "PersistentVolumeClaim", &ReadAs<Fields, PersistentVolumeClaim>},
    {"v1", "PersistentVolume", &ReadAs<Fields, PersistentVolume>},
    {"storage.k8s.io/v1", "StorageClass", &ReadAs<Fields, StorageClass>},
    {"storage.k8s.io/v1", "CSINode", &ReadAs<Fields, CsiNode>},
    {"storage.k8s.io/v1", "CSIDriver", &ReadAs<Fields, CsiDriver>},
    {"storage.k8s.io/v1", "CSIStorageCapacity", &ReadAs<Fields, CsiStorageCapacity>},
    {"storage.k8s.io/v1", "VolumeAttachment", &ReadAs<Fields, VolumeAttachment>},
    {"scheduling.k8s.io/v1beta1", "PodGroup", &ReadAsNativePodGroup<Fields, kV1Beta1>},
    {"scheduling.k8s.io/v1alpha3", "PodGroup", &ReadAsNativePodGroup<Fields, kV1Alpha3>},
    {"scheduling.k8s.io/v1alpha2", "PodGroup", &ReadAsNativePodGroup<Fields, kV1Alpha2>},
    {"scheduling.k8s.io/v1alpha1", "Workload", &ReadAs<Fields, GroupWorkload>},
    {"scheduling.x-k8s.io/v1alpha1", "PodGroup", &ReadAsPodGroup<Fields, PodGroupApi::kSigs>},
    {"scheduling.volcano.sh/v1beta1", "PodGroup", &ReadAsPodGroup<Fields, PodGroupApi::kVolcano>},
    {"scheduling.kubenexus.io/v1alpha1", "ResourceReservation",
     &ReadAs<Fields, ResourceReservation>},
}};

struct TypeMeta {
  std::string api_version, kind;
};

template <class Fields>
const KnownKind<Fields>* FindKind(const TypeMeta& type) {
  const auto& kinds = kKnownKinds<Fields>;
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&type](const auto& known) {
    return known.kind == type.kind && known.api_version == type.api_version;
  });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace knx::k8s
