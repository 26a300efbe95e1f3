// Who has to go, and where: behaviours of kube-scheduler's DefaultPreemption, in tables.
#include "engine/preemption.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"
#include "engine/testing/plain_objects.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using testing::Budget;
using ::testing::IsEmpty;
using testing::Node;
using testing::On;
using testing::Wants;

Time AtSecond(std::int64_t second) { return Time{second * 1'000'000'000}; }

struct Case {
  std::string_view name;
  std::vector<k8s::Node> nodes;
  std::vector<k8s::Pod> pods;
  k8s::Pod preemptor;
  std::string plan;  // "node: victims, the most important first"; "": none
  std::vector<k8s::PodDisruptionBudget> budgets = {};
};

std::string PlanOf(const Case& c) {
  testing::Harness harness;
  for (const k8s::Node& node : c.nodes) harness.Node(node);
  for (const auto& budget : c.budgets) harness.Object(budget);
  for (const k8s::Pod& pod : c.pods) harness.Pod(pod);
  harness.Pod(c.preemptor);
  harness.Schedule();
  EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
  EXPECT_EQ(harness.engine().VerifyCaches().value_or("equal"), "equal");
  if (harness.plans().empty()) return "";
  const PlanEvictions& plan = harness.plans().front();
  std::string text = plan.node + ":";
  for (const PodRef& victim : plan.victims) text += " " + victim.name;
  return text;
}

void ExpectPlans(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(PlanOf(c), c.plan);
  }
}

TEST(Preemption, EvictsTheFewestThatMatterLeast) {
  ExpectPlans({
      {"one pod is enough", {Node("a")}, {On("a", "p", "4", 0)}, Wants("1", 10), "a: p"},
      {"a pod that fits evicts nobody", {Node("a")}, {On("a", "p", "2", 0)}, Wants("2", 10), ""},
      {"equal priority is not less", {Node("a")}, {On("a", "p", "4", 10)}, Wants("1", 10), ""},
      {"higher priority is not less", {Node("a")}, {On("a", "p", "4", 11)}, Wants("1", 10), ""},
      {"not even without all of them",
       {Node("a")},
       {On("a", "p", "2", 0), On("a", "q", "2", 10)},
       Wants("3", 10),
       ""},
      {"larger than the node", {Node("a")}, {On("a", "p", "4", 0)}, Wants("5", 10), ""},
      {"the more important one stays",
       {Node("a")},
       {On("a", "p", "2", 5), On("a", "q", "2", 1)},
       Wants("2", 10),
       "a: q"},
      {"all have to go",
       {Node("a")},
       {On("a", "p", "2", 5), On("a", "q", "2", 1)},
       Wants("4", 10),
       "a: p q"},
      {"a small one stays beside a large one that goes",
       {Node("a")},
       {On("a", "small", "1", 1), On("a", "large", "3", 5)},
       Wants("3", 10),
       "a: large"},
      {"of equals the longer running one stays",
       {Node("a")},
       {On("a", "new", "2", 0).Started(AtSecond(200)),
        On("a", "old", "2", 0).Started(AtSecond(100))},
       Wants("2", 10),
       "a: new"},
      {"who has not started goes first",
       {Node("a")},
       {On("a", "not", "2", 0), On("a", "old", "2", 0).Started(AtSecond(100))},
       Wants("2", 10),
       "a: not"},
      {"too many pods",
       {NodeBuilder("a").Has("cpu", "4").Has("pods", "2")},
       {On("a", "p", "1", 0), On("a", "q", "1", 5)},
       Wants("1", 10),
       "a: p"},
      {"a port is taken",
       {Node("a")},
       {On("a", "p", "1", 0).Port(80), On("a", "q", "1", 0)},
       Wants("1", 10).Port(80),
       "a: p"},
      {"a taint cannot be evicted",
       {Node("a").Taint("k", "v", k8s::TaintEffect::kNoSchedule)},
       {On("a", "p", "4", 0)},
       Wants("1", 10),
       ""},
      {"a pod that leaves anyway is still a victim",
       {Node("a")},
       {On("a", "p", "4", 0).Terminating()},
       Wants("1", 10),
       "a: p"},
  });
}

TEST(Preemption, NodesAreComparedByTheHarmDone) {
  const std::vector<k8s::Node> two = {Node("a"), Node("b")};
  ExpectPlans({
      {"the lowest of the highest priorities",
       two,
       {On("a", "p", "4", 5), On("b", "q", "4", 4)},
       Wants("4", 10),
       "b: q"},
      {"even if it takes more pods",
       two,
       {On("a", "p", "4", 5), On("b", "q", "2", 4), On("b", "r", "2", 4)},
       Wants("4", 10),
       "b: q r"},
      {"the smallest sum of priorities",
       two,
       {On("a", "p", "2", 5), On("a", "q", "2", 4), On("b", "r", "2", 5), On("b", "s", "2", 3)},
       Wants("4", 10),
       "b: r s"},
      {"the fewest pods",
       two,
       {On("a", "p", "2", 0), On("a", "q", "2", 0), On("b", "r", "4", 0)},
       Wants("4", 10),
       "b: r"},
      {"one of negative priority rather than two",
       two,
       {On("a", "p", "2", -5), On("a", "q", "2", -5), On("b", "r", "4", -5)},
       Wants("4", 10),
       "b: r"},
      {"the latest start",
       two,
       {On("a", "p", "4", 0).Started(AtSecond(100)), On("b", "q", "4", 0).Started(AtSecond(200))},
       Wants("4", 10),
       "b: q"},
      {"the earliest of the most important counts",
       two,
       {On("a", "p", "2", 5).Started(AtSecond(300)), On("a", "q", "2", 1).Started(AtSecond(100)),
        On("b", "r", "2", 5).Started(AtSecond(200)), On("b", "s", "2", 1).Started(AtSecond(400))},
       Wants("4", 10),
       "a: p q"},
      {"not started is the latest",
       two,
       {On("a", "p", "4", 0).Started(AtSecond(100)), On("b", "q", "4", 0)},
       Wants("4", 10),
       "b: q"},
      {"then the name",
       {Node("b"), Node("a")},
       {On("a", "p", "4", 0), On("b", "q", "4", 0)},
       Wants("4", 10),
       "a: p"},
  });
}

TEST(Preemption, BudgetsAreKeptIfThereIsAnotherWay) {
  const k8s::StringMap web = {{"app", "web"}};
  const auto guarded = [](PodBuilder pod) { return pod.Label("app", "web"); };
  const std::vector<k8s::Node> one = {Node("a")};
  const std::vector<k8s::Pod> pair = {guarded(On("a", "p", "2", 0)), On("a", "q", "2", 5)};
  k8s::PodDisruptionBudget everything = Budget("all", {}, 0);
  k8s::PodDisruptionBudget elsewhere = Budget("other", web, 0);
  elsewhere.meta.namespace_ = "other";
  k8s::PodDisruptionBudget accounted = Budget("web", web, 0);
  accounted.disrupted_pods = {"p"};
  k8s::PodDisruptionBudget unselective = Budget("none", {}, 0);
  unselective.selector.reset();
  k8s::PodDisruptionBudget broken = Budget("broken", {}, 0);
  broken.selector->match_expressions.push_back({"app", k8s::SelectorOperator::kIn, {}});
  ExpectPlans({
      {"without one the less important goes", one, pair, Wants("2", 10), "a: p"},
      {"who is protected stays", one, pair, Wants("2", 10), "a: q", {Budget("web", web, 0)}},
      {"unless one can be spared", one, pair, Wants("2", 10), "a: p", {Budget("web", web, 1)}},
      {"or it is on its way out already", one, pair, Wants("2", 10), "a: p", {accounted}},
      {"an empty selector protects nobody", one, pair, Wants("2", 10), "a: p", {everything}},
      {"no selector protects nobody", one, pair, Wants("2", 10), "a: p", {unselective}},
      {"a broken selector protects nobody", one, pair, Wants("2", 10), "a: p", {broken}},
      {"nor does one of another namespace", one, pair, Wants("2", 10), "a: p", {elsewhere}},
      {"any of several protects",
       one,
       pair,
       Wants("2", 10),
       "a: q",
       {Budget("lax", web, 5), Budget("web", web, 0)}},
      {"the most important use a budget up",
       one,
       {guarded(On("a", "p", "2", 0)), guarded(On("a", "q", "2", 5))},
       Wants("2", 10),
       "a: q",
       {Budget("web", web, 1)}},
      {"it is broken if it must be", one, pair, Wants("4", 10), "a: q p", {Budget("web", web, 0)}},
      {"the node with fewer broken budgets, at any price",
       {Node("a"), Node("b")},
       {guarded(On("a", "p", "4", 0)), On("b", "q", "2", 9), On("b", "r", "2", 9)},
       Wants("4", 10),
       "b: q r",
       {Budget("web", web, 0)}},
  });
}

TEST(Preemption, SaysWhyNobodyWasEvicted) {
  struct Refusal {
    std::string_view name;
    std::vector<k8s::Pod> pods;
    k8s::Pod preemptor;
    std::string message;  // after "preemption: "
  };
  const Refusal cases[] = {
      {"may not",
       {On("a", "p", "4", 0)},
       Wants("1", 10).NeverPreempts(),
       "not eligible due to preemptionPolicy=Never."},
      {"nobody is less important",
       {On("a", "p", "4", 10)},
       Wants("1", 10),
       "0/1 nodes are available: 1 No preemption victims found for incoming pod."},
      {"would not fit either",
       {On("a", "p", "2", 0), On("a", "q", "2", 10)},
       Wants("3", 10),
       "0/1 nodes are available: 1 Insufficient cpu."},
      {"never fits",
       {On("a", "p", "4", 0)},
       Wants("5", 10),
       "0/1 nodes are available: 1 Preemption is not helpful for scheduling."},
      {"room is being made already",
       {On("a", "p", "4", 0).Preempted()},
       Wants("1", 10).Nominated("a"),
       "not eligible due to a terminating pod on the nominated node."},
  };
  for (const Refusal& c : cases) {
    SCOPED_TRACE(c.name);
    testing::Harness harness;
    harness.Node(Node("a"));
    for (const k8s::Pod& pod : c.pods) harness.Pod(pod);
    harness.Pod(c.preemptor);
    harness.Schedule();
    EXPECT_THAT(harness.Why("vip"), ::testing::EndsWith(" preemption: " + c.message));
    EXPECT_THAT(harness.evictions(), IsEmpty());
  }
}

TEST(Preemption, WaitsForVictimsOnlyWhereTheyMakeRoomForIt) {
  const std::vector<k8s::Node> two = {Node("a"), Node("b")};
  const k8s::Pod leaving = On("a", "p", "4", 0).Preempted();
  const k8s::Pod other = On("b", "q", "4", 0);
  ExpectPlans({
      {"on the node it is nominated to", two, {leaving, other}, Wants("1", 10).Nominated("a"), ""},
      {"not on another", two, {leaving, other}, Wants("1", 10), "a: p"},
      {"not for one that leaves by itself",
       two,
       {On("a", "p", "4", 0).Terminating(), other},
       Wants("1", 10).Nominated("a"),
       "a: p"},
      {"not for one that is more important",
       two,
       {On("a", "p", "4", 20).Preempted(), other},
       Wants("1", 10).Nominated("a"),
       "b: q"},
      {"not where it can never run",
       {Node("a").Taint("k", "v", k8s::TaintEffect::kNoSchedule), Node("b")},
       {leaving, other},
       Wants("1", 10).Nominated("a"),
       "b: q"},
  });
}

TEST(Preemption, LooksNoFurtherThanItIsToldTo) {
  // A hundred nodes, of which one is best; with as many candidates as nodes it is always found.
  const auto nominated = [](const std::string& args, const std::string& uid) {
    auto config = framework::ReadConfiguration(
        fmt::format("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                    "profiles:\n- schedulerName: default-scheduler\n  pluginConfig:\n"
                    "  - name: DefaultPreemption\n    args: {}\n",
                    args),
        "config.yaml");
    KNX_CHECK(config.ok(), config.ok() ? "" : config.error().ToString());
    auto profiles = framework::BuildProfiles(*config, plugins::AllPlugins());
    KNX_CHECK(profiles.ok(), "the configuration is valid");
    testing::Harness harness({}, *std::move(profiles));
    for (int i = 0; i < 100; ++i) {
      const std::string name = fmt::format("n{:02}", i);
      harness.Node(Node(name));
      harness.Pod(On(name, "p" + name, "4", i == 77 ? 0 : 1));
    }
    k8s::Pod pod = Wants("1", 10);
    pod.meta.uid = uid;
    harness.Pod(pod);
    harness.Schedule();
    return harness.plans().at(0).node;
  };
  EXPECT_EQ(nominated("{minCandidateNodesPercentage: 100}", "x"), "n77");
  EXPECT_EQ(nominated("{}", "x"), "n77") << "a hundred are looked for by default";
  const std::string few = "{minCandidateNodesPercentage: 5, minCandidateNodesAbsolute: 0}";
  EXPECT_NE(nominated(few, "x"), "n77");
  EXPECT_NE(nominated(few, "x"), nominated(few, "y")) << "not every pod begins at the same node";
  EXPECT_EQ(nominated(few, "x"), nominated(few, "x"));
}

}  // namespace
}  // namespace knx::engine
