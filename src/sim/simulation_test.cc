#include "sim/simulation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "k8s/read_object.h"
#include "sim/cluster_for_test.h"

namespace knx::sim {
namespace {

SimulationRequest RequestFor(std::string text, std::string name = "s.yaml") {
  SimulationRequest request;
  request.files = {{std::move(name), std::move(text)}};
  return request;
}

constexpr const char* kManifests = R"(apiVersion: v1
kind: Pod
metadata: {name: fits, labels: {app: x}}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: too-big}
spec: {schedulerName: kubenexus-scheduler, containers: [{name: c, resources: {requests: {cpu: "9"}}}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  completions: 2
  template:
    metadata: {annotations: {sim.kubenexus.io/run-for: 10s}}
    spec: {priorityClassName: high, containers: [{name: c}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 10
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi}}
)";

constexpr const char* kNodeOfFour = R"(apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi}}
---
)";
constexpr const char* kHalfAGang = R"(apiVersion: v1
kind: Pod
metadata:
  name: half
  labels: {pod-group.scheduling.kubenexus.io/name: train, pod-group.scheduling.kubenexus.io/min-available: "2"}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
)";

std::string ReservationFor(std::string_view spec) {
  return fmt::format(
      "apiVersion: scheduling.kubenexus.io/v1alpha1\nkind: ResourceReservation\n"
      "metadata: {{name: kept}}\nspec: {{resources: {{cpu: \"3\"}}, {}}}\n",
      spec);
}

SimulationRequest WithOurPlugins(std::string text) {
  SimulationRequest request = RequestFor(std::move(text));
  request.config =
      TextFile{"c.yaml",
               "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
               "profiles:\n- plugins: {multiPoint: {enabled: [{name: Coscheduling}, {name: "
               "ResourceReservation}]}}\n"};
  return request;
}

TEST(Simulate, GoesOnUntilTheSchedulerHasNothingMoreToSay) {
  const auto result = Simulate(WithOurPlugins(std::string(kNodeOfFour) + kHalfAGang));
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_TRUE(result->settled);
  EXPECT_GE(result->ended, Duration::Seconds(10));
  EXPECT_LT(result->ended, Duration::Seconds(11));
  EXPECT_EQ(result->pods[0].reason, "WaitingForPodGroup");
}

TEST(Simulate, TellsHowReservationsStandAndGoesOnUntilTheyAreOver) {
  const std::string spec = "duration: 30s";
  SimulationRequest request = WithOurPlugins(std::string(kNodeOfFour) + ReservationFor(spec));
  const auto to_the_end = Simulate(request);
  ASSERT_TRUE(to_the_end.ok()) << to_the_end.error().ToString();
  EXPECT_TRUE(to_the_end->settled);
  EXPECT_GE(to_the_end->ended, Duration::Seconds(30));
  ASSERT_EQ(to_the_end->reservations.size(), 1U);
  EXPECT_EQ(to_the_end->reservations[0].state, "expired");
  EXPECT_TRUE(to_the_end->reservations[0].held.empty());

  request.until = Duration::Seconds(20);
  const auto halfway = Simulate(request);
  ASSERT_TRUE(halfway.ok()) << halfway.error().ToString();
  EXPECT_FALSE(halfway->settled);
  EXPECT_FALSE(halfway->cut) << "it was wanted so";
  const ReservationOutcome& kept = halfway->reservations.at(0);
  EXPECT_EQ(kept.name, "kept");
  EXPECT_EQ(kept.state, "held");
  EXPECT_EQ(kept.held, (ReservationOutcome::Amounts{{"cpu", "3"}}));
  EXPECT_TRUE(kept.used.empty());
  EXPECT_EQ(kept.ends, Duration::Seconds(30));
}

TEST(Simulate, SaysWhereItEndsBeforeEverythingHasHappened) {
  const auto result = Simulate(WithOurPlugins(
      std::string(kNodeOfFour) + ReservationFor("start: \"2026-01-01T02:00:00Z\", duration: 30s")));
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_TRUE(result->cut);
  EXPECT_FALSE(result->settled);
  EXPECT_EQ(result->ended, Duration::Minutes(60));
  EXPECT_EQ(result->reservations.at(0).state, "not started");
}

TEST(Simulate, WarnsOfGangsAndReservationsThatNoProfileHeeds) {
  const auto result =
      Simulate(RequestFor(std::string(kNodeOfFour) + kHalfAGang + ReservationFor("duration: 30s")));
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  const auto says = [&](std::string_view what) {
    return std::count_if(
        result->warnings.begin(), result->warnings.end(),
        [&](const std::string& warning) { return warning.find(what) != std::string::npos; });
  };
  EXPECT_EQ(says("default/half: of a gang, but placed one by one, because the profile "
                 "\"default-scheduler\" lacks Coscheduling"),
            1);
  EXPECT_EQ(says("ResourceReservations hold nothing"), 1);
  EXPECT_EQ(says("--config"), 2);
  EXPECT_EQ(result->reservations.at(0).state, "without effect");
}

TEST(Simulate, WarnsOfDriversAndRunTimesThatNoProfileHeeds) {
  const std::string drives = R"(
apiVersion: v1
kind: Pod
metadata:
  name: driver
  labels: {spark-role: driver, pod-group.scheduling.kubenexus.io/name: app, pod-group.scheduling.kubenexus.io/min-available: "2"}
  annotations: {scheduling.kubenexus.io/expected-duration: 1h}
spec: {containers: [{name: c}]}
)";
  SimulationRequest request = RequestFor(std::string(kNodeOfFour) + drives);
  request.config = TextFile{"scheduler.yaml", R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: default-scheduler, plugins: {multiPoint: {enabled: [{name: Coscheduling}]}}}]
)"};
  const auto result = Simulate(request);
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  const auto& said = result->warnings;
  for (const std::string_view what :
       {"pod default/driver: drives its gang, but no room is kept for the pods that it makes",
        "pod default/driver: says how long it runs, but no start is promised by that"}) {
    EXPECT_TRUE(std::any_of(said.begin(), said.end(),
                            [&](const std::string& one) { return one.starts_with(what); }))
        << what;
  }
}

TEST(Simulate, WarnsOnceOfWhatItsOwnConfigurationLacksAndWithoutAPlace) {
  const auto result = Simulate(RequestFor(kManifests));
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  for (const std::string& warning : result->warnings) {
    EXPECT_TRUE(warning.starts_with("of the default set these plugins are not built yet"))
        << warning;
  }
  EXPECT_LE(result->warnings.size(), 1U);
}

TEST(Simulate, NamesTheDeploymentThatMadeAPod) {
  const auto result = Simulate(RequestFor(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 1, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c}]}}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: alone}
spec: {replicas: 1, template: {metadata: {labels: {app: alone}}, spec: {containers: [{name: c}]}}}
)"));
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  ASSERT_EQ(result->pods.size(), 2U);
  EXPECT_EQ(result->pods[0].owner, "ReplicaSet/alone");
  EXPECT_EQ(result->pods[1].owner, "Deployment/web");
}

TEST(Simulate, RunsManifestsUntilNothingChanges) {
  const auto result = Simulate(RequestFor(kManifests));
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_TRUE(result->ok());
  EXPECT_TRUE(result->settled);
  ASSERT_EQ(result->pods.size(), 4U);
  EXPECT_EQ(result->pods[0].name, "fits");
  EXPECT_EQ(result->pods[0].node, "n1");
  EXPECT_EQ(result->pods[0].phase, "Running");
  EXPECT_EQ(result->pods[1].owner, "Job/job");
  EXPECT_EQ(result->pods[1].phase, "Succeeded");
  EXPECT_EQ(result->pods[1].priority, 10);
  EXPECT_EQ(result->pods[3].reason, "Unschedulable");
  EXPECT_TRUE(result->pods[3].message.starts_with("0/1 nodes are available: 1 Insufficient cpu."));
  ASSERT_EQ(result->nodes.size(), 1U);
  EXPECT_EQ(result->nodes[0].resources[0].name, "cpu");
  EXPECT_EQ(result->nodes[0].resources[0].requested, 1000);
  EXPECT_EQ(result->nodes[0].resources[0].allocatable, 4000);
  EXPECT_EQ(result->nodes[0].pods, 1);
  EXPECT_EQ(result->counts.pods_created, 4);
  EXPECT_EQ(result->counts.pods_placed, 3);
  EXPECT_EQ(result->counts.pods_succeeded, 2);
  EXPECT_EQ(result->counts.pods_waiting, 1);
  EXPECT_FALSE(result->log.empty());
  EXPECT_EQ(result->log_lines, result->log.size());
  EXPECT_EQ(FormatHash(0xabc), "0000000000000abc");
}

TEST(Simulate, StopsAtTheGivenTimeAndWhenAsked) {
  SimulationRequest request = RequestFor(kManifests);
  request.until = Duration::Seconds(3);
  const auto early = Simulate(request);
  ASSERT_TRUE(early.ok());
  EXPECT_EQ(early->ended, Duration::Seconds(3));
  EXPECT_FALSE(early->settled);
  request.until.reset();
  int calls = 0;
  request.progress = [&](const SimulationProgress& progress) {
    EXPECT_EQ(progress.nodes, 1);
    return ++calls < 10;
  };
  const auto stopped = Simulate(request);
  ASSERT_TRUE(stopped.ok());
  EXPECT_TRUE(stopped->stopped);
}

TEST(Simulate, ReportsMistakesWithTheirPlace) {
  struct Case {
    const char *name, *text, *want;
  };
  const Case cases[] = {
      {"not yaml", "a: [", "m.yaml:1"},
      {"not an object", "a: 1\n", "m.yaml:1:1"},
      {"no such class",
       "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {priorityClassName: x, containers: "
       "[{name: c}]}\n",
       "m.yaml:1:1: pods \"p\" is forbidden: no PriorityClass with name x was found"},
      {"twice",
       "apiVersion: v1\nkind: Namespace\nmetadata: {name: p}\n---\napiVersion: v1\nkind: "
       "Namespace\nmetadata: {name: p}\n",
       "m.yaml:5:1: namespaces \"p\" already exists"},
      {"a step that cannot be done", "scenario: s\nwhy: w\nsteps:\n- delete: { pod: nobody }\n",
       "m.yaml:4:3: steps[0]: pod nobody: there is none"},
      {"a wrong configuration",
       "scenario: s\nwhy: w\nconfig: |\n  apiVersion: kubescheduler.config.k8s.io/v1\n  kind: "
       "Nonsense\n",
       "m.yaml:5:"},
      {"a configuration elsewhere", "scenario: s\nwhy: w\nconfig_file: c.yaml\n",
       "c.yaml cannot be read"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto result = Simulate(RequestFor(c.text, "m.yaml"));
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().ToString().find(c.want), std::string::npos)
        << result.error().ToString();
  }
}

TEST(Simulate, SaysWhatWasExpectedAndWhatWasFound) {
  const auto result = Simulate(RequestFor(
      "scenario: s\nwhy: w\ncluster: { nodes: [{ name: n1, allocatable: { cpu: 1 } }] }\nsteps:\n"
      "- create: { pod: a-$i, count: 2, requests: { cpu: 1 } }\n"
      "- expect: { pod: a-*, placed: 2, within: 2s }\n"
      "- expect: { pod: a-*, placed: 1 }\n"));
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_FALSE(result->ok());
  ASSERT_EQ(result->expectations.size(), 2U);
  const ExpectationResult& first = result->expectations[0];
  EXPECT_FALSE(first.met);
  EXPECT_EQ(first.place.line, 6);
  EXPECT_EQ(first.expected, "pods a-*: 2 placed, within 2s");
  EXPECT_TRUE(first.found.starts_with("1 placed (a-1 on n1; a-2 waits, Unschedulable: \"0/1 nodes"))
      << first.found;
  EXPECT_TRUE(result->expectations[1].met);
}

// A large cluster with everything that could depend on threads or on the order of a hash map.
std::string LargeScenario() {
  return R"(scenario: large
why: w
cluster:
  nodes:
  - { name: n-$i, count: 120, labels: { zone: z-$(i%3) }, allocatable: { cpu: 4, memory: 8Gi } }
steps:
- create: { deployment: web, replicas: 100, requests: { cpu: 500m } }
- create: { pod: p-$i, count: 200, every: 50ms, random_gaps: true, requests: { cpu: 1 }, run_for: 20s }
- fault: { bind: refuse, percent: 20, for: 10s }
- fault: { watch: pods, late: 1s, for: 5s }
- run_for: 30s
- kill_node: n-7
- restart_scheduler: {}
- settle: 20m
)";
}

// Profiles that go by the clock.
std::optional<TextFile> TimedConfig() {
  return TextFile{"config.yaml", R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {multiPoint: {enabled: [{name: BackfillScoring}, {name: ResourceReservation}]}}
)"};
}

constexpr const char* kReservedNode = R"(apiVersion: v1
kind: Node
metadata: {name: node}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: scheduling.kubenexus.io/v1alpha1
kind: ResourceReservation
metadata: {name: nobody}
spec: {resources: {cpu: "4"}, duration: 10m}
)";

TEST(Simulate, GoesOnUntilAReservationEndsThatSomebodyWaitsFor) {
  SimulationRequest request = RequestFor(std::string(kReservedNode) + R"(---
apiVersion: v1
kind: Pod
metadata: {name: waits}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
)");
  request.config = TimedConfig();
  const auto result = Simulate(request);
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_TRUE(result->settled);
  EXPECT_GE(result->ended, Duration::Minutes(10));
  EXPECT_EQ(result->pods.at(0).node, "node");
}

TEST(Simulate, GoesOnWhileSomebodyIsHeldBackForAPromiseThatMoves) {
  const auto pod = [](const char* name, const char* cpu, const char* expected,
                      std::string_view more) {
    return fmt::format(
        "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: {}\n  annotations: "
        "{{scheduling.kubenexus.io/expected-duration: {}{}}}\n"
        "spec: {{containers: [{{name: c, resources: {{requests: {{cpu: \"{}\"}}}}}}]}}\n",
        name, expected, more, cpu);
  };
  // What runs has said 10 minutes and runs on.
  SimulationRequest request = RequestFor(
      "apiVersion: v1\nkind: Node\nmetadata: {name: node}\n"
      "status: {allocatable: {cpu: \"8\", memory: 8Gi, pods: \"10\"}}\n" +
      pod("a-runs", "6", "10m", "") + pod("b-large", "8", "5m", "") +
      pod("c-held", "2", "15m", ", sim.kubenexus.io/run-for: 1m"));
  request.config = TimedConfig();
  const auto result = Simulate(request);
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_TRUE(result->settled);
  EXPECT_EQ(result->pods.at(1).node, "");
  EXPECT_EQ(result->pods.at(2).phase, "Succeeded");
}

TEST(Simulate, MakesThingsInTheOrderOfTheVariant) {
  SimulationRequest request = RequestFor(R"(scenario: orders
why: w
variants: { order: [forwards, backwards, shuffled] }
cluster: { nodes: [{ name: node, allocatable: { cpu: 1 } }] }
steps:
- create: { pod: "p$i", count: 9, order: $order, every: 1s, requests: { cpu: 1 }, run_for: 100ms }
- settle: 1m
)");
  std::vector<std::string> orders;
  for (request.variant = 0; request.variant < 3; ++request.variant) {
    const auto result = Simulate(request);
    ASSERT_TRUE(result.ok()) << result.error().ToString();
    EXPECT_EQ(result->variants, 3u);
    std::string order;
    for (const std::string& line : result->log) {
      if (const auto at = line.find(" bind default/p"); at != std::string::npos) {
        order += line[at + 15];
      }
    }
    orders.push_back(order);
  }
  EXPECT_EQ(orders[0], "123456789");
  EXPECT_EQ(orders[1], "987654321");
  EXPECT_NE(orders[2], orders[0]);
  std::sort(orders[2].begin(), orders[2].end());
  EXPECT_EQ(orders[2], orders[0]);
  EXPECT_FALSE(Simulate(request).ok()) << "there is no fourth";
}

TEST(Simulate, DecidesAlikeWithAnyNumberOfThreads) {
  SimulationRequest request = RequestFor(LargeScenario());
  const auto one = Simulate(request);
  ASSERT_TRUE(one.ok()) << one.error().ToString();
  EXPECT_TRUE(one->ok()) << one->violation->invariant << " " << one->violation->what;
  EXPECT_GT(one->counts.faults, 0);
  request.threads = 4;
  request.keep_log = false;
  const auto four = Simulate(request);
  ASSERT_TRUE(four.ok());
  EXPECT_EQ(FormatHash(one->hash), FormatHash(four->hash));
  EXPECT_TRUE(four->log.empty());
  EXPECT_EQ(four->log_lines, one->log_lines);
  request.seed = 2;
  EXPECT_NE(Simulate(request)->hash, one->hash);
}

TEST(Simulate, RecordsWhatTheSchedulerWasToldAsJson) {
  SimulationRequest request = RequestFor(kManifests);
  std::vector<std::string> lines;
  request.record = [&](std::string_view line) { lines.emplace_back(line); };
  ASSERT_TRUE(Simulate(request).ok());
  ASSERT_GT(lines.size(), 10U);
  EXPECT_NE(lines[0].find("\"call\":\"start\""), std::string::npos);
  EXPECT_NE(lines[1].find("\"event\":\"object\""), std::string::npos) << "the namespace";
  EXPECT_NE(lines[2].find("\"event\":\"node\""), std::string::npos);
  for (const std::string& line : lines) {
    EXPECT_TRUE(k8s::ParseJson(line, "record").ok()) << line;
  }
}

}  // namespace
}  // namespace knx::sim
