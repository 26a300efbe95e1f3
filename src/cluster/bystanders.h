// Objects that are neither pods nor nodes and that decisions read all the same: namespaces,
// services, workloads and disruption budgets. Kept as they come, by name; what is derived from them
// is kept by those who derive it, until the generation of the kind has moved on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "k8s/objects.h"

namespace knx::cluster {

class Bystanders {
 public:
  // Kinds that no decision reads are left alone.
  void Upsert(const k8s::Object& object);
  void Remove(const k8s::Object& object);

  template <class T>
  struct Table {
    std::map<std::pair<std::string, std::string>, T> by_name;  // namespace, name
    std::uint64_t generation = 0;                              // grows with every change
  };
  [[nodiscard]] const Table<k8s::Namespace>& namespaces() const { return namespaces_; }
  [[nodiscard]] const Table<k8s::Service>& services() const { return services_; }
  // Of one kind; Deployments act through their ReplicaSets.
  [[nodiscard]] const Table<k8s::Workload>& workloads(k8s::WorkloadKind kind) const {
    return workloads_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] const Table<k8s::PodDisruptionBudget>& budgets() const { return budgets_; }
  // nullptr: there is none.
  [[nodiscard]] const k8s::Namespace* FindNamespace(std::string_view name) const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  // nullptr for a kind that is not kept.
  template <class T>
  Table<T>* TableOf(const T& object);

  Table<k8s::Namespace> namespaces_;
  Table<k8s::Service> services_;
  Table<k8s::Workload> workloads_[4];
  Table<k8s::PodDisruptionBudget> budgets_;
};

}  // namespace knx::cluster
