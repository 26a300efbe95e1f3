#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "plugins/kube/node_resources_fit/node_resources_fit.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::AddPod;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using framework::EventKind;
using Strategy = NodeResourcesFitArgs::Strategy;

Result<NodeResourcesFitArgs> Read(std::string_view yaml) {
  auto documents = k8s::ParseYaml(yaml, "config.yaml");
  EXPECT_TRUE(documents.ok());
  framework::PluginArgs args;
  args.node = documents->empty() ? nullptr : &documents->front();
  args.file = "config.yaml";
  args.path = "args";
  return ReadNodeResourcesFitArgs(args);
}

TEST(NodeResourcesFitArgs, HasKubeSchedulersDefaults) {
  const std::vector<ScoredResource> cpu_and_memory = {{"cpu", 1}, {"memory", 1}};
  for (const char* yaml : {"", "{}", "scoringStrategy: {type: LeastAllocated}",
                           "scoringStrategy: {type: LeastAllocated, resources: []}"}) {
    SCOPED_TRACE(yaml);
    const auto args = Read(yaml);
    ASSERT_TRUE(args.ok()) << args.error().ToString();
    EXPECT_EQ(args->strategy, Strategy::kLeastAllocated);
    EXPECT_EQ(args->resources, cpu_and_memory);
    EXPECT_TRUE(args->ignored_resources.empty());
  }
}

TEST(NodeResourcesFitArgs, ReadsEverything) {
  const auto args = Read(R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: NodeResourcesFitArgs
ignoredResources: [example.com/a]
ignoredResourceGroups: [example.org]
scoringStrategy:
  type: RequestedToCapacityRatio
  resources:
  - {name: nvidia.com/gpu, weight: 5}
  - name: cpu
  - {name: memory, weight: 0}
  requestedToCapacityRatio:
    shape:
    - {utilization: 0, score: 0}
    - {utilization: 100, score: 10}
)");
  ASSERT_TRUE(args.ok()) << args.error().ToString();
  EXPECT_EQ(args->ignored_resources, (std::vector<std::string>{"example.com/a"}));
  EXPECT_EQ(args->ignored_resource_groups, (std::vector<std::string>{"example.org"}));
  EXPECT_EQ(args->strategy, Strategy::kRequestedToCapacityRatio);
  EXPECT_EQ(args->resources,
            (std::vector<ScoredResource>{{"nvidia.com/gpu", 5}, {"cpu", 1}, {"memory", 1}}));
  ASSERT_EQ(args->shape.size(), 2U);
  EXPECT_EQ(args->shape[1].utilization, 100);
  EXPECT_EQ(args->shape[1].score, 10);
}

TEST(NodeResourcesFitArgs, WhatExtendersAccountForTakesThePlaceOfWhatIsIgnored) {
  const auto documents = k8s::ParseYaml("ignoredResources: [example.com/a]", "config.yaml");
  framework::PluginArgs args;
  args.node = &documents->front();
  args.ignored_resources = {"example.com/b"};
  const auto read = ReadNodeResourcesFitArgs(args);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(read->ignored_resources, (std::vector<std::string>{"example.com/b"}));
}

TEST(NodeResourcesFitArgs, RefusesWhatMeansNothingAndSaysWhere) {
  struct Case {
    std::string_view yaml, want;
  };
  const Case cases[] = {
      {"ignoredResource: []", "args.ignoredResource"},
      {"ignoredResources: [\"-bad-\"]", "args.ignoredResources[0]"},
      {"ignoredResources: cpu", "args.ignoredResources"},
      {"ignoredResourceGroups: [example.com/a]", "must not contain '/'"},
      {"ignoredResourceGroups: [a, \"b c\"]", "args.ignoredResourceGroups[1]"},
      {"scoringStrategy: {}", "args.scoringStrategy.type"},
      {"scoringStrategy: {type: Random}", "RequestedToCapacityRatio"},
      {"scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: 101}]}",
       "args.scoringStrategy.resources[0].weight"},
      {"scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: -1}]}", "weight"},
      {"scoringStrategy: {type: LeastAllocated, resources: [{weight: 1}]}", "name"},
      {"scoringStrategy: {type: RequestedToCapacityRatio}",
       "args.scoringStrategy.requestedToCapacityRatio: missing, but required"},
      {"scoringStrategy: {type: MostAllocated, requestedToCapacityRatio: {shape: "
       "[{utilization: 1, score: 1}]}}",
       "must be left out unless type is RequestedToCapacityRatio"},
      {"scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {}}",
       "requestedToCapacityRatio.shape: needs at least one point"},
      {"scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
       "[{utilization: 5, score: 1}, {utilization: 5, score: 2}]}}",
       "shape[1].utilization: 5 must be above that of the point before, 5"},
      {"scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
       "[{utilization: 101, score: 1}]}}",
       "shape[0].utilization"},
      {"scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
       "[{utilization: 1, score: 11}]}}",
       "shape[0].score"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.yaml);
    const auto args = Read(c.yaml);
    ASSERT_FALSE(args.ok());
    EXPECT_NE(args.error().message.find(c.want), std::string::npos) << args.error().message;
    EXPECT_EQ(args.error().place.file, "config.yaml");
  }
}

TEST(NodeResourcesFit, IsHelpedByNodesThatCouldTakeThePod) {
  struct Case {
    std::string_view name;
    NodeBuilder now;
    std::optional<NodeBuilder> before;
    bool helps;
  };
  const auto node = [](std::string_view cpu, std::string_view memory, std::string_view pods) {
    return NodeBuilder("n").Has("cpu", cpu).Has("memory", memory).Has("pods", pods);
  };
  const Case cases[] = {
      {"a new node that is large enough", node("2", "1Gi", "1"), std::nullopt, true},
      {"a new node that is too small", node("1", "9Gi", "9"), std::nullopt, false},
      {"a new node for no pods", node("9", "9Gi", "0"), std::nullopt, false},
      {"grew enough", node("2", "1Gi", "1"), node("1", "1Gi", "1"), true},
      {"grew, but was large enough before", node("3", "1Gi", "1"), node("2", "1Gi", "1"), true},
      {"grew, but not enough", node("1500m", "1Gi", "1"), node("1", "1Gi", "1"), false},
      {"grew in what the pod does not ask for", node("2", "9Gi", "1"), node("2", "1Gi", "1"),
       false},
      {"takes more pods", node("2", "1Gi", "2"), node("2", "1Gi", "1"), true},
      {"shrank", node("2", "1Gi", "1"), node("3", "1Gi", "1"), false},
  };
  const NodeResourcesFit plugin({});
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    cluster::State state;
    const cluster::PodId pod = AddPod(state, PodBuilder("p").Asks("cpu", "2"));
    cluster::NodeFacts before;
    if (c.before) before = state.nodes().facts(AddNode(state, *c.before));
    framework::ClusterEvent event;
    event.kind = c.before ? EventKind::kNodeAllocatable : EventKind::kNodeAdd;
    event.node_before = c.before ? &before : nullptr;
    event.row = AddNode(state, c.now);
    EXPECT_TRUE(plugin.events().Contains(event.kind));
    EXPECT_EQ(plugin.MayHelp(event, testing::View(state, pod)), c.helps);
    event.kind = EventKind::kNodeTaint;
    EXPECT_TRUE(plugin.MayHelp(event, testing::View(state, pod))) << "kube-scheduler's quirk";
  }
}

TEST(NodeResourcesFit, IsHelpedByPodsThatLeaveOrShrink) {
  cluster::State state;
  const cluster::NodeRow row = AddNode(state, NodeBuilder("n"));
  const NodeResourcesFit plugin({});
  const cluster::PodId waiting = AddPod(state, PodBuilder("p").Asks("cpu", "2"));
  framework::ClusterEvent event;
  const auto helps = [&](EventKind kind) {
    event.kind = kind;
    EXPECT_TRUE(plugin.events().Contains(kind));
    return plugin.MayHelp(event, testing::View(state, waiting));
  };
  EXPECT_TRUE(helps(EventKind::kOwnScaleDown));
  EXPECT_FALSE(helps(EventKind::kUnassignedPodDelete)) << "it took no room";
  event.pod_now.nominated = row;
  EXPECT_TRUE(helps(EventKind::kUnassignedPodDelete)) << "room was kept for it";
  event.pod_now.nominated = {};
  event.pod_now.node = row;
  EXPECT_TRUE(helps(EventKind::kAssignedPodDelete));

  const cluster::ResourceVector large = {{cluster::kCpu, 2000}, {cluster::kMemory, 100}};
  const cluster::ResourceVector less_cpu = {{cluster::kCpu, 1000}, {cluster::kMemory, 100}};
  const cluster::ResourceVector less_memory = {{cluster::kCpu, 2000}};
  event.pod_before.requests = large;
  event.pod_now.requests = less_cpu;
  EXPECT_TRUE(helps(EventKind::kAssignedPodScaleDown));
  event.pod_now.requests = less_memory;
  EXPECT_FALSE(helps(EventKind::kAssignedPodScaleDown)) << "the pod asks for no memory";
}

}  // namespace
}  // namespace knx::plugins
