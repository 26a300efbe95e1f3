#include "plugins/kube/node_resources_balanced_allocation/node_resources_balanced_allocation.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "plugins/testing/asked.h"
#include "plugins/testing/scored_cases.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::AddPod;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;

using Balanced = NodeResourcesBalancedAllocation;

const Balanced kOfThree({{{"cpu", 1}, {"memory", 1}, {"nvidia.com/gpu", 1}}});

TEST(NodeResourcesBalancedAllocation, ScoresAsKubeSchedulerDoes) {
  const Balanced of_two({});
  for (std::size_t i = 0; i < std::size(testing::kScoredCases); ++i) {
    SCOPED_TRACE(i);
    const testing::ScoredCase& c = testing::kScoredCases[i];
    cluster::State state;
    const auto [row, pod] = testing::Fill(state, c);
    const auto prepared = of_two.PreScore(testing::View(state, pod));
    EXPECT_EQ(prepared.scope, framework::Scope::kUsage);
    EXPECT_FALSE(prepared.scorer->normalizes());
    EXPECT_EQ(testing::ScoreOf(prepared, row), c.balanced_two);
    EXPECT_EQ(testing::ScoreOf(kOfThree.PreScore(testing::View(state, pod)), row),
              c.balanced_three);
  }
}

TEST(NodeResourcesBalancedAllocation, HasNothingToSayAboutPodsThatAskForNothing) {
  cluster::State state;
  const Balanced of_two({});
  const auto skips = [&](const Balanced& plugin, const k8s::Pod& pod) {
    return plugin.PreScore(testing::View(state, AddPod(state, pod))).outcome.code ==
           framework::Code::kSkip;
  };
  EXPECT_TRUE(skips(of_two, PodBuilder("nothing")));
  EXPECT_TRUE(skips(of_two, PodBuilder("zero").Asks("cpu", "0")));
  EXPECT_TRUE(skips(of_two, PodBuilder("something else").Asks("nvidia.com/gpu", "1")));
  EXPECT_FALSE(skips(kOfThree, PodBuilder("something listed").Asks("nvidia.com/gpu", "1")));
  EXPECT_FALSE(skips(of_two, PodBuilder("memory").Asks("memory", "1")));
  EXPECT_FALSE(skips(of_two, PodBuilder("as a whole").AsksAsAWhole("cpu", "1")));
}

TEST(NodeResourcesBalancedAllocation, LeavesOutExtendedResourcesThePodDoesNotAskFor) {
  cluster::State state;
  const cluster::NodeRow row = AddNode(
      state, NodeBuilder("n").Has("cpu", "4").Has("memory", "4Gi").Has("nvidia.com/gpu", "4"));
  AddPod(state, PodBuilder("present").Asks("nvidia.com/gpu", "4").On("n"));
  const cluster::PodId even =
      AddPod(state, PodBuilder("even").Asks("cpu", "2").Asks("memory", "2Gi"));
  EXPECT_EQ(testing::ScoreOf(kOfThree.PreScore(testing::View(state, even)), row), 75);
  // cpu is counted although the pod does not ask for it; that only it has a limit is for extended
  // resources.
  const cluster::PodId lopsided = AddPod(state, PodBuilder("lopsided").Asks("memory", "2Gi"));
  EXPECT_EQ(testing::ScoreOf(kOfThree.PreScore(testing::View(state, lopsided)), row), 62);
}

TEST(NodeResourcesBalancedAllocation, FollowsTheNode) {
  cluster::State state;
  const cluster::NodeRow row =
      AddNode(state, NodeBuilder("n").Has("cpu", "4").Has("memory", "4Gi"));
  const Balanced plugin({});
  const auto prepared =
      plugin.PreScore(testing::View(state, AddPod(state, PodBuilder("p").Asks("cpu", "1"))));
  EXPECT_EQ(testing::ScoreOf(prepared, row), 68);
  const cluster::PodId other = AddPod(state, PodBuilder("q").Asks("memory", "2Gi").On("n"));
  EXPECT_EQ(testing::ScoreOf(prepared, row), 81);
  AddNode(state, NodeBuilder("n").Has("cpu", "2").Has("memory", "4Gi"));
  EXPECT_EQ(testing::ScoreOf(prepared, row), 87);
  state.RemovePod(other);
  EXPECT_EQ(testing::ScoreOf(prepared, row), 62);
  EXPECT_TRUE(prepared.scorer->Current());
}

TEST(NodeResourcesBalancedAllocation, SurvivesAbsurdAmounts) {
  cluster::State state;
  const cluster::NodeRow row = AddNode(
      state, NodeBuilder("n").Has("cpu", "1m").Has("memory", "1").Has("nvidia.com/gpu", "1"));
  const std::string huge = "9223372036854775807";
  const auto greedy = [&](std::string name) {
    return PodBuilder(std::move(name))
        .Asks("cpu", huge)
        .Asks("memory", huge)
        .Asks("nvidia.com/gpu", huge);
  };
  for (const char* name : {"a", "b", "c"}) AddPod(state, greedy(name).On("n"));
  const cluster::PodId pod = AddPod(state, greedy("p"));
  const std::int64_t score = testing::ScoreOf(kOfThree.PreScore(testing::View(state, pod)), row);
  EXPECT_GE(score, 0);
  EXPECT_LE(score, framework::kMaxScore);
}

TEST(NodeResourcesBalancedAllocation, ReadsItsArguments) {
  const auto make = [](std::string_view yaml) {
    return testing::MakeFromYaml(&Balanced::Make, yaml);
  };
  EXPECT_TRUE(make("resources: []").ok());
  EXPECT_TRUE(make("resources: [{name: cpu}, {name: nvidia.com/gpu, weight: 1}]").ok());
  EXPECT_TRUE(make("resources: [{name: cpu, weight: 0}]").ok());
  struct Case {
    std::string_view yaml, want;
  };
  const Case cases[] = {
      {"resources: [{name: cpu, weight: 2}]", "args.resources[0].weight"},
      {"resources: [{weight: 1}]", "name"},
      {"resources: [{name: cpu}, {name: memory}, {name: cpu}]", "\"cpu\" is given twice"},
      {"resource: []", "resource"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.yaml);
    const auto plugin = make(c.yaml);
    ASSERT_FALSE(plugin.ok());
    EXPECT_NE(plugin.error().message.find(c.want), std::string::npos) << plugin.error().message;
  }
}

}  // namespace
}  // namespace knx::plugins
