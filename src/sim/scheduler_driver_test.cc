// What goes wrong between scheduler and API server, and that nothing is lost by it.
#include "sim/scheduler_driver.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "k8s/names.h"
#include "sim/cluster_for_test.h"

namespace knx::sim {
namespace {

class SchedulerDriverTest : public testing::Test {
 protected:
  SchedulerDriverTest() {
    cluster_.AddNodes(2, "4");
    cluster_.Start();
  }
  void Break(CallFault fault) { cluster_.scheduler().faults().Add(fault, cluster_.agenda().now()); }
  ClusterForTest cluster_;
};

TEST_F(SchedulerDriverTest, EveryKindOfFailedBindingEndsWithThePodBoundOnce) {
  using Kind = CallFault::Kind;
  struct Case {
    const char* name;
    Kind kind;
    Duration by_then;
    std::int64_t failures;
  };
  const Case cases[] = {
      {"refuse", Kind::kRefuse, Duration::Seconds(50), 1},
      {"timeout", Kind::kTimeout, Duration::Seconds(50), 1},
      {"answer-lost", Kind::kAnswerLost, Duration::Seconds(50), 1},
      {"no-answer", Kind::kNoAnswer, Duration::Minutes(16), 0},
      {"vanish", Kind::kVanish, Duration::Minutes(16), 0},
      {"slow", Kind::kSlow, Duration::Seconds(31), 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    CallFault fault;
    fault.kind = c.kind;
    fault.count = 1;
    fault.delay = Duration::Seconds(30);
    Break(fault);
    const std::int64_t before = cluster_.scheduler().counts().bind_failures;
    cluster_.Create(PodForTest(c.name, "1"));
    cluster_.RunFor(c.by_then);
    EXPECT_NE(cluster_.NodeOf(c.name), "");
    EXPECT_TRUE(cluster_.Settle());
    EXPECT_EQ(cluster_.scheduler().counts().bind_failures - before, c.failures);
    ASSERT_TRUE(cluster_.api().DeletePod(fmt::format("default/{}", c.name), Actor::kUser, 0).ok());
  }
  EXPECT_EQ(cluster_.scheduler().faults().struck(), 6);
}

// The back-off of who is new ends before those that were waited for.
TEST_F(SchedulerDriverTest, NewPodsDoNotMakeItWakeMoreAndMoreOften) {
  CallFault refusing;
  refusing.kind = CallFault::Kind::kRefuse;
  Break(refusing);
  for (const char* name : {"one", "another"}) {
    cluster_.Create(PodForTest(name, "1"));
    cluster_.RunFor(Duration::Seconds(3));
  }
  const auto steps_of_an_hour = [this] {
    const std::int64_t before = cluster_.scheduler().invariants().steps();
    for (int minute = 0; minute < 60; ++minute) {
      cluster_.Create(PodForTest("new", "1"));
      cluster_.RunFor(Duration::Seconds(5));
      EXPECT_TRUE(cluster_.api().DeletePod("default/new", Actor::kUser, 0).ok());
      cluster_.RunFor(Duration::Seconds(55));
    }
    return cluster_.scheduler().invariants().steps() - before;
  };
  const std::int64_t first = steps_of_an_hour();
  EXPECT_LT(steps_of_an_hour(), first + first / 10);
}

TEST_F(SchedulerDriverTest, AConditionThatCouldNotBeWrittenIsWrittenWithTheNextAttempt) {
  CallFault fault;
  fault.call = Call::kStatus;
  fault.count = 1;
  Break(fault);
  cluster_.Create(PodForTest("big", "5"));
  cluster_.RunFor(Duration::Seconds(5));
  EXPECT_TRUE(cluster_.Pod("big")->status.conditions.empty());
  cluster_.AddNodes(1, "1", 3);
  cluster_.RunFor(Duration::Minutes(6));
  const auto* condition =
      FindCondition(cluster_.Pod("big")->status.conditions, k8s::names::kPodScheduled);
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->reason, "Unschedulable");
}

TEST_F(SchedulerDriverTest, SomebodyElseBindsFirst) {
  CallFault slow;
  slow.kind = CallFault::Kind::kSlow;
  slow.delay = Duration::Seconds(5);
  slow.count = 1;
  Break(slow);
  cluster_.Create(PodForTest("a", "1"));
  cluster_.RunFor(Duration::Seconds(1));
  const PodPtr pod = cluster_.Pod("a");
  ASSERT_TRUE(cluster_.api()
                  .Bind({"default", "a", pod->meta.uid}, "node-2", Actor::kForeignScheduler)
                  .ok());
  cluster_.RunFor(Duration::Seconds(1));
  EXPECT_EQ(cluster_.scheduler().counts().bind_failures, 0);
  EXPECT_TRUE(cluster_.Settle());
  EXPECT_EQ(cluster_.NodeOf("a"), "node-2");
  EXPECT_EQ(cluster_.scheduler().counts().bind_failures, 1)
      << "refused, although the scheduler knows already that the pod is bound";
}

TEST_F(SchedulerDriverTest, ARestartedSchedulerCarriesOn) {
  CallFault slow;
  slow.kind = CallFault::Kind::kSlow;
  slow.delay = Duration::Seconds(5);
  slow.count = 2;
  Break(slow);
  cluster_.Create(PodForTest("a", "3"));
  cluster_.Create(PodForTest("b", "3"));
  cluster_.Create(PodForTest("c", "3"));
  cluster_.RunFor(Duration::Seconds(1));
  cluster_.scheduler().Start({.age = {}, .pods_first = true});
  EXPECT_TRUE(cluster_.Settle());
  EXPECT_NE(cluster_.NodeOf("a"), "");
  EXPECT_NE(cluster_.NodeOf("b"), "");
  EXPECT_EQ(cluster_.scheduler().counts().restarts, 1);
}

TEST_F(SchedulerDriverTest, WhileItIsDownNothingIsDecidedAndNothingLost) {
  cluster_.scheduler().Stop();
  cluster_.Create(PodForTest("a", "1"));
  cluster_.RunFor(Duration::Minutes(5));
  EXPECT_EQ(cluster_.NodeOf("a"), "");
  cluster_.Start();
  cluster_.RunFor(Duration::Seconds(1));
  EXPECT_NE(cluster_.NodeOf("a"), "");
}

TEST(CallFaults, StrikeAsOftenAndAsLongAsTheySay) {
  CallFaults faults(1);
  CallFault first;
  first.count = 2;
  first.pods.name = "a*";
  faults.Add(first, Time{0});
  CallFault second;
  second.kind = CallFault::Kind::kSlow;
  second.lasts = Duration::Nanoseconds(10);
  faults.Add(second, Time{0});
  const k8s::Pod abc = PodForTest("abc", "1");
  const k8s::Pod xyz = PodForTest("xyz", "1");
  EXPECT_EQ(faults.Strike(Call::kBind, abc, Time{1})->kind, CallFault::Kind::kRefuse);
  EXPECT_EQ(faults.Strike(Call::kBind, xyz, Time{1})->kind, CallFault::Kind::kSlow);
  EXPECT_FALSE(faults.Strike(Call::kStatus, abc, Time{1}).has_value());
  EXPECT_EQ(faults.Strike(Call::kBind, abc, Time{2})->kind, CallFault::Kind::kRefuse);
  EXPECT_EQ(faults.Strike(Call::kBind, abc, Time{3})->kind, CallFault::Kind::kSlow);
  EXPECT_FALSE(faults.Strike(Call::kBind, abc, Time{10}).has_value()) << "over";
  CallFault rare;
  rare.percent = 25;
  faults.Add(rare, Time{20});
  int struck = 0;
  for (int i = 0; i < 1000; ++i) struck += faults.Strike(Call::kBind, abc, Time{21}).has_value();
  EXPECT_GT(struck, 200);
  EXPECT_LT(struck, 300);
}

}  // namespace
}  // namespace knx::sim
