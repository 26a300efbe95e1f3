#include "observe/decision_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knx::observe {
namespace {

using testing::ElementsAre;

const engine::PodRef kPod{"shop", "web-1", "uid"};

TEST(DecisionLog, HasALineForEveryKindOfAction) {
  DecisionLog log(true);
  const Duration at = Duration::Milliseconds(1500);
  log.Add(at, {1, engine::BindPod{kPod, "node-1"}});
  log.Add(at, {2, engine::PatchPodStatus{kPod, "False", "Unschedulable", "no room", 3, {}}});
  log.Add(at, {3, engine::PatchPodStatus{kPod, "False", "Unschedulable", "no room", 3, "node-2"}});
  log.Add(at, {4, engine::RecordEvent{kPod, true, "FailedScheduling", "Scheduling", "no room",
                                      "default-scheduler"}});
  log.Add(at, {5, engine::AskOutside{kPod,
                                     "VolumeBinding",
                                     "node-1",
                                     {.topic = "volume", .body = "data", .timeout = {}}}});
  log.Add(at, {6, engine::AskExtender{kPod, 1, engine::ExtenderVerb::kPrioritize, {"a", "b"}}});
  log.Add(at, {7, engine::BindByExtender{kPod, "node-1", 2}});
  k8s::PodGroupCondition condition;
  condition.said = {"PodGroupScheduled", "False", "Unschedulable", "no room", {}};
  log.Add(at, {8, engine::PatchPodGroup{"shop", "train", "uid", "v1alpha2", condition}});
  log.Note(Duration{}, "restart");
  EXPECT_THAT(
      log.lines(),
      ElementsAre("1.500000s bind shop/web-1 to node-1",
                  "1.500000s condition shop/web-1 False Unschedulable: no room",
                  "1.500000s condition shop/web-1 False Unschedulable nominated=node-2: "
                  "no room",
                  "1.500000s event shop/web-1 Warning FailedScheduling: no room",
                  "1.500000s ask shop/web-1 on node-1 VolumeBinding volume: data",
                  "1.500000s ask extender 1 about scores for shop/web-1: 2 nodes",
                  "1.500000s let extender 2 bind shop/web-1 to node-1",
                  "1.500000s pod group shop/train PodGroupScheduled=False Unschedulable: no room",
                  "0.000000s restart"));
  EXPECT_EQ(log.count(), 9U);
}

TEST(DecisionLog, HasTheSameHashForTheSameLinesKeptOrNot) {
  DecisionLog kept(true), counted(false), other(false);
  for (DecisionLog* log : {&kept, &counted}) {
    log->Note(Duration::Seconds(1), "a");
    log->Note(Duration::Seconds(2), "b");
  }
  other.Note(Duration::Seconds(2), "b");
  other.Note(Duration::Seconds(1), "a");
  EXPECT_TRUE(counted.lines().empty());
  EXPECT_EQ(counted.count(), 2U);
  EXPECT_EQ(kept.hash(), counted.hash());
  EXPECT_NE(kept.hash(), other.hash()) << "the order counts";
}

TEST(FormatAt, HasSixDigitsAlways) {
  EXPECT_EQ(FormatAt(Duration{}), "0.000000s");
  EXPECT_EQ(FormatAt(Duration::Nanoseconds(12'345'678'999)), "12.345678s");
}

}  // namespace
}  // namespace knx::observe
