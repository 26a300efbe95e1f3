#include "workload.h"

#include <fmt/format.h>

#include "k8s/names.h"
#include "k8s/yaml_reader.h"

namespace knx::bench {

Result<std::vector<Workload>> ReadWorkloads(std::string_view text, std::string_view file) {
  KNX_TRY(const auto documents, k8s::ParseYaml(text, file));
  if (documents.size() != 1) return InvalidError(fmt::format("{}: expected one document", file));
  std::vector<Workload> out;
  KNX_TRY_DONE(
      k8s::ReadNode(documents[0], {.file = file, .unknown = k8s::UnknownFields::kRefuse},
                    [&](k8s::FieldReader& root) {
                      Workload defaults;
                      root.Require("node", defaults.node);
                      root.Require("pod", defaults.pod);
                      root.ForEach("rows", [&](k8s::FieldReader& row) {
                        Workload& workload = out.emplace_back(defaults);
                        row.Require("name", workload.name);
                        row.ReadEnum("shape", workload.shape,
                                     {{"plain", Shape::kPlain},
                                      {"labels", Shape::kLabels},
                                      {"daemonset", Shape::kDaemonSet},
                                      {"unschedulable", Shape::kUnschedulable},
                                      {"gated", Shape::kGated},
                                      {"spread", Shape::kSpread},
                                      {"affinity", Shape::kAffinity},
                                      {"antiaffinity", Shape::kAntiAffinity},
                                      {"preferred", Shape::kPreferred},
                                      {"preemption", Shape::kPreemption},
                                      {"gang", Shape::kGang}});
                        row.Require("nodes", workload.nodes, k8s::IntegerLimits{1, 10'000'000});
                        row.Require("pods", workload.pods, k8s::IntegerLimits{1, 10'000'000});
                        row.Read("classes", workload.classes, {1, 100'000});
                        row.Read("present", workload.present, {0, 1'000'000});
                        row.Read("waiting", workload.waiting, {0, 1'000'000});
                        row.Read("node_pods", workload.node_pods, {0, 1'000'000});
                        row.Read("gang", workload.gang, {0, 100'000});
                        row.Read("at_once", workload.at_once);
                        row.Read("node", workload.node);
                        row.Read("pod", workload.pod);
                        row.Read("present_pod", workload.present_pod);
                        row.Read("priority", workload.priority, {0, 1'000'000'000});
                        row.Read("fill", workload.fill, {0, 1'000'000});
                        row.Read("refusal", workload.refusal);
                        row.Read("repeat", workload.repeat, {1, 100});
                        row.Read("decode_as_they_come", workload.decode_as_they_come);
                      });
                    }));
  return out;
}

k8s::Node MakeNode(const Workload& workload, std::int32_t i) {
  const std::int32_t zones = workload.shape == Shape::kAffinity ? 1 : 3;
  k8s::Node node;
  node.meta.name = fmt::format("node-{:07}", i);
  node.meta.labels = {{std::string(k8s::names::kHostname), node.meta.name},
                      {std::string(k8s::names::kZone), fmt::format("zone-{}", i % zones)}};
  node.allocatable = workload.node;
  if (workload.node_pods > 0) {
    const std::int64_t factor = workload.node_pods;
    for (auto& [name, amount] : node.allocatable) {
      amount =
          k8s::Quantity::FromUnits(name == k8s::names::kPods ? factor : amount.Value() * factor);
    }
  }
  node.capacity = node.allocatable;
  return node;
}

namespace {

k8s::Pod BasePod(const Workload& workload, std::string name, std::int32_t i) {
  k8s::Pod pod;
  pod.meta.name = std::move(name);
  pod.meta.namespace_ = "bench";
  pod.meta.uid = fmt::format("{:08x}-0000-4000-8000-{:012x}", i, i);
  pod.meta.labels = {{"app", fmt::format("app-{}", i % workload.classes)}};
  k8s::Container& container = pod.spec.containers.emplace_back();
  container.name = "pause";
  container.image = "registry.k8s.io/pause:3.9";
  container.resources.requests = workload.pod;
  for (auto& [resource, amount] : container.resources.requests) {
    if (resource != k8s::names::kMemory) continue;
    amount = amount + k8s::Quantity::FromUnits(std::int64_t{i % workload.classes} << 20);
  }
  return pod;
}

// Pods of one color, about those of that color.
void SpeakOfPods(const Workload& workload, k8s::Pod& pod) {
  const auto color = [&](const char* name) {
    pod.meta.labels = {{"color", name}};
    return k8s::LabelSelector{pod.meta.labels, {}};
  };
  const auto term = [&](const char* name, std::string_view key) {
    k8s::PodAffinityTerm out;
    out.selector = color(name);
    out.namespaces = {"bench", "bench-present"};
    out.topology_key = key;
    return out;
  };
  if (workload.shape == Shape::kSpread) {
    k8s::TopologySpreadConstraint& constraint = pod.spec.topology_spread.emplace_back();
    constraint.max_skew = 5;
    constraint.topology_key = k8s::names::kZone;
    constraint.selector = color("blue");
  } else if (workload.shape == Shape::kAffinity) {
    pod.spec.pod_affinity.required.push_back(term("blue", k8s::names::kZone));
  } else if (workload.shape == Shape::kAntiAffinity) {
    pod.spec.pod_anti_affinity.required.push_back(term("green", k8s::names::kHostname));
  } else if (workload.shape == Shape::kPreferred) {
    pod.spec.pod_affinity.preferred.push_back({1, term("red", k8s::names::kHostname)});
  }
}

}  // namespace

k8s::Pod MakePresentPod(const Workload& workload, std::int32_t i) {
  const std::int32_t number = 200'000'000 + i;
  k8s::Pod pod = BasePod(workload, fmt::format("present-{:07}", i), number);
  pod.meta.namespace_ = "bench-present";
  // Those of the spread are plain, as in kube-scheduler's benchmark.
  if (workload.shape != Shape::kSpread) SpeakOfPods(workload, pod);
  if (workload.shape == Shape::kPreemption || workload.shape == Shape::kGang) {
    const std::int32_t node = workload.fill > 0 ? i / workload.fill : i % workload.nodes;
    pod.spec.node_name = fmt::format("node-{:07}", node);
    pod.status.phase = k8s::PodPhase::kRunning;
    pod.status.start_time = Time{std::int64_t{1'600'000'000'000'000'000} + i};
  }
  if (!workload.present_pod.empty()) {
    pod.spec.containers[0].resources.requests = workload.present_pod;
  }
  return pod;
}

k8s::Pod MakePod(const Workload& workload, std::int32_t i) {
  k8s::Pod pod = BasePod(workload, fmt::format("pod-{:07}", i), i);
  if (workload.shape == Shape::kLabels) {
    pod.meta.labels.emplace_back("statefulset.kubernetes.io/pod-name", pod.meta.name);
  }
  if (workload.shape == Shape::kDaemonSet) {
    k8s::NodeSelectorTerm term;
    term.match_fields.push_back({"metadata.name",
                                 k8s::SelectorOperator::kIn,
                                 {fmt::format("node-{:07}", i % workload.nodes)}});
    pod.spec.node_affinity.emplace().required.emplace().terms.push_back(std::move(term));
  }
  SpeakOfPods(workload, pod);
  if (workload.shape == Shape::kGang) {
    pod.meta.labels = {
        {std::string(k8s::names::kGangMinAvailable), std::to_string(workload.gang)},
        {std::string(k8s::names::kGangName), fmt::format("gang-{}", i / workload.gang)}};
  }
  pod.spec.priority = workload.priority;
  return pod;
}

k8s::Pod MakeWaitingPod(const Workload& workload, std::int32_t i) {
  const std::int32_t number = 100'000'000 + i;
  k8s::Pod pod = BasePod(workload, fmt::format("waiting-{:07}", i), number);
  if (workload.shape == Shape::kGated) {
    pod.spec.scheduling_gates = {"example.com/gate"};
  } else {
    for (auto& [name, asked] : pod.spec.containers[0].resources.requests) {
      if (name == k8s::names::kCpu) asked = k8s::Quantity::FromUnits(1000);
    }
  }
  return pod;
}

}  // namespace knx::bench
