#include "plugins/kube/node_resources_fit/node_resources_fit.h"

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
using Strategy = NodeResourcesFitArgs::Strategy;
using testing::Answer;

NodeBuilder Node() {
  return NodeBuilder("n")
      .Has("pods", "3")
      .Has("cpu", "4")
      .Has("memory", "8Gi")
      .Has("ephemeral-storage", "20Gi");
}

TEST(NodeResourcesFit, RejectsNodesWithoutRoom) {
  struct Case {
    std::string_view name;
    PodBuilder pod;
    Answer want;
    NodeBuilder node = Node();
    PodBuilder present = PodBuilder("present");
  };
  const Case cases[] = {
      {"a pod that asks for nothing", PodBuilder("p"), testing::Fits()},
      {"just all of it", PodBuilder("p").Asks("cpu", "4").Asks("memory", "8Gi"), testing::Fits()},
      {"one too many pods", PodBuilder("p"), testing::NotNow({"Too many pods"}),
       Node().Has("pods", "1")},
      {"no room for pods at all", PodBuilder("p"), testing::NotNow({"Too many pods"}),
       Node().Has("pods", "0")},
      {"more cpu than is free", PodBuilder("p").Asks("cpu", "1500m"),
       testing::NotNow({"Insufficient cpu"}), Node(), PodBuilder("q").Asks("cpu", "3")},
      {"more cpu than there is", PodBuilder("p").Asks("cpu", "4001m"),
       testing::Never({"Insufficient cpu"})},
      {"everything, in order",
       PodBuilder("p")
           .Asks("cpu", "1")
           .Asks("memory", "1Gi")
           .Asks("ephemeral-storage", "1Gi")
           .Asks("example.com/b", "1")
           .Asks("example.com/a", "1"),
       testing::NotNow({"Too many pods", "Insufficient cpu", "Insufficient memory",
                        "Insufficient ephemeral-storage", "Insufficient example.com/a",
                        "Insufficient example.com/b"}),
       Node().Has("pods", "1").Has("example.com/a", "1").Has("example.com/b", "1"),
       PodBuilder("q")
           .Asks("cpu", "4")
           .Asks("memory", "8Gi")
           .Asks("ephemeral-storage", "20Gi")
           .Asks("example.com/a", "1")
           .Asks("example.com/b", "1")},
      {"one beyond the node, another only taken",
       PodBuilder("p").Asks("cpu", "1").Asks("memory", "9Gi"),
       testing::Never({"Insufficient cpu", "Insufficient memory"}), Node(),
       PodBuilder("q").Asks("cpu", "4")},
      {"a resource the node does not know", PodBuilder("p").Asks("nvidia.com/gpu", "1"),
       testing::Never({"Insufficient nvidia.com/gpu"})},
      {"zero of a resource the node does not know", PodBuilder("p").Asks("nvidia.com/gpu", "0"),
       testing::Fits()},
      {"huge pages", PodBuilder("p").Asks("hugepages-2Mi", "4Mi"),
       testing::NotNow({"Insufficient hugepages-2Mi"}), Node().Has("hugepages-2Mi", "4Mi"),
       PodBuilder("q").Asks("hugepages-2Mi", "2Mi")},
      {"the peak of an init container", PodBuilder("p").InitContainer().Asks("cpu", "5"),
       testing::Never({"Insufficient cpu"})},
      {"overhead", PodBuilder("p").Asks("cpu", "4").Overhead("cpu", "1m"),
       testing::Never({"Insufficient cpu"})},
      {"the pod as a whole", PodBuilder("p").Asks("cpu", "1").AsksAsAWhole("cpu", "5"),
       testing::Never({"Insufficient cpu"})},
      {"an over-committed node still takes what it has plenty of",
       PodBuilder("p").Asks("memory", "1Gi"), testing::Fits(), Node(),
       PodBuilder("q").Asks("cpu", "9")},
  };
  const NodeResourcesFit plugin({});
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    cluster::State state;
    const cluster::NodeRow row = AddNode(state, c.node);
    PodBuilder present = c.present;
    if (c.name.find("at all") == std::string_view::npos) AddPod(state, present.On("n"));
    const auto prepared = plugin.PreFilter(testing::View(state, AddPod(state, c.pod)));
    EXPECT_EQ(prepared.scope, framework::Scope::kUsage);
    EXPECT_EQ(testing::Judge(prepared, row), c.want);
  }
}

TEST(NodeResourcesFit, NamesExtendedResourcesInTheSameOrderWhoeverCameFirst) {
  const NodeResourcesFit plugin({});
  const auto pod = PodBuilder("p").Asks("example.com/a", "1").Asks("example.com/b", "1");
  for (const char* first : {"example.com/a", "example.com/b"}) {
    cluster::State state;
    AddNode(state, NodeBuilder("other").Has(first, "1"));
    const cluster::NodeRow row = AddNode(state, Node());
    EXPECT_EQ(testing::Judge(plugin.PreFilter(testing::View(state, AddPod(state, pod))), row),
              testing::Never({"Insufficient example.com/a", "Insufficient example.com/b"}));
  }
}

TEST(NodeResourcesFit, JudgesMorePodsResourcesThanAVerdictCanName) {
  cluster::State state;
  PodBuilder pod("p");
  NodeBuilder node = Node();
  for (int i = 100; i < 170; ++i) {
    pod.Asks("example.com/r" + std::to_string(i), "1");
    node.Has("example.com/r" + std::to_string(i), "1");
  }
  const NodeResourcesFit plugin({});
  const auto prepared = plugin.PreFilter(testing::View(state, AddPod(state, pod)));
  const cluster::NodeRow row = AddNode(state, node);
  EXPECT_EQ(testing::Judge(prepared, row), testing::Fits());
  AddNode(state, NodeBuilder(node).Has("example.com/r100", "0").Has("example.com/r169", "0"));
  EXPECT_EQ(
      testing::Judge(prepared, row),
      testing::Never({"Insufficient example.com/r100", "Insufficient one of 8 more resources"}));
}

TEST(NodeResourcesFit, IgnoresWhatItIsToldToIgnore) {
  NodeResourcesFitArgs args;
  args.ignored_resources = {"example.com/a", "hugepages-2Mi"};
  args.ignored_resource_groups = {"example.org"};
  const NodeResourcesFit plugin(args);
  cluster::State state;
  const cluster::NodeRow row = AddNode(state, Node());
  const auto ask = [&](std::string resource) {
    const cluster::PodId pod = AddPod(state, PodBuilder(resource).Asks(resource, "1"));
    framework::ClusterEvent event;
    event.kind = framework::EventKind::kNodeAdd;
    event.row = row;
    const Answer answer = testing::Judge(plugin.PreFilter(testing::View(state, pod)), row);
    EXPECT_EQ(plugin.MayHelp(event, testing::View(state, pod)), answer == testing::Fits());
    return answer;
  };
  EXPECT_EQ(ask("example.com/a"), testing::Fits());
  EXPECT_EQ(ask("example.com/b"), testing::Never({"Insufficient example.com/b"}));
  EXPECT_EQ(ask("example.org/x"), testing::Fits());
  EXPECT_EQ(ask("example.orgs/x"), testing::Never({"Insufficient example.orgs/x"}));
  // Only extended resources can be ignored.
  EXPECT_EQ(ask("hugepages-2Mi"), testing::Never({"Insufficient hugepages-2Mi"}));
}

TEST(NodeResourcesFit, SeesPodsAndNodesChange) {
  cluster::State state;
  const cluster::NodeRow row = AddNode(state, Node());
  const NodeResourcesFit plugin({});
  const cluster::PodId pod = AddPod(state, PodBuilder("p").Asks("cpu", "2"));
  const auto filter = plugin.PreFilter(testing::View(state, pod));
  const auto score = plugin.PreScore(testing::View(state, pod));
  EXPECT_EQ(testing::Judge(filter, row), testing::Fits());
  EXPECT_EQ(testing::ScoreOf(score, row), (50 + 97) / 2);
  const cluster::PodId other = AddPod(state, PodBuilder("q").Asks("cpu", "3"));
  state.Assume(other, row);
  EXPECT_EQ(testing::Judge(filter, row), testing::NotNow({"Insufficient cpu"}));
  EXPECT_EQ(testing::ScoreOf(score, row), (0 + 95) / 2);
  AddNode(state, Node().Has("cpu", "10"));
  EXPECT_EQ(testing::Judge(filter, row), testing::Fits());
  EXPECT_EQ(testing::ScoreOf(score, row), (50 + 95) / 2);
  state.Displace(other);
  EXPECT_EQ(testing::ScoreOf(score, row), (80 + 97) / 2);
  EXPECT_TRUE(filter.filter->Current());
  EXPECT_TRUE(score.scorer->Current());
}

TEST(NodeResourcesFit, ScoresAsKubeSchedulerDoes) {
  NodeResourcesFitArgs args;
  args.resources = {{"cpu", 3}, {"memory", 1}, {"nvidia.com/gpu", 5}};
  args.shape = {{0, 0}, {33, 7}, {80, 1}, {100, 10}};
  const auto score = [&](Strategy strategy, const testing::ScoredCase& c) {
    NodeResourcesFitArgs with = args;
    with.strategy = strategy;
    const NodeResourcesFit plugin(with);
    cluster::State state;
    const auto [row, pod] = testing::Fill(state, c);
    const auto prepared = plugin.PreScore(testing::View(state, pod));
    EXPECT_EQ(prepared.scope, framework::Scope::kUsage);
    EXPECT_FALSE(prepared.scorer->normalizes());
    return testing::ScoreOf(prepared, row);
  };
  for (std::size_t i = 0; i < std::size(testing::kScoredCases); ++i) {
    SCOPED_TRACE(i);
    const testing::ScoredCase& c = testing::kScoredCases[i];
    EXPECT_EQ(score(Strategy::kLeastAllocated, c), c.least_allocated);
    EXPECT_EQ(score(Strategy::kMostAllocated, c), c.most_allocated);
    EXPECT_EQ(score(Strategy::kRequestedToCapacityRatio, c), c.ratio);
  }
}

TEST(NodeResourcesFit, ScoresWhatPodsAreAssumedToUse) {
  cluster::State state;
  const cluster::NodeRow row =
      AddNode(state, NodeBuilder("n").Has("cpu", "1").Has("memory", "2000Mi"));
  const NodeResourcesFit plugin({});
  const auto score = [&](const k8s::Pod& pod) {
    return testing::ScoreOf(plugin.PreScore(testing::View(state, AddPod(state, pod))), row);
  };
  EXPECT_EQ(score(PodBuilder("says nothing")), 90);
  EXPECT_EQ(score(PodBuilder("two containers").Container()), 80);
  EXPECT_EQ(score(PodBuilder("explicit zeros").Asks("cpu", "0").Asks("memory", "0")), 100);
  // A quirk of kube-scheduler: of the pod to be placed only the containers count.
  EXPECT_EQ(score(PodBuilder("as a whole").AsksAsAWhole("cpu", "1").AsksAsAWhole("memory", "1Gi")),
            90);
  AddPod(state, PodBuilder("there").AsksAsAWhole("cpu", "500m").On("n"));
  EXPECT_EQ(score(PodBuilder("beside one as a whole")), (40 + 80) / 2);
}

TEST(NodeResourcesFit, LeavesOutResourcesThatDoNotCount) {
  NodeResourcesFitArgs args;
  args.resources = {{"cpu", 1}, {"nvidia.com/gpu", 1}, {"pods", 1}, {"unknown", 1}};
  const NodeResourcesFit plugin(args);
  cluster::State state;
  const cluster::NodeRow rows[] = {
      AddNode(state, NodeBuilder("plain").Has("cpu", "4").Has("pods", "10")),
      AddNode(state, NodeBuilder("gpu").Has("cpu", "4").Has("nvidia.com/gpu", "4")),
      AddNode(state, NodeBuilder("nothing")),
  };
  const auto scores = [&](const k8s::Pod& pod) {
    return testing::Scores(plugin.PreScore(testing::View(state, AddPod(state, pod))), rows);
  };
  using Scores = std::vector<std::int64_t>;
  EXPECT_EQ(scores(PodBuilder("cpu").Asks("cpu", "1")), (Scores{75, 75, 0}));
  EXPECT_EQ(scores(PodBuilder("both").Asks("cpu", "1").Asks("nvidia.com/gpu", "3")),
            (Scores{75, 50, 0}));
}

TEST(NodeResourcesFit, DrawsStraightLinesBetweenThePointsOfAShape) {
  const ScoreByUse rising = ScoresOfShape({{0, 0}, {100, 10}});
  for (std::size_t use = 0; use <= 100; ++use) {
    EXPECT_EQ(rising[use], static_cast<std::int64_t>(use));
  }
  const ScoreByUse inner = ScoresOfShape({{40, 2}, {70, 9}});
  EXPECT_EQ(inner[0], 20);
  EXPECT_EQ(inner[40], 20);
  EXPECT_EQ(inner[41], 22);
  EXPECT_EQ(inner[70], 90);
  EXPECT_EQ(inner[100], 90);
  const ScoreByUse falling = ScoresOfShape({{0, 10}, {3, 0}});
  EXPECT_EQ(falling[1], 67) << "rounded towards the point before";
  EXPECT_EQ(ScoresOfShape({{50, 3}})[99], 30);
}

TEST(NodeResourcesFit, SurvivesAbsurdAmounts) {
  const std::string huge = "9223372036854775807";
  const auto greedy = [&](std::string name) {
    return PodBuilder(std::move(name))
        .Asks("cpu", huge)
        .Asks("memory", huge)
        .Asks("nvidia.com/gpu", huge);
  };
  for (const Strategy strategy :
       {Strategy::kLeastAllocated, Strategy::kMostAllocated, Strategy::kRequestedToCapacityRatio}) {
    cluster::State state;
    const cluster::NodeRow row = AddNode(state, NodeBuilder("n")
                                                    .Has("pods", huge)
                                                    .Has("cpu", huge)
                                                    .Has("memory", huge)
                                                    .Has("nvidia.com/gpu", huge));
    NodeResourcesFitArgs args;
    args.strategy = strategy;
    args.resources = {{"cpu", 100}, {"memory", 100}, {"nvidia.com/gpu", 100}};
    args.shape = {{0, 10}, {100, 0}};
    const NodeResourcesFit plugin(args);
    const cluster::PodId pod = AddPod(state, greedy("p"));
    for (const char* present : {"a", "b", "c"}) {
      testing::Judge(plugin.PreFilter(testing::View(state, pod)), row);
      const std::int64_t score = testing::ScoreOf(plugin.PreScore(testing::View(state, pod)), row);
      EXPECT_GE(score, 0);
      EXPECT_LE(score, framework::kMaxScore);
      AddPod(state, greedy(present).On("n"));
    }
  }
}

TEST(NodeResourcesFit, DividesAsIntegersDoUpToTheLargest) {
  for (const std::int64_t whole : {std::int64_t{1}, std::int64_t{3}, std::int64_t{7919},
                                   (std::int64_t{1} << 46) - 1, std::int64_t{1} << 46, INT64_MAX}) {
    for (int percent = 0; percent <= 100; ++percent) {
      const __int128 exact = static_cast<__int128>(whole) * percent / 100;
      for (const __int128 part : {exact - 1, exact, exact + 1}) {
        if (part < 0 || part > whole) continue;
        EXPECT_EQ(Percent(static_cast<std::int64_t>(part), whole),
                  static_cast<std::int64_t>(part * 100 / whole));
      }
    }
  }
}

}  // namespace
}  // namespace knx::plugins
