// The API server of the embedded cluster: what may be written, and the words of a refusal.
// Not an API server for others to talk to: it has the rules that a scheduler can run into and no
// more. Controllers and kubelets use the same door as the scheduler.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/actions.h"
#include "k8s/objects.h"
#include "sim/store.h"

namespace knx::sim {

class ApiServer {
 public:
  explicit ApiServer(Store& store);

  // Gives the name it got, which is a new one for a name that ends in "-" (a generateName).
  Result<std::string> Create(k8s::Object object, Actor by);

  // Creates it, or puts it in the place of the one that is there.
  Status Apply(k8s::Object object, Actor by);
  // What the scheduler writes about volumes and claims.
  Status WriteVolume(const framework::VolumeWrite& write, Actor by);

  // Fails as the API server does if the pod is gone, another one, bound, gated or being deleted.
  Status Bind(const engine::PodRef& pod, std::string_view node, Actor by);
  // The PodScheduled condition and the nominated node.
  Status PatchStatus(const engine::PatchPodStatus& patch);
  Status ClearNomination(const engine::PodRef& pod);
  // The conditions of a reservation.
  Status PatchReservation(const engine::PatchReservation& patch);
  // The condition of a PodGroup of Kubernetes.
  Status PatchPodGroup(const engine::PatchPodGroup& patch);
  // What a scheduler does to make room: disruption budgets are not asked.
  Status Preempt(const engine::EvictPod& evict);

  // Changes a pod as far as that is allowed; its generation grows if its spec is another
  // afterwards.
  Status UpdatePod(const std::string& key, Actor by, const std::function<void(k8s::Pod&)>& change);
  Status UpdateNode(const std::string& name, Actor by,
                    const std::function<void(k8s::Node&)>& change);

  // A pod that runs somewhere gets a deletion timestamp and goes when its kubelet says so; every
  // other is gone at once. Finalizers hold both: they go when the last one is removed. Deleting
  // twice is no error.
  Status DeletePod(const std::string& key, Actor by,
                   std::optional<std::int64_t> grace_seconds = {});
  // The same for a pod that somebody else than its owner wants to be gone: says so in a condition.
  // With `honour_budgets` refused while a disruption budget does not allow it.
  struct Eviction {
    std::string reason = "EvictionByEvictionAPI";
    std::string message = "Eviction API: evicting";
    bool honour_budgets = true;
  };
  Status EvictPod(const std::string& key, Actor by, const Eviction& eviction);
  // The kubelet, or the garbage collector for it, says that a pod is over.
  void RemovePod(const std::string& key, std::string_view uid, Actor by);

  // By kind as in a manifest ("Deployment") and name; what it owns goes by itself later. Of what is
  // no pod only a Node is held by finalizers: nobody here would remove those of the others.
  Status Delete(std::string_view kind, std::string_view namespace_, std::string_view name,
                Actor by);

  [[nodiscard]] std::int64_t evictions() const { return evictions_; }

 private:
  template <class T>
  Result<std::string> CreateNew(T object, std::string_view resource, Actor by);
  Status CheckBudgets(const k8s::Pod& pod);
  // Nothing but its finalizers keeps the pod any more.
  void LetGo(k8s::Pod pod, Actor by);
  Status DeleteNode(const std::string& name, Actor by);
  // Of every project that has the kind.
  Status DeletePodGroups(std::string_view namespace_, std::string_view name, Actor by);
  void Erase(const k8s::Pod& pod, Actor by);
  void EnsureNamespace(const std::string& name);

  Store& store_;
  std::set<std::string> held_;  // uids of pods that only finalizers keep
  std::int64_t evictions_ = 0;
};

}  // namespace knx::sim
