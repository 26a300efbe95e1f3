#include "plugins/kube/volume_binding/pod_claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/common/pod_volumes.h"

namespace knx::plugins {

std::optional<std::string> ClaimsComplaint(const cluster::Volumes& volumes,
                                           const cluster::PodClass& pod_class) {
  for (const cluster::ClaimUse& use : pod_class.claims) {
    const std::string_view name = NameOfClaim(use.key);
    const k8s::PersistentVolumeClaim* claim = volumes.FindClaim(use.key);
    if (claim == nullptr) {
      if (!use.ephemeral) return ClaimNotFound(use.key);
      return fmt::format(
          "waiting for ephemeral volume controller to create the persistentvolumeclaim \"{}\"",
          name);
    }
    if (claim->phase == k8s::ClaimPhase::kLost) {
      return fmt::format(
          "persistentvolumeclaim \"{}\" bound to non-existent persistentvolume \"{}\"", name,
          claim->volume_name);
    }
    if (claim->meta.deleted) {
      return fmt::format("persistentvolumeclaim \"{}\" is being deleted", name);
    }
    if (use.ephemeral && !IsMadeFor(pod_class, *claim)) {
      return fmt::format("PVC {} was not created for pod {}/{} (pod is not owner)", use.key,
                         pod_class.claim_namespace, pod_class.claim_pod);
    }
  }
  return std::nullopt;
}

PodClaims SortClaims(const cluster::Volumes& volumes, const cluster::PodClass& pod_class) {
  PodClaims out;
  for (const cluster::ClaimUse& use : pod_class.claims) {
    const k8s::PersistentVolumeClaim& claim = *volumes.FindClaim(use.key);
    if (cluster::IsFullyBound(claim)) {
      out.bound.push_back(use.key);
      continue;
    }
    const k8s::StorageClass* storage_class = volumes.FindClass(cluster::ClassOf(claim));
    const bool waits = storage_class != nullptr &&
                       storage_class->binding_mode == k8s::BindingMode::kWaitForFirstConsumer;
    if (waits && claim.volume_name.empty()) {
      out.delayed.push_back(use.key);
    } else {
      out.immediate = true;
    }
  }
  return out;
}

}  // namespace knx::plugins
