// What a run says about what it was given, and what it refuses to do with it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/simulation.h"

namespace knx::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<SimulationResult> RunOf(const std::string& text) {
  SimulationRequest request;
  request.files = {{"s.yaml", text}};
  return Simulate(request);
}

std::vector<std::string> RemarksOn(const std::string& text) {
  auto result = RunOf(text);
  EXPECT_TRUE(result.ok()) << result.error().ToString();
  if (!result.ok()) return {};
  EXPECT_FALSE(result->violation.has_value());
  std::vector<std::string> out = result->warnings;
  std::erase_if(out, [](const std::string& said) { return said.starts_with("of the def"); });
  return out;
}

constexpr std::string_view kNode =
    "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, memory: "
    "8Gi, pods: 110}}}\n---\n";

std::string PodOn(std::string_view name, std::string_view node, std::string_view more = "") {
  return fmt::format(
      "{{apiVersion: v1, kind: Pod, metadata: {{name: {}}}, spec: {{nodeName: {}, containers: "
      "[{{name: c, resources: {{requests: {{cpu: 3}}}}}}]}}{}}}\n---\n",
      name, node, more);
}

TEST(InputRemarks, NameTheNodesThatTheInputOverfills) {
  const std::string full = std::string(kNode) + PodOn("a", "n1");
  EXPECT_THAT(RemarksOn(full), IsEmpty());
  EXPECT_THAT(RemarksOn(full + PodOn("b", "n1")),
              ElementsAre("pods that came with their node take more than there is of node n1 "
                          "(6000m of 4000m cpu)"));
  EXPECT_THAT(RemarksOn(full + PodOn("b", "n1", ", status: {phase: Succeeded}")), IsEmpty());
}

TEST(InputRemarks, NameTheFieldsOfReservationsThatNobodyReads) {
  const auto reservation = [](std::string_view spec) {
    return fmt::format(
        "{}{{apiVersion: scheduling.kubenexus.io/v1alpha1, kind: ResourceReservation, metadata: "
        "{{name: r}}, spec: {{resources: {{cpu: 1}}{}}}}}\n",
        kNode, spec);
  };
  EXPECT_THAT(RemarksOn(reservation(", podGroup: a")),
              ::testing::Contains("nobody reads these fields of ResourceReservations, and an API "
                                  "server leaves them out: spec.podGroup of default/r"));
  EXPECT_THAT(RemarksOn(reservation(", podGroupName: a")),
              ::testing::Not(::testing::Contains(HasSubstr("nobody reads"))));
}

TEST(InputRemarks, NameThePodsWhoseNodeIsNotThere) {
  EXPECT_THAT(RemarksOn(std::string(kNode) + PodOn("a", "gone")),
              ElementsAre("a pod came with a node that is not there, so it counts nowhere: "
                          "default/a (on gone)"));
  std::string many(kNode);
  for (int i = 1; i <= 5; ++i) many += PodOn(fmt::format("p{}", i), "gone");
  EXPECT_THAT(RemarksOn(many),
              ElementsAre("5 pods came with a node that is not there, so they count nowhere: "
                          "default/p1 (on gone), default/p2 (on gone), default/p3 (on gone) and 2 "
                          "more"));
  EXPECT_THAT(RemarksOn("scenario: s\nwhy: w\nsteps:\n"
                        "- create: { object: { apiVersion: v1, kind: Pod, metadata: { name: a }, "
                        "spec: { nodeName: n1, containers: [{ name: c }] } } }\n"
                        "- create: { object: { apiVersion: v1, kind: Node, metadata: { name: n1 "
                        "} } }\n- run_for: 1m\n"),
              IsEmpty())
      << "its node comes later";
}

TEST(Warnings, NameTheStepThatWasCreatingWhenTheRunEnded) {
  const std::string begin =
      "scenario: s\nwhy: w\nsteps:\n- create: { pod: p-$i, count: 10, every: 3s }\n";
  EXPECT_THAT(RemarksOn(begin + "- run_for: 10s\n"),
              ElementsAre("s.yaml:4: the run ended when 4 of the 10 of this step were created"));
  EXPECT_THAT(RemarksOn(begin + "- run_for: 27s\n"), IsEmpty());
}

std::string Applied(std::string_view kind, std::string_view spec, std::string_view spec_then) {
  const auto manifest = [&](std::string_view text) {
    return fmt::format(
        "{{ object: {{ apiVersion: {}, kind: {}, metadata: {{ name: web }}, spec: {} }} }}\n",
        kind == "Job" ? "batch/v1" : "apps/v1", kind, text);
  };
  return "scenario: s\nwhy: w\nsteps:\n- create: " + manifest(spec) +
         "- apply: " + manifest(spec_then);
}

TEST(Apply, RefusesATemplateThatNothingWouldRollOut) {
  const std::string spec =
      "{ replicas: 1, template: { metadata: { labels: { a: b } }, spec: { containers: [{ name: c "
      "}] "
      "} } }";
  const std::string changed =
      "{ replicas: 1, template: { metadata: { labels: { a: b } }, spec: { containers: [{ name: d "
      "}] "
      "} } }";
  struct Case {
    const char *kind, *refusal;
  };
  const Case cases[] = {
      {"Deployment", "s.yaml:5:3: steps[1]: spec.template: deployments.apps \"web\" has another"},
      {"StatefulSet", "s.yaml:5:3: steps[1]: spec.template: statefulsets.apps \"web\" has another"},
      {"Job", "s.yaml:5:3: steps[1]: spec.template: cannot be changed"},
      {"ReplicaSet", nullptr},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.kind);
    EXPECT_TRUE(RunOf(Applied(c.kind, spec, spec)).ok());
    const auto result = RunOf(Applied(c.kind, spec, changed));
    ASSERT_EQ(result.ok(), c.refusal == nullptr);
    if (!result.ok()) {
      EXPECT_THAT(result.error().ToString(), HasSubstr(c.refusal));
    }
  }
}

TEST(Expectations, TakeANominatedNodeAsAPattern) {
  const auto result = RunOf(
      "scenario: s\nwhy: w\ncluster:\n  nodes: [{ name: n-1, allocatable: { cpu: 1 } }]\n"
      "steps:\n- create: { pod: low, requests: { cpu: 1 }, grace: 30 }\n"
      "- run_for: 5s\n- create: { pod: high, requests: { cpu: 1 }, priority_class: "
      "system-node-critical }\n"
      "- expect: { pod: high, nominated: n-*, within: 900ms }\n"
      "- expect: { pod: high, nominated: \"\" }\n- expect: { pod: high, nominated: m-* }\n");
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  ASSERT_EQ(result->expectations.size(), 3U);
  EXPECT_TRUE(result->expectations[0].met) << result->expectations[0].found;
  EXPECT_FALSE(result->expectations[1].met);
  EXPECT_FALSE(result->expectations[2].met);
}

}  // namespace
}  // namespace knx::sim
