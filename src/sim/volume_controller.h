// Binds claims to volumes as Kubernetes' controllers do, and plays the provisioners: claims of
// classes that bind at once, claims that the scheduler chose a volume or a node for, and volumes
// whose claim is gone.
#pragma once

#include <set>
#include <string>

#include "scenario/timing.h"
#include "sim/agenda.h"
#include "sim/store.h"

namespace knx::sim {

class VolumeController : public StoreListener {
 public:
  VolumeController(Agenda& agenda, Store& store, const Timing& timing);

  using StoreListener::OnWrite;
  void OnWrite(const Write<k8s::PersistentVolumeClaim>& write) override;
  void OnWrite(const Write<k8s::PersistentVolume>& write) override;
  void OnWrite(const Write<k8s::StorageClass>& write) override;

 private:
  using Claim = k8s::PersistentVolumeClaim;
  using Volume = k8s::PersistentVolume;

  void EnqueueClaim(const std::string& key);
  void EnqueueVolume(const std::string& name);
  void EnqueueUnboundClaims();
  void ReconcileVolume(const std::string& name);
  void ReconcileClaim(const std::string& key);
  // A claim that names its volume: both sides come to say so.
  void Complete(const Claim& claim);
  // The volume that the claim is to have: set aside for it, or else the smallest that will do.
  [[nodiscard]] Ptr<Volume> VolumeFor(const Claim& claim, bool only_set_aside) const;
  void Bind(const Claim& claim, const Volume& volume);
  void Provision(const Claim& claim, const k8s::StorageClass& storage_class);
  void MakeVolume(const std::string& key, const std::string& uid);

  Agenda& agenda_;
  Store& store_;
  const Timing& timing_;
  std::set<std::string> pending_claims_, pending_volumes_;
  std::set<std::string> being_made_;  // uids of claims
  std::set<std::string> go_along_;    // names of volumes that are removed with their claim
};

}  // namespace knx::sim
