// What brings waiting pods back: events and gates.
#include <gtest/gtest.h>

#include "engine/queue_story_test.h"

namespace knx::engine::story {
namespace {

TEST_F(QueueStory, ARejectedPodWaitsForAnEventOfItsRejectorsOnly) {
  queue->Add(kA, 0, At(0));
  Fail(kA, RejectedBy({kFit}), At(1));
  EXPECT_EQ(Place(kA), kUnschedulable);
  EXPECT_EQ(queue->Get(kA).rejected_by, Plugins({kFit}));
  OnEvent(EventKind::kNodeLabel, At(20));  // of interest to another
  OnEvent(EventKind::kNodeTaint, At(20));  // of interest to nobody
  EXPECT_EQ(Place(kA), kUnschedulable);
  EXPECT_TRUE(plot.questions.empty());
  plot.useless.insert({kA, kFit});
  OnEvent(EventKind::kNodeAdd, At(20));
  EXPECT_EQ(Place(kA), kUnschedulable);
  EXPECT_EQ(plot.questions, (std::vector<std::pair<PodId, std::uint8_t>>{{kA, kFit}}));
  plot.useless.clear();
  OnEvent(EventKind::kNodeAdd, At(20));
  EXPECT_EQ(Place(kA), kActive);
}

TEST_F(QueueStory, APluginIndexMeansThePluginOfThePodsOwnProfile) {
  plot.profiles[kB] = 1;
  plot.interested[{1, EventKind::kNodeTaint}] = Plugins({kFit});
  for (const PodId pod : {kA, kB}) queue->Add(pod, 0, At(0));
  for (const PodId pod : {kA, kB}) Fail(pod, RejectedBy({kFit}), At(1));
  OnEvent(EventKind::kNodeTaint, At(20));
  EXPECT_EQ(Place(kA), kUnschedulable);
  EXPECT_EQ(Place(kB), kActive);
}

TEST_F(QueueStory, WhatAPodWasPendingOnBringsItBackWithoutBackoff) {
  for (const PodId pod : {kA, kB}) queue->Add(pod, 0, At(0));
  Fail(kA, PendingOn({kVolumes}), At(1));
  Fail(kB, {.rejected_by = Plugins({kFit}), .pending_on = Plugins({kVolumes})}, At(1));
  plot.useless.insert({kB, kVolumes});
  OnEvent(EventKind::kNodeAdd, At(1));
  EXPECT_EQ(Place(kA), kActive);
  EXPECT_EQ(Place(kB), kBackoff);  // only the one that rejected it was helped
}

TEST_F(QueueStory, APodThatNobodyRejectedReactsToEveryEvent) {
  queue->Add(kA, 0, At(0));
  Fail(kA, {}, At(1));
  EXPECT_EQ(Place(kA), kUnschedulable);
  OnEvent(EventKind::kNodeDelete, At(1));
  EXPECT_EQ(Place(kA), kBackoff);
  EXPECT_TRUE(plot.questions.empty());
}

TEST_F(QueueStory, AForcedEventMovesAllThatWaitButNotTheGated) {
  plot.gates[kC] = kGates;
  for (const PodId pod : {kA, kB, kC}) queue->Add(pod, 0, At(0));
  Fail(kA, RejectedBy({kFit}), At(1));
  Fail(kB, PendingOn({kVolumes}), At(1));
  plot.gates.clear();
  OnEvent(EventKind::kForced, At(1));
  EXPECT_EQ(queue->List(kBackoff), (Pods{kA, kB}));
  EXPECT_EQ(Place(kC), kGated);
  EXPECT_TRUE(plot.questions.empty());
}

TEST_F(QueueStory, AGatedPodWaitsForItsGateOnly) {
  plot.gates[kA] = kGates;
  queue->Add(kA, 0, At(0));
  EXPECT_EQ(Place(kA), kGated);
  EXPECT_EQ(queue->Get(kA).gate, kGates);
  EXPECT_EQ(queue->Pop(At(0)), std::nullopt);
  OnEvent(EventKind::kNodeAdd, At(1));
  queue->Advance(At(1e6));
  EXPECT_EQ(queue->NextWake(), kNever);
  EXPECT_EQ(plot.gate_questions.size(), 1U);

  Update(kA, {EventKind::kOwnLabel, EventKind::kOwnGatesRemoved}, At(2));  // one of several
  EXPECT_EQ(Place(kA), kGated);
  EXPECT_EQ(plot.gate_questions.size(), 2U);
  plot.gates.clear();
  plot.useless.insert({kA, kGates});
  Update(kA, {EventKind::kOwnGatesRemoved}, At(3));
  EXPECT_EQ(Place(kA), kGated);
  EXPECT_EQ(plot.gate_questions.size(), 2U);
  plot.useless.clear();
  Update(kA, {EventKind::kOwnGatesRemoved}, At(3));
  EXPECT_EQ(Place(kA), kActive);
  EXPECT_EQ(queue->Get(kA).since, At(0));  // it did not lose its age
}

TEST_F(QueueStory, AGateFromOutsideOpensWithAnEvent) {
  plot.gates = {{kA, kFit}, {kB, kFit}};
  for (const PodId pod : {kA, kB}) queue->Add(pod, 0, At(0));
  plot.gates = {{kB, kGates}};
  OnEvent(EventKind::kNodeAdd, At(1));
  EXPECT_EQ(Place(kA), kActive);
  EXPECT_EQ(Place(kB), kGated);
  EXPECT_EQ(queue->Get(kB).gate, kGates);  // from one gate to the next
  plot.gates.clear();
  OnEvent(EventKind::kNodeAdd, At(2));
  EXPECT_EQ(Place(kB), kGated);
}

TEST_F(QueueStory, TheGateIsAskedOnTheWayIntoBackoffAndNotOnTheWayOut) {
  queue->Add(kA, 0, At(0));
  Fail(kA, RejectedBy({kFit}), At(1));
  EXPECT_EQ(plot.gate_questions.size(), 1U);  // Add; staying unschedulable asks for nothing
  plot.gates[kA] = kGates;
  OnEvent(EventKind::kNodeAdd, At(1));
  EXPECT_EQ(Place(kA), kGated);
  plot.gates.clear();
  Update(kA, {EventKind::kOwnGatesRemoved}, At(1));
  EXPECT_EQ(Place(kA), kBackoff);
  EXPECT_EQ(plot.gate_questions.size(), 3U);
  plot.gates[kA] = kGates;
  queue->Advance(At(3));
  EXPECT_EQ(Place(kA), kActive);
  EXPECT_EQ(plot.gate_questions.size(), 3U);
}

TEST_F(QueueStory, AnErrorOfAGatedPodIsNotForgotten) {
  queue->Add(kA, 0, At(0));
  ASSERT_EQ(queue->Pop(At(1)), kA);
  plot.gates[kA] = kGates;
  queue->Requeue(kA, kError, At(1));
  EXPECT_EQ(Place(kA), kGated);
  plot.gates.clear();
  Update(kA, {EventKind::kOwnGatesRemoved}, At(1));
  EXPECT_EQ(Place(kA), kErrorBackoff);
}

TEST_F(QueueStory, EventsDuringAnAttemptCountWhenItFails) {
  struct Case {
    std::string name;
    std::vector<EventKind> events;
    FailedAttempt attempt;
    QueuePlace want;
  };
  const Case cases[] = {
      {"no event", {}, RejectedBy({kFit}), kUnschedulable},
      {"helps", {EventKind::kNodeAdd}, RejectedBy({kFit}), kBackoff},
      {"helps another", {EventKind::kNodeLabel}, RejectedBy({kFit}), kUnschedulable},
      {"the second helps",
       {EventKind::kNodeLabel, EventKind::kNodeAdd},
       RejectedBy({kFit}),
       kBackoff},
      {"useless", {EventKind::kNodeAdd}, RejectedBy({kVolumes}), kUnschedulable},
      {"helps with what it was pending on", {EventKind::kNodeAdd}, PendingOn({kFit}), kActive},
      {"at once wins",
       {EventKind::kForced, EventKind::kNodeAdd},
       {.rejected_by = Plugins({kAffinity}), .pending_on = Plugins({kFit})},
       kActive},
      {"forced", {EventKind::kForced}, PendingOn({kVolumes}), kBackoff},
      {"rejected by none, no event", {}, {}, kUnschedulable},
      {"rejected by none, any event", {EventKind::kNodeDelete}, {}, kBackoff},
      {"an error needs no event", {}, kError, kErrorBackoff},
      {"an error heeds no event", {EventKind::kNodeAdd}, kError, kErrorBackoff},
      {"an error that names plugins",
       {},
       {.pending_on = Plugins({kFit}), .error = true},
       kErrorBackoff},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Start({});
    plot.useless = {{kA, kVolumes}};
    queue->Add(kA, 0, At(0));
    OnEvent(EventKind::kNodeAdd, At(0));  // before the attempt
    ASSERT_EQ(queue->Pop(At(1)), kA);
    for (const EventKind kind : c.events) OnEvent(kind, At(1));
    queue->Requeue(kA, c.attempt, At(1));
    EXPECT_EQ(Place(kA), c.want);
    EXPECT_EQ(queue->Verify(), std::nullopt);
  }
}

TEST_F(QueueStory, EventsOfOneAttemptAreForgottenInTheNext) {
  queue->Add(kA, 0, At(0));
  ASSERT_EQ(queue->Pop(At(1)), kA);
  OnEvent(EventKind::kNodeAdd, At(1));
  queue->Requeue(kA, RejectedBy({kFit}), At(1));
  Fail(kA, RejectedBy({kFit}), At(2));
  EXPECT_EQ(Place(kA), kUnschedulable);
}

TEST_F(QueueStory, AChangeOfThePodItselfCountsWhereverItIs) {
  queue->Add(kA, 0, At(0));
  ASSERT_EQ(queue->Pop(At(1)), kA);
  Update(kA, {EventKind::kOwnScaleDown}, At(1), 4);
  queue->Requeue(kA, RejectedBy({kFit}), At(1));
  EXPECT_EQ(Place(kA), kBackoff);
  EXPECT_EQ(queue->Get(kA).priority, 4);
  Fail(kA, RejectedBy({kFit}), At(1));
  Update(kA, {}, At(1));
  Update(kA, {EventKind::kOwnOther}, At(1));
  EXPECT_EQ(Place(kA), kUnschedulable);  // nobody finds that helpful
  Update(kA, {EventKind::kOwnOther, EventKind::kOwnScaleDown}, At(50));
  EXPECT_EQ(Place(kA), kActive);
}

TEST_F(QueueStory, AnAttemptKnowsThatOnlyTooLongAWaitBroughtItAbout) {
  queue->Add(kA, 0, At(0));
  Fail(kA, RejectedBy({kFit}), At(1));
  EXPECT_EQ(queue->Pop(At(60)), std::nullopt);
  ASSERT_EQ(queue->Pop(At(400)), kA);
  const Queue::Attempt attempt = queue->LastAttempt(kA);
  EXPECT_TRUE(attempt.flushed);
  EXPECT_EQ(attempt.number, 2U);
  EXPECT_EQ(attempt.ready, At(0));
  EXPECT_EQ(attempt.popped, At(400));
  queue->Requeue(kA, RejectedBy({kFit}), At(400));
  EXPECT_FALSE(queue->LastAttempt(kA).flushed);
  EXPECT_EQ(queue->LastAttempt(kB).number, 0U);
}

TEST_F(QueueStory, RejectedPodsAreCountedByPluginWhereverTheyWait) {
  queue->Add(kA, 0, At(0));
  Fail(kA, RejectedBy({kFit, kAffinity}), At(1));
  queue->Add(kB, 0, At(1));
  Fail(kB, RejectedBy({kFit}), At(1));
  OnEvent(EventKind::kNodeAdd, At(1));
  plot.gates[kC] = kGates;
  queue->Add(kC, 0, At(1));
  plot.profiles[kD] = 1;
  queue->Add(kD, 0, At(1));
  Fail(kD, PendingOn({kVolumes}), At(1));
  EXPECT_EQ(queue->CountRejected(),
            (std::vector<RejectedPods>{
                {0, kFit, 2}, {0, kGates, 1}, {0, kAffinity, 1}, {1, kVolumes, 1}}));
  ASSERT_EQ(queue->Pop(At(1)), kA);  // now in flight
  EXPECT_EQ(queue->CountRejected(),
            (std::vector<RejectedPods>{{0, kFit, 1}, {0, kGates, 1}, {1, kVolumes, 1}}));
}

}  // namespace
}  // namespace knx::engine::story
