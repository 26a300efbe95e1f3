// Who counts for more than its priority, and from when on.
#include "engine/queue_order.h"

#include <gtest/gtest.h>

#include "engine/queue_story_test.h"

namespace knx::engine::story {
namespace {

TEST(EffectivePriority, IsBoundedBelowWhatKeepsTheClusterGoing) {
  struct Case {
    std::string_view name;
    std::int32_t priority;
    std::int64_t boost;
    std::int32_t want;
  };
  const Case cases[] = {
      {.name = "nothing is added", .priority = 7, .boost = 0, .want = 7},
      {.name = "something is", .priority = 7, .boost = 120, .want = 127},
      {.name = "to less than nothing", .priority = -50, .boost = 20, .want = -30},
      {.name = "as far as users go", .priority = 1'000'000'000, .boost = 20, .want = 1'000'000'020},
      {.name = "not into what is critical",
       .priority = 1'000'000'000,
       .boost = 2'000'000'000,
       .want = 1'999'999'999},
      {.name = "nor by a little", .priority = 1'999'999'990, .boost = 10, .want = 1'999'999'999},
      {.name = "what is critical gets nothing",
       .priority = 2'000'000'000,
       .boost = 100,
       .want = 2'000'000'000},
      {.name = "nothing overflows", .priority = INT32_MIN, .boost = -1, .want = INT32_MIN},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(EffectivePriority(c.priority, c.boost), c.want);
  }
}

class QueueOrderStory : public QueueStory {
 protected:
  // Ten more after a minute.
  static constexpr Seniority kStarves{
      .keeps_age = true, .starved_boost = 10, .starves_after = Duration::Seconds(60)};
};

TEST_F(QueueOrderStory, WhoHasWaitedForAMinuteGoesBeforeOthers) {
  plot.seniorities[kA] = plot.seniorities[kB] = kStarves;
  queue->Add(kA, 0, At(0));
  queue->Add(kB, 0, At(30));
  queue->Add(kC, 5, At(59));
  EXPECT_EQ(queue->NextWake(), At(60));
  EXPECT_EQ(queue->List(kActive), (Pods{kC, kA, kB}));
  queue->Advance(At(59.999));
  EXPECT_EQ(queue->List(kActive), (Pods{kC, kA, kB}));
  queue->Advance(At(60));
  EXPECT_EQ(queue->List(kActive), (Pods{kA, kC, kB}));
  EXPECT_TRUE(queue->Get(kA).starved);
  EXPECT_EQ(queue->Get(kA).effective, 10);
  EXPECT_EQ(queue->NextWake(), At(90));
  EXPECT_EQ(PopAll(At(90)), (Pods{kA, kB, kC}));
  EXPECT_EQ(queue->NextWake(), kNever);
}

TEST_F(QueueOrderStory, WaitingCountsOverAttemptsThatFail) {
  plot.seniorities[kA] = kStarves;
  queue->Add(kA, 0, At(0));
  Fail(kA, RejectedBy({kFit}), At(1));
  queue->Add(kB, 5, At(70));
  EXPECT_FALSE(queue->Get(kA).starved);  // nobody asks as long as it cannot be taken
  OnEvent(EventKind::kNodeAdd, At(70));
  EXPECT_EQ(queue->List(kActive), (Pods{kA, kB}));
  Fail(kA, RejectedBy({kFit}), At(71));
  OnEvent(EventKind::kNodeAdd, At(80));
  EXPECT_EQ(queue->List(kActive), (Pods{kA, kB}));
}

TEST_F(QueueOrderStory, TimeBehindAGateDoesNotCount) {
  plot.seniorities[kA] = kStarves;
  plot.gates[kA] = kGates;
  queue->Add(kA, 0, At(0));
  plot.gates.clear();
  Update(kA, {EventKind::kOwnGatesRemoved}, At(100));
  EXPECT_EQ(Place(kA), kActive);
  EXPECT_EQ(queue->NextWake(), At(160));
}

TEST_F(QueueOrderStory, WhoBacksOffStarvesToo) {
  plot.seniorities[kA] = kStarves;
  queue->Add(kA, 0, At(0));
  for (const double failed : {0, 10, 20, 30, 55}) Fail(kA, kError, At(failed));
  EXPECT_EQ(Place(kA), kErrorBackoff);
  queue->Advance(At(60));
  EXPECT_EQ(Place(kA), kErrorBackoff);
  EXPECT_TRUE(queue->Get(kA).starved);
}

TEST_F(QueueOrderStory, WhoKeepsItsAgeStaysInFrontOfThoseWhoCameLater) {
  plot.seniorities[kA] = plot.seniorities[kB] = {.keeps_age = true};
  queue->Add(kA, 0, At(0));
  queue->Add(kB, 0, At(2));
  queue->Add(kC, 0, At(2.5));
  Fail(kA, RejectedBy({kFit}), At(3));
  OnEvent(EventKind::kNodeAdd, At(100));
  EXPECT_EQ(queue->List(kActive), (Pods{kA, kB, kC}));
}

TEST_F(QueueOrderStory, WhatAPodCountsForMayChangeWhileItWaits) {
  queue->Add(kA, 0, At(0));
  plot.seniorities[kB] = {.boost = 1};
  queue->Add(kB, 0, At(1));
  EXPECT_EQ(queue->List(kActive), (Pods{kB, kA}));
  plot.seniorities[kB] = {.boost = -1};
  Update(kB, {}, At(2));
  EXPECT_EQ(queue->List(kActive), (Pods{kA, kB}));
}

}  // namespace
}  // namespace knx::engine::story
