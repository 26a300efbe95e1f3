#include "engine/observer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using framework::EventKind;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// Writes down what it hears.
class Listener final : public Observer {
 public:
  void OnAttempt(const cluster::State& state, const EndedAttempt& attempt) override {
    constexpr std::string_view kResults[] = {"scheduled", "unschedulable", "error"};
    heard.push_back(fmt::format("{} {} #{}{}", state.pod(attempt.pod).name,
                                kResults[static_cast<std::size_t>(attempt.result)], attempt.number,
                                attempt.flushed ? " flushed" : ""));
    last = attempt;
    message = attempt.message;
  }
  void OnQueued(QueuePlace place, EventKind why) override {
    constexpr std::string_view kPlaces[] = {"",        "active", "backoff", "error backoff",
                                            "waiting", "gated",  "",        ""};
    queued.push_back(
        fmt::format("{} {}", kPlaces[static_cast<std::size_t>(place)], EventName(why)));
  }
  void OnEvent(EventKind kind) override { events.emplace_back(EventName(kind)); }
  void OnPreemption(std::size_t victims) override { victim_counts.push_back(victims); }
  void OnForeignBind(const cluster::State& state, cluster::PodId pod) override {
    heard.push_back("foreign bind of " + state.pod(pod).name);
  }
  void OnOvercommit(const cluster::State& state, cluster::PodId pod) override {
    heard.push_back("too much: " + state.pod(pod).name);
  }

  std::vector<std::string> heard, queued, events;
  std::vector<std::size_t> victim_counts;
  EndedAttempt last;
  std::string message;
};

class ObserverTest : public ::testing::Test {
 protected:
  static EngineOptions Options(Observer* observer) {
    EngineOptions options;
    options.observer = observer;
    return options;
  }
  static NodeBuilder Node(const std::string& name, const std::string& cpu = "4") {
    return NodeBuilder(name).Has("cpu", cpu).Has("memory", "8Gi").Has("pods", "110");
  }

  Listener listener_;
  testing::Harness harness_{Options(&listener_)};
};

TEST_F(ObserverTest, HearsOfAnAttemptOnlyWhenThePodIsBound) {
  harness_.Node(Node("n"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  const Time added = harness_.now();
  harness_.Pass(Duration::Milliseconds(5));
  EXPECT_THAT(listener_.heard, IsEmpty());
  harness_.FinishBinding("p");
  EXPECT_THAT(listener_.heard, ElementsAre("p scheduled #1"));
  EXPECT_EQ(listener_.last.ready, added);
  EXPECT_EQ(listener_.last.began, added + Duration::Milliseconds(5));
  EXPECT_THAT(listener_.queued, ElementsAre("active UnschedulablePodAdd"));
  EXPECT_THAT(listener_.events, ElementsAre("NodeAdd", "UnschedulablePodAdd"));
}

TEST_F(ObserverTest, HearsWhyAPodWasRejectedAndWhatBroughtItBack) {
  harness_.Node(Node("small", "1"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "2"));
  harness_.Schedule();
  EXPECT_THAT(listener_.heard, ElementsAre("p unschedulable #1"));
  EXPECT_THAT(listener_.message, ::testing::StartsWith("0/1 nodes are available: 1 Insufficient"));
  EXPECT_THAT(listener_.victim_counts, ElementsAre(0));
  const std::vector<RejectedPods> rejected = harness_.engine().queue().CountRejected();
  ASSERT_EQ(rejected.size(), 1U);
  EXPECT_EQ(rejected.front().pods, 1U);
  harness_.Node(Node("large"));
  harness_.ScheduleAndBind();
  EXPECT_THAT(listener_.heard, ElementsAre("p unschedulable #1", "p scheduled #2"));
  EXPECT_THAT(listener_.queued,
              ElementsAre("active UnschedulablePodAdd", "waiting ScheduleAttemptFailure",
                          "backoff NodeAdd", "active PopFromBackoffQ"));
  EXPECT_THAT(harness_.engine().queue().CountRejected(), IsEmpty());
}

TEST_F(ObserverTest, TimeBehindAGateIsNotTimeInWhichItCouldBeTaken) {
  harness_.Node(Node("n"));
  harness_.Pod(PodBuilder("p").Gate("wait"));
  EXPECT_THAT(listener_.queued, ElementsAre("gated UnschedulablePodAdd"));
  EXPECT_EQ(harness_.engine().queue().CountRejected().size(), 1U);
  harness_.Pass(Duration::Minutes(1));
  const Time opened = harness_.now();
  harness_.Pod(PodBuilder("p"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(listener_.last.ready, opened);
  EXPECT_EQ(listener_.queued.back(), "active UnschedulablePodUpdatePodSchedulingGatesEliminated");
}

TEST_F(ObserverTest, ABindingThatFailsIsAnErrorAndItsBackoffEnds) {
  harness_.Node(Node("n"));
  harness_.Pod(PodBuilder("p"));
  harness_.Schedule();
  harness_.FinishBinding("p", "refused");
  EXPECT_THAT(listener_.heard, ElementsAre("p error #1"));
  EXPECT_THAT(listener_.message, ::testing::HasSubstr("refused"));
  harness_.Pass(Duration::Seconds(2));
  EXPECT_THAT(listener_.queued,
              ElementsAre("active UnschedulablePodAdd", "error backoff ScheduleAttemptFailure",
                          "active BackoffComplete"));
}

TEST_F(ObserverTest, AnAttemptAfterTooLongAWaitSaysSo) {
  harness_.Node(Node("small", "1"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "2"));
  harness_.Schedule();
  harness_.Pass(Duration::Minutes(6));
  // By then it has failed once more, which ends what the wait was about.
  EXPECT_THAT(listener_.heard, ElementsAre("p unschedulable #1", "p unschedulable #2"));
  EXPECT_THAT(listener_.queued, Contains("active UnschedulableTimeout"));
}

TEST_F(ObserverTest, HearsHowManyHaveToGo) {
  harness_.Node(Node("n", "2"));
  harness_.Pod(PodBuilder("a").Asks("cpu", "1").On("n"));
  harness_.Pod(PodBuilder("b").Asks("cpu", "1").On("n"));
  harness_.Pod(PodBuilder("vip").Asks("cpu", "2").Priority(10));
  harness_.Schedule();
  EXPECT_THAT(listener_.victim_counts, ElementsAre(2));
}

TEST_F(ObserverTest, SomebodyElseWasFasterAndTheNodeIsNowTooFull) {
  harness_.Node(Node("n", "1"));
  harness_.Pod(PodBuilder("ours").Asks("cpu", "1"));
  harness_.Pod(PodBuilder("theirs").Asks("cpu", "1").On("n"));
  EXPECT_THAT(listener_.heard, Not(Contains("too much: theirs")));
  harness_.Pod(PodBuilder("ours").Asks("cpu", "1").On("n"));
  EXPECT_THAT(listener_.heard, ElementsAre("foreign bind of ours", "too much: ours"));
}

TEST_F(ObserverTest, TooMuchIsWhoeverIsBoundLast) {
  harness_.Node(Node("n", "1"));
  harness_.Pod(PodBuilder("ours").Asks("cpu", "1"));
  harness_.Schedule();
  harness_.Pod(PodBuilder("theirs").Asks("cpu", "1").On("n"));
  EXPECT_THAT(listener_.heard, IsEmpty()) << "ours is on its way only";
  harness_.Pod(PodBuilder("ours").Asks("cpu", "1").On("n"));
  EXPECT_THAT(listener_.heard, ElementsAre("too much: ours"));
}

TEST_F(ObserverTest, WhoAsksForNothingIsNotTooMuch) {
  harness_.Node(Node("n", "1"));
  harness_.Pod(PodBuilder("large").Asks("cpu", "2").On("n"));
  harness_.Pod(PodBuilder("idle").On("n"));
  EXPECT_THAT(listener_.heard, ElementsAre("too much: large"));
}

TEST_F(ObserverTest, OurOwnBindingIsNeitherForeignNorTooMuch) {
  harness_.Node(Node("n", "1"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness_.Schedule();
  harness_.Pod(PodBuilder("p").Asks("cpu", "1").On("n"));
  harness_.FinishBinding("p");
  EXPECT_THAT(listener_.heard, ElementsAre("p scheduled #1"));
}

}  // namespace
}  // namespace knx::engine
