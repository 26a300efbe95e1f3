#include "engine/gang_goal.h"

#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::PodId;
using cluster::testing::PodBuilder;

// Five members: a server and a worker in sub-group a, two workers in b, and one in none. One
// server, two workers and one sub-group must start, and three in all.
class GangGoalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string ours = "pod-group.scheduling.kubenexus.io/";
    const auto add = [&](const std::string& name, const std::string& group,
                         const std::string& role) {
      PodBuilder pod = PodBuilder(name).Asks("cpu", "1");
      pod.Label(ours + "name", "g").Label(ours + "min-available", "3");
      pod.Label(ours + "min-sub-groups", "1").Label(ours + "role", role);
      pod.Label(ours + "role-min-available", role == "ps" ? "1" : "2");
      if (!group.empty()) {
        pod.Label(ours + "sub-group", group).Label(ours + "sub-group-min-available", "2");
      }
      harness_.Pod(pod);
      members_.push_back(state().pods().Find("uid-" + name));
    };
    add("a-ps", "a", "ps");
    add("a-w", "a", "worker");
    add("b-w0", "b", "worker");
    add("b-w1", "b", "worker");
    add("loose", "", "worker");
  }
  const cluster::State& state() { return harness_.engine().state(); }
  GangGoal Goal() {
    const cluster::Gang& gang = state().gangs().Get(state().gang_of(members_[0]));
    return {state(), gang, members_, 3};
  }
  GangGoal::Places Places(const std::vector<std::size_t>& who) {
    GangGoal::Places places;
    for (const std::size_t member : who) places.emplace_back(members_[member], cluster::NodeRow{0});
    return places;
  }
  testing::Harness harness_{{}, testing::GangProfiles()};
  std::vector<PodId> members_;
};

TEST_F(GangGoalTest, IsReachedWithEnoughOfAllAndNothingInParts) {
  struct Case {
    std::string_view name = {};
    std::vector<std::size_t> who = {};
    bool reached = false;
  };
  const Case cases[] = {
      {"nobody", {}},
      {"too few in all", {0, 1}},
      {"all that it needs", {0, 1, 4}, true},
      {"no server", {2, 3, 4}},
      {"a sub-group in parts", {0, 1, 2}},
      {"everybody", {0, 1, 2, 3, 4}, true},
  };
  GangGoal goal = Goal();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    goal.Follow(Places(c.who));
    EXPECT_EQ(goal.reached(), c.reached);
    goal.Follow({});
    EXPECT_EQ(goal.left(), 3U) << "what was given up does not count";
  }
}

TEST_F(GangGoalTest, KnowsWhatIsStillMissed) {
  GangGoal goal = Goal();
  EXPECT_TRUE(goal.Wants(members_[0]));
  EXPECT_TRUE(goal.misses_roles());
  const std::size_t kind = goal.parts()[0].kind;
  EXPECT_EQ(goal.MissingOfKind(kind), 1U);
  goal.Follow(Places({0, 1}));
  EXPECT_FALSE(goal.Wants(members_[0])) << "one server is enough";
  EXPECT_TRUE(goal.Wants(members_[4])) << "of two workers there is one";
  EXPECT_EQ(goal.MissingOfKind(kind), 0U);
  EXPECT_EQ(goal.left(), 1U);
}

}  // namespace
}  // namespace knx::engine
