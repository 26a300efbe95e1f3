// What happens around a node: it dies and comes back, is tainted when it is silent, its pods are
// evicted for taints they do not tolerate, are drained, or are removed because it is gone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenario/timing.h"
#include "sim/agenda.h"
#include "sim/api_server.h"
#include "sim/kubelets.h"
#include "sim/store.h"

namespace knx::sim {

class NodeLifecycle : public StoreListener {
 public:
  NodeLifecycle(Agenda& agenda, Store& store, ApiServer& api, Kubelets& kubelets,
                const Timing& timing);

  using StoreListener::OnWrite;
  void OnWrite(const Write<k8s::Pod>& write) override;
  void OnWrite(const Write<k8s::Node>& write) override;

  Status Kill(const std::string& node);
  Status Restart(const std::string& node);
  Status SetUnschedulable(const std::string& node, bool unschedulable);
  // Cordons and evicts every pod. With `honour_budgets` what a budget protects is tried again
  // until it may go; without, everything goes at once.
  Status Drain(const std::string& node, bool honour_budgets);

  // No drain has anything new to try.
  [[nodiscard]] bool Settled() const;
  // Pods that a drain is still waiting for, and why, in words.
  [[nodiscard]] std::vector<std::string> Complaints() const;

 private:
  struct TaintSince {
    k8s::Taint taint;
    Time since;
  };

  void BecomeUnreachable(const std::string& node, std::uint64_t life);
  void RememberTaints(const k8s::Node& node);
  // When the pod has to leave its node; nullopt: it may stay.
  [[nodiscard]] std::optional<Time> LeavesAt(const k8s::Pod& pod) const;
  void PlanLeave(const k8s::Pod& pod);
  void CollectGarbage(const std::string& node);
  // What a drain has asked to go, with the answer to the last try; empty: it was let go.
  struct DrainState {
    std::uint64_t number = 0;
    std::uint64_t tried = 0;                   // version of the store after the last pass
    bool refused = false;                      // some, so that there is another pass
    std::map<std::string, std::string> asked;  // by uid
  };
  void DrainPass(const std::string& node, std::uint64_t number, bool honour_budgets);
  [[nodiscard]] std::string WhyStill(const k8s::Pod& pod, const std::string& refusal) const;

  Agenda& agenda_;
  Store& store_;
  ApiServer& api_;
  Kubelets& kubelets_;
  const Timing& timing_;
  std::map<std::string, std::uint64_t> lives_;  // grows with every death and return
  std::map<std::string, std::vector<TaintSince>> no_execute_;
  std::map<std::string, Time> arrived_;       // by uid: since when a pod is on its node
  std::map<std::string, DrainState> drains_;  // by node, the last one
  std::uint64_t drains_begun_ = 0;
};

}  // namespace knx::sim
