// Objects from trees of manifests: the kinds a scenario may name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "k8s/object_fields.h"
#include "scenario/manifest_tree.h"

namespace knx::scenario {
namespace {

using k8s::FieldReader;

template <class T>
void ReadAs(FieldReader& fields, k8s::Object& out) {
  k8s::ReadFields(fields, out.emplace<T>());
}

template <k8s::WorkloadKind kind>
void ReadAsWorkload(FieldReader& fields, k8s::Object& out) {
  k8s::Workload& workload = out.emplace<k8s::Workload>();
  workload.kind = kind;
  k8s::ReadFields(fields, workload);
}

struct KnownKind {
  std::string_view api_version, kind;
  void (*read)(FieldReader& fields, k8s::Object& out);
};
constexpr std::array<KnownKind, 18> kKnownKinds = {{
    {"v1", "Pod", &ReadAs<k8s::Pod>},
    {"v1", "Node", &ReadAs<k8s::Node>},
    {"v1", "Namespace", &ReadAs<k8s::Namespace>},
    {"v1", "Service", &ReadAs<k8s::Service>},
    {"v1", "ReplicationController", &ReadAsWorkload<k8s::WorkloadKind::kReplicationController>},
    {"scheduling.k8s.io/v1", "PriorityClass", &ReadAs<k8s::PriorityClass>},
    {"policy/v1", "PodDisruptionBudget", &ReadAs<k8s::PodDisruptionBudget>},
    {"apps/v1", "ReplicaSet", &ReadAsWorkload<k8s::WorkloadKind::kReplicaSet>},
    {"apps/v1", "StatefulSet", &ReadAsWorkload<k8s::WorkloadKind::kStatefulSet>},
    {"apps/v1", "Deployment", &ReadAsWorkload<k8s::WorkloadKind::kDeployment>},
    {"batch/v1", "Job", &ReadAs<k8s::Job>},
    {"v1", "PersistentVolumeClaim", &ReadAs<k8s::PersistentVolumeClaim>},
    {"v1", "PersistentVolume", &ReadAs<k8s::PersistentVolume>},
    {"storage.k8s.io/v1", "StorageClass", &ReadAs<k8s::StorageClass>},
    {"storage.k8s.io/v1", "CSINode", &ReadAs<k8s::CsiNode>},
    {"storage.k8s.io/v1", "CSIDriver", &ReadAs<k8s::CsiDriver>},
    {"storage.k8s.io/v1", "CSIStorageCapacity", &ReadAs<k8s::CsiStorageCapacity>},
    {"storage.k8s.io/v1", "VolumeAttachment", &ReadAs<k8s::VolumeAttachment>},
}};

void ReadAny(FieldReader& fields, std::vector<k8s::Object>& out) {
  std::string api_version;
  std::string kind;
  fields.Require("apiVersion", api_version);
  fields.Require("kind", kind);
  if (!fields.ok()) return;
  if (kind == "List") {
    fields.ForEach("items", [&](FieldReader& item) { ReadAny(item, out); });
    return;
  }
  const auto found = std::find_if(kKnownKinds.begin(), kKnownKinds.end(), [&](const auto& known) {
    return known.kind == kind && known.api_version == api_version;
  });
  if (found != kKnownKinds.end()) return found->read(fields, out.emplace_back());
  std::vector<std::string> known;
  for (const KnownKind& k : kKnownKinds)
    known.push_back(fmt::format("{} {}", k.api_version, k.kind));
  fields.Fail("kind", fmt::format("\"{}\" of apiVersion \"{}\" is not known; known are {}", kind,
                                  api_version, fmt::join(known, ", ")));
}

}  // namespace

Result<std::vector<k8s::Object>> ReadObjects(const k8s::YamlNode& manifest, TreePlace place) {
  std::vector<k8s::Object> out;
  KNX_TRY_DONE(k8s::ReadNode(manifest, {.file = place.file, .path = place.path},
                             [&out](FieldReader& fields) { ReadAny(fields, out); }));
  return out;
}

}  // namespace knx::scenario
