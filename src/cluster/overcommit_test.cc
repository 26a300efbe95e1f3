#include "cluster/overcommit.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"

namespace knx::cluster {
namespace {

using testing::NodeBuilder;
using testing::PodBuilder;

TEST(IsOvercommitted, SaysWhetherTheNodeHasLessThanItsPodsAskFor) {
  struct Case {
    std::string_view name;
    std::vector<k8s::Pod> pods;
    bool want;
  };
  const Case cases[] = {
      {"nothing", {}, false},
      {"all of it", {PodBuilder("p").Asks("cpu", "2").On("n")}, false},
      {"more cpu",
       {PodBuilder("p").Asks("cpu", "2").On("n"), PodBuilder("q").Asks("cpu", "1m").On("n")},
       true},
      {"a resource that it does not have", {PodBuilder("p").Asks("x.io/gpu", "1").On("n")}, true},
      {"too many pods",
       {PodBuilder("p").On("n"), PodBuilder("q").On("n"), PodBuilder("r").On("n")},
       true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    State state;
    for (const k8s::Pod& pod : c.pods) state.AddPod(pod);
    const NodeRow before = state.nodes().Find("n");
    EXPECT_FALSE(IsOvercommitted(state, before));  // nobody knows yet what it has
    state.UpsertNode(NodeBuilder("n").Has("cpu", "2").Has("pods", "2"));
    EXPECT_EQ(IsOvercommitted(state, state.nodes().Find("n")), c.want);
  }
}

}  // namespace
}  // namespace knx::cluster
