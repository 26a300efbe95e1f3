// Fake kubelets: pods start, run for as long as their annotations say, end, and go when they are
// deleted. A kubelet refuses nothing; one that is dead does nothing until it is back.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "scenario/timing.h"
#include "sim/agenda.h"
#include "sim/api_server.h"
#include "sim/store.h"

namespace knx::sim {

class Kubelets : public StoreListener {
 public:
  Kubelets(Agenda& agenda, Store& store, ApiServer& api, const Timing& timing);

  using StoreListener::OnWrite;
  void OnWrite(const Write<k8s::Pod>& write) override;
  void OnWrite(const Write<k8s::Node>& write) override;

  // From now on nothing happens on the node.
  void Stop(const std::string& node) { dead_.insert(node); }
  // It is back: what ran there begins anew, what was to go goes.
  void Restart(const std::string& node);
  // Its Node is there and its kubelet lives.
  [[nodiscard]] bool Alive(const std::string& node) const;

 private:
  // A kubelet begins and finds pods that are meant for it.
  void TakeUp(const std::string& node);
  void StartSoon(const k8s::Pod& pod);
  void StopSoon(const k8s::Pod& pod);
  void Start(const std::string& key, const std::string& uid);
  void PlanEnd(const k8s::Pod& pod);
  void End(const std::string& key, const std::string& uid, std::uint64_t run, k8s::PodPhase phase);
  void KeepSize(const k8s::Pod& before);
  void ResizeSoon(const k8s::Pod& pod);

  Agenda& agenda_;
  Store& store_;
  ApiServer& api_;
  const Timing& timing_;
  std::set<std::string> dead_;
  std::map<std::string, std::uint64_t> runs_;  // by uid: how often it was started
};

}  // namespace knx::sim
