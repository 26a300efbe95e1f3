#include "cmd/run_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace knx::cmd {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

sim::NodeUse SomeNode(std::string name, std::int64_t cores) {
  sim::NodeUse node;
  node.name = std::move(name);
  node.pods = 1;
  node.resources = {
      {"cpu", 500, cores * 1000}, {"memory", kGibibyte, 8 * kGibibyte}, {"pods", 1, 110}};
  return node;
}

std::string Plain(const sim::SimulationResult& result) {
  return FormatRun(result, "a.yaml", Palette(false));
}

std::int64_t LinesWith(const std::string& text, std::string_view what) {
  std::int64_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(FormatRun, TellsNothingOfAnEmptyCluster) {
  const std::string text = Plain({});
  EXPECT_THAT(text, HasSubstr("Manifests: a.yaml\n"));
  EXPECT_THAT(text, HasSubstr("Nodes: 0\n"));
  EXPECT_THAT(text, HasSubstr("Nothing waits.\n"));
  EXPECT_THAT(text, HasSubstr("Decision log: 0 lines, hash 0000000000000000\n"));
}

TEST(FormatRun, ShowsEveryNodeOfASmallCluster) {
  sim::SimulationResult result;
  for (int i = 1; i <= 20; ++i) result.nodes.push_back(SomeNode(fmt::format("node-{}", i), 4));
  const std::string text = Plain(result);
  EXPECT_EQ(LinesWith(text, "ready"), 20);
  EXPECT_THAT(text, HasSubstr("    node-20  1/110  0.5/4  1/8 GiB  ready\n"));
  EXPECT_THAT(text, Not(HasSubstr("more")));
}

TEST(FormatRun, ShowsWhatIsReservedAndWhyNot) {
  sim::SimulationResult result;
  EXPECT_THAT(Plain(result), Not(HasSubstr("Reservations")));
  sim::ReservationOutcome held;
  held.name = "held";
  held.state = "held";
  held.places = 2;
  held.held = {{"cpu", "4"}, {"memory", "8Gi"}};
  held.used = {{"cpu", "1500m"}};
  sim::ReservationOutcome waits;
  waits.name = "waits";
  waits.state = "waits for room";
  waits.why = "0/1 nodes are available: 1 Insufficient cpu.";
  waits.places = 10;
  result.reservations = {held, waits};
  EXPECT_THAT(Plain(result),
              HasSubstr("\nReservations: 2\n"
                        "  NAME   PLACES  STATE           HELD            USED\n"
                        "  held        2  held            4 cores, 8 GiB  1.5 cores\n"
                        "  waits      10  waits for room  -               -\n"
                        "      waits: 0/1 nodes are available: 1 Insufficient cpu.\n"));
}

TEST(FormatRun, SaysThatTheRunWasCut) {
  sim::SimulationResult result;
  result.ended = Duration::Minutes(60);
  result.cut = true;
  EXPECT_THAT(Plain(result), HasSubstr("Ran 1h00m00s of virtual time with seed 0, no longer "
                                       "without --until, although something would still change."));
}

TEST(FormatRun, SumsUpTheNodesOfALargeCluster) {
  sim::SimulationResult result;
  for (int i = 1; i <= 1000; ++i) result.nodes.push_back(SomeNode(fmt::format("a-{}", i), 4));
  for (int i = 1; i <= 1000; ++i) result.nodes.push_back(SomeNode(fmt::format("b-{}", i), 8));
  result.nodes[600].ready = false;
  const std::string text = Plain(result);
  EXPECT_THAT(text, HasSubstr("  1000 nodes with 4 cores, 8 GiB\n"));
  EXPECT_THAT(text, HasSubstr("a-601"));
  EXPECT_THAT(text, HasSubstr("not ready"));
  EXPECT_EQ(LinesWith(text, "… and 994 more"), 2);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 40);
}

TEST(FormatRun, SurvivesNodesThatAreAllDifferentAndAmountsWithoutBounds) {
  sim::SimulationResult result;
  for (int i = 1; i <= 100; ++i) result.nodes.push_back(SomeNode(fmt::format("n-{}", i), i));
  for (sim::NodeUse& node : result.nodes) node.resources[1].allocatable = INT64_MAX;
  const std::string text = Plain(result);
  EXPECT_THAT(text, HasSubstr("88 nodes of 88 other shapes\n"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 60);
}

TEST(FormatRun, NamesEveryKindOfTrouble) {
  sim::SimulationResult result;
  result.scenario = "a pod waits";
  result.why = "it must";
  result.expectations = {
      {.place = {"a.yaml", 3, 5}, .met = true, .expected = "met", .found = ""},
      {.place = {"a.yaml", 7, 5}, .met = false, .expected = "2 placed", .found = "1 placed"}};
  result.violation = {.invariant = "capacity", .at = Duration::Seconds(90), .what = "too much"};
  result.warnings = {"a plugin is not built yet"};
  const std::string text = Plain(result);
  EXPECT_THAT(text, HasSubstr("Scenario: a pod waits\n  it must\n"));
  EXPECT_THAT(text, HasSubstr("until an invariant broke"));
  EXPECT_THAT(text, HasSubstr("Expectations: 1 of 2 met\n  a.yaml:7:5: not met\n"
                              "      expected: 2 placed\n      found: 1 placed\n"));
  EXPECT_THAT(text, HasSubstr("Invariant broken: capacity, at 1m30s\n      too much\n"));
  EXPECT_THAT(text, HasSubstr("Warnings:\n  a plugin is not built yet\n"));
}

TEST(FormatRun, SaysWhatWaitsWhyAndForHowLong) {
  sim::SimulationResult result;
  result.ended = Duration::Minutes(10);
  for (int i = 1; i <= 3; ++i) {
    sim::PodOutcome pod;
    pod.namespace_ = "default";
    pod.owner = fmt::format("Job/train-{}", i);
    pod.name = fmt::format("train-{}-x", i);
    pod.phase = "Pending";
    pod.message = "0/3 nodes are available: 3 Insufficient cpu.";
    pod.requests = {{"cpu", "4"}, {"nvidia.com/gpu", "1"}};
    pod.created = Duration::Minutes(i);
    result.pods.push_back(pod);
  }
  const std::string text = Plain(result);
  EXPECT_THAT(text, HasSubstr("  Job/train-*     0/3  3 waiting\n"));
  EXPECT_THAT(text, HasSubstr("Waiting: 3 pods\n"
                              "  3 pods of Job/train-*, for up to 9m00s; "
                              "each wants 4 cores, 1 nvidia.com/gpu\n"
                              "      0/3 nodes are available: 3 Insufficient cpu.\n"));
}

TEST(FormatRun, CountsOneAsOne) {
  sim::SimulationResult result;
  result.nodes = {SomeNode("a", 1), SomeNode("b", 2)};
  result.pods.emplace_back().namespace_ = "default";
  result.pods.back().name = "p";
  result.counts = {.pods_created = 1,
                   .evictions = 1,
                   .bind_failures = 1,
                   .failed_attempts = 1,
                   .faults = 1,
                   .scheduler_restarts = 1,
                   .steps = 1,
                   .full_checks = 1};
  result.log_lines = 1;
  const std::string text = Plain(result);
  EXPECT_THAT(text, HasSubstr("Work: 1 pod of 1 created is still there\n"));
  EXPECT_THAT(text, HasSubstr("  1 node with 1 core, 8 GiB\n"));
  EXPECT_THAT(text, HasSubstr("Scheduler: 1 attempt without a place, 1 eviction, 1 failed binding, "
                              "1 injected fault, 1 restart\n"));
  EXPECT_THAT(text, HasSubstr("Checked: 1 step, 1 full recount, every invariant held\n"));
  EXPECT_THAT(text, HasSubstr("Decision log: 1 line, hash"));
}

TEST(FormatRun, SaysOfPodsThatAreOnNodesOnlyThat) {
  sim::SimulationResult result;
  result.counts.pods_created = result.counts.pods_placed = result.counts.pods_running = 2;
  EXPECT_THAT(Plain(result), HasSubstr("Pods: 2 created, 2 placed, 2 on nodes now, 0 waiting\n"));
}

TEST(FormatRun, GivesNoTwoColumnsAndNoTwoGroupsTheSameName) {
  sim::SimulationResult result;
  for (int i = 1; i <= 2; ++i) result.nodes.push_back(SomeNode(fmt::format("n-{}", i), 4));
  result.nodes[0].resources.insert(result.nodes[0].resources.end(),
                                   {{"amd.com/gpu", 0, 1}, {"nvidia.com/gpu", 0, 2}});
  result.nodes[1].resources.insert(result.nodes[1].resources.end(),
                                   {{"amd.com/gpu", 0, 1}, {"nvidia.com/gpu", 0, 2}});
  result.nodes[1].resources[2].allocatable = 20;
  const std::string text = Plain(result);
  EXPECT_THAT(text, HasSubstr("  MEMORY  amd.com/gpu  nvidia.com/gpu  STATE\n"));
  EXPECT_THAT(text, HasSubstr("1 node with 4 cores, 8 GiB, 1 amd.com/gpu, 2 nvidia.com/gpu, 110 "
                              "pods\n"));
  EXPECT_THAT(text,
              HasSubstr("1 node with 4 cores, 8 GiB, 1 amd.com/gpu, 2 nvidia.com/gpu, 20 pods\n"));
}

TEST(FormatRun, MarksOnlyWithColoursOn) {
  EXPECT_THAT(Plain({}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(FormatRun({}, "a.yaml", Palette(true)), HasSubstr("\x1b[1mNodes: 0\x1b[0m"));
}

}  // namespace
}  // namespace knx::cmd
