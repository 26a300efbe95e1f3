// Every label, annotation, taint, resource, reason and condition name that means something to us,
// once.
#pragma once

#include <string_view>

namespace knx::k8s::names {

// Labels and taints of Kubernetes.
inline constexpr std::string_view kHostname = "kubernetes.io/hostname";
inline constexpr std::string_view kNamespaceName = "kubernetes.io/metadata.name";
inline constexpr std::string_view kZone = "topology.kubernetes.io/zone";
inline constexpr std::string_view kRegion = "topology.kubernetes.io/region";
inline constexpr std::string_view kZoneBeta = "failure-domain.beta.kubernetes.io/zone";
inline constexpr std::string_view kRegionBeta = "failure-domain.beta.kubernetes.io/region";
// Between the zones of a volume that is in several.
inline constexpr std::string_view kZoneDelimiter = "__";
inline constexpr std::string_view kPodTemplateHash = "pod-template-hash";
inline constexpr std::string_view kTaintUnschedulable = "node.kubernetes.io/unschedulable";
inline constexpr std::string_view kTaintNotReady = "node.kubernetes.io/not-ready";
inline constexpr std::string_view kTaintUnreachable = "node.kubernetes.io/unreachable";

// Annotations of claims, volumes and CSI nodes.
inline constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";
inline constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
inline constexpr std::string_view kStorageClassBeta = "volume.beta.kubernetes.io/storage-class";
inline constexpr std::string_view kMigratedPlugins = "storage.alpha.kubernetes.io/migrated-plugins";
// The provisioner of a class whose volumes somebody makes by hand.
inline constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";
// On the bookmark of a watch after which it no longer sends what was there before it.
inline constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";
// Finalizers of Kubernetes' own controllers.
inline constexpr std::string_view kFinalizerJobTracking = "batch.kubernetes.io/job-tracking";

// Resources.
inline constexpr std::string_view kStorage = "storage";
inline constexpr std::string_view kCpu = "cpu";
inline constexpr std::string_view kMemory = "memory";
inline constexpr std::string_view kEphemeralStorage = "ephemeral-storage";
inline constexpr std::string_view kPods = "pods";
inline constexpr std::string_view kNvidiaGpu = "nvidia.com/gpu";

// Conditions of pods and their reasons.
inline constexpr std::string_view kPodScheduled = "PodScheduled";
inline constexpr std::string_view kPodResizePending = "PodResizePending";
inline constexpr std::string_view kDisruptionTarget = "DisruptionTarget";
inline constexpr std::string_view kReasonUnschedulable = "Unschedulable";
inline constexpr std::string_view kReasonSchedulerError = "SchedulerError";
inline constexpr std::string_view kReasonGroupScheduled = "Scheduled";
inline constexpr std::string_view kReasonSchedulingGated = "SchedulingGated";
inline constexpr std::string_view kReasonWaitingForGang = "WaitingForPodGroup";
inline constexpr std::string_view kReasonInfeasible = "Infeasible";
inline constexpr std::string_view kReasonDeferred = "Deferred";
inline constexpr std::string_view kReasonPreemption = "PreemptionByScheduler";

// Reasons and actions of events.
inline constexpr std::string_view kEventScheduled = "Scheduled";
inline constexpr std::string_view kEventFailedScheduling = "FailedScheduling";
inline constexpr std::string_view kEventPreempted = "Preempted";
inline constexpr std::string_view kEventGangIncomplete = "PodGroupIncomplete";
inline constexpr std::string_view kEventGangConflict = "PodGroupConflict";
inline constexpr std::string_view kEventNoGang = "PodGroupIgnored";
inline constexpr std::string_view kEventFailedPreemption = "FailedPreemption";
inline constexpr std::string_view kEventRunTime = "UnreadableRunTime";
inline constexpr std::string_view kEventNotUnderstood = "NotUnderstood";
inline constexpr std::string_view kActionBinding = "Binding";
inline constexpr std::string_view kActionPreempting = "Preempting";
inline constexpr std::string_view kActionScheduling = "Scheduling";
inline constexpr std::string_view kActionReading = "Reading";

// Pods that belong together: who says so (labels, or annotations of the same name).
inline constexpr std::string_view kGangName = "pod-group.scheduling.kubenexus.io/name";
inline constexpr std::string_view kGangMinAvailable =
    "pod-group.scheduling.kubenexus.io/min-available";
// What a member is in its gang, and how many of its kind must start.
inline constexpr std::string_view kGangRole = "pod-group.scheduling.kubenexus.io/role";
inline constexpr std::string_view kGangRoleMinAvailable =
    "pod-group.scheduling.kubenexus.io/role-min-available";
// Which sub-group of its gang a member is in, how many of that must start, how many such
// sub-groups.
inline constexpr std::string_view kGangSubGroup = "pod-group.scheduling.kubenexus.io/sub-group";
inline constexpr std::string_view kGangSubGroupMinAvailable =
    "pod-group.scheduling.kubenexus.io/sub-group-min-available";
inline constexpr std::string_view kGangMinSubGroups =
    "pod-group.scheduling.kubenexus.io/min-sub-groups";
// All members on nodes with the same value of this label.
inline constexpr std::string_view kGangTopologyKey =
    "pod-group.scheduling.kubenexus.io/topology-key";
inline constexpr std::string_view kSigsGangName = "pod-group.scheduling.sigs.k8s.io/name";
inline constexpr std::string_view kSigsGangMinAvailable =
    "pod-group.scheduling.sigs.k8s.io/min-available";
inline constexpr std::string_view kSigsGangMinMember =
    "pod-group.scheduling.sigs.k8s.io/min-member";
// What was written for an earlier KubeNexus.
inline constexpr std::string_view kEarlierGangName = "gang.scheduling.kubenexus.io/name";
inline constexpr std::string_view kEarlierMinAvailable = "scheduling.kubenexus.io/min-available";
inline constexpr std::string_view kKueueGroupName = "kueue.x-k8s.io/pod-group-name";
inline constexpr std::string_view kKueueGroupCount = "kueue.x-k8s.io/pod-group-total-count";
// The object that says so: a group of a Workload (labels), a PodGroup of kubernetes-sigs (label
// or annotation), of Volcano (annotation).
inline constexpr std::string_view kWorkloadName = "scheduling.k8s.io/workload-name";
inline constexpr std::string_view kWorkloadGroup = "scheduling.k8s.io/pod-group";
inline constexpr std::string_view kSigsPodGroup = "scheduling.x-k8s.io/pod-group";
inline constexpr std::string_view kVolcanoGroupName = "scheduling.k8s.io/group-name";
inline constexpr std::string_view kVolcanoTask = "volcano.sh/task-spec";

// Who a pod is for and what it does. What operators put on their pods is in operators.cc.
inline constexpr std::string_view kTenantName = "tenant.kubenexus.io/name";
inline constexpr std::string_view kTenantTier = "tenant.kubenexus.io/tier";
inline constexpr std::string_view kNamespaceTier = "scheduling.kubenexus.io/tier";
inline constexpr std::string_view kWorkloadType = "workload.kubenexus.io/type";
inline constexpr std::string_view kPreemptible = "workload.kubenexus.io/preemptible";
inline constexpr std::string_view kKueueQueue = "kueue.x-k8s.io/queue-name";

// Reservations: whose pods may use one that names no pod group (a label of both), its conditions,
// and what a driver says that its executors will ask for ("cpu=4,memory=8Gi").
inline constexpr std::string_view kAppId = "scheduling.kubenexus.io/app-id";
inline constexpr std::string_view kPodGroupOfReservation = "pod-group";
inline constexpr std::string_view kReservationActive = "ReservationActive";
inline constexpr std::string_view kGangComplete = "GangComplete";
inline constexpr std::string_view kExecutorResources = "scheduling.kubenexus.io/executor-resources";
// Pods that make the others of their gang.
inline constexpr std::string_view kSparkRole = "spark-role";
inline constexpr std::string_view kRayNodeType = "ray.io/node-type";

// How long a pod is expected to run, whether it may pass others that wait (labels or annotations),
// and whether it may be asked to go for them.
inline constexpr std::string_view kExpectedDuration = "scheduling.kubenexus.io/expected-duration";
inline constexpr std::string_view kBackfillEligible = "backfill.scheduling.kubenexus.io/eligible";
inline constexpr std::string_view kBackfill = "scheduling.kubenexus.io/backfill";

// Features that nodes declare and pods need.
inline constexpr std::string_view kFeatureRestartAll = "RestartAllContainersOnContainerExits";
inline constexpr std::string_view kFeatureHostNetworkUsers = "UserNamespacesHostNetworkSupport";

// Names of schedulers.
inline constexpr std::string_view kDefaultScheduler = "default-scheduler";
inline constexpr std::string_view kKubeNexusScheduler = "kubenexus-scheduler";

}  // namespace knx::k8s::names
