// What happens once it is known who has to go: what is said and written, who is asked when, and
// what becomes of the pod that room is made for.
#include "engine/evictions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"
#include "engine/testing/plain_objects.h"

namespace knx::engine {
namespace {

using cluster::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Node;
using testing::On;
using ::testing::UnorderedElementsAre;
using testing::Wants;

class EvictionsTest : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().preemptions(), 0U);
  }
  testing::Harness harness_;
};

TEST_F(EvictionsTest, ThePlanIsSaidAndTheNominationWrittenBeforeAnybodyGoes) {
  harness_.Node(Node("a"));
  harness_.Pod(On("a", "p", "4", 0));
  harness_.Pod(Wants("4", 10));
  EXPECT_TRUE(harness_.engine().ScheduleOne(harness_.now()));
  std::vector<std::string> kinds;
  ActionId evict = 0;
  for (const Action& action : harness_.engine().TakeActions()) {
    if (std::holds_alternative<PlanEvictions>(action.what)) kinds.emplace_back("plan");
    if (const auto* patch = std::get_if<PatchPodStatus>(&action.what)) {
      kinds.emplace_back("patch");
      EXPECT_EQ(patch->nominated_node, "a");
      EXPECT_EQ(patch->message, "0/1 nodes are available: 1 Insufficient cpu.");
    }
    if (const auto* eviction = std::get_if<EvictPod>(&action.what)) {
      kinds.emplace_back("evict");
      evict = action.id;
      EXPECT_EQ(eviction->pod.uid, "uid-p");
      EXPECT_EQ(eviction->reason, "PreemptionByScheduler");
      EXPECT_EQ(eviction->message,
                "default-scheduler: preempting to accommodate a higher priority pod");
    }
  }
  EXPECT_THAT(kinds, ElementsAre("plan", "patch", "evict"));
  harness_.engine().Handle(ActionFinished{evict, std::nullopt}, harness_.now());
  const auto events = harness_.engine().TakeActions();
  ASSERT_EQ(events.size(), 1U);
  const auto& event = std::get<RecordEvent>(events[0].what);
  EXPECT_EQ(event.pod.uid, "uid-p");
  EXPECT_FALSE(event.warning);
  EXPECT_EQ(event.reason, "Preempted");
  EXPECT_EQ(event.action, "Preempting");
  EXPECT_EQ(event.note, "Preempted by pod uid-vip on node a");
  EXPECT_EQ(event.related->uid, "uid-vip");
  harness_.PodGone("p");
}

// The API server answers before its news come.
TEST_F(EvictionsTest, NobodyElseGoesWhileVictimsHaveYetToBeSeenToGo) {
  harness_.Node(Node("a"));
  harness_.Node(Node("b"));
  for (const char* name : {"p", "q"}) harness_.Pod(On("a", name, "2", 0));
  for (const char* name : {"r", "s"}) harness_.Pod(On("b", name, "2", 1));
  harness_.Pod(Wants("4", 10));
  std::vector<std::string> evicted;
  const auto answer_all = [&] {
    while (harness_.engine().ScheduleOne(harness_.now())) {
    }
    for (const Action& action : harness_.engine().TakeActions()) {
      if (const auto* evict = std::get_if<EvictPod>(&action.what)) {
        evicted.push_back(evict->pod.name);
      }
      harness_.engine().Handle(ActionFinished{action.id, std::nullopt}, harness_.now());
    }
  };
  for (int i = 0; i < 5; ++i) answer_all();
  EXPECT_THAT(evicted, UnorderedElementsAre("p", "q"));
  EXPECT_EQ(harness_.engine().preemptions(), 1U);
  harness_.PodGone("p");
  for (int i = 0; i < 5; ++i) answer_all();
  harness_.Pod(On("a", "q", "2", 0).BeingDeleted(true));
  EXPECT_EQ(harness_.engine().preemptions(), 0U);
  for (int i = 0; i < 5; ++i) answer_all();
  EXPECT_EQ(evicted.size(), 2U);
  harness_.PodGone("q");
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(harness_.NodeOf("vip"), "a");
}

TEST_F(EvictionsTest, TheLastVictimFollowsTheOthers) {
  harness_.Node(Node("a"));
  for (const char* name : {"p", "q", "r"}) harness_.Pod(On("a", name, "1", name[0] == 'r' ? 1 : 0));
  harness_.Pod(Wants("4", 10));
  harness_.Schedule();
  EXPECT_THAT(harness_.evictions(), ElementsAre("p", "r")) << "q is the least important";
  harness_.FinishEviction("p");
  harness_.Schedule();
  EXPECT_EQ(harness_.PlaceOf("vip"), QueuePlace::kGated) << "its room is still being made";
  EXPECT_EQ(harness_.Why("vip"), "waiting for the preemption for this pod to be finished");
  EXPECT_THAT(harness_.evictions(), ElementsAre("r"));
  harness_.FinishEviction("r");
  EXPECT_THAT(harness_.evictions(), ElementsAre("q"));
  harness_.FinishEviction("q");
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("vip"), "a");
}

TEST_F(EvictionsTest, ALeavingLastVictimIsEnoughToGoOn) {
  harness_.Node(Node("a"));
  harness_.Pod(On("a", "p", "4", 0));
  harness_.Pod(Wants("4", 10));
  harness_.Schedule();
  harness_.PodGone("p");
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("vip"), "a") << "the answer need not be waited for";
  harness_.FinishEviction("p");
}

TEST_F(EvictionsTest, AFailedEvictionIsReportedAndTriedAgainAfterAPause) {
  harness_.Node(Node("a"));
  harness_.Pod(On("a", "p", "2", 1));
  harness_.Pod(On("a", "q", "2", 0));
  harness_.Pod(Wants("4", 10));
  harness_.Schedule();
  harness_.FinishEviction("p", "forbidden");
  EXPECT_THAT(harness_.notes(),
              ::testing::Contains("FailedPreemption: evicting default/p from node a: forbidden"));
  harness_.Schedule();
  EXPECT_THAT(harness_.evictions(), IsEmpty()) << "the last victim is spared";
  harness_.Pass(Duration::Seconds(1));
  EXPECT_THAT(harness_.evictions(), ElementsAre("p"));
  harness_.FinishEviction("p");
  harness_.FinishEviction("q");
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("vip"), "a");
}

TEST_F(EvictionsTest, APodThatIsGoneIsNotSaidToHaveBeenPreempted) {
  harness_.Node(Node("a"));
  harness_.Pod(On("a", "p", "4", 0));
  harness_.Pod(Wants("4", 10));
  EXPECT_TRUE(harness_.engine().ScheduleOne(harness_.now()));
  for (const Action& action : harness_.engine().TakeActions()) {
    if (!std::holds_alternative<EvictPod>(action.what)) continue;
    harness_.engine().Handle(ActionFinished{action.id, std::nullopt, true}, harness_.now());
  }
  EXPECT_THAT(harness_.engine().TakeActions(), IsEmpty());
  harness_.PodGone("p");
}

TEST_F(EvictionsTest, NobodyMoreGoesForAPodThatIsGone) {
  harness_.Node(Node("a"));
  harness_.Pod(On("a", "p", "2", 1));
  harness_.Pod(On("a", "q", "2", 0));
  harness_.Pod(Wants("4", 10));
  harness_.Schedule();
  harness_.PodGone("vip");
  harness_.FinishEviction("p");
  EXPECT_THAT(harness_.evictions(), IsEmpty());
}

TEST_F(EvictionsTest, NobodyMoreGoesForAPodThatSomebodyElsePlaced) {
  harness_.Node(Node("a"));
  harness_.Node(Node("b"));
  harness_.Pod(On("a", "p", "2", 1));
  harness_.Pod(On("a", "q", "2", 0));
  harness_.Pod(On("b", "r", "4", 20));
  harness_.Pod(Wants("4", 10));
  harness_.Schedule();
  harness_.Pod(Wants("4", 10).On("b"));
  harness_.FinishEviction("p", "timeout");
  EXPECT_THAT(harness_.evictions(), IsEmpty());
}

TEST_F(EvictionsTest, LessImportantPodsLoseTheirNomination) {
  harness_.Node(Node("a"));
  harness_.Pod(On("a", "p", "4", 0));
  harness_.Pod(PodBuilder("mid").Asks("cpu", "4").Priority(5));
  harness_.Schedule();
  harness_.Pod(On("a", "p", "4", 0).Preempted());
  harness_.FinishEviction("p", "timeout");
  EXPECT_EQ(harness_.patches().back().nominated_node, "a");
  harness_.Pod(Wants("4", 10));
  EXPECT_TRUE(harness_.engine().ScheduleOne(harness_.now()));
  std::vector<std::string> cleared;
  for (const Action& action : harness_.engine().TakeActions()) {
    if (const auto* clear = std::get_if<ClearNomination>(&action.what)) {
      cleared.push_back(clear->pod.name);
    }
    EXPECT_FALSE(std::holds_alternative<EvictPod>(action.what)) << "it is leaving already";
    harness_.engine().Handle(ActionFinished{action.id, std::nullopt}, harness_.now());
  }
  EXPECT_THAT(cleared, ElementsAre("mid"));
  harness_.Pass(Duration::Seconds(5));
  harness_.PodGone("p");
  harness_.Pass(Duration::Seconds(15));
  EXPECT_EQ(harness_.NodeOf("vip"), "a");
  EXPECT_EQ(harness_.NodeOf("mid"), "");
}

TEST_F(EvictionsTest, ANominationOfANodeThatIsGoneIsTakenBack) {
  harness_.Node(Node("a"));
  harness_.Node(Node("b", "1"));
  harness_.Pod(Wants("4", 10).Nominated("gone"));
  harness_.Schedule();
  ASSERT_EQ(harness_.NodeOf("vip"), "a");
  harness_.Pod(PodBuilder("late").Asks("cpu", "4").Nominated("gone"));
  harness_.Schedule();
  EXPECT_EQ(harness_.patches().back().nominated_node, "");
}

TEST_F(EvictionsTest, ANominationThatSomebodyElseWritesIsFollowed) {
  harness_.Node(Node("a"));
  harness_.Node(Node("b"));
  harness_.Pod(On("a", "p", "4", 20));
  harness_.Pod(On("b", "q", "4", 20));
  harness_.Pod(Wants("4", 10));
  harness_.Schedule();
  harness_.Pod(Wants("4", 10).Nominated("b"));
  harness_.PodGone("q");
  harness_.Pod(PodBuilder("small").Asks("cpu", "1"));
  harness_.Pass(Duration::Seconds(15));
  EXPECT_EQ(harness_.NodeOf("vip"), "b");
  EXPECT_EQ(harness_.NodeOf("small"), "");
}

TEST(Refusals, AreRememberedForAsLongAsItIsAskedForAndOfManyTheLast) {
  Evictions evictions;
  const Time begin{};
  const auto at = [&](int seconds) { return begin + Duration::Seconds(seconds); };
  evictions.NoteRefusal("a", at(10));
  EXPECT_TRUE(evictions.WasRefused("a", at(9)));
  EXPECT_FALSE(evictions.WasRefused("a", at(10))) << "too long ago";
  EXPECT_FALSE(evictions.WasRefused("b", at(0)));
  evictions.NoteRefusal("b", at(11));
  evictions.NoteRefusal("a", at(12));
  EXPECT_TRUE(evictions.WasRefused("a", at(11))) << "the last time counts";
  for (int i = 0; i < 255; ++i) evictions.NoteRefusal("other-" + std::to_string(i), at(20));
  EXPECT_TRUE(evictions.WasRefused("a", at(0)));
  EXPECT_FALSE(evictions.WasRefused("b", at(0))) << "its time was the first";
}

}  // namespace
}  // namespace knx::engine
