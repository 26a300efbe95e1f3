#include "k8s/priority_classes.h"

namespace knx::k8s {

std::vector<PriorityClass> SystemPriorityClasses() {
  constexpr std::int32_t kClusterCritical = 2'000'000'000;
  constexpr std::int32_t kNodeCritical = 2'000'001'000;
  std::vector<PriorityClass> out(2);
  out[0].meta.name = "system-cluster-critical";
  out[0].value = kClusterCritical;
  out[1].meta.name = "system-node-critical";
  out[1].value = kNodeCritical;
  return out;
}

}  // namespace knx::k8s
