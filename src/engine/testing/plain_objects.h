// Nodes of a plain size, and pods that fill them.
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

}  // namespace knx::engine::testing
