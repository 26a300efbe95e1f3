#include "plugins/kube/node_unschedulable/node_unschedulable.h"

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

k8s::Toleration Tolerate(std::string key, k8s::TolerationOperator op, k8s::TaintEffect effect) {
  return {std::move(key), "", op, effect, {}};
}

TEST(NodeUnschedulable, RejectsMarkedNodesUnlessThePodToleratesThat) {
  using Op = k8s::TolerationOperator;
  using Effect = k8s::TaintEffect;
  const char* const taint = "node.kubernetes.io/unschedulable";
  struct Case {
    std::string_view name;
    std::vector<k8s::Toleration> tolerations;
    bool fits;
  };
  const Case cases[] = {
      {"no toleration", {}, false},
      {"the key exists", {Tolerate(taint, Op::kExists, Effect::kNoSchedule)}, true},
      {"equal to the empty value", {Tolerate(taint, Op::kEqual, Effect::kNoSchedule)}, true},
      {"any effect", {Tolerate(taint, Op::kExists, Effect::kNone)}, true},
      {"everything", {Tolerate("", Op::kExists, Effect::kNone)}, true},
      {"another effect", {Tolerate(taint, Op::kExists, Effect::kNoExecute)}, false},
      {"another key", {Tolerate("other", Op::kExists, Effect::kNoSchedule)}, false},
  };
  const NodeUnschedulable plugin;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    cluster::State state;
    const cluster::NodeRow open = AddNode(state, NodeBuilder("open"));
    const cluster::NodeRow closed = AddNode(state, NodeBuilder("closed").Unschedulable());
    PodBuilder pod("p");
    for (const k8s::Toleration& toleration : c.tolerations) pod.Tolerates(toleration);
    const auto prepared = plugin.PreFilter(testing::View(state, AddPod(state, pod)));
    EXPECT_EQ(prepared.scope, framework::Scope::kFacts);
    EXPECT_EQ(testing::Judge(prepared, open), testing::Fits());
    EXPECT_EQ(testing::Judge(prepared, closed),
              c.fits ? testing::Fits() : testing::Never({"node(s) were unschedulable"}));
  }
}

TEST(NodeUnschedulable, ReadsWhatTheNodeSaysNow) {
  cluster::State state;
  const cluster::NodeRow row = AddNode(state, NodeBuilder("n"));
  const NodeUnschedulable plugin;
  const auto prepared = plugin.PreFilter(testing::View(state, AddPod(state, PodBuilder("p"))));
  EXPECT_EQ(testing::Judge(prepared, row), testing::Fits());
  AddNode(state, NodeBuilder("n").Unschedulable());
  EXPECT_TRUE(prepared.filter->Current());
  EXPECT_EQ(testing::Judge(prepared, row).code, framework::Code::kUnresolvable);
  AddNode(state, NodeBuilder("n"));
  EXPECT_EQ(testing::Judge(prepared, row), testing::Fits());
}

TEST(NodeUnschedulable, IsHelpedByNodesThatOpen) {
  cluster::NodeFacts closed, open;
  closed.unschedulable = true;
  struct Case {
    std::string_view name;
    EventKind kind;
    const cluster::NodeFacts* before;
    bool closed_now;
    bool helps;
  };
  const Case cases[] = {
      {"a new open node", EventKind::kNodeAdd, nullptr, false, true},
      {"a new closed node", EventKind::kNodeAdd, nullptr, true, false},
      {"a node opens", EventKind::kNodeTaint, &closed, false, true},
      {"a node stays open", EventKind::kNodeTaint, &open, false, false},
      {"a node closes", EventKind::kNodeTaint, &open, true, false},
  };
  const NodeUnschedulable plugin;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    cluster::State state;
    framework::ClusterEvent event;
    event.kind = c.kind;
    event.node_before = c.before;
    event.row = AddNode(state, NodeBuilder("n").Unschedulable(c.closed_now));
    const cluster::PodId pod = AddPod(state, PodBuilder("p"));
    EXPECT_TRUE(plugin.events().Contains(c.kind));
    EXPECT_EQ(plugin.MayHelp(event, testing::View(state, pod)), c.helps);
  }
}

TEST(NodeUnschedulable, IsHelpedByTheRightToleration) {
  cluster::State state;
  const NodeUnschedulable plugin;
  framework::ClusterEvent event;
  event.kind = EventKind::kOwnTolerations;
  const auto exists = k8s::TolerationOperator::kExists;
  const cluster::PodId right =
      AddPod(state, PodBuilder("right").Tolerates(Tolerate("node.kubernetes.io/unschedulable",
                                                           exists, k8s::TaintEffect::kNoSchedule)));
  const cluster::PodId wrong = AddPod(state, PodBuilder("wrong").Tolerates(Tolerate(
                                                 "other", exists, k8s::TaintEffect::kNoSchedule)));
  EXPECT_TRUE(plugin.MayHelp(event, testing::View(state, right)));
  EXPECT_FALSE(plugin.MayHelp(event, testing::View(state, wrong)));
}

}  // namespace
}  // namespace knx::plugins
