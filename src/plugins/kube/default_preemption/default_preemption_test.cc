#include "plugins/kube/default_preemption/default_preemption.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddPod;
using cluster::testing::PodBuilder;

framework::PreemptionArgs ArgsOf(const framework::Plugin& plugin) {
  cluster::State state;
  const cluster::PodId pod = AddPod(state, PodBuilder("p"));
  const auto result =
      dynamic_cast<const DefaultPreemption&>(plugin).PostFilter(testing::View(state, pod), {});
  return result.preempt.value();
}

TEST(DefaultPreemption, SaysHowFarToLook) {
  struct Case {
    std::string_view yaml;
    std::int32_t percent, least;
  };
  const Case cases[] = {
      {"", 10, 100},
      {"{minCandidateNodesPercentage: 100}", 100, 100},
      {"{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 1}", 0, 1},
      {"{kind: DefaultPreemptionArgs, minCandidateNodesAbsolute: 0}", 10, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.yaml);
    const auto made = testing::MakeFromYaml(&DefaultPreemption::Make, c.yaml);
    ASSERT_TRUE(made.ok()) << made.error().ToString();
    const framework::PreemptionArgs args = ArgsOf(**made);
    EXPECT_EQ(args.min_candidates_percent, c.percent);
    EXPECT_EQ(args.min_candidates, c.least);
  }
}

TEST(DefaultPreemption, RefusesArgumentsThatMakeNoSense) {
  struct Case {
    std::string_view yaml, want;
  };
  const Case cases[] = {
      {"{minCandidateNodesPercentage: 101}", "minCandidateNodesPercentage"},
      {"{minCandidateNodesPercentage: -1}", "minCandidateNodesPercentage"},
      {"{minCandidateNodesAbsolute: -1}", "minCandidateNodesAbsolute"},
      {"{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}", "cannot both be zero"},
      {"{minCandidates: 1}", "minCandidates"},
      {"{kind: NodeAffinityArgs}", "DefaultPreemptionArgs"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.yaml);
    const auto made = testing::MakeFromYaml(&DefaultPreemption::Make, c.yaml);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().ToString().find(c.want), std::string::npos) << made.error().ToString();
  }
}

TEST(DefaultPreemption, KeepsAPodOutOfTheQueueWhileOthersAreAskedToGo) {
  cluster::State state;
  const DefaultPreemption plugin;
  const cluster::PodId pod = AddPod(state, PodBuilder("p"));
  EXPECT_TRUE(plugin.PreEnqueue(testing::View(state, pod)).ok());
  state.SetMakingRoom(pod, true);
  const framework::Outcome waits = plugin.PreEnqueue(testing::View(state, pod));
  EXPECT_EQ(waits.code, framework::Code::kUnresolvable);
  EXPECT_EQ(waits.reason, "waiting for the preemption for this pod to be finished");
  state.SetMakingRoom(pod, false);
  EXPECT_TRUE(plugin.PreEnqueue(testing::View(state, pod)).ok());
  EXPECT_TRUE(plugin.PreEnqueue({state, state.class_of(pod), cluster::PodId{}}).ok());
}

TEST(DefaultPreemption, AsksAgainWhenAPodHasLeft) {
  const DefaultPreemption plugin;
  EXPECT_TRUE(plugin.events().Contains(framework::EventKind::kAssignedPodDelete));
  EXPECT_FALSE(plugin.events().Contains(framework::EventKind::kNodeAdd));
}

}  // namespace
}  // namespace knx::plugins
