#include "engine/node_copies.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "k8s/names.h"

namespace knx::engine {
namespace {

using cluster::NodeRow;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;

class NodeCopiesTest : public ::testing::Test {
 protected:
  NodeCopiesTest() {
    state_.UpsertNode(NodeBuilder("n0")
                          .Has("cpu", "4")
                          .Has("pods", "10")
                          .Label("kubernetes.io/hostname", "n0")
                          .Label("rack", "r1"));
    k8s::NodeSelectorTerm term;
    term.match_fields.push_back({"metadata.name", k8s::SelectorOperator::kIn, {"n0"}});
    state_.AddPod(PodBuilder("agent").Asks("cpu", "1").Requires(term).On("n0"));
    state_.AddPod(PodBuilder("other").Asks("cpu", "2").On("n0"));
  }
  std::string Label(NodeRow row, std::string_view key) {
    return std::string(state_.words().Text(state_.nodes().Label(row, state_.words().Find(key))));
  }
  cluster::State state_;
};

TEST_F(NodeCopiesTest, AreLikeTheNodeWithWhatEveryNodeHas) {
  const NodeCopies copies(state_, state_.nodes().Find("n0"), 2);
  ASSERT_EQ(copies.rows().size(), 2U);
  EXPECT_EQ(state_.nodes().node_count(), 3U);
  for (const NodeRow row : copies.rows()) {
    EXPECT_EQ(state_.nodes().allocatable(cluster::kCpu)[row], 4000);
    EXPECT_EQ(state_.nodes().requested(cluster::kCpu)[row], 1000) << "of the agent";
    EXPECT_EQ(Label(row, "rack"), "r1");
    EXPECT_EQ(Label(row, k8s::names::kHostname), state_.nodes().name(row));
  }
}

TEST_F(NodeCopiesTest, MayHaveMore) {
  const cluster::ResourceAmount more[] = {{cluster::kCpu, 6000}, {cluster::kMemory, 1 << 20}};
  const NodeCopies copies(state_, state_.nodes().Find("n0"), 1, more);
  EXPECT_EQ(state_.nodes().allocatable(cluster::kCpu)[copies.rows()[0]], 6000);
  EXPECT_EQ(state_.nodes().allocatable(cluster::kMemory)[copies.rows()[0]], 1 << 20);
}

TEST_F(NodeCopiesTest, GoAgain) {
  state_.UpsertNode(NodeBuilder("node-that-would-help-1").Has("cpu", "1"));
  {
    const NodeCopies copies(state_, state_.nodes().Find("n0"), 1);
    EXPECT_EQ(state_.nodes().name(copies.rows()[0]), "node-that-would-help-2");
  }
  EXPECT_EQ(state_.nodes().node_count(), 2U);
  EXPECT_FALSE(state_.nodes().Find("node-that-would-help-2").valid());
  EXPECT_EQ(state_.Verify().value_or("equal"), "equal");
}

}  // namespace
}  // namespace knx::engine
