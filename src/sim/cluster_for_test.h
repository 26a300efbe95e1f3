// A cluster with the default profile, for tests of what is around the scheduler.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/profile_builder.h"
#include "plugins/registry.h"
#include "sim/cluster.h"

namespace knx::sim {

inline framework::SchedulerConfiguration ConfigForTest() {
  return framework::DefaultConfiguration();
}

inline ClusterOptions OptionsForTest(std::uint64_t seed = 1, Saboteur* saboteur = nullptr) {
  ClusterOptions options;
  options.seed = seed;
  options.scheduler.saboteur = saboteur;
  options.scheduler.make_profiles = [] {
    auto profiles = framework::BuildProfiles(ConfigForTest(), plugins::AllPlugins());
    KNX_CHECK(profiles.ok(), "the default profile can be built");
    return *std::move(profiles);
  };
  return options;
}

// The same with gangs placed as wholes, and evicted if they stay incomplete.
inline ClusterOptions GangOptionsForTest(
    std::uint64_t seed, Saboteur* saboteur = nullptr,
    const std::string& plugins = "queueSort: {enabled: [{name: Coscheduling}]}") {
  ClusterOptions options = OptionsForTest(seed, saboteur);
  options.scheduler.make_profiles = [plugins] {
    auto config = framework::ReadConfiguration(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- plugins: {" +
            plugins + "}\n  pluginConfig: [{name: Coscheduling, args: {evictIncomplete: true}}]\n",
        "gangs");
    KNX_CHECK(config.ok(), "the profile can be read");
    return *framework::BuildProfiles(*config, plugins::AllPlugins());
  };
  return options;
}

class ClusterForTest : public Cluster {
 public:
  explicit ClusterForTest(const ClusterOptions& options = OptionsForTest()) : Cluster(options) {
    scheduler().invariants().SetRules(RulesOf(ConfigForTest(), options.scheduler.make_profiles()));
  }

  void Start() { scheduler().Start({}); }

  std::string Create(k8s::Object object) {
    auto created = api().Create(std::move(object), Actor::kUser);
    EXPECT_TRUE(created.ok()) << created.error().message;
    return created.ok() ? *created : std::string();
  }
  void AddNodes(int count, std::string_view cpu, int first = 1);
  PodPtr Pod(const std::string& name) { return store().Find<k8s::Pod>("default/" + name); }
  std::string NodeOf(const std::string& name) {
    const PodPtr pod = Pod(name);
    return pod == nullptr ? "gone" : pod->spec.node_name;
  }
  // Names of all pods, in order.
  std::vector<std::string> PodNames() {
    std::vector<std::string> out;
    for (const auto& [key, pod] : store().All<k8s::Pod>()) out.push_back(pod->meta.name);
    return out;
  }

  void RunFor(Duration span) { RunTo(now() + span); }
  void RunTo(Duration when) {
    while (Step(when)) {
    }
    ExpectSound();
  }
  // True if it settled before the limit.
  bool Settle(Duration limit = Duration::Minutes(60)) {
    const Duration end = now() + limit;
    while (!Settled()) {
      if (!Step(end)) break;
    }
    if (Settled()) CheckSettled();
    ExpectSound();
    return Settled();
  }
  void ExpectSound() {
    if (violation().has_value()) {
      ADD_FAILURE() << violation()->invariant << " at " << FormatDuration(violation()->at) << ": "
                    << violation()->what;
    }
  }
};

inline k8s::Node NodeForTest(std::string name, std::string_view cpu) {
  k8s::Node node;
  node.meta.name = std::move(name);
  node.allocatable = {{"cpu", *k8s::Quantity::Parse(cpu)},
                      {"memory", *k8s::Quantity::Parse("64Gi")},
                      {"pods", *k8s::Quantity::Parse("110")}};
  return node;
}

inline void ClusterForTest::AddNodes(int count, std::string_view cpu, int first) {
  for (int i = 0; i < count; ++i) Create(NodeForTest("node-" + std::to_string(first + i), cpu));
}

inline k8s::PodSpec SpecForTest(std::string_view cpu) {
  k8s::PodSpec spec;
  k8s::Container container;
  container.name = "main";
  container.resources.requests = {{"cpu", *k8s::Quantity::Parse(cpu)}};
  spec.containers = {container};
  spec.termination_grace_seconds = 30;
  return spec;
}

inline k8s::Pod PodForTest(std::string name, std::string_view cpu) {
  k8s::Pod pod;
  pod.meta.name = std::move(name);
  pod.meta.namespace_ = "default";
  pod.spec = SpecForTest(cpu);
  return pod;
}

inline k8s::Workload WorkloadForTest(k8s::WorkloadKind kind, std::string name, int replicas,
                                     std::string_view cpu) {
  k8s::Workload workload;
  workload.kind = kind;
  workload.meta.name = name;
  workload.meta.namespace_ = "default";
  workload.replicas = replicas;
  workload.pod_template.meta.labels = {{"app", name}};
  workload.selector = k8s::LabelSelector{.match_labels = {{"app", name}}, .match_expressions = {}};
  workload.pod_template.spec = SpecForTest(cpu);
  return workload;
}

}  // namespace knx::sim
