#include "engine/blocked_kinds.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"

namespace knx::engine {
namespace {

using cluster::testing::PodBuilder;

FailedAttempt SaidNo(std::initializer_list<std::uint8_t> plugins) {
  FailedAttempt attempt;
  for (const std::uint8_t plugin : plugins) attempt.rejected_by.Add(plugin);
  return attempt;
}

TEST(BlockedKinds, MembersThatAreAlikeAreOneKind) {
  cluster::State state;
  BlockedKinds kinds;
  const auto small = state.AddPod(PodBuilder("a").Asks("cpu", "1"));
  kinds.Add(state, small, SaidNo({1}));
  kinds.Add(state, state.AddPod(PodBuilder("b").Asks("cpu", "1")), SaidNo({2}));
  kinds.Add(state, state.AddPod(PodBuilder("c").Asks("cpu", "2")), SaidNo({3}));
  ASSERT_EQ(kinds.all().size(), 2U);
  EXPECT_EQ(kinds.all()[0].pod, small);
  EXPECT_TRUE(kinds.all()[0].Names(1));
  EXPECT_TRUE(kinds.all()[0].Names(2));
  EXPECT_FALSE(kinds.all()[0].Names(3));
  EXPECT_TRUE(kinds.all()[1].Names(3));
}

TEST(BlockedKinds, TheGangWaitsForWhateverHelpsOneOfThem) {
  cluster::State state;
  const auto a = state.AddPod(PodBuilder("a").Asks("cpu", "1"));
  const auto b = state.AddPod(PodBuilder("b").Asks("cpu", "2"));
  BlockedKinds kinds;
  kinds.Add(state, a, SaidNo({1}));
  kinds.Add(state, b, SaidNo({200}));
  FailedAttempt attempt = SaidNo({7});
  kinds.WidenTo(state, a, attempt);
  EXPECT_EQ(attempt.rejected_by, SaidNo({1, 7, 200}).rejected_by);
}

TEST(BlockedKinds, AnythingMayHelpWhoCannotSayWhoSaidNo) {
  cluster::State state;
  const auto a = state.AddPod(PodBuilder("a").Asks("cpu", "1"));
  k8s::Pod other = PodBuilder("b").Asks("cpu", "2");
  other.spec.scheduler_name = "another";
  const auto b = state.AddPod(other);
  struct Case {
    std::string_view name;
    FailedAttempt of_a, of_b;
  };
  const Case cases[] = {
      {"nobody said no", {}, {}},
      {"one of another profile did", SaidNo({1}), SaidNo({2})},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    BlockedKinds kinds;
    kinds.Add(state, a, c.of_a);
    kinds.Add(state, b, c.of_b);
    FailedAttempt attempt = SaidNo({7});
    kinds.WidenTo(state, a, attempt);
    EXPECT_TRUE(attempt.rejected_by.empty());
  }
}

TEST(BlockedKinds, WithVeryManyOfThemAnythingMayHelp) {
  cluster::State state;
  BlockedKinds kinds, all;
  for (std::size_t i = 0; i <= BlockedKinds::kMost; ++i) {
    const std::string number = std::to_string(i + 1);
    kinds.Add(state, state.AddPod(PodBuilder("p" + number).Asks("cpu", number)), SaidNo({1}));
  }
  EXPECT_EQ(kinds.all().size(), BlockedKinds::kMost);
  all.Add(state, kinds);
  FailedAttempt attempt = SaidNo({7});
  all.WidenTo(state, kinds.all()[0].pod, attempt);
  EXPECT_TRUE(attempt.rejected_by.empty());
}

TEST(BlockedKinds, WhoIsGoneMayHaveLeftOthersLikeIt) {
  cluster::State state;
  const auto a = state.AddPod(PodBuilder("a").Asks("cpu", "1"));
  BlockedKinds kinds;
  kinds.Add(state, a, SaidNo({1}));
  kinds.Forget(a);
  ASSERT_EQ(kinds.all().size(), 1U);
  EXPECT_FALSE(kinds.all()[0].pod.valid());
  EXPECT_TRUE(kinds.all()[0].Names(1));
}

}  // namespace
}  // namespace knx::engine
