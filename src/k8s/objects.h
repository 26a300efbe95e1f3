// Kubernetes objects as plain values, with just the fields that we read.
// The readers (read_object.h) fill them; unknown fields are ignored, as a client must. Maps are
// vectors sorted by key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "k8s/object_meta.h"
#include "k8s/pod_group_objects.h"
#include "k8s/quantity.h"
#include "k8s/resource_reservation.h"
#include "k8s/volume_objects.h"

namespace knx::k8s {

struct PreferredSchedulingTerm {
  std::int32_t weight = 0;
  NodeSelectorTerm preference;
  friend bool operator==(const PreferredSchedulingTerm&, const PreferredSchedulingTerm&) = default;
};

struct NodeAffinity {
  std::optional<NodeSelector> required;
  std::vector<PreferredSchedulingTerm> preferred;
  friend bool operator==(const NodeAffinity&, const NodeAffinity&) = default;
};

// ---- other pods ----

// Pods that are meant, and what of a node they share with the pod that speaks of them.
struct PodAffinityTerm {
  std::optional<LabelSelector> selector;  // absent: no pod
  std::vector<std::string> namespaces;
  // Besides those listed; an empty one selects all. Neither this nor a list: the pod's own.
  std::optional<LabelSelector> namespace_selector;
  std::string topology_key;
  // Merged into the selector when a pod is admitted, and of no meaning after that.
  std::vector<std::string> match_label_keys, mismatch_label_keys;
  friend bool operator==(const PodAffinityTerm&, const PodAffinityTerm&) = default;
};

struct WeightedPodAffinityTerm {
  std::int32_t weight = 0;
  PodAffinityTerm term;
  friend bool operator==(const WeightedPodAffinityTerm&, const WeightedPodAffinityTerm&) = default;
};

struct PodAffinity {
  std::vector<PodAffinityTerm> required;
  std::vector<WeightedPodAffinityTerm> preferred;
  [[nodiscard]] bool empty() const { return required.empty() && preferred.empty(); }
  friend bool operator==(const PodAffinity&, const PodAffinity&) = default;
};

enum class WhenUnsatisfiable { kDoNotSchedule, kScheduleAnyway };
// Whether nodes that the pod cannot go to are left out when pods are counted.
enum class NodeInclusionPolicy { kHonor, kIgnore };

struct TopologySpreadConstraint {
  std::int32_t max_skew = 1;
  std::string topology_key;
  WhenUnsatisfiable when_unsatisfiable = WhenUnsatisfiable::kDoNotSchedule;
  std::optional<LabelSelector> selector;  // absent: no pod
  std::int32_t min_domains = 1;
  NodeInclusionPolicy node_affinity_policy = NodeInclusionPolicy::kHonor;
  NodeInclusionPolicy node_taints_policy = NodeInclusionPolicy::kIgnore;
  std::vector<std::string> match_label_keys;
  friend bool operator==(const TopologySpreadConstraint&,
                         const TopologySpreadConstraint&) = default;
};

// ---- taints ----

// Unknown ones, which an API server may know: taints without effect, tolerations of nothing.
enum class TaintEffect { kNone, kNoSchedule, kPreferNoSchedule, kNoExecute, kUnknown };

struct Taint {
  std::string key, value;
  TaintEffect effect = TaintEffect::kNone;
  friend bool operator==(const Taint&, const Taint&) = default;
};

enum class TolerationOperator { kEqual, kExists, kLt, kGt, kUnknown };

struct Toleration {
  std::string key, value;
  TolerationOperator op = TolerationOperator::kEqual;
  TaintEffect effect = TaintEffect::kNone;  // kNone: every effect
  std::optional<std::int64_t> seconds;
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

// ---- pods ----

struct ResourceRequirements {
  ResourceList requests, limits;
  friend bool operator==(const ResourceRequirements&, const ResourceRequirements&) = default;
};

struct ContainerPort {
  std::string host_ip;  // empty: every address
  std::string protocol = "TCP";
  std::int32_t host_port = 0;  // 0: none on the host
  friend bool operator==(const ContainerPort&, const ContainerPort&) = default;
};

struct Container {
  std::string name, image;
  ResourceRequirements resources;
  std::vector<ContainerPort> ports;
  bool restart_always = false;  // on an init container: a sidecar
  // One of its restartPolicyRules restarts the whole pod.
  bool may_restart_all = false;
  friend bool operator==(const Container&, const Container&) = default;
};

enum class PreemptionPolicy { kLowerPriority, kNever };

struct PodSpec {
  std::string node_name;
  std::string scheduler_name = "default-scheduler";
  std::string priority_class_name;
  std::optional<std::int32_t> priority;
  PreemptionPolicy preemption_policy = PreemptionPolicy::kLowerPriority;
  std::vector<std::string> scheduling_gates;
  std::optional<PodGroupReference> pod_group;
  StringMap node_selector;
  std::optional<NodeAffinity> node_affinity;
  PodAffinity pod_affinity, pod_anti_affinity;
  std::vector<TopologySpreadConstraint> topology_spread;
  std::vector<Toleration> tolerations;
  std::vector<Container> containers, init_containers;
  std::vector<std::string> image_volumes;    // references of volumes that are images
  std::vector<Volume> volumes;               // those that some decision depends on
  std::vector<std::string> resource_claims;  // names of its claims of devices, as it calls them
  ResourceList overhead;
  std::optional<ResourceRequirements> resources;  // for the pod as a whole
  bool host_network = false;
  bool host_users = true;       // false: the pod has a user namespace of its own
  bool restarts_always = true;  // restartPolicy: such a pod does not end by itself
  std::optional<std::int64_t> active_deadline_seconds;
  std::optional<std::int64_t> termination_grace_seconds;
  friend bool operator==(const PodSpec&, const PodSpec&) = default;
};

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };

struct ContainerStatus {
  std::string name;
  std::optional<ResourceList> allocated;  // allocatedResources
  std::optional<ResourceList> actuated;   // resources.requests
  friend bool operator==(const ContainerStatus&, const ContainerStatus&) = default;
};

struct PodStatus {
  PodPhase phase = PodPhase::kPending;
  std::vector<Condition> conditions;
  std::string nominated_node_name;
  std::optional<Time> start_time;
  std::vector<ContainerStatus> containers, init_containers;
  std::optional<ResourceList> allocated, actuated;  // for the pod as a whole
  friend bool operator==(const PodStatus&, const PodStatus&) = default;
};

struct Pod {
  ObjectMeta meta;
  PodSpec spec;
  PodStatus status;
  friend bool operator==(const Pod&, const Pod&) = default;
};

// ---- nodes ----

struct ContainerImage {
  std::vector<std::string> names;
  std::int64_t size_bytes = 0;
  friend bool operator==(const ContainerImage&, const ContainerImage&) = default;
};

struct Node {
  ObjectMeta meta;
  bool unschedulable = false;
  std::vector<Taint> taints;
  ResourceList capacity, allocatable;
  std::vector<ContainerImage> images;
  std::vector<std::string> declared_features;
  std::vector<Condition> conditions;
  friend bool operator==(const Node&, const Node&) = default;
};

// ---- the rest ----

struct Namespace {
  ObjectMeta meta;
  friend bool operator==(const Namespace&, const Namespace&) = default;
};

struct PriorityClass {
  ObjectMeta meta;
  std::int32_t value = 0;
  bool global_default = false;
  PreemptionPolicy preemption_policy = PreemptionPolicy::kLowerPriority;
  friend bool operator==(const PriorityClass&, const PriorityClass&) = default;
};

// A number or a percentage, as in minAvailable.
struct IntOrPercent {
  std::int32_t value = 0;
  bool percent = false;
  friend bool operator==(const IntOrPercent&, const IntOrPercent&) = default;
};

struct PodDisruptionBudget {
  ObjectMeta meta;
  std::optional<LabelSelector> selector;
  std::optional<IntOrPercent> min_available, max_unavailable;
  std::int32_t disruptions_allowed = 0;
  std::vector<std::string> disrupted_pods;
  friend bool operator==(const PodDisruptionBudget&, const PodDisruptionBudget&) = default;
};

struct Service {
  ObjectMeta meta;
  StringMap selector;
  friend bool operator==(const Service&, const Service&) = default;
};

struct PodTemplate {
  ObjectMeta meta;
  PodSpec spec;
  friend bool operator==(const PodTemplate&, const PodTemplate&) = default;
};

// ReplicaSet, StatefulSet, ReplicationController and Deployment, which differ to us in how they
// name their pods.
enum class WorkloadKind { kReplicaSet, kStatefulSet, kReplicationController, kDeployment };

struct Workload {
  WorkloadKind kind = WorkloadKind::kReplicaSet;
  ObjectMeta meta;
  std::int32_t replicas = 1;
  std::optional<LabelSelector> selector;
  PodTemplate pod_template;
  std::vector<PersistentVolumeClaim> claim_templates;  // of a StatefulSet
  friend bool operator==(const Workload&, const Workload&) = default;
};

// What a Job that comes from a cluster has behind it.
struct JobStatus {
  std::int32_t succeeded = 0, failed = 0;  // pods
  std::string completed_indexes;           // "1,3-5"
  bool over = false;                       // complete, or failed for good
  friend bool operator==(const JobStatus&, const JobStatus&) = default;
};

struct Job {
  ObjectMeta meta;
  std::int32_t parallelism = 1;
  std::optional<std::int32_t> completions;
  bool indexed = false;
  bool suspend = false;
  std::int32_t backoff_limit = 6;  // more failed pods than this, and it has failed
  std::optional<std::int64_t> active_deadline_seconds;
  PodTemplate pod_template;
  JobStatus status;
  friend bool operator==(const Job&, const Job&) = default;
};

using Object = std::variant<Pod, Node, Namespace, PriorityClass, PodDisruptionBudget, Service,
                            Workload, Job, PersistentVolumeClaim, PersistentVolume, StorageClass,
                            CsiNode, CsiDriver, CsiStorageCapacity, VolumeAttachment, PodGroup,
                            GroupWorkload, ResourceReservation>;

}  // namespace knx::k8s
