// Pod disruption budgets: how many pods may go, kept up to date as the disruption controller does.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "scenario/timing.h"
#include "sim/agenda.h"
#include "sim/store.h"

namespace knx::sim {

struct BudgetMeasure {
  std::int32_t expected = 0;         // pods there should be
  std::int32_t desired_healthy = 0;  // pods that must be ready
  std::int32_t current_healthy = 0;  // pods that are, those on their way out left out
};
BudgetMeasure Measure(const Store& store, const k8s::PodDisruptionBudget& budget);

// Budgets that a pod is under, by name.
std::vector<Ptr<k8s::PodDisruptionBudget>> BudgetsOf(const Store& store, const k8s::Pod& pod);

class BudgetController : public StoreListener {
 public:
  BudgetController(Agenda& agenda, Store& store, const Timing& timing);

  using StoreListener::OnWrite;
  void OnWrite(const Write<k8s::Pod>& write) override;
  void OnWrite(const Write<k8s::PodDisruptionBudget>& write) override;
  void OnWrite(const Write<k8s::Workload>& write) override;

 private:
  void Enqueue(const std::string& key);
  void EnqueueNamespace(const std::string& namespace_);
  void Reconcile(const std::string& key);

  Agenda& agenda_;
  Store& store_;
  const Timing& timing_;
  std::set<std::string> pending_;
};

}  // namespace knx::sim
