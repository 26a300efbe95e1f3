// ReplicaSets, ReplicationControllers, StatefulSets and Deployments: as many pods as they say, made
// from their template, named and labelled as Kubernetes does. Replaces what is lost, removes what
// is too much, and takes its pods with it when it goes. The claims of a StatefulSet stay. Changing
// the template of what exists (a rolling update) is not among the things it does.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "scenario/timing.h"
#include "sim/agenda.h"
#include "sim/api_server.h"
#include "sim/store.h"

namespace knx::sim {

class WorkloadController : public StoreListener {
 public:
  WorkloadController(Agenda& agenda, Store& store, ApiServer& api, const Timing& timing);

  using StoreListener::OnWrite;
  void OnWrite(const Write<k8s::Pod>& write) override;
  void OnWrite(const Write<k8s::Workload>& write) override;
  void OnWrite(const Write<k8s::Namespace>& write) override;

  // Owners whose pods could not be made, and why.
  [[nodiscard]] const std::map<std::string, std::string>& complaints() const { return complaints_; }

 private:
  void Enqueue(const std::string& key);
  void Reconcile(const std::string& key);
  void ReconcileReplicas(const k8s::Workload& workload);
  void ReconcileStatefulSet(const k8s::Workload& workload);
  void ReconcileDeployment(const k8s::Workload& deployment);
  // The claims of one pod, as far as they are not there, and the volumes of the pod that name them.
  bool CreateClaims(const k8s::Workload& set, k8s::Pod& pod);
  // False: it could not be made, and is tried again later.
  bool Create(const k8s::Workload& workload, k8s::Object object);
  // Pods of the owner that are neither finished nor on their way out, best kept first.
  [[nodiscard]] std::vector<PodPtr> ActivePods(const k8s::Workload& workload) const;
  void DeletePodsOf(const std::string& owner_uid);
  void DeleteNamespace(const std::string& name);

  Agenda& agenda_;
  Store& store_;
  ApiServer& api_;
  const Timing& timing_;
  std::set<std::string> pending_;
  std::map<std::string, std::string> by_uid_;      // of workloads: key
  std::map<std::string, std::string> complaints_;  // owner: why
};

// A pod from a template, owned by `owner`, without a name.
k8s::Pod PodFromTemplate(const k8s::PodTemplate& pod_template, std::string_view owner_kind,
                         const k8s::ObjectMeta& owner);
// Adds or replaces.
void SetLabel(k8s::StringMap& map, std::string_view key, std::string_view value);

}  // namespace knx::sim
