#include "cluster/bystanders.h"

#include <variant>

namespace knx::cluster {
namespace {

template <class T>
std::size_t BytesOf(const Bystanders::Table<T>& table) {
  // A rough measure: what a map entry costs besides its value.
  constexpr std::size_t kEntry = 64;
  return table.by_name.size() * (sizeof(T) + kEntry);
}

}  // namespace

template <class T>
Bystanders::Table<T>* Bystanders::TableOf(const T& object) {
  if constexpr (std::is_same_v<T, k8s::Namespace>) return &namespaces_;
  if constexpr (std::is_same_v<T, k8s::Service>) return &services_;
  if constexpr (std::is_same_v<T, k8s::PodDisruptionBudget>) return &budgets_;
  if constexpr (std::is_same_v<T, k8s::Workload>) {
    return &workloads_[static_cast<std::size_t>(object.kind)];
  }
  (void)object;
  return nullptr;
}

void Bystanders::Upsert(const k8s::Object& object) {
  std::visit(
      [this](const auto& value) {
        auto* table = TableOf(value);
        if (table == nullptr) return;
        auto& slot = table->by_name[{value.meta.namespace_, value.meta.name}];
        if (slot == value) return;
        slot = value;
        ++table->generation;
      },
      object);
}

void Bystanders::Remove(const k8s::Object& object) {
  std::visit(
      [this](const auto& value) {
        auto* table = TableOf(value);
        if (table == nullptr) return;
        const auto erased = table->by_name.erase({value.meta.namespace_, value.meta.name});
        table->generation += erased;
      },
      object);
}

const k8s::Namespace* Bystanders::FindNamespace(std::string_view name) const {
  const auto found = namespaces_.by_name.find({"", std::string(name)});
  return found == namespaces_.by_name.end() ? nullptr : &found->second;
}

std::size_t Bystanders::bytes() const {
  std::size_t total = BytesOf(namespaces_) + BytesOf(services_) + BytesOf(budgets_);
  for (const auto& table : workloads_) total += BytesOf(table);
  return total;
}

}  // namespace knx::cluster
