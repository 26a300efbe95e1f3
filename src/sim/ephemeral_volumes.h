// Makes the claims of `ephemeral` volumes, which are called "<pod>-<volume>" and belong to their
// pod, and removes them when the pod is gone.
#pragma once

#include <set>
#include <string>

#include "scenario/timing.h"
#include "sim/agenda.h"
#include "sim/api_server.h"
#include "sim/store.h"

namespace knx::sim {

class EphemeralVolumes : public StoreListener {
 public:
  EphemeralVolumes(Agenda& agenda, Store& store, ApiServer& api, const Timing& timing);

  using StoreListener::OnWrite;
  void OnWrite(const Write<k8s::Pod>& write) override;

 private:
  void MakeClaims(const std::string& key);
  void RemoveClaims(const k8s::Pod& pod);

  Agenda& agenda_;
  Store& store_;
  ApiServer& api_;
  const Timing& timing_;
  std::set<std::string> pending_;
};

}  // namespace knx::sim
