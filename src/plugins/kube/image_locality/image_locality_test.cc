#include "plugins/kube/image_locality/image_locality.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::AddPod;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;

constexpr std::int64_t kMi = 1024 * 1024;

TEST(ImageLocality, AddsTheTagThatIsMeant) {
  struct Case {
    std::string_view name, want;
  };
  const Case cases[] = {
      {"nginx", "nginx:latest"},
      {"nginx:1.27", "nginx:1.27"},
      {"host:5000/team/app", "host:5000/team/app:latest"},
      {"host:5000/team/app:v1", "host:5000/team/app:v1"},
      {"app@sha256:0123", "app@sha256:0123"},
      {"", ":latest"},
  };
  for (const Case& c : cases) EXPECT_EQ(NormalizedImageName(c.name), c.want);
}

// The expected scores were computed with kube-scheduler's formula in Go.
TEST(ImageLocality, PrefersNodesThatHaveMoreOfTheImages) {
  cluster::State state;
  const cluster::NodeRow rows[] = {
      AddNode(state, NodeBuilder("n1").Image("small:latest", 40 * kMi).Image("big:1", 700 * kMi)),
      AddNode(state, NodeBuilder("n2").Image("small:latest", 40 * kMi).Image("huge:1", 4000 * kMi)),
      AddNode(state, NodeBuilder("n3").Image("unusual:1", 333'333'333)),
  };
  const ImageLocality plugin;
  const auto ask = [&](const k8s::Pod& pod) {
    const auto prepared = plugin.PreScore(testing::View(state, AddPod(state, pod)));
    EXPECT_EQ(prepared.outcome.code, framework::Code::kSuccess);
    EXPECT_EQ(prepared.scope, framework::Scope::kFacts);
    EXPECT_FALSE(prepared.scorer->normalizes());
    return testing::Scores(prepared, rows);
  };
  using Scores = std::vector<std::int64_t>;
  EXPECT_EQ(ask(PodBuilder("unknown").Image("other")), (Scores{0, 0, 0}));
  EXPECT_EQ(ask(PodBuilder("small").Image("small")), (Scores{0, 0, 0}));
  EXPECT_EQ(ask(PodBuilder("big").Image("big:1")), (Scores{21, 0, 0}));
  EXPECT_EQ(ask(PodBuilder("huge").Image("huge:1")), (Scores{0, 100, 0}));
  EXPECT_EQ(ask(PodBuilder("unusual").Image("unusual:1")), (Scores{0, 0, 8}));
  EXPECT_EQ(ask(PodBuilder("two").Image("big:1").Container().Image("big:1")), (Scores{22, 0, 0}));
  EXPECT_EQ(ask(PodBuilder("init").Image("big:1").InitContainer().Image("small")),
            (Scores{11, 0, 0}));
  EXPECT_EQ(ask(PodBuilder("volume").Image("other").ImageVolume("big:1")), (Scores{21, 0, 0}));
}

TEST(ImageLocality, IsPreparedAnewWhenItsImagesChange) {
  cluster::State state;
  AddNode(state, NodeBuilder("n1").Image("big:1", 700 * kMi));
  const cluster::NodeRow n2 = AddNode(state, NodeBuilder("n2"));
  const ImageLocality plugin;
  const cluster::PodId pod = AddPod(state, PodBuilder("p").Image("big:1"));
  const auto prepare = [&] { return plugin.PreScore(testing::View(state, pod)); };
  auto prepared = prepare();

  // An image that the pod does not use, an update without news, a node's image list that changes
  // elsewhere.
  AddNode(state, NodeBuilder("n2").Image("other:1", 5 * kMi));
  EXPECT_TRUE(prepared.scorer->Current());
  AddNode(state, NodeBuilder("n1").Image("big:1", 700 * kMi));
  EXPECT_TRUE(prepared.scorer->Current());
  EXPECT_EQ(testing::ScoreOf(prepared, n2), 0);

  AddNode(state, NodeBuilder("n2").Image("big:1", 700 * kMi));
  EXPECT_FALSE(prepared.scorer->Current()) << "one more node has it";
  prepared = prepare();
  EXPECT_EQ(testing::ScoreOf(prepared, n2), 69);

  AddNode(state, NodeBuilder("n3"));
  EXPECT_FALSE(prepared.scorer->Current()) << "there are more nodes";
  prepared = prepare();
  EXPECT_EQ(testing::ScoreOf(prepared, n2), 45);

  AddNode(state, NodeBuilder("n1"));
  prepared = prepare();
  AddNode(state, NodeBuilder("n2").Image("big:1", 900 * kMi));
  EXPECT_FALSE(prepared.scorer->Current()) << "its size changed";
  AddNode(state, NodeBuilder("n2"));
  EXPECT_FALSE(prepared.scorer->Current()) << "no node has it any more";
}

TEST(ImageLocality, DoesNotMindNodesWhileNoneHasItsImages) {
  cluster::State state;
  const cluster::NodeRow n1 = AddNode(state, NodeBuilder("n1"));
  const ImageLocality plugin;
  const cluster::PodId pod = AddPod(state, PodBuilder("p").Image("big:1"));
  const auto prepared = plugin.PreScore(testing::View(state, pod));
  EXPECT_EQ(testing::ScoreOf(prepared, n1), 0);
  AddNode(state, NodeBuilder("n2").Image("other:1", 5 * kMi));
  EXPECT_TRUE(prepared.scorer->Current());
  AddNode(state, NodeBuilder("n3").Image("big:1", 700 * kMi));
  EXPECT_FALSE(prepared.scorer->Current());
}

TEST(ImageLocality, SurvivesAbsurdSizes) {
  cluster::State state;
  const cluster::NodeRow row = AddNode(
      state,
      NodeBuilder("n").Image("a:1", INT64_MAX).Image("b:1", INT64_MAX).Image("c:1", INT64_MIN));
  const ImageLocality plugin;
  const cluster::PodId pod =
      AddPod(state, PodBuilder("p").Image("a:1").Container().Image("b:1").Container().Image("c:1"));
  const std::int64_t score = testing::ScoreOf(plugin.PreScore(testing::View(state, pod)), row);
  EXPECT_GE(score, 0);
  EXPECT_LE(score, framework::kMaxScore);
}

}  // namespace
}  // namespace knx::plugins
