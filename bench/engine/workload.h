// The rows of the benchmark, read from workloads.yaml, and the objects they are made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "k8s/objects.h"

namespace knx::bench {

// Four of them are pods of kube-scheduler's own benchmark that speak of other pods.
enum class Shape {
  kPlain,
  kLabels,
  kDaemonSet,
  kUnschedulable,
  kGated,
  kSpread,
  kAffinity,
  kAntiAffinity,
  kPreferred,
  kPreemption,
  kGang,
};

struct Workload {
  std::string name;
  Shape shape = Shape::kPlain;
  std::int32_t nodes = 0, pods = 0, classes = 1;
  std::int32_t present = 0;    // pods that are placed before the clock runs
  std::int32_t waiting = 0;    // pods that are there and cannot be placed
  std::int32_t node_pods = 0;  // pods a node may have, if not what all have
  std::int32_t gang = 0;       // pods that start together, one gang after the other
  bool at_once = false;        // all gangs are there before the first is decided about
  std::int32_t priority = 0;   // of the pods to be measured: others are evicted for them
  std::int32_t fill = 0;       // present pods fill one node after the other, so many on each
  std::string refusal;         // nobody is bound, and all say this
  std::int32_t repeat = 3;
  // Makes each pod when it is handed over, so that only what the engine keeps is resident.
  bool decode_as_they_come = false;
  k8s::ResourceList node, pod;
  k8s::ResourceList present_pod;  // if it is another than `pod`
};

Result<std::vector<Workload>> ReadWorkloads(std::string_view text, std::string_view file);

k8s::Node MakeNode(const Workload& workload, std::int32_t i);
// The i-th pod that is there before, to be measured, and that waits.
k8s::Pod MakePod(const Workload& workload, std::int32_t i);
k8s::Pod MakeWaitingPod(const Workload& workload, std::int32_t i);
k8s::Pod MakePresentPod(const Workload& workload, std::int32_t i);

}  // namespace knx::bench
