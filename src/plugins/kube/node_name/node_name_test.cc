#include "plugins/kube/node_name/node_name.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::AddPod;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;

TEST(NodeName, AcceptsTheNamedNodeOnly) {
  cluster::State state;
  const cluster::NodeRow wanted = AddNode(state, NodeBuilder("wanted"));
  const cluster::NodeRow other = AddNode(state, NodeBuilder("other"));
  // The state takes a pod with a node name for placed, so the class is made by hand.
  cluster::PodClass asks_by_name;
  asks_by_name.spec.node_name = "wanted";

  const NodeName plugin;
  const auto prepared = plugin.PreFilter({state, asks_by_name, cluster::PodId{}});
  EXPECT_TRUE(prepared.outcome.ok());
  EXPECT_EQ(prepared.scope, framework::Scope::kFacts);
  EXPECT_EQ(testing::Judge(prepared, wanted), testing::Fits());
  EXPECT_EQ(testing::Judge(prepared, other),
            testing::Never({"node(s) didn't match the requested node name"}));

  const cluster::NodeRow late = AddNode(state, NodeBuilder("late"));
  EXPECT_TRUE(prepared.filter->Current());
  EXPECT_EQ(testing::Judge(prepared, late).code, framework::Code::kUnresolvable);
}

TEST(NodeName, HasNothingToSayAboutOtherPods) {
  cluster::State state;
  const NodeName plugin;
  const auto prepared = plugin.PreFilter(testing::View(state, AddPod(state, PodBuilder("p"))));
  EXPECT_EQ(prepared.outcome.code, framework::Code::kSkip);
  EXPECT_FALSE(plugin.has_pre_filter());
  EXPECT_TRUE(plugin.has_filter());
}

TEST(NodeName, WaitsForNodesAndWithThemForTaints) {
  const NodeName plugin;
  for (const auto kind : {framework::EventKind::kNodeAdd, framework::EventKind::kNodeTaint}) {
    EXPECT_TRUE(plugin.events().Contains(kind));
  }
  EXPECT_FALSE(plugin.events().Contains(framework::EventKind::kNodeLabel));
}

}  // namespace
}  // namespace knx::plugins
