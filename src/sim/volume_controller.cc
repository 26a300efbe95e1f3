#include "sim/volume_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cluster/volumes.h"
#include "k8s/names.h"
#include "k8s/selector.h"
#include "scenario/annotations.h"
#include "sim/workload_controller.h"

namespace knx::sim {
namespace {

namespace names = k8s::names;
using k8s::ClaimPhase;
using k8s::VolumePhase;

bool Names(const k8s::PersistentVolume& volume, const k8s::PersistentVolumeClaim& claim) {
  return volume.claim && volume.claim->namespace_ == claim.meta.namespace_ &&
         volume.claim->name == claim.meta.name &&
         (volume.claim->uid.empty() || volume.claim->uid == claim.meta.uid);
}

bool WillDo(const k8s::PersistentVolume& volume, const k8s::PersistentVolumeClaim& claim) {
  const auto has = [&](k8s::AccessMode mode) {
    return std::find(volume.access_modes.begin(), volume.access_modes.end(), mode) !=
           volume.access_modes.end();
  };
  return !volume.claim && volume.phase == VolumePhase::kAvailable &&
         cluster::ClassOf(volume) == cluster::ClassOf(claim) && volume.block == claim.block &&
         volume.capacity >= claim.request.value_or(k8s::Quantity{}) &&
         volume.attributes_class == claim.attributes_class &&
         (!claim.selector || k8s::Matches(*claim.selector, volume.meta.labels)) &&
         std::all_of(claim.access_modes.begin(), claim.access_modes.end(), has);
}

Duration ProvisionTime(const k8s::StorageClass& storage_class) {
  const std::string* text =
      k8s::FindValue(storage_class.meta.annotations, scenario::kProvisionAfter);
  if (text == nullptr) return {};
  const auto span = ParseDuration(*text);
  return span.ok() ? std::clamp(*span, Duration{}, kMaxSpan) : Duration{};
}

}  // namespace

VolumeController::VolumeController(Agenda& agenda, Store& store, const Timing& timing)
    : agenda_(agenda), store_(store), timing_(timing) {
  store.Listen(*this);
}

void VolumeController::OnWrite(const Write<Claim>& write) {
  if (write.after != nullptr) return EnqueueClaim(KeyOf(*write.after));
  if (!write.before->volume_name.empty()) EnqueueVolume(write.before->volume_name);
}

void VolumeController::OnWrite(const Write<Volume>& write) {
  const Volume& volume = write.any();
  if (write.after != nullptr) EnqueueVolume(volume.meta.name);
  if (volume.claim) EnqueueClaim(PodKey(volume.claim->namespace_, volume.claim->name));
  EnqueueUnboundClaims();
}

void VolumeController::OnWrite(const Write<k8s::StorageClass>& /*write*/) {
  EnqueueUnboundClaims();
}

void VolumeController::EnqueueClaim(const std::string& key) {
  if (!pending_claims_.insert(key).second) return;
  agenda_.After(timing_.controller, [this, key] {
    pending_claims_.erase(key);
    ReconcileClaim(key);
  });
}

void VolumeController::EnqueueVolume(const std::string& name) {
  if (!pending_volumes_.insert(name).second) return;
  agenda_.After(timing_.controller, [this, name] {
    pending_volumes_.erase(name);
    ReconcileVolume(name);
  });
}

void VolumeController::EnqueueUnboundClaims() {
  for (const auto& [key, claim] : store_.All<Claim>()) {
    if (claim->volume_name.empty()) EnqueueClaim(key);
  }
}

// A volume without a claim is there to be had; one whose claim is gone is not, or goes with it.
void VolumeController::ReconcileVolume(const std::string& name) {
  const Ptr<Volume> volume = store_.Find<Volume>(name);
  if (volume == nullptr) return;
  VolumePhase phase = volume->phase;
  if (!volume->claim || volume->claim->uid.empty()) {
    phase = VolumePhase::kAvailable;
  } else {
    const Ptr<Claim> claim =
        store_.Find<Claim>(PodKey(volume->claim->namespace_, volume->claim->name));
    if (claim == nullptr || claim->meta.uid != volume->claim->uid) phase = VolumePhase::kReleased;
  }
  if (phase == VolumePhase::kReleased && go_along_.erase(name) > 0) {
    store_.Erase<Volume>(name, Actor::kController);
    return;
  }
  if (phase == volume->phase) return;
  Volume next = *volume;
  next.phase = phase;
  store_.Put(std::move(next), Actor::kController);
}

void VolumeController::ReconcileClaim(const std::string& key) {
  const Ptr<Claim> claim = store_.Find<Claim>(key);
  if (claim == nullptr || claim->meta.deleted) return;
  if (!claim->volume_name.empty()) return Complete(*claim);
  const auto storage_class = store_.Find<k8s::StorageClass>(std::string(cluster::ClassOf(*claim)));
  const bool delayed = storage_class != nullptr &&
                       storage_class->binding_mode == k8s::BindingMode::kWaitForFirstConsumer;
  if (const Ptr<Volume> volume = VolumeFor(*claim, delayed)) return Bind(*claim, *volume);
  if (storage_class == nullptr || storage_class->provisioner == names::kNoProvisioner) return;
  const bool chosen = k8s::FindValue(claim->meta.annotations, names::kSelectedNode) != nullptr;
  if (!delayed || chosen) Provision(*claim, *storage_class);
}

Ptr<k8s::PersistentVolume> VolumeController::VolumeFor(const Claim& claim,
                                                       bool only_set_aside) const {
  Ptr<Volume> best;
  for (const auto& [name, volume] : store_.All<Volume>()) {
    if (Names(*volume, claim)) return volume;
    if (only_set_aside || !WillDo(*volume, claim)) continue;
    if (best == nullptr || volume->capacity < best->capacity) best = volume;
  }
  return best;
}

void VolumeController::Complete(const Claim& claim) {
  const Ptr<Volume> volume = store_.Find<Volume>(claim.volume_name);
  const bool was_bound = cluster::IsFullyBound(claim);
  if (volume == nullptr) {
    if (!was_bound || claim.phase == ClaimPhase::kLost) return;
    Claim lost = claim;
    lost.phase = ClaimPhase::kLost;
    store_.Put(std::move(lost), Actor::kController);
    return;
  }
  if (volume->claim && !Names(*volume, claim)) return;
  if (was_bound && claim.phase == ClaimPhase::kBound && volume->phase == VolumePhase::kBound) {
    return;
  }
  Bind(claim, *volume);
}

void VolumeController::Bind(const Claim& claim, const Volume& volume) {
  Volume bound = volume;
  if (!Names(volume, claim)) SetLabel(bound.meta.annotations, names::kBoundByController, "yes");
  bound.claim = k8s::ClaimReference{claim.meta.namespace_, claim.meta.name, claim.meta.uid};
  bound.phase = VolumePhase::kBound;
  if (!(bound == volume)) store_.Put(std::move(bound), Actor::kController);
  Claim next = claim;
  next.volume_name = volume.meta.name;
  next.phase = ClaimPhase::kBound;
  SetLabel(next.meta.annotations, names::kBindCompleted, "yes");
  if (!(next == claim)) store_.Put(std::move(next), Actor::kController);
}

// ---- provisioners ----

void VolumeController::Provision(const Claim& claim, const k8s::StorageClass& storage_class) {
  if (!being_made_.insert(claim.meta.uid).second) return;
  agenda_.After(ProvisionTime(storage_class),
                [this, key = KeyOf(claim), uid = claim.meta.uid] { MakeVolume(key, uid); });
}

void VolumeController::MakeVolume(const std::string& key, const std::string& uid) {
  being_made_.erase(uid);
  const Ptr<Claim> claim = store_.Find<Claim>(key);
  if (claim == nullptr || claim->meta.uid != uid || !claim->volume_name.empty()) return;
  const auto storage_class = store_.Find<k8s::StorageClass>(std::string(cluster::ClassOf(*claim)));
  if (storage_class == nullptr) return;
  const std::string* selected = k8s::FindValue(claim->meta.annotations, names::kSelectedNode);
  const std::string* fails_on = k8s::FindValue(storage_class->meta.annotations, scenario::kFailsOn);
  if (selected != nullptr && fails_on != nullptr && *selected == *fails_on) {
    Claim next = *claim;
    std::erase_if(next.meta.annotations,
                  [](const auto& entry) { return entry.first == names::kSelectedNode; });
    store_.Put(std::move(next), Actor::kController);
    return;
  }
  Volume made;
  made.meta.name = "pvc-" + uid;
  made.storage_class = std::string(cluster::ClassOf(*claim));
  made.capacity = claim->request.value_or(k8s::Quantity{});
  made.access_modes = claim->access_modes;
  made.block = claim->block;
  made.attributes_class = claim->attributes_class;
  made.source = k8s::VolumeSource::kCsi;
  made.driver = storage_class->provisioner;
  made.id = "handle-" + uid;
  made.claim = k8s::ClaimReference{claim->meta.namespace_, claim->meta.name, uid};
  const NodePtr node = selected == nullptr ? nullptr : store_.Find<k8s::Node>(*selected);
  const std::string* zone =
      node == nullptr ? nullptr : k8s::FindValue(node->meta.labels, names::kZone);
  if (zone != nullptr) {
    made.node_affinity.emplace().terms.push_back(
        {{{std::string(names::kZone), k8s::SelectorOperator::kIn, {*zone}}}, {}});
  }
  if (!storage_class->retain) go_along_.insert(made.meta.name);
  store_.Put(std::move(made), Actor::kController);
}

}  // namespace knx::sim
