// Reading scenarios: what is refused and with which words, and what short forms come to.
#include "scenario/scenario.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenario/manifest_tree.h"

namespace knx::scenario {
namespace {

Result<Scenario> Read(const std::string& text) {
  KNX_TRY(std::vector<k8s::YamlNode> documents, k8s::ParseYaml(text, "s.yaml"));
  return ReadScenario(std::move(documents.at(0)), "s.yaml");
}

TEST(ReadScenario, RefusesMistakesWithFileLineAndField) {
  const std::string head = "scenario: s\nwhy: w\n";
  struct Case {
    const char *name, *text, *want;
  };
  const Case cases[] = {
      {"no why", "scenario: s\n", "s.yaml:1:1: why: missing, but required"},
      {"unknown field", "scenario: s\nwhy: w\nstep: []\n", "step"},
      {"no verb", "scenario: s\nwhy: w\nsteps:\n- at: 1s\n",
       "s.yaml:4:3: steps[0]: needs exactly one of create, apply, delete"},
      {"two verbs", "scenario: s\nwhy: w\nsteps:\n- { run_for: 1s, settle: 1s }\n",
       "s.yaml:4:3: steps[0]: needs exactly one of"},
      {"unknown verb", "scenario: s\nwhy: w\nsteps:\n- jump: 1\n  run_for: 1s\n", "steps[0].jump"},
      {"negative time", "scenario: s\nwhy: w\nsteps:\n- run_for: -1s\n",
       "s.yaml:4:12: steps[0].run_for: -1s is out of range"},
      {"no pause between two tries",
       "scenario: s\nwhy: w\ncluster: { timing: { eviction_retry: 0s } }\n",
       "s.yaml:3:38: cluster.timing.eviction_retry: must be 1ms at least"},
      {"time goes back",
       "scenario: s\nwhy: w\nsteps:\n- { at: 2s, run_for: 1s }\n- { at: 1s, run_for: 1s }\n",
       "s.yaml:5:3: steps[1].at: is earlier than that of a step before"},
      {"due while time is to pass",
       "scenario: s\nwhy: w\nsteps:\n- run_for: 10s\n- { at: 5s, run_for: 1s }\n",
       "s.yaml:5:3: steps[1].at: is 5s, but the steps before last until 10s at least"},
      {"due before what is run until",
       "scenario: s\nwhy: w\nsteps:\n- { at: 1s, run_until: 9s }\n- run_for: 1s\n"
       "- { at: 9s, run_for: 1s }\n",
       "s.yaml:6:3: steps[2].at: is 9s, but the steps before last until 10s at least"},
      {"bad quantity",
       "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, requests: { cpu: many } }\n",
       "s.yaml:4:38:"},
      {"unknown create field",
       "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, request: { cpu: 1 } }\n",
       "steps[0].create.request"},
      {"nothing to create", "scenario: s\nwhy: w\nsteps:\n- create: { count: 2 }\n",
       "steps[0].create: says nothing to make"},
      {"two kinds", "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, job: b }\n",
       "steps[0].create.job: only one of it and pod can be made here"},
      {"replicas of a pod", "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, replicas: 2 }\n",
       "steps[0].create.replicas: a pod has count"},
      {"twice",
       "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, scheduler: x, spec: { schedulerName: y } "
       "}\n",
       "steps[0].create.scheduler: is given in spec.schedulerName already"},
      {"bad name", "scenario: s\nwhy: w\nsteps:\n- create: { pod: A B }\n", "s.yaml:4:18:"},
      {"unknown kind",
       "scenario: s\nwhy: w\ncluster:\n  objects:\n  - { apiVersion: v1, kind: Cake }\n",
       "s.yaml:5:29: cluster.objects[0].kind: \"Cake\" of apiVersion \"v1\" is not known"},
      {"node without a name", "scenario: s\nwhy: w\ncluster: { nodes: [{ count: 2 }] }\n",
       "cluster.nodes[0].name: missing"},
      {"unknown node field", "scenario: s\nwhy: w\ncluster: { nodes: [{ name: a, cpu: 2 }] }\n",
       "cluster.nodes[0].cpu"},
      {"empty expectation", "scenario: s\nwhy: w\nsteps:\n- expect: { within: 1s }\n",
       "steps[0].expect: says nothing that could be true"},
      {"bad range", "scenario: s\nwhy: w\nsteps:\n- expect: { placed: many }\n",
       "s.yaml:4:21: steps[0].expect.placed: \"many\" is not a number or a range"},
      {"not before without within",
       "scenario: s\nwhy: w\nsteps:\n- expect: { placed: 1, not_before: 1s }\n",
       "steps[0].expect.not_before: needs `within` beside it"},
      {"no fault", "scenario: s\nwhy: w\nsteps:\n- fault: { count: 1 }\n",
       "steps[0].fault: needs exactly one of bind, status, volume, evict and watch"},
      {"unknown fault", "scenario: s\nwhy: w\nsteps:\n- fault: { bind: explode }\n",
       "steps[0].fault.bind"},
      {"two watch faults",
       "scenario: s\nwhy: w\nsteps:\n- fault: { watch: pods, late: 1s, duplicate: 2 }\n",
       "needs exactly one of late, duplicate, lost_for and random_every"},
      {"no pods", "scenario: s\nwhy: w\nsteps:\n- delete: { grace: 0 }\n",
       "steps[0].delete: says of no pods"},
      {"both configs", "scenario: s\nwhy: w\nconfig: x\nconfig_file: c.yaml\n",
       "config_file: must not be given together with config"},
      {"ends_as alone", "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, ends_as: Failed }\n",
       "ends_as: needs run_for beside it"},
      {"host port without a number",
       "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, host_ports: [{ protocol: UDP }] }\n",
       "steps[0].create.host_ports[0].port: missing, but required"},
      {"unknown field of a host port",
       "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, host_ports: [{ port: 1, host: x }] }\n",
       "steps[0].create.host_ports[0].host: unknown field"},
      {"unknown protocol",
       "scenario: s\nwhy: w\nsteps:\n"
       "- create: { pod: a, host_ports: [{ port: 1, protocol: ICMP }] }\n",
       "s.yaml:4:55: steps[0].create.spec.containers[0].ports[0].protocol: "},
      {"a host port that is no list",
       "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, host_ports: 5 }\n",
       "s.yaml:4:33: steps[0].create.host_ports: expected a list, found the number 5"},
      {"a host port that is none",
       "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, host_ports: [http] }\n",
       "s.yaml:4:34: steps[0].create.host_ports[0]: "},
      {"gates that are a text", "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, gates: foo }\n",
       "s.yaml:4:28: steps[0].create.gates: expected a list"},
      {"gates that are a map",
       "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, gates: { a: b } }\n",
       "s.yaml:4:28: steps[0].create.gates: expected a list"},
      {"gates that are maps",
       "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, gates: [{ name: b }] }\n",
       "s.yaml:4:29: steps[0].create.gates[0]: expected a string"},
      {"indexed is yes or no",
       "scenario: s\nwhy: w\nsteps:\n- create: { job: a, indexed: maybe }\n",
       "s.yaml:4:30: steps[0].create.indexed: expected true or false"},
      {"gates twice",
       "scenario: s\nwhy: w\nsteps:\n"
       "- create: { pod: a, gates: [x], spec: { schedulingGates: [{ name: z }] } }\n",
       "steps[0].create.gates: is given in spec.schedulingGates already"},
      {"run_for twice",
       "scenario: s\nwhy: w\nsteps:\n"
       "- create: { pod: a, run_for: 1s, annotations: { sim.kubenexus.io/run-for: 5s } }\n",
       "steps[0].create.run_for: is given as the annotation sim.kubenexus.io/run-for already"},
      {"a time to run below zero",
       "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, run_for: -1s }\n",
       "s.yaml:4:30: steps[0].create.run_for: -1s is out of range, allowed is 0s to"},
      {"a time to run below zero as an annotation",
       "scenario: s\nwhy: w\nsteps:\n"
       "- create: { pod: a, annotations: { sim.kubenexus.io/run-for: -1s } }\n",
       "s.yaml:4:62: steps[0].create.annotations[\"sim.kubenexus.io/run-for\"]: -1s is out of "
       "range"},
      {"an unknown end as an annotation",
       "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, annotations: { "
       "sim.kubenexus.io/run-for: 5s, sim.kubenexus.io/ends-as: failed } }\n",
       "steps[0].create.annotations[\"sim.kubenexus.io/ends-as\"]: \"failed\" is not allowed; "
       "allowed "
       "are Succeeded, Failed"},
      {"an unknown end in a manifest",
       "scenario: s\nwhy: w\nsteps:\n- run_for: 1h\n- create: { object: { apiVersion: v1, kind: "
       "Pod, "
       "metadata: { name: a, annotations: { sim.kubenexus.io/ends-as: failed } }, "
       "spec: { containers: [{ name: c }] } } }\n",
       "s.yaml:5:11: steps[1].create: annotation sim.kubenexus.io/ends-as: failed is neither "
       "Succeeded nor Failed"},
      {"a manifest that is none", "scenario: s\nwhy: w\nsteps:\n- create: { object: 5 }\n",
       "s.yaml:4:21: steps[0].create.object: expected a map, found the number 5"},
      {"manifests that are no list",
       "scenario: s\nwhy: w\nsteps:\n- create: { objects: { a: b } }\n",
       "s.yaml:4:22: steps[0].create.objects: expected a list"},
      {"no manifests", "scenario: s\nwhy: w\nsteps:\n- apply: { objects: [] }\n",
       "s.yaml:4:21: steps[0].apply.objects: is empty"},
      {"a misspelt verb", "scenario: s\nwhy: w\nsteps:\n- crate: { pod: a }\n",
       "s.yaml:4:3: steps[0].crate: unknown field; allowed are apply, at, bind, cordon, create, "},
      {"a misspelt field that is needed", "scenario: s\nwhy: w\nsteps:\n- delete: { pods: a }\n",
       "s.yaml:4:11: steps[0].delete: says of no pods: needs pod, labels or owner; it has pods"},
      {"a misspelt kind", "scenario: s\nwhy: w\nsteps:\n- create: { pdo: a, count: 2 }\n",
       "replicationcontroller, job, object or objects; it has pdo, count"},
      {"a misspelt expectation", "scenario: s\nwhy: w\nsteps:\n- expect: { pod: a, place: 1 }\n",
       "steps[0].expect: says nothing that could be true; it has pod, place"},
      {"a misspelt field",
       "scenario: s\nwhy: w\nsteps:\n- expect: { pod: a, placed: 1, withn: 1s }\n",
       "s.yaml:4:32: steps[0].expect.withn: unknown field; allowed are "},
      {"scheduled is yes or no", "scenario: s\nwhy: w\nsteps:\n- expect: { scheduled: 3 }\n",
       "s.yaml:4:24: steps[0].expect.scheduled: "},
      {"unknown end of a resize",
       "scenario: s\nwhy: w\nsteps:\n- create: { pod: a, resize: Later }\n",
       "s.yaml:4:29: steps[0].create.resize: "},
      {"unknown end of a resize",
       "scenario: s\nwhy: w\nsteps:\n- update_pod: { of: { pod: a }, resize: Later }\n",
       "s.yaml:4:41: steps[0].update_pod.resize: "},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto read = Read(c.text);
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.error().ToString().find(c.want), std::string::npos) << read.error().ToString();
    EXPECT_TRUE(read.error().ToString().starts_with("s.yaml:")) << read.error().ToString();
  }
}

std::vector<k8s::Object> Make(const std::string& create, std::int64_t number = 1) {
  auto scenario = Read("scenario: s\nwhy: w\nsteps:\n- create: " + create + "\n");
  EXPECT_TRUE(scenario.ok()) << scenario.error().ToString();
  if (!scenario.ok()) return {};
  auto made = MakeObjects(std::get<Create>(scenario->steps[0].what).what, number, "s.yaml");
  EXPECT_TRUE(made.ok()) << made.error().ToString();
  return made.ok() ? *std::move(made) : std::vector<k8s::Object>();
}

TEST(MakeObjects, TurnsShortFormsIntoObjects) {
  const auto pods = Make(
      "{ pod: web-$i, namespace: shop, labels: { n: \"$i\" }, requests: { cpu: 2 }, gates: [g], "
      "host_ports: [80, { port: 53, protocol: UDP, ip: 10.0.0.1 }], run_for: 3s, priority_class: "
      "p, node_selector: { a: b }, grace: 5, "
      "tolerations: [{ key: k, operator: Exists }], finalizers: [f] }",
      7);
  ASSERT_EQ(pods.size(), 1U);
  const auto& pod = std::get<k8s::Pod>(pods[0]);
  EXPECT_EQ(pod.meta.name, "web-7");
  EXPECT_EQ(pod.meta.namespace_, "shop");
  EXPECT_EQ(pod.meta.labels, (k8s::StringMap{{"n", "7"}}));
  ASSERT_EQ(pod.spec.containers.size(), 1U);
  EXPECT_EQ(pod.spec.containers[0].resources.requests[0].second, k8s::Quantity::FromUnits(2));
  EXPECT_EQ(pod.spec.containers[0].ports,
            (std::vector<k8s::ContainerPort>{
                {.host_ip = "", .protocol = "TCP", .host_port = 80},
                {.host_ip = "10.0.0.1", .protocol = "UDP", .host_port = 53}}));
  EXPECT_EQ(pod.spec.scheduling_gates, std::vector<std::string>{"g"});
  EXPECT_EQ(pod.spec.priority_class_name, "p");
  EXPECT_EQ(pod.spec.node_selector, (k8s::StringMap{{"a", "b"}}));
  EXPECT_EQ(pod.spec.tolerations.size(), 1U);
  EXPECT_EQ(pod.spec.termination_grace_seconds, 5);
  EXPECT_EQ(pod.meta.finalizers, std::vector<std::string>{"f"});
  EXPECT_EQ(pod.meta.annotations, (k8s::StringMap{{"sim.kubenexus.io/run-for", "3s"}}));

  const auto jobs = Make("{ job: j, parallelism: 3, completions: 4, indexed: true }");
  const auto& job = std::get<k8s::Job>(jobs[0]);
  EXPECT_EQ(job.parallelism, 3);
  EXPECT_EQ(job.completions, 4);
  EXPECT_TRUE(job.indexed);
  EXPECT_EQ(job.pod_template.meta.labels, (k8s::StringMap{{"app", "j"}}));

  const auto sets =
      Make("{ statefulset: db, replicas: 2, spec: { containers: [{ name: a }, { name: b }] } }");
  const auto& set = std::get<k8s::Workload>(sets[0]);
  EXPECT_EQ(set.kind, k8s::WorkloadKind::kStatefulSet);
  EXPECT_EQ(set.replicas, 2);
  EXPECT_EQ(set.pod_template.spec.containers.size(), 2U);

  EXPECT_EQ(Make("{ objects: [{ apiVersion: v1, kind: Namespace, metadata: { name: n-$i } }, "
                 "{ apiVersion: v1, kind: Namespace, metadata: { name: m } }] }")
                .size(),
            2U);
}

TEST(Numbered, ReplacesNumbersAndNothingElse) {
  struct Case {
    const char *text, *want;
  };
  const Case cases[] = {
      {"node-$i", "node-10"},
      {"$i", "10"},
      {"zone-$(i%3)", "zone-1"},
      {"rack-$(i/4)-x", "rack-2-x"},
      {"$id", "$id"},
      {"$(i%0)", "$(i%0)"},
      {"$(j)", "$(j)"},
      {"a$", "a$"},
      {"$i-$i", "10-10"},
      {"$(i%", "$(i%"},
      {"$(i+1)", "$(i+1)"},
      {"no", "no"},
  };
  for (const Case& c : cases) EXPECT_EQ(Numbered(std::string_view(c.text), 10), c.want) << c.text;
}

TEST(Expectation, SaysInWordsEverythingThatItAsksFor) {
  struct Case {
    const char *expect, *want;
  };
  const Case cases[] = {
      {"{ pod: a-*, placed: \"2..3\", running: 1 }", "pods a-*: 2..3 placed, 1 running"},
      {"{ placed: 1, evictions: 0 }", "all pods: 1 placed, 0 evictions"},
      {"{ evictions: \">= 1\", bind_failures: 2 }", ">= 1 evictions, 2 bind failures"},
      {"{ pod_groups: [{ name: g, scheduled: false, reason: Unschedulable, message_prefix: x }] }",
       "pod group default/g not scheduled and with reason Unschedulable and with message beginning "
       "with \"x\""},
      {"{ nodes: [{ name: n1 }] }", "node n1 there"},
      {"{ nodes: [{ name: n1, ready: false }, { name: n2, pods: 2, requested: { cpu: 1500m }, "
       "ready: true, unschedulable: true }] }",
       "node n1 not ready, node n2 with 2 pods and with 1500m cpu requested and ready and "
       "unschedulable"},
      {"{ pod: a, events: [{ reason: R, type: Warning, note_prefix: bad, count: 3 }] }",
       "pod a: 3 events R of type Warning with note beginning with \"bad\""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.expect);
    const auto read = Read(fmt::format("scenario: s\nwhy: w\nsteps:\n- expect: {}\n", c.expect));
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    EXPECT_EQ(std::get<Expectation>(read->steps[0].what).ToString(), c.want);
  }
}

TEST(ParseNumberRange, ReadsNumbersAndRanges) {
  struct Case {
    const char* text;
    std::optional<std::pair<std::int64_t, std::int64_t>> want;
  };
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Case cases[] = {
      {"3", {{3, 3}}},
      {"2..4", {{2, 4}}},
      {">= 2", {{2, kMost}}},
      {">=2", {{2, kMost}}},
      {"<= 4", {{0, 4}}},
      {"4..2", {}},
      {"-1", {}},
      {"", {}},
      {"a", {}},
      {"1..", {}},
      {"99999999999999999999", {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto got = ParseNumberRange(c.text);
    ASSERT_EQ(got.has_value(), c.want.has_value());
    if (got) {
      EXPECT_EQ(std::pair(got->min, got->max), *c.want);
    }
  }
}

}  // namespace
}  // namespace knx::scenario
