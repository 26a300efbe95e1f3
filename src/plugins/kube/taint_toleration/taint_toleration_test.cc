#include "plugins/kube/taint_toleration/taint_toleration.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::AddPod;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using framework::EventKind;
using Effect = k8s::TaintEffect;
using Operator = k8s::TolerationOperator;

const testing::Answer kUntolerated = testing::Never({"node(s) had untolerated taint(s)"});

k8s::Toleration Tolerate(std::string key, std::string value, Operator op = Operator::kEqual,
                         Effect effect = Effect::kNone) {
  return {std::move(key), std::move(value), op, effect, {}};
}

TEST(TaintToleration, RejectsHardTaintsThatAreNotTolerated) {
  struct Case {
    std::string_view name;
    std::vector<k8s::Taint> taints;
    std::vector<k8s::Toleration> tolerations;
    bool fits;
  };
  const Case cases[] = {
      {"no taints", {}, {}, true},
      {"NoSchedule", {{"a", "1", Effect::kNoSchedule}}, {}, false},
      {"NoExecute", {{"a", "1", Effect::kNoExecute}}, {}, false},
      {"PreferNoSchedule", {{"a", "1", Effect::kPreferNoSchedule}}, {}, true},
      {"no effect at all", {{"a", "1", Effect::kNone}}, {}, true},
      {"tolerated", {{"a", "1", Effect::kNoSchedule}}, {Tolerate("a", "1")}, true},
      {"another value", {{"a", "1", Effect::kNoSchedule}}, {Tolerate("a", "2")}, false},
      {"any value",
       {{"a", "1", Effect::kNoSchedule}},
       {Tolerate("a", "", Operator::kExists)},
       true},
      {"another effect",
       {{"a", "1", Effect::kNoSchedule}},
       {Tolerate("a", "1", Operator::kEqual, Effect::kNoExecute)},
       false},
      {"everything",
       {{"a", "1", Effect::kNoSchedule}, {"b", "2", Effect::kNoExecute}},
       {Tolerate("", "", Operator::kExists)},
       true},
      {"one of two",
       {{"a", "1", Effect::kNoSchedule}, {"b", "2", Effect::kNoSchedule}},
       {Tolerate("a", "1")},
       false},
      {"both, by two tolerations",
       {{"a", "1", Effect::kNoSchedule}, {"b", "2", Effect::kNoSchedule}},
       {Tolerate("b", "2"), Tolerate("a", "1")},
       true},
  };
  const TaintToleration plugin;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    cluster::State state;
    NodeBuilder node("n");
    for (const k8s::Taint& taint : c.taints) node.Taint(taint.key, taint.value, taint.effect);
    PodBuilder pod("p");
    for (const k8s::Toleration& toleration : c.tolerations) pod.Tolerates(toleration);
    const cluster::NodeRow row = AddNode(state, node);
    const auto prepared = plugin.PreFilter(testing::View(state, AddPod(state, pod)));
    EXPECT_EQ(prepared.scope, framework::Scope::kFacts);
    EXPECT_EQ(testing::Judge(prepared, row), c.fits ? testing::Fits() : kUntolerated);
  }
}

TEST(TaintToleration, PrefersNodesWithFewerSoftTaints) {
  cluster::State state;
  const cluster::NodeRow rows[] = {
      AddNode(state, NodeBuilder("none")),
      AddNode(state, NodeBuilder("one").Taint("a", "1", Effect::kPreferNoSchedule)),
      AddNode(state, NodeBuilder("three")
                         .Taint("a", "1", Effect::kPreferNoSchedule)
                         .Taint("b", "1", Effect::kPreferNoSchedule)
                         .Taint("c", "1", Effect::kPreferNoSchedule)),
      AddNode(state, NodeBuilder("hard").Taint("a", "1", Effect::kNoSchedule)),
  };
  const TaintToleration plugin;
  const auto ask = [&](const k8s::Pod& pod) {
    const auto prepared = plugin.PreScore(testing::View(state, AddPod(state, pod)));
    EXPECT_EQ(prepared.outcome.code, framework::Code::kSuccess);
    EXPECT_EQ(prepared.scope, framework::Scope::kFacts);
    return testing::Scores(prepared, rows);
  };
  using Scores = std::vector<std::int64_t>;
  EXPECT_EQ(ask(PodBuilder("no tolerations")), (Scores{100, 67, 0, 100}));
  EXPECT_EQ(ask(PodBuilder("a").Tolerates(Tolerate("a", "1"))), (Scores{100, 100, 0, 100}));
  EXPECT_EQ(ask(PodBuilder("a, softly")
                    .Tolerates(Tolerate("a", "1", Operator::kEqual, Effect::kPreferNoSchedule))),
            (Scores{100, 100, 0, 100}));
  EXPECT_EQ(ask(PodBuilder("a, hard only")
                    .Tolerates(Tolerate("a", "1", Operator::kEqual, Effect::kNoSchedule))),
            (Scores{100, 67, 0, 100}));
  EXPECT_EQ(ask(PodBuilder("all").Tolerates(Tolerate("", "", Operator::kExists))),
            (Scores{100, 100, 100, 100}));
}

TEST(TaintToleration, IsPreparedAnewWhenNodesBringOtherTaints) {
  cluster::State state;
  const cluster::NodeRow row = AddNode(state, NodeBuilder("n"));
  AddNode(state, NodeBuilder("tainted").Taint("a", "1", Effect::kNoSchedule));
  const TaintToleration plugin;
  const cluster::PodId pod = AddPod(state, PodBuilder("p"));
  auto filter = plugin.PreFilter(testing::View(state, pod));
  auto score = plugin.PreScore(testing::View(state, pod));
  EXPECT_EQ(testing::Judge(filter, row), testing::Fits());

  // Taints that are known: the prepared filter still answers.
  AddNode(state, NodeBuilder("n").Taint("a", "1", Effect::kNoSchedule));
  EXPECT_TRUE(filter.filter->Current());
  EXPECT_TRUE(score.scorer->Current());
  EXPECT_EQ(testing::Judge(filter, row), kUntolerated);

  AddNode(state, NodeBuilder("n").Taint("a", "2", Effect::kPreferNoSchedule));
  EXPECT_FALSE(filter.filter->Current());
  EXPECT_FALSE(score.scorer->Current());
  filter = plugin.PreFilter(testing::View(state, pod));
  score = plugin.PreScore(testing::View(state, pod));
  EXPECT_EQ(testing::Judge(filter, row), testing::Fits());
  EXPECT_EQ(testing::RawScores(score, framework::NodeRows(&row, 1)).front(), 1);
}

TEST(TaintToleration, IsHelpedByNodesThatBecomeTolerable) {
  cluster::State state;
  const TaintToleration plugin;
  const cluster::PodId pod = AddPod(state, PodBuilder("p").Tolerates(Tolerate("ok", "1")));
  const cluster::NodeRow tolerable =
      AddNode(state, NodeBuilder("tolerable").Taint("ok", "1", Effect::kNoSchedule));
  const cluster::NodeRow not_tolerable =
      AddNode(state, NodeBuilder("not").Taint("a", "1", Effect::kNoExecute));
  const cluster::NodeFacts good = state.nodes().facts(tolerable);
  const cluster::NodeFacts bad = state.nodes().facts(not_tolerable);
  const auto helps = [&](EventKind kind, cluster::NodeRow row, const cluster::NodeFacts* before) {
    framework::ClusterEvent event;
    event.kind = kind;
    event.row = row;
    event.node_before = before;
    EXPECT_TRUE(plugin.events().Contains(kind));
    return plugin.MayHelp(event, testing::View(state, pod));
  };
  EXPECT_TRUE(helps(EventKind::kNodeAdd, tolerable, nullptr));
  EXPECT_FALSE(helps(EventKind::kNodeAdd, not_tolerable, nullptr));
  EXPECT_TRUE(helps(EventKind::kNodeTaint, tolerable, &bad));
  EXPECT_FALSE(helps(EventKind::kNodeTaint, tolerable, &good));
  EXPECT_FALSE(helps(EventKind::kNodeTaint, not_tolerable, &good));
  EXPECT_TRUE(helps(EventKind::kOwnTolerations, {}, nullptr));
}

}  // namespace
}  // namespace knx::plugins
