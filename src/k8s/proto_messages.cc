#include "k8s/proto_messages.h"

#include <algorithm>
#include <iterator>

namespace knx::k8s::messages {
namespace {

// ---- shared parts ----

constexpr MessageTable kOwnerReference(
    {{"kind", 1}, {"name", 3}, {"uid", 4}, {"apiVersion", 5}, {"controller", 6}});

constexpr MessageTable kMeta({Plain("name", 1),
                              Plain("generateName", 2),
                              Plain("namespace", 3),
                              Plain("uid", 5),
                              Plain("resourceVersion", 6),
                              Plain("generation", 7),
                              {"creationTimestamp", 8},
                              {"deletionTimestamp", 9},
                              {"labels", 11},
                              {"annotations", 12},
                              {"ownerReferences", 13, &kOwnerReference},
                              {"finalizers", 14}});

constexpr MessageTable kOnlyMeta({{"metadata", 1, &kMeta}});

constexpr MessageTable kRequirement({{"key", 1}, {"operator", 2}, {"values", 3}});
constexpr MessageTable kLabelSelector({{"matchLabels", 1}, {"matchExpressions", 2, &kRequirement}});
constexpr MessageTable kNodeSelectorTerm({{"matchExpressions", 1, &kRequirement},
                                          {"matchFields", 2, &kRequirement}});
constexpr MessageTable kNodeSelector({{"nodeSelectorTerms", 1, &kNodeSelectorTerm}});

constexpr MessageTable kResources({{"limits", 1}, {"requests", 2}});

// Of pods, nodes and jobs.
constexpr MessageTable kCondition({{"type", 1},
                                   {"status", 2},
                                   {"lastTransitionTime", 4},
                                   Plain("reason", 5),
                                   Plain("message", 6)});

constexpr MessageTable kNamed({{"name", 1}});

constexpr MessageTable kNumberOrText({{"type", 1}, {"intVal", 2}, {"strVal", 3}});

// ---- where pods want to be ----

constexpr MessageTable kPreferredNodes({{"weight", 1}, {"preference", 2, &kNodeSelectorTerm}});
constexpr MessageTable kNodeAffinity(
    {{"requiredDuringSchedulingIgnoredDuringExecution", 1, &kNodeSelector},
     {"preferredDuringSchedulingIgnoredDuringExecution", 2, &kPreferredNodes}});

constexpr MessageTable kPodAffinityTerm({{"labelSelector", 1, &kLabelSelector},
                                         {"namespaces", 2},
                                         {"topologyKey", 3},
                                         {"namespaceSelector", 4, &kLabelSelector},
                                         {"matchLabelKeys", 5},
                                         {"mismatchLabelKeys", 6}});
constexpr MessageTable kPreferredPods({{"weight", 1}, {"podAffinityTerm", 2, &kPodAffinityTerm}});
constexpr MessageTable kPodAffinity(
    {{"requiredDuringSchedulingIgnoredDuringExecution", 1, &kPodAffinityTerm},
     {"preferredDuringSchedulingIgnoredDuringExecution", 2, &kPreferredPods}});

constexpr MessageTable kAffinity({{"nodeAffinity", 1, &kNodeAffinity},
                                  {"podAffinity", 2, &kPodAffinity},
                                  {"podAntiAffinity", 3, &kPodAffinity}});

constexpr MessageTable kSpreadConstraint({{"maxSkew", 1},
                                          {"topologyKey", 2},
                                          {"whenUnsatisfiable", 3},
                                          {"labelSelector", 4, &kLabelSelector},
                                          {"minDomains", 5},
                                          {"nodeAffinityPolicy", 6},
                                          {"nodeTaintsPolicy", 7},
                                          {"matchLabelKeys", 8}});

constexpr MessageTable kToleration({Plain("key", 1),
                                    Plain("operator", 2),
                                    Plain("value", 3),
                                    Plain("effect", 4),
                                    {"tolerationSeconds", 5}});

// ---- volumes ----

constexpr MessageTable kAwsDisk({{"volumeID", 1}, Plain("readOnly", 4)});
constexpr MessageTable kGceDisk({{"pdName", 1}, Plain("readOnly", 4)});
constexpr MessageTable kAzureDisk({{"diskURI", 2}, {"readOnly", 5}, {"kind", 6}});
constexpr MessageTable kAzureFile({{"shareName", 2}, Plain("readOnly", 3)});
constexpr MessageTable kCinder({{"volumeID", 1}, Plain("readOnly", 3)});
constexpr MessageTable kPortworx({{"volumeID", 1}, Plain("readOnly", 3)});
constexpr MessageTable kVsphere({{"volumePath", 1}, Absent("readOnly")});
constexpr MessageTable kRbd(
    {{"monitors", 1}, {"image", 2}, Plain("pool", 4), Plain("readOnly", 8)});
constexpr MessageTable kIscsi({{"iqn", 2}, Plain("readOnly", 6)});

constexpr MessageTable kClaimSpec({{"accessModes", 1},
                                   {"resources", 2, &kResources},
                                   Plain("volumeName", 3),
                                   {"selector", 4, &kLabelSelector},
                                   {"storageClassName", 5},
                                   {"volumeMode", 6},
                                   {"volumeAttributesClassName", 9}});
constexpr MessageTable kPhase({Plain("phase", 1)});
constexpr MessageTable kClaim({{"metadata", 1, &kMeta},
                               {"spec", 2, &kClaimSpec},
                               {"status", 3, &kPhase}});

constexpr MessageTable kClaimSource({{"claimName", 1}});
constexpr MessageTable kEphemeralSource({{"volumeClaimTemplate", 1, &kClaim}});
constexpr MessageTable kCsiSource({{"driver", 1}});
constexpr MessageTable kImageSource({Plain("reference", 1)});

constexpr std::uint8_t kVolumeSource = 2;
constexpr MessageTable kVolume({{"name", 1},
                                Inlined("hostPath", 1),
                                Inlined("emptyDir", 2),
                                Inlined("gcePersistentDisk", 3, &kGceDisk),
                                Inlined("awsElasticBlockStore", 4, &kAwsDisk),
                                Inlined("secret", 6),
                                Inlined("iscsi", 8, &kIscsi),
                                Inlined("persistentVolumeClaim", 10, &kClaimSource),
                                Inlined("rbd", 11, &kRbd),
                                Inlined("cinder", 13, &kCinder),
                                Inlined("azureFile", 18, &kAzureFile),
                                Inlined("configMap", 19),
                                Inlined("vsphereVolume", 20, &kVsphere),
                                Inlined("azureDisk", 22, &kAzureDisk),
                                Inlined("portworxVolume", 24, &kPortworx),
                                Inlined("projected", 26),
                                Inlined("csi", 28, &kCsiSource),
                                Inlined("ephemeral", 29, &kEphemeralSource),
                                Inlined("image", 30, &kImageSource)},
                               kVolumeSource);

constexpr MessageTable kClaimRef({Plain("namespace", 2), Plain("name", 3), Plain("uid", 4)});
constexpr MessageTable kVolumeNodeAffinity({{"required", 1, &kNodeSelector}});
constexpr MessageTable kCsiVolumeSource({{"driver", 1}, {"volumeHandle", 2}});
constexpr MessageTable kVolumeSpec({{"capacity", 1},
                                    {"accessModes", 3},
                                    {"claimRef", 4, &kClaimRef},
                                    Plain("storageClassName", 6),
                                    {"volumeMode", 8},
                                    {"nodeAffinity", 9, &kVolumeNodeAffinity},
                                    {"volumeAttributesClassName", 10},
                                    Inlined("gcePersistentDisk", 1, &kGceDisk),
                                    Inlined("awsElasticBlockStore", 2, &kAwsDisk),
                                    Inlined("cinder", 8, &kCinder),
                                    Inlined("azureFile", 13, &kAzureFile),
                                    Inlined("vsphereVolume", 14, &kVsphere),
                                    Inlined("azureDisk", 16, &kAzureDisk),
                                    Inlined("portworxVolume", 18, &kPortworx),
                                    Inlined("csi", 22, &kCsiVolumeSource)},
                                   kVolumeSource);
constexpr MessageTable kVolumeObject({{"metadata", 1, &kMeta},
                                      {"spec", 2, &kVolumeSpec},
                                      {"status", 3, &kPhase}});

constexpr MessageTable kTopologyExpression({{"key", 1}, {"values", 2, nullptr, Presence::kAlways}});
constexpr MessageTable kTopologyTerm({{"matchLabelExpressions", 1, &kTopologyExpression}});
constexpr MessageTable kClass({{"metadata", 1, &kMeta},
                               {"provisioner", 2},
                               {"reclaimPolicy", 4},
                               {"volumeBindingMode", 7},
                               {"allowedTopologies", 8, &kTopologyTerm}});

constexpr MessageTable kDriverLimit({{"count", 1}});
constexpr MessageTable kDriverOfNode({{"name", 1}, {"allocatable", 4, &kDriverLimit}});
constexpr MessageTable kDriversOfNode({{"drivers", 1, &kDriverOfNode}});
constexpr MessageTable kCsiNodeObject({{"metadata", 1, &kMeta}, {"spec", 2, &kDriversOfNode}});

constexpr MessageTable kDriverSpec({{"storageCapacity", 4}});
constexpr MessageTable kDriver({{"metadata", 1, &kMeta}, {"spec", 2, &kDriverSpec}});

constexpr MessageTable kStorageCapacity({{"metadata", 1, &kMeta},
                                         {"nodeTopology", 2, &kLabelSelector},
                                         {"storageClassName", 3},
                                         {"capacity", 4},
                                         {"maximumVolumeSize", 5}});

constexpr MessageTable kAttachmentSource({{"persistentVolumeName", 1}});
constexpr MessageTable kAttachmentSpec({{"attacher", 1},
                                        {"source", 2, &kAttachmentSource},
                                        {"nodeName", 3}});
constexpr MessageTable kAttachment({{"metadata", 1, &kMeta}, {"spec", 2, &kAttachmentSpec}});

// ---- pods ----

constexpr MessageTable kPort(
    {Plain("hostPort", 2), {"containerPort", 3}, Plain("protocol", 4), Plain("hostIP", 5)});
constexpr MessageTable kRestartRule({Plain("action", 1)});
constexpr MessageTable kContainer({{"name", 1},
                                   Plain("image", 2),
                                   {"ports", 6, &kPort},
                                   {"resources", 8, &kResources},
                                   {"restartPolicy", 24},
                                   {"restartPolicyRules", 25, &kRestartRule}});

constexpr MessageTable kGroupOfWorkload({{"name", 1},
                                         {"podGroup", 2},
                                         Plain("podGroupReplicaKey", 3)});
constexpr MessageTable kSchedulingGroup({{"podGroupName", 1}});

constexpr MessageTable kPodSpec({{"volumes", 1, &kVolume},
                                 {"containers", 2, &kContainer},
                                 Plain("restartPolicy", 3),
                                 {"terminationGracePeriodSeconds", 4},
                                 {"activeDeadlineSeconds", 5},
                                 {"nodeSelector", 7},
                                 Plain("nodeName", 10),
                                 Plain("hostNetwork", 11),
                                 {"affinity", 18, &kAffinity},
                                 Plain("schedulerName", 19),
                                 {"initContainers", 20, &kContainer},
                                 {"tolerations", 22, &kToleration},
                                 Plain("priorityClassName", 24),
                                 {"priority", 25},
                                 {"preemptionPolicy", 31},
                                 {"overhead", 32},
                                 {"topologySpreadConstraints", 33, &kSpreadConstraint},
                                 {"hostUsers", 37},
                                 {"schedulingGates", 38, &kNamed},
                                 {"resourceClaims", 39, &kNamed},
                                 {"resources", 40, &kResources},
                                 {"workloadRef", 42, &kGroupOfWorkload},
                                 {"schedulingGroup", 43, &kSchedulingGroup}});

constexpr MessageTable kContainerStatus({{"name", 1},
                                         {"allocatedResources", 10},
                                         {"resources", 11, &kResources}});
constexpr MessageTable kPodStatus({Plain("phase", 1),
                                   {"conditions", 2, &kCondition},
                                   {"startTime", 7},
                                   {"containerStatuses", 8, &kContainerStatus},
                                   {"initContainerStatuses", 10, &kContainerStatus},
                                   Plain("nominatedNodeName", 11),
                                   {"allocatedResources", 19},
                                   {"resources", 20, &kResources}});
constexpr MessageTable kPodObject({{"metadata", 1, &kMeta},
                                   {"spec", 2, &kPodSpec},
                                   {"status", 3, &kPodStatus}});

// ---- nodes ----

constexpr MessageTable kTaint({{"key", 1}, Plain("value", 2), {"effect", 3}});
constexpr MessageTable kNodeSpec({Plain("unschedulable", 4), {"taints", 5, &kTaint}});
constexpr MessageTable kImage({{"names", 1}, Plain("sizeBytes", 2)});
constexpr MessageTable kNodeStatus({{"capacity", 1},
                                    {"allocatable", 2},
                                    {"conditions", 4, &kCondition},
                                    {"images", 8, &kImage},
                                    {"declaredFeatures", 14}});
constexpr MessageTable kNodeObject({{"metadata", 1, &kMeta},
                                    {"spec", 2, &kNodeSpec},
                                    {"status", 3, &kNodeStatus}});

// ---- what makes pods, and what is said about them ----

constexpr MessageTable kPodTemplate({{"metadata", 1, &kMeta}, {"spec", 2, &kPodSpec}});
constexpr MessageTable kWorkloadSpec({{"replicas", 1},
                                      {"selector", 2, &kLabelSelector},
                                      {"template", 3, &kPodTemplate}});
constexpr MessageTable kWorkloadObject({{"metadata", 1, &kMeta}, {"spec", 2, &kWorkloadSpec}});
constexpr MessageTable kStatefulSetSpec({{"replicas", 1},
                                         {"selector", 2, &kLabelSelector},
                                         {"template", 3, &kPodTemplate},
                                         {"volumeClaimTemplates", 4, &kClaim}});
constexpr MessageTable kStatefulSetObject({{"metadata", 1, &kMeta},
                                           {"spec", 2, &kStatefulSetSpec}});

constexpr MessageTable kJobSpec({{"parallelism", 1},
                                 {"completions", 2},
                                 {"activeDeadlineSeconds", 3},
                                 {"template", 6, &kPodTemplate},
                                 {"backoffLimit", 7},
                                 {"completionMode", 9},
                                 {"suspend", 10}});
constexpr MessageTable kJobStatus({{"conditions", 1, &kCondition},
                                   Plain("succeeded", 5),
                                   Plain("failed", 6),
                                   Plain("completedIndexes", 7)});
constexpr MessageTable kJobObject({{"metadata", 1, &kMeta},
                                   {"spec", 2, &kJobSpec},
                                   {"status", 3, &kJobStatus}});

constexpr MessageTable kServiceSpec({{"selector", 2}});
constexpr MessageTable kServiceObject({{"metadata", 1, &kMeta}, {"spec", 2, &kServiceSpec}});

constexpr MessageTable kPriorityClassObject(
    {{"metadata", 1, &kMeta}, {"value", 2}, Plain("globalDefault", 3), {"preemptionPolicy", 5}});

constexpr MessageTable kBudgetSpec({{"minAvailable", 1, &kNumberOrText},
                                    {"selector", 2, &kLabelSelector},
                                    {"maxUnavailable", 3, &kNumberOrText}});
constexpr MessageTable kBudgetStatus({{"disruptedPods", 2}, {"disruptionsAllowed", 3}});
constexpr MessageTable kBudget({{"metadata", 1, &kMeta},
                                {"spec", 2, &kBudgetSpec},
                                {"status", 3, &kBudgetStatus}});

// ---- what objects come in ----

constexpr MessageTable kTypeMeta({{"apiVersion", 1}, {"kind", 2}});
constexpr MessageTable kUnknown({{"typeMeta", 1, &kTypeMeta},
                                 {"raw", 2},
                                 Plain("contentEncoding", 3),
                                 Plain("contentType", 4)});
constexpr MessageTable kRaw({{"raw", 1}});
constexpr MessageTable kEvent({{"type", 1}, {"object", 2, &kRaw}});
constexpr MessageTable kListMeta({Plain("resourceVersion", 2), Plain("continue", 3)});
constexpr MessageTable kListObject({{"metadata", 1, &kListMeta}, {"items", 2}});
constexpr MessageTable kStatusDetails({Plain("retryAfterSeconds", 5)});
constexpr MessageTable kStatusObject(
    {Plain("message", 3), Plain("reason", 4), {"details", 5, &kStatusDetails}, Plain("code", 6)});

// ---- the kinds ----

struct KindOfMessage {
  std::string_view kind;
  const MessageType* message;
};
constexpr KindOfMessage kKinds[] = {
    {"Pod", &kPodObject},
    {"Node", &kNodeObject},
    {"Namespace", &kOnlyMeta},
    {"Service", &kServiceObject},
    {"ReplicationController", &kWorkloadObject},
    {"ReplicaSet", &kWorkloadObject},
    {"StatefulSet", &kStatefulSetObject},
    {"Deployment", &kWorkloadObject},
    {"Job", &kJobObject},
    {"PriorityClass", &kPriorityClassObject},
    {"PodDisruptionBudget", &kBudget},
    {"PersistentVolumeClaim", &kClaim},
    {"PersistentVolume", &kVolumeObject},
    {"StorageClass", &kClass},
    {"CSINode", &kCsiNodeObject},
    {"CSIDriver", &kDriver},
    {"CSIStorageCapacity", &kStorageCapacity},
    {"VolumeAttachment", &kAttachment},
};

}  // namespace

const MessageType& kEnvelope = kUnknown;
const MessageType& kWatchEvent = kEvent;
const MessageType& kStatus = kStatusObject;
const MessageType& kList = kListObject;
const MessageType& kAnyObject = kOnlyMeta;
const MessageType& kIntOrString = kNumberOrText;

const MessageType* MessageOf(std::string_view kind) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [kind](const auto& known) { return known.kind == kind; });
  return found == std::end(kKinds) ? nullptr : found->message;
}

}  // namespace knx::k8s::messages
