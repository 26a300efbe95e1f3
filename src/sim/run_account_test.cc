// What a run tells about itself: how closely it was checked, what was left undone, what is stuck.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/simulation.h"

namespace knx::sim {
namespace {

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

}  // namespace
}  // namespace knx::sim
