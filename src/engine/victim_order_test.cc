// Of several ways to make room for a gang, which is taken, and who is never asked to go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;

constexpr const char* kRack = "topology.kubernetes.io/rack";
constexpr const char* kTier = "tenant.kubenexus.io/tier";
constexpr const char* kBackfill = "scheduling.kubenexus.io/backfill";
const std::vector<std::string> kPlugins = {"Coscheduling", "GangPreemption", "ProfileClassifier"};

PodBuilder InGang(PodBuilder pod, const std::string& gang, int minimum) {
  return pod.Label("pod-group.scheduling.kubenexus.io/name", gang)
      .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(minimum));
}

class VictimOrder : public ::testing::Test {
 protected:
  void Node(const std::string& name, const std::string& cpu) {
    // Each is a rack of its own.
    harness_.Node(NodeBuilder(name)
                      .Has("cpu", cpu)
                      .Has("memory", "64Gi")
                      .Has("pods", "110")
                      .Label(kRack, name));
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

// ---- tiers ----

struct TierCase {
  std::string_view name;
  PodBuilder old, young;
  std::string_view victim;
};

std::vector<TierCase> TierCases() {
  const PodBuilder old("old"), young("young");
  return {
      {"who started last", old, young, "young"},
      {"of two of one tier, too", PodBuilder(old).Annotation(kTier, "gold"),
       PodBuilder(young).Annotation(kTier, "gold"), "young"},
      {"the lower tier before that", old, PodBuilder(young).Annotation(kTier, "silver"), "old"},
      {"gold stays before silver", PodBuilder(old).Annotation(kTier, "silver"),
       PodBuilder(young).Annotation(kTier, "gold"), "old"},
      {"what fills gaps before all tiers",
       PodBuilder(old).Annotation(kTier, "gold").Label(kBackfill, "true"), young, "old"},
      {"a priority before all tiers", PodBuilder(old).Priority(1),
       PodBuilder(young).Annotation(kTier, "gold"), "young"},
  };
}

TEST_F(VictimOrder, LowerTiersGoFirst) {
  for (const bool one_rack : {false, true}) {
    for (const TierCase& c : TierCases()) {
      SCOPED_TRACE(c.name);
      harness_ = testing::Harness({}, testing::ProfilesWith(kPlugins));
      Node("a", "2");
      Node("b", "2");
      harness_.Pod(PodBuilder(c.old).Asks("cpu", "2").Started(Time{1}).On("a"));
      harness_.Pod(PodBuilder(c.young).Asks("cpu", "2").Started(harness_.now()).On("b"));
      if (one_rack) {
        ComeToOneRack();
      } else {
        harness_.Pod(InGang(PodBuilder("m0").Asks("cpu", "1").Priority(10), "comers", 2));
        harness_.Pod(InGang(PodBuilder("m1").Asks("cpu", "1").Priority(10), "comers", 2));
        harness_.Schedule();
      }
      EXPECT_THAT(Victims(), ElementsAre(std::string(c.victim)));
    }
  }
}

// From two nodes, or one of two from one node.
TEST_F(VictimOrder, TheSameGoForASinglePod) {
  for (const bool one_node : {false, true}) {
    for (const TierCase& c : TierCases()) {
      SCOPED_TRACE(c.name);
      harness_ = testing::Harness({}, testing::ProfilesWith(kPlugins));
      Node("a", one_node ? "4" : "2");
      if (!one_node) Node("b", "2");
      harness_.Pod(PodBuilder(c.old).Asks("cpu", "2").Started(Time{1}).On("a"));
      harness_.Pod(
          PodBuilder(c.young).Asks("cpu", "2").Started(harness_.now()).On(one_node ? "a" : "b"));
      harness_.Pod(PodBuilder("comer").Asks("cpu", "2").Priority(10));
      harness_.Schedule();
      EXPECT_THAT(Victims(), ElementsAre(std::string(c.victim)));
    }
  }
}

// Of two gangs of which one has to go.
TEST_F(VictimOrder, TheHighestTierOfAGangCounts) {
  Node("a", "2");
  Node("b", "2");
  harness_.Pod(InGang(On("a", "q0", "1"), "q", 2));
  harness_.Pod(InGang(On("a", "q1", "1").Annotation(kTier, "gold"), "q", 2));
  for (const std::string name : {"r0", "r1"}) {
    harness_.Pod(InGang(On("b", name, "1").Annotation(kTier, "silver"), "r", 2));
  }
  ComeToOneRack();
  EXPECT_THAT(Victims(), UnorderedElementsAre("r0", "r1"));
}

TEST_F(VictimOrder, OfEqualsTheRackWhereLessWorkIsLost) {
  Node("a", "2");
  Node("b", "2");
  const Time now = harness_.now();
  harness_.Pod(On("a", "long", "2").Started(now - Duration::Minutes(60)));
  for (const std::string name : {"short0", "short1"}) {
    harness_.Pod(On("b", name, "1").Started(now - Duration::Minutes(20)));
  }
  ComeToOneRack();
  EXPECT_THAT(Victims(), UnorderedElementsAre("short0", "short1"));
}

// ---- whom it never costs ----

TEST_F(VictimOrder, AGangWithAMemberThatMayNotPreemptEvictsNobody) {
  Node("a", "2");
  harness_.Pod(On("a", "p", "2"));
  for (const std::string name : {"m0", "m1"}) {
    harness_.Pod(InGang(PodBuilder(name).Asks("cpu", "1").Priority(10), "comers", 2));
  }
  harness_.Pod(InGang(PodBuilder("m2").Asks("cpu", "1").Priority(10).NeverPreempts(), "comers", 2));
  harness_.Pass(Duration::Minutes(2));
  EXPECT_THAT(Victims(), IsEmpty());
}

TEST_F(VictimOrder, NorDoesOneThatChoosesItsMembersByTheirRoles) {
  Node("a", "2");
  harness_.Pod(On("a", "p", "2"));
  const std::string ours = "pod-group.scheduling.kubenexus.io/";
  const auto member = [&](const std::string& name, const std::string& role) {
    return InGang(PodBuilder(name).Asks("cpu", "1").Priority(10), "comers", 2)
        .Label(ours + "role", role)
        .Label(ours + "role-min-available", "1");
  };
  harness_.Pod(member("ps", "ps"));
  harness_.Pod(member("w0", "worker"));
  harness_.Pod(member("w1", "worker").NeverPreempts());
  harness_.Pass(Duration::Minutes(2));
  EXPECT_THAT(Victims(), IsEmpty());
}

// ---- who says that it stays ----

constexpr const char* kPreemptible = "workload.kubenexus.io/preemptible";

TEST_F(VictimOrder, WhoSaysSoStaysForASinglePodToo) {
  Node("a", "2");
  harness_.Pod(On("a", "p", "2").Label(kPreemptible, "false"));
  harness_.Pod(PodBuilder("comer").Asks("cpu", "2").Priority(10));
  harness_.Schedule();
  EXPECT_THAT(Victims(), IsEmpty());
  EXPECT_THAT(harness_.Why("comer"),
              HasSubstr("preemption: 0/1 nodes are available: 1 No preemption victims found"));
}

TEST_F(VictimOrder, WithoutGangPreemptionThatMeansNothing) {
  harness_ = testing::Harness();
  Node("a", "2");
  harness_.Pod(On("a", "p", "2").Label(kPreemptible, "false"));
  harness_.Pod(PodBuilder("comer").Asks("cpu", "2").Priority(10));
  harness_.Schedule();
  EXPECT_THAT(Victims(), ElementsAre("p"));
}

TEST_F(VictimOrder, WhoSaysSoDoesNotGoAlongWithItsGang) {
  Node("a", "1");
  Node("b", "1");
  Node("c", "1");
  harness_.Pod(InGang(On("a", "q0", "1"), "q", 3));
  harness_.Pod(InGang(On("b", "q1", "1").Label(kPreemptible, "false"), "q", 3));
  harness_.Pod(InGang(On("c", "q2", "1"), "q", 3));
  harness_.Pod(PodBuilder("comer").Asks("cpu", "1").Priority(10));
  harness_.Schedule();
  EXPECT_THAT(Victims(), UnorderedElementsAre("q0", "q2"));
}

// What was found out about a node for another pod does not count any more.
TEST_F(VictimOrder, WhoSaysSoLaterStaysFromThenOn) {
  const std::string rule = "{from: namespaceLabel, key: keep, sets: preemptible, to: \"false\"}";
  for (const std::string by : {"label", "annotation", "namespace"}) {
    SCOPED_TRACE(by);
    harness_ = testing::Harness(
        {}, testing::ProfilesWith(kPlugins,
                                  "{name: ProfileClassifier, args: {rules: [" + rule + "]}}"));
    Node("a", "2");
    Node("b", "2");
    harness_.Pod(On("a", "p", "2", 1));
    PodBuilder kept = On("b", "kept", "2", 5).Namespace("team");
    harness_.Pod(kept);
    harness_.Pod(PodBuilder("first").Asks("cpu", "2").Priority(10));
    harness_.Schedule();
    ASSERT_THAT(Victims(), ElementsAre("p"));
    if (by == "label") harness_.Pod(kept.Label(kPreemptible, "false"));
    if (by == "annotation") harness_.Pod(kept.Annotation(kPreemptible, "false"));
    if (by == "namespace") {
      k8s::Namespace space;
      space.meta.name = "team";
      space.meta.labels = {{"keep", "yes"}};
      harness_.Object(space);
    }
    harness_.Pod(PodBuilder("second").Asks("cpu", "2").Priority(10));
    harness_.Schedule();
    EXPECT_THAT(Victims(), ElementsAre("p"));
    const cluster::State& state = harness_.engine().state();
    EXPECT_FALSE(state.pod(state.pods().Find("uid-second")).nominated.valid());
  }
}

}  // namespace
}  // namespace knx::engine
