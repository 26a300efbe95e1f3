#include "plugins/common/pod_volumes.h"

#include <fmt/format.h>

#include <algorithm>

namespace knx::plugins {

std::string_view NameOfClaim(std::string_view key) { return key.substr(key.find('/') + 1); }

std::string ClaimNotFound(std::string_view key) {
  return fmt::format("persistentvolumeclaim \"{}\" not found", NameOfClaim(key));
}

std::string VolumeNotFound(std::string_view name) {
  return fmt::format("persistentvolume \"{}\" not found", name);
}

std::string StorageClassNotFound(std::string_view name) {
  return fmt::format("storageclass.storage.k8s.io \"{}\" not found", name);
}

bool IsMadeFor(const cluster::PodClass& pod_class, const k8s::PersistentVolumeClaim& claim) {
  return std::any_of(claim.meta.owners.begin(), claim.meta.owners.end(),
                     [&](const k8s::OwnerReference& owner) {
                       return owner.controller && owner.uid == pod_class.claim_pod_uid;
                     });
}

bool UsesClaimOf(const framework::ClusterEvent& event, const cluster::PodClass& pod_class,
                 bool ephemeral) {
  const auto* claim = ObjectOf<k8s::PersistentVolumeClaim>(event);
  if (claim == nullptr) return false;
  const std::string key = cluster::ClaimKey(claim->meta.namespace_, claim->meta.name);
  return std::any_of(pod_class.claims.begin(), pod_class.claims.end(),
                     [&](const cluster::ClaimUse& use) {
                       return use.key == key && (ephemeral || !use.ephemeral);
                     });
}

}  // namespace knx::plugins
