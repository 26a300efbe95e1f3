// How each kind of object is read, once for every cursor: FieldReader (YAML and JSON with good
// errors), JsonFields (the fast path) and ProtoFields (protobuf). The templates are defined and
// instantiated in the read_*.cc files; only those and known_kinds.h have a use for this header.
#pragma once

#include <string_view>
#include <vector>

#include "k8s/objects.h"

namespace knx::k8s {

enum class Scope { kNamespaced, kCluster };

// Reads metadata of an object that has a name of its own. A generateName stands in for a name, as
// it is.
template <class Fields>
void ReadMeta(Fields& object, Scope scope, ObjectMeta& meta);
// Reads metadata of a template, which may be absent and need not have a name.
template <class Fields>
void ReadTemplateMeta(Fields& object, ObjectMeta& meta);

template <class Fields>
void ReadSelector(Fields& selector, LabelSelector& out);
template <class Fields>
void ReadNodeSelector(Fields& selector, NodeSelector& out);
template <class Fields>
void ReadNodeAffinity(Fields& affinity, NodeAffinity& out);
template <class Fields>
void ReadPodAffinity(Fields& affinity, PodAffinity& out);
template <class Fields>
void ReadSpreadConstraint(Fields& constraint, TopologySpreadConstraint& out);
// Amounts are rounded up to a thousandth, as the API server does.
template <class Fields>
bool ReadResourceList(Fields& fields, std::string_view key, ResourceList& out);
template <class Fields>
bool ReadTaintEffect(Fields& fields, TaintEffect& out);
// The lists `taints` and `tolerations` of what is read; what is there already stays.
template <class Fields>
void ReadTaints(Fields& fields, std::vector<Taint>& out);
template <class Fields>
void ReadTolerations(Fields& fields, std::vector<Toleration>& out);
template <class Fields>
void ReadConditions(Fields& status, std::vector<Condition>& out);
template <class Fields>
void ReadPreemptionPolicy(Fields& fields, PreemptionPolicy& out);
template <class Fields>
void ReadPodSpec(Fields& spec, PodSpec& out);
// Adds a volume that some decision depends on, and none otherwise.
template <class Fields>
void ReadPodVolume(Fields& volume, std::vector<Volume>& out);

// Whole objects, their kind known already.
template <class Fields>
void ReadFields(Fields& object, Pod& out);
template <class Fields>
void ReadFields(Fields& object, Node& out);
template <class Fields>
void ReadFields(Fields& object, Namespace& out);
template <class Fields>
void ReadFields(Fields& object, PriorityClass& out);
template <class Fields>
void ReadFields(Fields& object, PodDisruptionBudget& out);
template <class Fields>
void ReadFields(Fields& object, Service& out);
template <class Fields>
void ReadFields(Fields& object, Workload& out);  // its kind is set before
template <class Fields>
void ReadFields(Fields& object, Job& out);
template <class Fields>
void ReadFields(Fields& object, PersistentVolumeClaim& out);
template <class Fields>
void ReadFields(Fields& object, PersistentVolume& out);
template <class Fields>
void ReadFields(Fields& object, StorageClass& out);
template <class Fields>
void ReadFields(Fields& object, CsiNode& out);
template <class Fields>
void ReadFields(Fields& object, CsiDriver& out);
template <class Fields>
void ReadFields(Fields& object, CsiStorageCapacity& out);
template <class Fields>
void ReadFields(Fields& object, VolumeAttachment& out);
template <class Fields>
void ReadFields(Fields& object, PodGroup& out);  // its API is set before
template <class Fields>
void ReadFields(Fields& object, GroupWorkload& out);
template <class Fields>
void ReadFields(Fields& object, ResourceReservation& out);

}  // namespace knx::k8s
