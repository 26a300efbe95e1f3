#include "k8s/other_kinds.h"

#include <algorithm>
#include <array>
#include <span>

namespace knx::k8s {
namespace {

using Kinds = std::span<const std::string_view>;

struct Group {
  std::string_view name;
  Kinds kinds;
};

constexpr std::array<std::string_view, 9> kCore = {
    "ComponentStatus", "ConfigMap",     "Endpoints", "Event",         "LimitRange",
    "PodTemplate",     "ResourceQuota", "Secret",    "ServiceAccount"};
constexpr std::array<std::string_view, 6> kAdmission = {
    "MutatingAdmissionPolicy",          "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",     "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"};
constexpr std::array<std::string_view, 1> kApiExtensions = {"CustomResourceDefinition"};
constexpr std::array<std::string_view, 1> kApiRegistration = {"APIService"};
constexpr std::array<std::string_view, 2> kApps = {"ControllerRevision", "DaemonSet"};
constexpr std::array<std::string_view, 1> kAutoscaling = {"HorizontalPodAutoscaler"};
constexpr std::array<std::string_view, 1> kBatch = {"CronJob"};
constexpr std::array<std::string_view, 2> kCertificates = {"CertificateSigningRequest",
                                                           "ClusterTrustBundle"};
constexpr std::array<std::string_view, 2> kCoordination = {"Lease", "LeaseCandidate"};
constexpr std::array<std::string_view, 1> kDiscovery = {"EndpointSlice"};
constexpr std::array<std::string_view, 1> kEvents = {"Event"};
constexpr std::array<std::string_view, 2> kFlowControl = {"FlowSchema",
                                                          "PriorityLevelConfiguration"};
constexpr std::array<std::string_view, 5> kNetworking = {"IPAddress", "Ingress", "IngressClass",
                                                         "NetworkPolicy", "ServiceCIDR"};
constexpr std::array<std::string_view, 1> kNode = {"RuntimeClass"};
constexpr std::array<std::string_view, 4> kRbac = {"ClusterRole", "ClusterRoleBinding", "Role",
                                                   "RoleBinding"};
constexpr std::array<std::string_view, 5> kResource = {
    "DeviceClass", "DeviceTaintRule", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"};
constexpr std::array<std::string_view, 2> kScheduling = {"PodGroup", "Workload"};
constexpr std::array<std::string_view, 1> kStorage = {"VolumeAttributesClass"};

constexpr std::array<Group, 18> kGroups = {{
    {"", kCore},
    {"admissionregistration.k8s.io", kAdmission},
    {"apiextensions.k8s.io", kApiExtensions},
    {"apiregistration.k8s.io", kApiRegistration},
    {"apps", kApps},
    {"autoscaling", kAutoscaling},
    {"batch", kBatch},
    {"certificates.k8s.io", kCertificates},
    {"coordination.k8s.io", kCoordination},
    {"discovery.k8s.io", kDiscovery},
    {"events.k8s.io", kEvents},
    {"flowcontrol.apiserver.k8s.io", kFlowControl},
    {"networking.k8s.io", kNetworking},
    {"node.k8s.io", kNode},
    {"rbac.authorization.k8s.io", kRbac},
    {"resource.k8s.io", kResource},
    {"scheduling.k8s.io", kScheduling},
    {"storage.k8s.io", kStorage},
}};

// Files of components, not objects of a cluster.
constexpr std::string_view kComponentConfig = ".config.k8s.io";

}  // namespace

bool IsOtherKind(std::string_view api_version, std::string_view kind) {
  const std::size_t slash = api_version.find('/');
  const std::string_view group =
      slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
  const auto found = std::find_if(kGroups.begin(), kGroups.end(),
                                  [&](const Group& known) { return known.name == group; });
  if (found != kGroups.end()) {
    return std::find(found->kinds.begin(), found->kinds.end(), kind) != found->kinds.end();
  }
  return group.find('.') != std::string_view::npos && !group.ends_with(kComponentConfig);
}

}  // namespace knx::k8s
