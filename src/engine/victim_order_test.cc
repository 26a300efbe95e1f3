// Of several ways to make room for a gang, which is taken, and who is never asked to go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;

constexpr const char* kRack = "topology.kubernetes.io/rack";
const std::vector<std::string> kPlugins = {"Coscheduling", "GangPreemption"};

PodBuilder InGang(PodBuilder pod, const std::string& gang, int minimum) {
  return pod.Label("pod-group.scheduling.kubenexus.io/name", gang)
      .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(minimum));
}

class VictimOrder : public ::testing::Test {
 protected:
  void Node(const std::string& name, const std::string& cpu) {
    // Each is a rack of its own.
    harness_.Node(NodeBuilder(name).Has("cpu", cpu).Has("memory", "64Gi").Has("pods", "110").Label(
        kRack, name));
  }
  static PodBuilder On(const std::string& node, const std::string& name, const std::string& cpu,
                       std::int32_t priority = 0) {
    return PodBuilder(name).Asks("cpu", cpu).Priority(priority).Started(Time{1}).On(node);
  }
  // Two of one CPU each that have to be in one rack.
  void ComeToOneRack() {
    for (const std::string name : {"m0", "m1"}) {
      harness_.Pod(InGang(PodBuilder(name).Asks("cpu", "1").Priority(10), "comers", 2)
                       .Annotation("pod-group.scheduling.kubenexus.io/topology-key", kRack));
    }
    harness_.Schedule();
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
  }

  std::vector<std::string> Victims() {
    std::vector<std::string> names;
    for (const PlanEvictions& plan : harness_.plans()) {
      for (const PodRef& victim : plan.victims) names.push_back(victim.name);
      for (const PodRef& victim : plan.along) names.push_back(victim.name);
    }
    return names;
  }

  testing::Harness harness_{{}, testing::ProfilesWith(kPlugins)};
};

// ---- between several ways ----

TEST_F(VictimOrder, ARackWhereNoGangBreaksRatherThanOneWhereLessMattersGoes) {
  Node("a", "2");
  Node("b", "2");
  for (const std::string name : {"q0", "q1"}) harness_.Pod(InGang(On("a", name, "1"), "q", 2));
  harness_.Pod(On("b", "p", "2", 5));
  ComeToOneRack();
  EXPECT_THAT(Victims(), ElementsAre("p"));
}

TEST_F(VictimOrder, ARackWhereFewerGangsBreak) {
  Node("a", "2");
  Node("b", "2");
  Node("c", "2");
  harness_.Pod(InGang(On("a", "q0", "1"), "q", 2));
  harness_.Pod(InGang(On("c", "q1", "1"), "q", 2));
  harness_.Pod(InGang(On("a", "r0", "1"), "r", 2));
  harness_.Pod(InGang(On("c", "r1", "1"), "r", 2));
  for (const std::string name : {"s0", "s1"}) harness_.Pod(InGang(On("b", name, "1", 5), "s", 2));
  ComeToOneRack();
  EXPECT_THAT(Victims(), UnorderedElementsAre("s0", "s1"));
}

// Who fits without anybody's end keeps its place, unless that breaks more.
TEST_F(VictimOrder, AMemberMovesWhereThatBreaksNoGang) {
  Node("a", "2");
  Node("b", "2");
  Node("c", "2");
  harness_.Pod(On("a", "p", "1", 5));
  for (const std::string name : {"q0", "q1"}) harness_.Pod(InGang(On("b", name, "1"), "q", 2));
  harness_.Pod(On("c", "important", "1", 20));
  harness_.Pod(InGang(PodBuilder("large").Asks("cpu", "2").Priority(10), "comers", 2));
  harness_.Pod(InGang(PodBuilder("small").Asks("cpu", "1").Priority(10), "comers", 2));
  harness_.Schedule();
  EXPECT_THAT(Victims(), ElementsAre("p"));
}

}  // namespace
}  // namespace knx::engine
