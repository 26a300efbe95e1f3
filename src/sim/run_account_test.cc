// What a run tells about itself: how closely it was checked, what was left undone, what is stuck.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/simulation.h"

namespace knx::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SimulationRequest RequestFor(const std::string& cluster_and_steps) {
  SimulationRequest request;
  request.files = {{"s.yaml", "scenario: s\nwhy: w\n" + cluster_and_steps}};
  return request;
}

SimulationResult Outcome(const SimulationRequest& request) {
  auto result = Simulate(request);
  EXPECT_TRUE(result.ok()) << result.error().ToString();
  return result.ok() ? *std::move(result) : SimulationResult{};
}

std::string ManyPods(int nodes, int pods) {
  return fmt::format(
      "cluster: {{ nodes: [{{ name: n-$i, count: {}, allocatable: {{ cpu: 9, pods: 999 }} }}] }}\n"
      "steps:\n- create: {{ pod: p-$i, count: {} }}\n- run_for: 10s\n",
      nodes, pods);
}

TEST(Recounts, AreDoneAfterEveryStepWhileThereIsLittleToCount) {
  for (const auto& [nodes, pods] : {std::pair(1, 1), std::pair(19, 60), std::pair(2, 300)}) {
    SCOPED_TRACE(fmt::format("{} nodes, {} pods", nodes, pods));
    const SimulationResult result = Outcome(RequestFor(ManyPods(nodes, pods)));
    EXPECT_TRUE(result.ok());
    EXPECT_GE(result.counts.full_checks, result.counts.steps);
  }
}

TEST(Recounts, AreDoneAtEveryHundredthStepWhereThereIsMuch) {
  for (const auto& [nodes, pods] : {std::pair(19, 301), std::pair(2, 700), std::pair(20, 300)}) {
    SCOPED_TRACE(fmt::format("{} nodes, {} pods", nodes, pods));
    const SimulationResult result = Outcome(RequestFor(ManyPods(nodes, pods)));
    EXPECT_TRUE(result.ok());
    EXPECT_GE(result.counts.full_checks, result.counts.steps / 100);
    EXPECT_LE(result.counts.full_checks, result.counts.steps / 100 + 2);
  }
}

TEST(Recounts, AreDoneAtTheEndOfAShortRunToo) {
  SimulationRequest request = RequestFor(ManyPods(30, 3));
  request.until = Duration::Milliseconds(2);
  const SimulationResult result = Outcome(request);
  EXPECT_LT(result.counts.steps, 100);
  EXPECT_FALSE(result.settled);
  EXPECT_EQ(result.counts.full_checks, 1);
}

// What is said of the run beside the plugins that are not built.
std::vector<std::string> WarningsOf(const std::string& cluster_and_steps) {
  std::vector<std::string> out = Outcome(RequestFor(cluster_and_steps)).warnings;
  std::erase_if(out, [](const std::string& warning) { return warning.starts_with("of the def"); });
  return out;
}

constexpr const char* kOneNode =
    "cluster: { nodes: [{ name: n1, allocatable: { cpu: 9 } }] }\nsteps:\n";

TEST(Warnings, NameTheDrainThatABudgetHoldsUp) {
  const std::string steps = std::string(kOneNode) + R"(
- create: { replicaset: web, replicas: 3 }
- create:
    object:
      apiVersion: policy/v1
      kind: PodDisruptionBudget
      metadata: { name: b }
      spec: { minAvailable: 3, selector: { matchLabels: { app: web } } }
- run_for: 5s
- drain: { node: n1 }
- run_for: 1m
)";
  EXPECT_THAT(
      WarningsOf(steps),
      ElementsAre(
          AllOf(HasSubstr("the drain of node n1 is not over (3 pods are left): it waits for pod "
                          "default/web-"),
                HasSubstr(": Cannot evict pod as it would violate the pod's disruption budget."))));
  EXPECT_THAT(WarningsOf(steps + "- delete: { pdb: b }\n- run_for: 1m\n"), IsEmpty());
  // Another machine by that name is not being drained.
  EXPECT_THAT(WarningsOf(steps + "- delete: { node: n1 }\n- create: { object: { apiVersion: v1, "
                                 "kind: Node, metadata: { name: n1 } } }\n- run_for: 1m\n"),
              IsEmpty());
}

TEST(Warnings, NameTheDrainThatAFinalizerOrADeadNodeHoldsUp) {
  EXPECT_THAT(WarningsOf(std::string(kOneNode) + R"(
- create: { pod: held, finalizers: [example.com/a, example.com/b] }
- run_for: 5s
- drain: { node: n1 }
- run_for: 1m
)"),
              ElementsAre("the drain of node n1 is not over: it waits for pod default/held: it is "
                          "being deleted and has the finalizers example.com/a, example.com/b"));
  EXPECT_THAT(WarningsOf(std::string(kOneNode) + R"(
- create: { pod: a }
- run_for: 5s
- kill_node: n1
- drain: { node: n1 }
- run_for: 1m
)"),
              ElementsAre("the drain of node n1 is not over: it waits for pod default/a: it is "
                          "being deleted and its node is dead"));
}

TEST(Warnings, NameTheJobWhosePodsNeverEnd) {
  const std::string steps = std::string(kOneNode) + "- create: { job: train, completions: 2 }\n";
  EXPECT_THAT(WarningsOf(steps + "- settle: 1h\n"),
              ElementsAre(HasSubstr("Job default/train cannot end: nothing says how long")));
  EXPECT_THAT(WarningsOf(steps + "- create: { job: other }\n- settle: 1h\n"),
              ElementsAre(HasSubstr("Job default/other and 1 more cannot end")));
  EXPECT_THAT(WarningsOf(std::string(kOneNode) +
                         "- create: { job: train, completions: 2, run_for: 1h }\n- run_for: 1m\n"),
              IsEmpty());
}

}  // namespace
}  // namespace knx::sim
