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

TEST(IsTooMuch, LooksOnlyAtWhatThePodAsksFor) {
  State state;
  state.UpsertNode(NodeBuilder("n").Has("cpu", "2").Has("pods", "3"));
  const PodId cpu = state.AddPod(PodBuilder("cpu").Asks("cpu", "3").On("n"));
  const PodId idle = state.AddPod(PodBuilder("idle").Asks("cpu", "0").On("n"));
  EXPECT_TRUE(IsTooMuch(state, cpu, Among::kBound));
  EXPECT_FALSE(IsTooMuch(state, idle, Among::kBound));
  state.AddPod(PodBuilder("third").On("n"));
  EXPECT_FALSE(IsTooMuch(state, idle, Among::kBound));
  state.AddPod(PodBuilder("fourth").On("n"));
  EXPECT_TRUE(IsTooMuch(state, idle, Among::kBound)) << "a place is what every pod asks for";
}

TEST(IsTooMuch, LeavesOutThoseThatAreOnlyAssumedToCome) {
  State state;
  state.UpsertNode(NodeBuilder("n").Has("cpu", "2").Has("pods", "3"));
  const PodId assumed = state.AddPod(PodBuilder("assumed").Asks("cpu", "1"));
  state.Assume(assumed, state.nodes().Find("n"));
  const PodId bound = state.AddPod(PodBuilder("bound").Asks("cpu", "2").On("n"));
  EXPECT_TRUE(IsTooMuch(state, bound, Among::kAll));
  EXPECT_FALSE(IsTooMuch(state, bound, Among::kBound));
  EXPECT_TRUE(IsTooMuch(state, assumed, Among::kBound)) << "it comes itself";
}

}  // namespace
}  // namespace knx::cluster
