// Order, back-off, flushing and history.
#include "engine/queue.h"

#include <gtest/gtest.h>

#include "engine/queue_story_test.h"

namespace knx::engine::story {
namespace {

TEST_F(QueueStory, PodsAreTakenByPriorityThenAgeThenArrival) {
  queue->Add(kD, 0, At(5));
  queue->Add(kB, 0, At(1));  // a clock set back does not disturb the order
  queue->Add(kC, 10, At(9));
  queue->Add(kA, 0, At(1));
  EXPECT_EQ(queue->List(kActive), (Pods{kC, kB, kA, kD}));
  EXPECT_EQ(PopAll(At(9)), (Pods{kC, kB, kA, kD}));
  EXPECT_EQ(queue->Count(kActive), 0U);
  EXPECT_EQ(queue->List(kInFlight), (Pods{kA, kB, kC, kD}));
}

TEST_F(QueueStory, APodThatCameBackQueuesBehindThoseOfItsPriority) {
  queue->Add(kA, 0, At(0));
  queue->Add(kB, 0, At(2));
  Fail(kA, RejectedBy({kFit}), At(3));
  queue->Add(kC, 0, At(4));
  OnEvent(EventKind::kNodeAdd, At(100));  // its back-off is over by then
  EXPECT_EQ(Place(kA), kActive);
  EXPECT_EQ(queue->List(kActive), (Pods{kB, kA, kC}));
}

TEST_F(QueueStory, AnUpdateChangesTheOrderInPlace) {
  for (const PodId pod : {kA, kB, kC}) queue->Add(pod, 0, At(0));
  Update(kC, {EventKind::kOwnOther}, At(1), 5);
  EXPECT_EQ(queue->List(kActive), (Pods{kC, kA, kB}));
  Update(kC, {}, At(1), -5);
  EXPECT_EQ(PopAll(At(1)), (Pods{kA, kB, kC}));
  EXPECT_TRUE(plot.questions.empty());
}

TEST_F(QueueStory, BackoffDoublesAndEndsWithASecondOfTheClock) {
  queue->Add(kA, 0, At(0.25));
  const std::pair<double, double> failed_and_over[] = {
      {0.25, 2}, {10.5, 13}, {20.0, 25}, {30.999, 39}, {50, 61}, {70, 81},
  };
  for (const auto& [failed, over] : failed_and_over) {
    SCOPED_TRACE(failed);
    Fail(kA, RejectedBy({kFit}), At(failed));
    EXPECT_EQ(queue->Get(kA).backoff_until, At(over));
    OnEvent(EventKind::kNodeAdd, At(failed));
    EXPECT_EQ(Place(kA), kBackoff);
    EXPECT_EQ(queue->NextWake(), At(over));
    queue->Advance(At(over) - Duration{1});
    EXPECT_EQ(Place(kA), kBackoff);
    queue->Advance(At(over));
    EXPECT_EQ(Place(kA), kActive);
    EXPECT_EQ(queue->NextWake(), kNever);
  }
  EXPECT_EQ(queue->Get(kA).attempts, 6U);
  EXPECT_EQ(queue->Get(kA).failed_attempts, 6U);
}

TEST_F(QueueStory, PodsOfOneSecondLeaveTheirBackoffInQueueOrder) {
  queue->Add(kA, 0, At(0));
  queue->Add(kB, 0, At(0));
  queue->Add(kC, 8, At(0));
  Fail(kC, RejectedBy({kFit}), At(1.9));
  Fail(kA, RejectedBy({kFit}), At(1.1));
  Fail(kB, RejectedBy({kFit}), At(2.0));  // the next second
  OnEvent(EventKind::kNodeAdd, At(2.0));
  EXPECT_EQ(queue->List(kBackoff), (Pods{kC, kA, kB}));
  queue->Advance(At(3));
  EXPECT_EQ(queue->List(kActive), (Pods{kC, kA}));
  EXPECT_EQ(queue->List(kBackoff), (Pods{kB}));
}

TEST_F(QueueStory, WithNothingActiveABackoffIsCutShort) {
  queue->Add(kA, 0, At(0));
  queue->Add(kB, -1, At(0));
  Fail(kA, RejectedBy({kFit}), At(1));
  OnEvent(EventKind::kNodeAdd, At(1));
  EXPECT_EQ(queue->Pop(At(1)), kB);  // active comes first, whatever its priority
  EXPECT_EQ(queue->Pop(At(1)), kA);
  EXPECT_EQ(queue->Get(kA).attempts, 2U);
  EXPECT_EQ(queue->Pop(At(1)), std::nullopt);
}

TEST_F(QueueStory, ABackoffIsNotCutShortIfThatIsSwitchedOff) {
  Start({.pop_from_backoff = false});
  queue->Add(kA, 0, At(0));
  Fail(kA, RejectedBy({kFit}), At(1));
  OnEvent(EventKind::kNodeAdd, At(1));
  EXPECT_EQ(queue->Pop(At(2)), std::nullopt);
  EXPECT_EQ(queue->Pop(At(3)), kA);  // Pop itself sees that it is over
}

TEST_F(QueueStory, AnErrorBacksOffByItsOwnCountAndIsNeverCutShort) {
  queue->Add(kA, 0, At(0));
  Fail(kA, RejectedBy({kFit}), At(1));
  OnEvent(EventKind::kForced, At(1));
  Fail(kA, RejectedBy({kFit}), At(1));
  OnEvent(EventKind::kForced, At(1));
  Fail(kA, kError, At(1));
  EXPECT_EQ(Place(kA), kErrorBackoff);
  EXPECT_EQ(queue->Get(kA).backoff_until, At(3));  // the first error, after two rejections
  EXPECT_EQ(queue->Get(kA).rejected_by, PluginSet{});
  EXPECT_EQ(queue->Pop(At(2)), std::nullopt);
  Fail(kA, kError, At(3));
  EXPECT_EQ(queue->Get(kA).errors, 2U);
  EXPECT_EQ(queue->Get(kA).backoff_until, At(6));
  EXPECT_EQ(queue->NextWake(), At(6));
  Fail(kA, RejectedBy({kFit}), At(6));
  EXPECT_EQ(queue->Get(kA).errors, 0U);
  EXPECT_EQ(queue->Get(kA).failed_attempts, 3U);
  EXPECT_EQ(queue->Get(kA).backoff_until, At(11));
  OnEvent(EventKind::kForced, At(6));
  Fail(kA, kError, At(6));
  EXPECT_EQ(queue->Get(kA).backoff_until, At(8));
}

TEST_F(QueueStory, WithoutAMaximumThereIsNoBackoffAtAll) {
  Start({.max_backoff = {}});
  queue->Add(kA, 0, At(0));
  Fail(kA, kError, At(1));
  EXPECT_EQ(Place(kA), kActive);
  Fail(kA, RejectedBy({kFit}), At(1));
  EXPECT_EQ(Place(kA), kUnschedulable);
  OnEvent(EventKind::kNodeAdd, At(1));
  EXPECT_EQ(Place(kA), kActive);
}

TEST_F(QueueStory, APodThatWaitedTooLongIsFoundByTheNextFlush) {
  Start({.max_unschedulable = Duration::Seconds(100), .flush_interval = Duration::Seconds(30)});
  queue->Add(kA, 0, At(7));
  queue->Add(kB, 0, At(7));
  EXPECT_EQ(queue->NextWake(), kNever);
  Fail(kA, RejectedBy({kFit}), At(27));
  Fail(kB, RejectedBy({kFit}), At(28));
  EXPECT_EQ(queue->NextWake(), At(157));  // looked at 127: not longer than 100 s yet
  queue->Advance(At(156));
  EXPECT_EQ(queue->Count(kUnschedulable), 2U);
  queue->Advance(At(157));
  EXPECT_EQ(queue->List(kActive), (Pods{kA, kB}));
  EXPECT_EQ(queue->NextWake(), kNever);
}

TEST_F(QueueStory, AFlushHeedsGatesAndBackoffs) {
  Start({.max_unschedulable = {}, .flush_interval = Duration::Seconds(1)});
  for (const PodId pod : {kA, kB}) queue->Add(pod, 0, At(0));
  for (const PodId pod : {kA, kB}) Fail(pod, RejectedBy({kFit}), At(0.5));
  plot.gates[kB] = kGates;
  queue->Advance(At(1));
  EXPECT_EQ(Place(kA), kBackoff);
  EXPECT_EQ(Place(kB), kGated);
}

TEST_F(QueueStory, AGateThatOpenedUnseenIsAskedAgain) {
  for (const PodId pod : {kA, kB}) queue->Add(pod, 0, At(0));
  for (const PodId pod : {kA, kB}) Fail(pod, RejectedBy({kFit}), At(0.5));
  plot.gates[kB] = kGates;
  OnEvent(EventKind::kNodeAdd, At(1));
  ASSERT_EQ(Place(kB), kGated);
  queue->AskGateAgain(kB, At(1));
  EXPECT_EQ(Place(kB), kGated) << "it is still closed";
  plot.gates.clear();
  queue->AskGateAgain(kB, At(1));
  EXPECT_EQ(Place(kB), kBackoff);
  queue->AskGateAgain(kA, At(1));
  EXPECT_EQ(Place(kA), kBackoff) << "who is not gated stays where it is";
  queue->AskGateAgain(kC, At(1));
}

TEST_F(QueueStory, AnActivatedPodIsTakenWhateverItWaitsFor) {
  for (const PodId pod : {kA, kB, kC, kD}) queue->Add(pod, 0, At(0));
  Fail(kA, RejectedBy({kFit}), At(0.5));
  Fail(kB, kError, At(0.5));
  plot.gates[kC] = kGates;
  ASSERT_EQ(queue->Pop(At(0.5)), kC);
  queue->Requeue(kC, RejectedBy({kFit}), At(0.5));
  OnEvent(EventKind::kNodeAdd, At(0.6));
  ASSERT_EQ(queue->Pop(At(0.6)), kD);
  for (const PodId pod : {kA, kB, kC, kD, PodId{99}}) queue->Activate(pod, At(0.7));
  EXPECT_EQ(Place(kA), kActive);
  EXPECT_EQ(Place(kB), kActive);
  EXPECT_EQ(Place(kC), kGated) << "gates are heeded";
  EXPECT_EQ(Place(kD), kInFlight);
  queue->Requeue(kD, RejectedBy({kFit}), At(0.8));
  EXPECT_EQ(Place(kD), kBackoff) << "it is not forgotten that it was to be tried again";
}

TEST_F(QueueStory, AFailedBindingContinuesTheHistory) {
  queue->Add(kA, 3, At(0));
  Fail(kA, RejectedBy({kFit}), At(1));
  OnEvent(EventKind::kNodeAdd, At(1));
  ASSERT_EQ(queue->Pop(At(2)), kA);
  queue->Done(kA);
  EXPECT_EQ(Place(kA), kDone);
  EXPECT_FALSE(queue->Contains(kA));
  EXPECT_EQ(queue->Count(kDone), 1U);
  OnEvent(EventKind::kNodeAdd, At(2));
  Update(kA, {EventKind::kOwnScaleDown}, At(2), 5);
  EXPECT_EQ(Place(kA), kDone);
  queue->Requeue(kA, kError, At(4));
  const Queue::View view = queue->Get(kA);
  EXPECT_EQ(view.place, kErrorBackoff);
  EXPECT_EQ(view.attempts, 2U);
  EXPECT_EQ(view.failed_attempts, 1U);
  EXPECT_EQ(view.errors, 1U);
  EXPECT_EQ(view.priority, 5);
  EXPECT_EQ(view.added, At(0));
  EXPECT_EQ(view.since, At(4));
}

TEST_F(QueueStory, ARejectionAfterTheDecisionWaitsForNoEventBecauseItMayHavePassed) {
  queue->Add(kA, 0, At(0));
  ASSERT_EQ(queue->Pop(At(1)), kA);
  queue->Done(kA);
  queue->Requeue(kA, RejectedBy({kFit}), At(1));
  EXPECT_EQ(Place(kA), kBackoff);
}

TEST_F(QueueStory, ARemovedPodLeavesNothingBehind) {
  for (const PodId pod : {kA, kB, kC, kD}) queue->Add(pod, 0, At(0));
  Fail(kA, RejectedBy({kFit}), At(1));
  Fail(kB, kError, At(1));
  ASSERT_EQ(queue->Pop(At(1)), kC);
  for (const PodId pod : {kA, kB, kC, kD, PodId{99}, PodId{}}) {
    queue->Remove(pod);
    EXPECT_EQ(queue->Get(pod), Queue::View{});
    EXPECT_EQ(queue->Verify(), std::nullopt);
  }
  EXPECT_EQ(queue->NextWake(), kNever);
  queue->Add(kA, 1, At(2));  // another pod with the number of the old one
  EXPECT_EQ(queue->Get(kA),
            (Queue::View{
                .place = kActive, .priority = 1, .effective = 1, .added = At(2), .since = At(2)}));
}

TEST_F(QueueStory, ADecidedPodThatIsAddedAgainStartsAfresh) {
  queue->Add(kA, 0, At(0));
  ASSERT_EQ(queue->Pop(At(1)), kA);
  queue->Done(kA);
  queue->Add(kA, 0, At(2));
  EXPECT_EQ(queue->Get(kA).attempts, 0U);
  EXPECT_EQ(queue->Count(kDone), 0U);
}

TEST_F(QueueStory, AnUnknownPodIsNotUpdated) {
  Update(kA, {EventKind::kOwnOther}, At(0));
  EXPECT_FALSE(queue->Contains(kA));
  EXPECT_EQ(queue->NextWake(), kNever);
}

TEST_F(QueueStory, MemoryIsCountedAndReused) {
  const std::size_t empty = queue->bytes();
  const auto fill_and_empty = [&] {
    for (std::uint32_t i = 0; i < 1000; ++i) queue->Add(PodId{i}, 0, At(0));
    for (std::uint32_t i = 0; i < 1000; ++i) queue->Remove(PodId{i});
  };
  fill_and_empty();
  const std::size_t full = queue->bytes();
  EXPECT_GT(full, empty + std::size_t{1000} * 64);
  fill_and_empty();
  EXPECT_EQ(queue->bytes(), full);
}

using QueueDeathTest = QueueStory;

TEST_F(QueueDeathTest, MisuseEndsTheProgramInsteadOfLosingAPod) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  queue->Add(kA, 0, At(0));
  EXPECT_DEATH(queue->Add(kA, 0, At(0)), "twice");
  EXPECT_DEATH(queue->Done(kA), "not popped");
  EXPECT_DEATH(queue->Requeue(kA, kError, At(0)), "not popped");
  EXPECT_DEATH(queue->Requeue(kB, kError, At(0)), "not known");
}

}  // namespace
}  // namespace knx::engine::story
