// Nodes of a plain size, pods that fill them, and budgets that protect those.
#pragma once

#include <string>

#include "cluster/testing/builders.h"

namespace knx::engine::testing {

inline cluster::testing::NodeBuilder Node(const std::string& name, const std::string& cpu = "4") {
  return cluster::testing::NodeBuilder(name)
      .Has("cpu", cpu)
      .Has("memory", "8Gi")
      .Has("pods", "110");
}

inline cluster::testing::PodBuilder On(const std::string& node, const std::string& name,
                                       const std::string& cpu, int priority) {
  return cluster::testing::PodBuilder(name).Asks("cpu", cpu).Priority(priority).On(node);
}

inline cluster::testing::PodBuilder Wants(const std::string& cpu, int priority) {
  return cluster::testing::PodBuilder("vip").Asks("cpu", cpu).Priority(priority);
}

inline k8s::PodDisruptionBudget Budget(std::string name, k8s::StringMap labels,
                                       std::int32_t allowed) {
  k8s::PodDisruptionBudget budget;
  budget.meta.name = std::move(name);
  budget.meta.namespace_ = "default";
  budget.selector.emplace().match_labels = std::move(labels);
  budget.disruptions_allowed = allowed;
  return budget;
}

}  // namespace knx::engine::testing
