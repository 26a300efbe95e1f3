#include "sim/budgets.h"

#include <algorithm>
#include <map>

#include "k8s/owner.h"
#include "k8s/selector.h"

namespace knx::sim {
namespace {

// Rounded up, as Kubernetes does for both fields of a budget.
std::int32_t Scaled(k8s::IntOrPercent value, std::int32_t of) {
  if (!value.percent) return value.value;
  return static_cast<std::int32_t>((std::int64_t{value.value} * of + 99) / 100);
}

bool Covers(const k8s::PodDisruptionBudget& budget, const k8s::Pod& pod) {
  return budget.meta.namespace_ == pod.meta.namespace_ && budget.selector.has_value() &&
         k8s::Matches(*budget.selector, pod.meta.labels);
}

// How many pods the owner of a pod wants; 0 for a pod without one.
std::int32_t WantedByOwner(const Store& store, const k8s::Pod& pod, std::string& owner_uid) {
  const k8s::OwnerReference* owner = ControllerOf(pod.meta);
  if (owner == nullptr) return 0;
  owner_uid = owner->uid;
  for (const auto kind :
       {k8s::WorkloadKind::kReplicaSet, k8s::WorkloadKind::kStatefulSet,
        k8s::WorkloadKind::kReplicationController, k8s::WorkloadKind::kDeployment}) {
    if (owner->kind != KindName(kind)) continue;
    const auto found =
        store.Find<k8s::Workload>(WorkloadKey(kind, pod.meta.namespace_, owner->name));
    return found == nullptr || found->meta.uid != owner->uid ? 0 : found->replicas;
  }
  return 0;
}

}  // namespace

BudgetMeasure Measure(const Store& store, const k8s::PodDisruptionBudget& budget) {
  BudgetMeasure out;
  std::int32_t pods = 0;
  std::map<std::string, std::int32_t> wanted;
  for (const auto& [key, pod] : store.All<k8s::Pod>()) {
    if (!Covers(budget, *pod) || IsFinished(*pod)) continue;
    ++pods;
    std::string owner;
    const std::int32_t replicas = WantedByOwner(store, *pod, owner);
    if (!owner.empty()) wanted[owner] = replicas;
    const auto& gone = budget.disrupted_pods;
    const bool leaving = pod->meta.deleted.has_value() ||
                         std::find(gone.begin(), gone.end(), pod->meta.name) != gone.end();
    if (!leaving && IsReady(*pod)) ++out.current_healthy;
  }
  std::int64_t scale = 0;
  for (const auto& [owner, replicas] : wanted) scale += replicas;
  out.expected = static_cast<std::int32_t>(std::min<std::int64_t>(scale, INT32_MAX));
  if (budget.max_unavailable.has_value()) {
    out.desired_healthy =
        std::max(out.expected - Scaled(*budget.max_unavailable, out.expected), std::int32_t{0});
  } else if (budget.min_available.has_value()) {
    if (!budget.min_available->percent) out.expected = pods;
    out.desired_healthy = Scaled(*budget.min_available, out.expected);
  }
  return out;
}

std::vector<Ptr<k8s::PodDisruptionBudget>> BudgetsOf(const Store& store, const k8s::Pod& pod) {
  std::vector<Ptr<k8s::PodDisruptionBudget>> out;
  for (const auto& [key, budget] : store.All<k8s::PodDisruptionBudget>()) {
    if (Covers(*budget, pod)) out.push_back(budget);
  }
  return out;
}

BudgetController::BudgetController(Agenda& agenda, Store& store, const Timing& timing)
    : agenda_(agenda), store_(store), timing_(timing) {
  store.Listen(*this);
}

void BudgetController::OnWrite(const Write<k8s::Pod>& write) {
  if (!store_.All<k8s::PodDisruptionBudget>().empty()) {
    EnqueueNamespace(write.any().meta.namespace_);
  }
}

void BudgetController::OnWrite(const Write<k8s::PodDisruptionBudget>& write) {
  if (write.after != nullptr) Enqueue(KeyOf(*write.after));
}

void BudgetController::OnWrite(const Write<k8s::Workload>& write) {
  EnqueueNamespace(write.any().meta.namespace_);
}

void BudgetController::EnqueueNamespace(const std::string& namespace_) {
  for (const auto& [key, budget] : store_.All<k8s::PodDisruptionBudget>()) {
    if (budget->meta.namespace_ == namespace_) Enqueue(key);
  }
}

void BudgetController::Enqueue(const std::string& key) {
  if (!pending_.insert(key).second) return;
  agenda_.After(timing_.controller, [this, key] {
    pending_.erase(key);
    Reconcile(key);
  });
}

void BudgetController::Reconcile(const std::string& key) {
  const auto current = store_.Find<k8s::PodDisruptionBudget>(key);
  if (current == nullptr) return;
  k8s::PodDisruptionBudget next = *current;
  // Evicted pods count as gone until they are; then the list forgets them.
  std::erase_if(next.disrupted_pods, [&](const std::string& name) {
    const PodPtr pod = store_.Find<k8s::Pod>(PodKey(next.meta.namespace_, name));
    return pod == nullptr || pod->meta.deleted.has_value();
  });
  const BudgetMeasure measure = Measure(store_, next);
  next.disruptions_allowed =
      measure.expected == 0
          ? 0
          : std::max(measure.current_healthy - measure.desired_healthy, std::int32_t{0});
  if (next.disruptions_allowed == current->disruptions_allowed &&
      next.disrupted_pods == current->disrupted_pods) {
    return;
  }
  store_.Put(std::move(next), Actor::kController);
}

}  // namespace knx::sim
