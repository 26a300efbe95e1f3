#include "sim/ephemeral_volumes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "k8s/owner.h"

namespace knx::sim {
namespace {

std::string ClaimName(const k8s::Pod& pod, const k8s::Volume& volume) {
  return fmt::format("{}-{}", pod.meta.name, volume.name);
}

bool HasClaims(const k8s::Pod& pod) {
  return std::any_of(pod.spec.volumes.begin(), pod.spec.volumes.end(),
                     [](const k8s::Volume& volume) { return !volume.claim_template.empty(); });
}

}  // namespace

EphemeralVolumes::EphemeralVolumes(Agenda& agenda, Store& store, ApiServer& api,
                                   const Timing& timing)
    : agenda_(agenda), store_(store), api_(api), timing_(timing) {
  store.Listen(*this);
}

void EphemeralVolumes::OnWrite(const Write<k8s::Pod>& write) {
  if (!HasClaims(write.any())) return;
  if (write.after == nullptr) {
    agenda_.After(timing_.controller, [this, pod = write.before] { RemoveClaims(*pod); });
    return;
  }
  const std::string key = KeyOf(*write.after);
  if (!pending_.insert(key).second) return;
  agenda_.After(timing_.controller, [this, key] {
    pending_.erase(key);
    MakeClaims(key);
  });
}

void EphemeralVolumes::MakeClaims(const std::string& key) {
  const PodPtr pod = store_.Find<k8s::Pod>(key);
  if (pod == nullptr || IsFinished(*pod) || pod->meta.deleted.has_value()) return;
  for (const k8s::Volume& volume : pod->spec.volumes) {
    if (volume.claim_template.empty()) continue;
    k8s::PersistentVolumeClaim claim = volume.claim_template.front();
    claim.meta.name = ClaimName(*pod, volume);
    claim.meta.namespace_ = pod->meta.namespace_;
    // One that is somebody else's is left alone: the pod waits, and says why.
    if (store_.Find<k8s::PersistentVolumeClaim>(KeyOf(claim)) != nullptr) continue;
    claim.meta.owners = {{.kind = "Pod",
                          .name = pod->meta.name,
                          .uid = pod->meta.uid,
                          .controller = true,
                          .api_version = "v1"}};
    (void)api_.Create(std::move(claim), Actor::kController);
  }
}

void EphemeralVolumes::RemoveClaims(const k8s::Pod& pod) {
  for (const k8s::Volume& volume : pod.spec.volumes) {
    if (volume.claim_template.empty()) continue;
    const std::string key = PodKey(pod.meta.namespace_, ClaimName(pod, volume));
    const auto claim = store_.Find<k8s::PersistentVolumeClaim>(key);
    const k8s::OwnerReference* owner = claim == nullptr ? nullptr : ControllerOf(claim->meta);
    if (owner == nullptr || owner->uid != pod.meta.uid) continue;
    store_.Erase<k8s::PersistentVolumeClaim>(key, Actor::kController);
  }
}

}  // namespace knx::sim
