#include "cmd/feature_gates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

#include "base/near_names.h"
#include "cmd/flag_values.h"

namespace knx::cmd {
namespace {

struct KnownGate {
  std::string_view name;
  bool by_default = false;
  bool locked = false;  // can no longer be changed
};

// Of kube-scheduler 1.36, sorted.
constexpr KnownGate kGates[] = {
    {"APIResponseCompression", true, false},
    {"APIServerIdentity", true, false},
    {"APIServerTracing", true, true},
    {"APIServingWithRoutine", false, false},
    {"AggregatedDiscoveryRemoveBetaType", true, true},
    {"AllAlpha", false, false},
    {"AllBeta", false, false},
    {"AllowDNSOnlyNodeCSR", false, false},
    {"AllowInsecureKubeletCertificateSigningRequests", false, false},
    {"AllowOverwriteTerminationGracePeriodSeconds", true, true},
    {"AllowParsingUserUIDFromCertAuth", true, false},
    {"AllowServiceExternalIPs", true, false},
    {"AllowUnsafeMalformedObjectDeletion", false, false},
    {"AnonymousAuthConfigurableEndpoints", true, true},
    {"AnyVolumeDataSource", true, true},
    {"AtomicFIFO", true, false},
    {"AuthorizeNodeWithSelectors", true, true},
    {"AuthorizePodWebsocketUpgradeCreatePermission", true, false},
    {"AuthorizeWithSelectors", true, true},
    {"BtreeWatchCache", true, true},
    {"CBORServingAndStorage", false, false},
    {"CPUManagerPolicyAlphaOptions", false, false},
    {"CPUManagerPolicyBetaOptions", true, false},
    {"CPUManagerPolicyOptions", true, true},
    {"CRDObservedGenerationTracking", true, false},
    {"CRDValidationRatcheting", true, true},
    {"CRIListStreaming", false, false},
    {"CSIServiceAccountTokenSecrets", true, true},
    {"CSIVolumeHealth", false, false},
    {"ChangeContainerStatusOnKubeletRestart", false, false},
    {"ClearingNominatedNodeNameAfterBinding", true, false},
    {"ClientsAllowCARotation", true, false},
    {"ClientsAllowCBOR", false, false},
    {"ClientsAllowTLSCacheGC", true, false},
    {"ClientsPreferCBOR", false, false},
    {"CloudControllerManagerWatchBasedRoutesReconciliation", false, false},
    {"CloudControllerManagerWebhook", false, false},
    {"ClusterTrustBundle", false, false},
    {"ClusterTrustBundleProjection", false, false},
    {"ComponentFlagz", true, false},
    {"ComponentStatusz", true, false},
    {"ConcurrentWatchObjectDecode", false, false},
    {"ConsistentListFromCache", true, true},
    {"ConstrainedImpersonation", true, false},
    {"ContainerCheckpoint", true, false},
    {"ContainerRestartRules", true, false},
    {"ContainerStopSignals", false, false},
    {"ContextualLogging", true, false},
    {"ControllerManagerReleaseLeaderElectionLockOnExit", false, false},
    {"CoordinatedLeaderElection", false, false},
    {"CrossNamespaceVolumeDataSource", false, false},
    {"CustomCPUCFSQuotaPeriod", true, false},
    {"CustomResourceFieldSelectors", true, true},
    {"DRAAdminAccess", true, true},
    {"DRAConsumableCapacity", true, false},
    {"DRADeviceBindingConditions", true, false},
    {"DRADeviceTaintRules", false, false},
    {"DRADeviceTaints", true, false},
    {"DRAExtendedResource", true, false},
    {"DRAListTypeAttributes", false, false},
    {"DRANodeAllocatableResources", false, false},
    {"DRAPartitionableDevices", true, false},
    {"DRAPrioritizedList", true, false},
    {"DRAResourceClaimDeviceStatus", true, false},
    {"DRAResourceClaimGranularStatusAuthorization", true, false},
    {"DRAResourcePoolStatus", false, false},
    {"DRASchedulerFilterTimeout", true, false},
    {"DRAWorkloadResourceClaims", false, false},
    {"DeclarativeValidation", true, true},
    {"DeclarativeValidationBeta", true, false},
    {"DeclarativeValidationTakeover", false, false},
    {"DeploymentReplicaSetTerminatingReplicas", true, false},
    {"DetectCacheInconsistency", true, false},
    {"DisableAllocatorDualWrite", true, true},
    {"DisableCPUQuotaWithExclusiveCPUs", true, false},
    {"DisableNodeKubeProxyVersion", true, true},
    {"DynamicResourceAllocation", true, true},
    {"EnvFiles", true, false},
    {"EventedPLEG", false, false},
    {"ExecProbeTimeout", true, true},
    {"ExtendWebSocketsToKubelet", true, false},
    {"ExternalServiceAccountTokenSigner", true, true},
    {"GangScheduling", false, false},
    {"GenericWorkload", false, false},
    {"GitRepoVolumeDriver", true, true},
    {"GracefulNodeShutdown", true, false},
    {"GracefulNodeShutdownBasedOnPodPriority", true, false},
    {"HPAConfigurableTolerance", true, false},
    {"HPAScaleToZero", false, false},
    {"HostnameOverride", true, false},
    {"ImageMaximumGCAge", true, true},
    {"ImageVolume", true, true},
    {"ImageVolumeWithDigest", false, false},
    {"InOrderInformers", true, true},
    {"InOrderInformersBatchProcess", true, false},
    {"InPlacePodLevelResourcesVerticalScaling", true, false},
    {"InPlacePodVerticalScaling", true, true},
    {"InPlacePodVerticalScalingExclusiveCPUs", false, false},
    {"InPlacePodVerticalScalingExclusiveMemory", false, false},
    {"InPlacePodVerticalScalingInitContainers", true, false},
    {"InformerResourceVersion", true, false},
    {"JobBackoffLimitPerIndex", true, true},
    {"JobManagedBy", true, true},
    {"JobPodReplacementPolicy", true, true},
    {"JobSuccessPolicy", true, true},
    {"KMSv1", false, false},
    {"KubeletCgroupDriverFromCRI", true, true},
    {"KubeletCrashLoopBackOffMax", true, false},
    {"KubeletEnsureSecretPulledImages", true, false},
    {"KubeletFineGrainedAuthz", true, true},
    {"KubeletInUserNamespace", false, false},
    {"KubeletPSI", true, true},
    {"KubeletPodResourcesDynamicResources", true, true},
    {"KubeletPodResourcesGet", true, true},
    {"KubeletPodResourcesListUseActivePods", true, false},
    {"KubeletRegistrationGetOnExistsOnly", false, false},
    {"KubeletSeparateDiskGC", true, false},
    {"KubeletServiceAccountTokenForCredentialProviders", true, false},
    {"KubeletTracing", true, true},
    {"ListFromCacheSnapshot", true, false},
    {"LocalStorageCapacityIsolationFSQuotaMonitoring", false, false},
    {"LogarithmicScaleDown", true, true},
    {"LoggingAlphaOptions", false, false},
    {"LoggingBetaOptions", true, false},
    {"LoggingStableOptions", true, true},
    {"ManifestBasedAdmissionControlConfig", false, false},
    {"MatchLabelKeysInPodAffinity", true, true},
    {"MatchLabelKeysInPodTopologySpread", true, false},
    {"MatchLabelKeysInPodTopologySpreadSelectorMerge", true, false},
    {"MaxUnavailableStatefulSet", false, false},
    {"MemoryQoS", false, false},
    {"MultiCIDRServiceAllocator", true, true},
    {"MutableCSINodeAllocatableCount", true, true},
    {"MutablePVNodeAffinity", false, false},
    {"MutablePodResourcesForSuspendedJobs", true, false},
    {"MutableSchedulingDirectivesForSuspendedJobs", true, false},
    {"MutatingAdmissionPolicy", true, false},
    {"NFTablesProxyMode", true, true},
    {"NativeHistograms", false, false},
    {"NodeDeclaredFeatures", true, false},
    {"NodeInclusionPolicyInPodTopologySpread", true, true},
    {"NodeLogQuery", true, true},
    {"NodeSwap", true, true},
    {"NominatedNodeNameForExpectation", true, false},
    {"OpenAPIEnums", true, false},
    {"OpportunisticBatching", true, false},
    {"OrderedNamespaceDeletion", true, true},
    {"PLEGOnDemandRelist", true, false},
    {"PersistentVolumeClaimUnusedSinceTime", false, false},
    {"PodAndContainerStatsFromCRI", false, false},
    {"PodCertificateRequest", false, false},
    {"PodDeletionCost", true, false},
    {"PodLevelResourceManagers", false, false},
    {"PodLevelResources", true, false},
    {"PodLifecycleSleepAction", true, true},
    {"PodLifecycleSleepActionAllowZero", true, true},
    {"PodLogsQuerySplitStreams", false, false},
    {"PodObservedGenerationTracking", true, true},
    {"PodReadyToStartContainersCondition", true, false},
    {"PodSchedulingReadiness", true, true},
    {"PodTopologyLabelsAdmission", true, false},
    {"PodsAPI", false, false},
    {"PortForwardWebsockets", true, false},
    {"PreferSameTrafficDistribution", true, true},
    {"PreventStaticPodAPIReferences", true, false},
    {"ProcMountType", true, true},
    {"QOSReserved", false, false},
    {"RecoverVolumeExpansionFailure", true, true},
    {"RecursiveReadOnlyMounts", true, true},
    {"ReduceDefaultCrashLoopBackOffDecay", false, false},
    {"RelaxedDNSSearchValidation", true, true},
    {"RelaxedEnvironmentVariableValidation", true, true},
    {"RelaxedServiceNameValidation", true, false},
    {"ReloadKubeletClientCAFile", true, false},
    {"ReloadKubeletServerCertificateFile", true, false},
    {"RemoteRequestHeaderUID", true, false},
    {"ResilientWatchCacheInitialization", true, true},
    {"ResourceHealthStatus", true, false},
    {"ResourceHealthStatusMessage", true, false},
    {"RestartAllContainersOnContainerExits", true, false},
    {"RetryGenerateName", true, true},
    {"RotateKubeletServerCertificate", true, false},
    {"RuntimeClassInImageCriApi", false, false},
    {"SELinuxChangePolicy", true, true},
    {"SELinuxMount", false, false},
    {"SELinuxMountReadWriteOncePod", true, true},
    {"SchedulerAsyncAPICalls", false, false},
    {"SchedulerAsyncPreemption", true, false},
    {"SchedulerPopFromBackoffQ", true, false},
    {"SchedulerQueueingHints", true, true},
    {"SeparateCacheWatchRPC", true, true},
    {"SeparateTaintEvictionController", true, true},
    {"ServiceAccountNodeAudienceRestriction", true, false},
    {"ServiceAccountTokenJTI", true, true},
    {"ServiceAccountTokenNodeBinding", true, true},
    {"ServiceAccountTokenNodeBindingValidation", true, true},
    {"ServiceAccountTokenPodNodeInfo", true, true},
    {"ServiceCIDRStatusFieldWiping", true, false},
    {"ShardedListAndWatch", false, false},
    {"SidecarContainers", true, true},
    {"SizeBasedListCostEstimate", true, false},
    {"StaleControllerConsistencyDaemonSet", true, false},
    {"StaleControllerConsistencyJob", true, false},
    {"StaleControllerConsistencyReplicaSet", true, false},
    {"StaleControllerConsistencyStatefulSet", true, false},
    {"StatefulSetSemanticRevisionComparison", true, false},
    {"StorageCapacityScoring", false, false},
    {"StorageNamespaceIndex", true, false},
    {"StorageVersionAPI", false, false},
    {"StorageVersionHash", true, false},
    {"StorageVersionMigrator", false, false},
    {"StreamingCollectionEncodingToJSON", true, true},
    {"StreamingCollectionEncodingToProtobuf", true, true},
    {"StrictIPCIDRValidation", true, false},
    {"StructuredAuthenticationConfiguration", true, true},
    {"StructuredAuthenticationConfigurationEgressSelector", true, false},
    {"StructuredAuthenticationConfigurationJWKSMetrics", true, false},
    {"SupplementalGroupsPolicy", true, true},
    {"SystemdWatchdog", true, true},
    {"TaintTolerationComparisonOperators", false, false},
    {"TokenRequestServiceAccountUIDValidation", true, false},
    {"TopologyAwareWorkloadScheduling", false, false},
    {"TopologyManagerPolicyAlphaOptions", false, false},
    {"TopologyManagerPolicyBetaOptions", true, false},
    {"TopologyManagerPolicyOptions", true, true},
    {"TranslateStreamCloseWebsocketRequests", true, false},
    {"UnauthenticatedHTTP2DOSMitigation", true, false},
    {"UnknownVersionInteroperabilityProxy", true, false},
    {"UnlockWhileProcessingFIFO", true, false},
    {"UserNamespacesHostNetworkSupport", false, false},
    {"UserNamespacesSupport", true, true},
    {"VolumeAttributesClass", true, true},
    {"VolumeLimitScaling", false, false},
    {"WatchCacheInitializationPostStartHook", true, false},
    {"WatchList", true, false},
    {"WatchListClient", false, false},  // true in kube-scheduler; see docs/daemon.md
    {"WinDSR", true, true},
    {"WinOverlay", true, true},
    {"WindowsCPUAndMemoryAffinity", false, false},
    {"WindowsGracefulNodeShutdown", true, false},
    {"WindowsHostNetwork", false, false},
    {"WorkloadAwarePreemption", false, false},
    {"WorkloadWithJob", false, false},
};

constexpr std::string_view kWithEffect[] = {"SchedulerPopFromBackoffQ", "WatchListClient"};

const KnownGate* FindGate(std::string_view name) {
  const auto found =
      std::lower_bound(std::begin(kGates), std::end(kGates), name,
                       [](const KnownGate& gate, std::string_view key) { return gate.name < key; });
  return found == std::end(kGates) || found->name != name ? nullptr : &*found;
}

std::string UnknownGate(std::string_view name) {
  std::vector<std::string_view> names;
  for (const KnownGate& gate : kGates) names.push_back(gate.name);
  const std::vector<std::string_view> near = NamesNear(name, names);
  std::string out = fmt::format("unknown feature gate {:?}", name.substr(0, kShownOfValue));
  if (!near.empty()) out += fmt::format("; did you mean {}?", fmt::join(near, " or "));
  return out;
}

Status AddOne(std::string_view entry, std::map<std::string, bool, std::less<>>& said) {
  const std::size_t equals = entry.find('=');
  if (equals == std::string_view::npos) {
    return InvalidError(fmt::format("{:?} is not of the form Name=true or Name=false",
                                    entry.substr(0, kShownOfValue)));
  }
  std::string_view name = TrimmedFlagText(entry.substr(0, equals));
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    if (name.substr(0, colon) != "kube") {
      return InvalidError(fmt::format("{:?} is no component here; the only one is kube",
                                      name.substr(0, std::min(colon, kShownOfValue))));
    }
    name.remove_prefix(colon + 1);
  }
  const KnownGate* gate = FindGate(name);
  if (gate == nullptr) return InvalidError(UnknownGate(name));
  const auto value = ParseFlagBool(TrimmedFlagText(entry.substr(equals + 1)));
  if (!value) {
    return InvalidError(fmt::format("{}: {:?} is neither true nor false", gate->name,
                                    entry.substr(equals + 1, kShownOfValue)));
  }
  if (gate->locked && *value != gate->by_default) {
    return InvalidError(fmt::format("{} is {} for good", gate->name, gate->by_default));
  }
  said[std::string(gate->name)] = *value;
  return Ok();
}

}  // namespace

Status FeatureGates::Add(std::string_view text) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view entry = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (!TrimmedFlagText(entry).empty()) KNX_TRY_DONE(AddOne(entry, said_));
  }
  return Ok();
}

bool FeatureGates::Enabled(std::string_view name) const {
  const auto said = said_.find(name);
  if (said != said_.end()) return said->second;
  const KnownGate* gate = FindGate(name);
  return gate != nullptr && gate->by_default;
}

std::vector<std::string> FeatureGates::Warnings() const {
  std::vector<std::string> out;
  for (const auto& [name, value] : said_) {
    const bool has_effect =
        std::find(std::begin(kWithEffect), std::end(kWithEffect), name) != std::end(kWithEffect);
    if (has_effect || value == FindGate(name)->by_default) continue;
    out.push_back(fmt::format("--feature-gates: {}={} has no effect here", name, value));
  }
  return out;
}

}  // namespace knx::cmd
