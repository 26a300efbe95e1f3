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

SimulationRequest ScenarioOf(const std::string& cluster_and_steps) {
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
    const SimulationResult result = Outcome(ScenarioOf(ManyPods(nodes, pods)));
    EXPECT_TRUE(result.ok());
    EXPECT_GE(result.counts.full_checks, result.counts.steps);
  }
}

TEST(Recounts, AreDoneAtEveryHundredthStepWhereThereIsMuch) {
  for (const auto& [nodes, pods] : {std::pair(19, 301), std::pair(2, 700), std::pair(20, 300)}) {
    SCOPED_TRACE(fmt::format("{} nodes, {} pods", nodes, pods));
    const SimulationResult result = Outcome(ScenarioOf(ManyPods(nodes, pods)));
    EXPECT_TRUE(result.ok());
    EXPECT_GE(result.counts.full_checks, result.counts.steps / 100);
    EXPECT_LE(result.counts.full_checks, result.counts.steps / 100 + 2);
  }
}

TEST(Recounts, AreDoneAtTheEndOfAShortRunToo) {
  SimulationRequest request = ScenarioOf(ManyPods(30, 3));
  request.until = Duration::Milliseconds(2);
  const SimulationResult result = Outcome(request);
  EXPECT_LT(result.counts.steps, 100);
  EXPECT_FALSE(result.settled);
  EXPECT_EQ(result.counts.full_checks, 1);
}

// A driver that fits nowhere is tried again for ever, with the places of its executors, for which
// nothing is held.
TEST(Rest, IsNotKeptOffByPlacesThatAreOnlyPlanned) {
  SimulationRequest request = ScenarioOf(R"(
cluster: { nodes: [{ name: n1, allocatable: { cpu: 3 } }, { name: n2, allocatable: { cpu: 3 } }] }
steps:
- create: { pod: other, requests: { cpu: 2 } }
- run_for: 1s
- create:
    pod: driver
    requests: { cpu: 1 }
    labels:
      spark-role: driver
      pod-group.scheduling.kubenexus.io/name: pi
      pod-group.scheduling.kubenexus.io/min-available: "3"
    annotations: { scheduling.kubenexus.io/executor-resources: "cpu=2" }
- settle: 3h
)");
  request.config = {"c.yaml", R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled: [{ name: Coscheduling }, { name: ResourceReservation }, { name: BackfillScoring }]
)"};
  const SimulationResult result = Outcome(request);
  EXPECT_EQ(result.counts.pods_waiting, 1);
  EXPECT_TRUE(result.settled);
}

// What is said of the run beside the plugins that are not built.
std::vector<std::string> WarningsOf(const std::string& cluster_and_steps) {
  std::vector<std::string> out = Outcome(ScenarioOf(cluster_and_steps)).warnings;
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

// ---- circles ----

constexpr const char* kNoTime =
    "cluster:\n"
    "  timing: { watch: 0s, call: 0s, controller: 0s, start: 0s, stop: 0s, job_backoff: 0s }\n"
    "  nodes: [{ name: n1, allocatable: { cpu: 9, pods: 9999 } }]\n"
    "steps:\n";

TEST(Progress, IsMissedWhereNoTimePassesAndWhatGoesRoundIsNamed) {
  for (const Checking checking : {Checking::kOff, Checking::kAsInTests}) {
    SimulationRequest request =
        ScenarioOf(std::string(kNoTime) +
                   "- create: { deployment: web, replicas: 2, run_for: 0s }\n"
                   "- run_for: 1s\n");
    request.checking = checking;
    const SimulationResult result = Outcome(request);
    ASSERT_TRUE(result.violation.has_value());
    EXPECT_EQ(result.violation->invariant, "progress");
    EXPECT_THAT(result.violation->what, HasSubstr("steps and no time passes; of late: "));
    EXPECT_THAT(result.violation->what, HasSubstr(" times a pod of Deployment web was made"));
  }
}

TEST(Progress, IsNotMissedWhereMuchIsDoneAtOneInstant) {
  SimulationRequest request =
      ScenarioOf(std::string(kNoTime) +
                 "- create: { job: j, parallelism: 10, completions: 200, run_for: 0s }\n"
                 "- create: { pod: p-$i, count: 2000, every: 0s, run_for: 0s }\n"
                 "- run_for: 1s\n- expect: { succeeded: 2200 }\n");
  request.checking = Checking::kIncremental;
  const SimulationResult result = Outcome(request);
  EXPECT_TRUE(result.ok());
  EXPECT_GT(result.counts.steps, 10'000);
}

// ---- the end of a run ----

constexpr const char* kLongSteps = R"(
- create: { pod: a, run_for: 1h }
- expect: { pod: a, running: 1, within: 5s }
- expect: { pod: a, succeeded: 1, within: 2h }
- create: { pod: b }
- expect: { pod: b, placed: 1, within: 5s }
- run_for: 1h
)";

TEST(Until, LeavesNoExpectationAsMetThatWasNotReached) {
  SimulationRequest request = ScenarioOf(std::string(kOneNode) + kLongSteps);
  request.until = Duration::Seconds(10);
  const SimulationResult result = Outcome(request);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.ended, Duration::Seconds(10));
  ASSERT_EQ(result.expectations.size(), 3U);
  EXPECT_TRUE(result.expectations[0].met);
  EXPECT_FALSE(result.expectations[1].met);
  EXPECT_TRUE(result.expectations[1].reached);
  EXPECT_EQ(result.expectations[1].found,
            "0 succeeded (a on n1) (at 10.000000s, where the run ended before the time was up)");
  EXPECT_FALSE(result.expectations[2].met);
  EXPECT_FALSE(result.expectations[2].reached);
  EXPECT_EQ(result.expectations[2].expected, "pod b: 1 placed, within 5s");
  EXPECT_EQ(result.expectations[2].found, "not reached: the run ended at 10.000000s");
  EXPECT_EQ(result.steps_undone, 3);
  EXPECT_EQ(result.warnings.front(), "s.yaml:9: the run ended before this step and the 2 after it");
}

TEST(Until, CutsWhatWasToStayTrueAndWhatWasDueLater) {
  struct Case {
    const char *name, *step, *found;
  };
  const Case cases[] = {
      {"for", "- expect: { count: 0, for: 1h }\n", "true for 10.000000s so far (at 10.000000s, wh"},
      {"at", "- { at: 11s, expect: { count: 0 } }\n", "not reached: the run ended at 10.000000s"},
      {"run_for", "- run_for: 11s\n- expect: { count: 0 }\n", "not reached: the run ended"},
      {"settle", "- create: { pod: a, run_for: 1m }\n- settle: 1h\n- expect: { count: 1 }\n",
       "not reached: the run ended"},
      {"not_before", "- expect: { count: 1, not_before: 20s, within: 30s }\n",
       "0 there (no such pod) (at 10.000000s, where the run ended before"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    SimulationRequest request = ScenarioOf(std::string(kOneNode) + c.step);
    request.until = Duration::Seconds(10);
    const SimulationResult result = Outcome(request);
    EXPECT_FALSE(result.ok());
    ASSERT_EQ(result.expectations.size(), 1U);
    EXPECT_THAT(result.expectations[0].found, HasSubstr(c.found));
  }
}

TEST(Until, ReachesWhatIsDueAtItsLastMoment) {
  SimulationRequest request = ScenarioOf(
      std::string(kOneNode) + "- create: { pod: a }\n- run_for: 10s\n- expect: { running: 1 }\n");
  request.until = Duration::Seconds(10);
  const SimulationResult result = Outcome(request);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.expectations.size(), 1U);
  EXPECT_EQ(result.steps_undone, 0);
}

TEST(AnInterruption, IsNoFailure) {
  SimulationRequest request = ScenarioOf(std::string(kOneNode) + kLongSteps);
  request.progress = [](const SimulationProgress& progress) { return progress.finished == 0; };
  const SimulationResult result = Outcome(request);
  EXPECT_TRUE(result.stopped);
  EXPECT_TRUE(result.ok());
  ASSERT_EQ(result.expectations.size(), 3U);
  EXPECT_FALSE(result.expectations[2].met);
  EXPECT_FALSE(result.expectations[2].reached);
  EXPECT_THAT(result.expectations[2].found, HasSubstr("not reached: the run was interrupted at"));
}

TEST(AnInterruption, OfAWaitLeavesTheExpectationOpen) {
  SimulationRequest request = ScenarioOf(std::string(kOneNode) +
                                         "- create: { pod: a }\n- expect: { pod: a, failed: 1, "
                                         "within: 1h }\n- expect: { placed: 1, for: 1h }\n");
  request.progress = [](const SimulationProgress& progress) { return progress.placed == 0; };
  const SimulationResult result = Outcome(request);
  EXPECT_TRUE(result.stopped);
  EXPECT_TRUE(result.ok());
  ASSERT_EQ(result.expectations.size(), 2U);
  EXPECT_FALSE(result.expectations[0].reached);
  EXPECT_THAT(result.expectations[0].found,
              HasSubstr("not decided when the run was interrupted at 0.003000s: 0 failed"));
  EXPECT_FALSE(result.expectations[1].reached);
}

}  // namespace
}  // namespace knx::sim
