// Gangs where it makes a difference who starts: with roles, with sub-groups, and with both.
#include "engine/demand_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::HasSubstr;

// What one member says; of texts that are empty and numbers that are 0, nothing.
struct Says {
  std::string name = {}, cpu = "1", role = {}, sub_group = {};
  int of_role = 0, whole = 0;
  bool nowhere = false;  // asks for a label that no node has
};

struct Choice {
  std::string_view name = {};
  std::vector<std::string> cpus = {};  // of the nodes
  int in_all = 2, sub_groups = 0;
  std::vector<Says> members = {};
  std::vector<std::string> placed = {};  // none: the gang does not start
  std::string says = {};                 // in the condition then
};

std::string Repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

class DemandPlannerTest : public ::testing::TestWithParam<Choice> {
 protected:
  void Play(const Choice& choice, testing::Harness& harness) {
    for (std::size_t i = 0; i < choice.cpus.size(); ++i) {
      harness.Node(NodeBuilder("n" + std::to_string(i))
                       .Has("cpu", choice.cpus[i])
                       .Has("memory", "64Gi")
                       .Has("pods", "110"));
    }
    const std::string ours = "pod-group.scheduling.kubenexus.io/";
    for (const Says& says : choice.members) {
      PodBuilder pod = PodBuilder(says.name).Asks("cpu", says.cpu);
      pod.Label(ours + "name", "g").Label(ours + "min-available", std::to_string(choice.in_all));
      const auto label = [&](const std::string& key, int value) {
        if (value > 0) pod.Label(ours + key, std::to_string(value));
      };
      label("min-sub-groups", choice.sub_groups);
      label("role-min-available", says.of_role);
      label("sub-group-min-available", says.whole);
      if (!says.role.empty()) pod.Label(ours + "role", says.role);
      if (!says.sub_group.empty()) pod.Label(ours + "sub-group", says.sub_group);
      k8s::Pod made = pod;
      if (says.nowhere) made.spec.node_selector = {{"nowhere", "x"}};
      harness.Pod(made);
    }
    harness.ScheduleAndBind();
  }
};

TEST_P(DemandPlannerTest, ThoseStartThatCan) {
  testing::Harness harness{{}, testing::GangProfiles()};
  Play(GetParam(), harness);
  std::vector<std::string> placed;
  for (const Says& says : GetParam().members) {
    if (!harness.NodeOf(says.name).empty()) placed.push_back(says.name);
  }
  EXPECT_EQ(placed, GetParam().placed);
  const std::string& first = GetParam().members[0].name;
  if (!GetParam().says.empty()) {
    EXPECT_THAT(harness.Why(first), HasSubstr(GetParam().says));
  }
  EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
  EXPECT_EQ(harness.engine().VerifyCaches().value_or("equal"), "equal");
}

const Choice kChoices[] = {
    {.name = "AnotherOfTheRole",
     .cpus = {"2"},
     .members = {{.name = "bad", .role = "ps", .of_role = 1, .nowhere = true},
                 {.name = "large", .cpu = "3", .role = "ps", .of_role = 1},
                 {.name = "good", .role = "ps", .of_role = 1},
                 {.name = "worker", .role = "worker", .of_role = 1}},
     .placed = {"good", "worker"}},
    {.name = "TheSmallerOnesOfARole",
     .cpus = {"3"},
     .members = {{.name = "large", .cpu = "3", .role = "ps", .of_role = 1},
                 {.name = "small", .cpu = "1", .role = "ps", .of_role = 1},
                 {.name = "worker", .cpu = "2", .role = "worker", .of_role = 1}},
     .placed = {"small", "worker"}},
    {.name = "TheSubGroupWithAllRoles",
     .cpus = {"2"},
     .sub_groups = 1,
     .members = {{.name = "a0", .role = "ps", .sub_group = "a", .of_role = 1, .whole = 2},
                 {.name = "a1", .role = "worker", .sub_group = "a", .whole = 2},
                 {.name = "b0", .role = "ps", .sub_group = "b", .of_role = 1, .whole = 2},
                 {.name = "b1", .role = "chief", .sub_group = "b", .of_role = 1, .whole = 2}},
     .placed = {"b0", "b1"}},
    {.name = "WhoIsInNoSubGroupMayHaveTheRole",
     .cpus = {"3"},
     .in_all = 3,
     .sub_groups = 1,
     .members = {{.name = "a0", .role = "worker", .sub_group = "a", .whole = 2},
                 {.name = "a1", .role = "worker", .sub_group = "a", .whole = 2},
                 {.name = "chief", .role = "chief", .of_role = 1},
                 {.name = "other"}},
     .placed = {"a0", "a1", "chief"}},
    // The best places one after the other take the large node from who has no other.
    {.name = "OtherPlacesAreSearchedForThem",
     .cpus = {"3", "2"},
     .in_all = 3,
     .members = {{.name = "ps", .cpu = "2", .role = "ps", .of_role = 1},
                 {.name = "w0", .cpu = "1500m", .role = "worker", .of_role = 2},
                 {.name = "w1", .cpu = "1500m", .role = "worker", .of_role = 2}},
     .placed = {"ps", "w0", "w1"}},
    {.name = "ARoleWithTooLittleRoom",
     .cpus = {"2", "2"},
     .in_all = 3,
     .members = {{.name = "ps", .cpu = "3", .role = "ps", .of_role = 1},
                 {.name = "w0", .role = "worker"},
                 {.name = "w1", .role = "worker"},
                 {.name = "w2", .role = "worker"}},
     .placed = {},
     .says = "Impossible now: at most 0 of role ps fit by cpu."},
    // It ends before a character that would not be whole.
    {.name = "ARoleWithALongName",
     .cpus = {"2", "2"},
     .members = {{.name = "ps", .cpu = "3", .role = Repeated("é", 60), .of_role = 1},
                 {.name = "w0", .role = "worker"},
                 {.name = "w1", .role = "worker"}},
     .placed = {},
     .says = "at most 0 of role " + Repeated("é", 48) + "… fit by cpu."},
    {.name = "RolesWithTooLittleRoomForAllOfThem",
     .cpus = {"4"},
     .in_all = 3,
     .members = {{.name = "ps", .cpu = "3", .role = "ps", .of_role = 1},
                 {.name = "w0", .role = "worker", .of_role = 2},
                 {.name = "w1", .role = "worker", .of_role = 2},
                 {.name = "w2", .role = "worker", .of_role = 2}},
     .placed = {},
     .says = "Impossible now: at most 2 of those that its roles need fit by cpu."},
    {.name = "EveryWayWasTried",
     .cpus = {"3", "3"},
     .in_all = 3,
     .sub_groups = 1,
     .members = {{.name = "a0", .cpu = "2", .sub_group = "a", .whole = 3},
                 {.name = "a1", .cpu = "2", .sub_group = "a", .whole = 3},
                 {.name = "a2", .cpu = "1500m", .sub_group = "a", .whole = 3},
                 {.name = "loose", .cpu = "1"}},
     .placed = {},
     .says = "Impossible now: every way was tried."},
};

INSTANTIATE_TEST_SUITE_P(Choices, DemandPlannerTest, ::testing::ValuesIn(kChoices),
                         [](const auto& choice) { return std::string(choice.param.name); });

}  // namespace
}  // namespace knx::engine
