// Pods about which extenders are asked: whom, about what, and what becomes of the answers, also of
// those that come late, lie or never come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using framework::Extender;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Extender Filtering(const std::string& url = "http://f") {
  Extender extender;
  extender.url_prefix = url;
  extender.filter_verb = "filter";
  return extender;
}

Extender Scoring(std::int64_t weight = 1) {
  Extender extender;
  extender.url_prefix = "http://s";
  extender.prioritize_verb = "prioritize";
  extender.weight = weight;
  return extender;
}

Extender Preempting() {
  Extender extender;
  extender.url_prefix = "http://p";
  extender.preempt_verb = "preempt";
  return extender;
}

Extender Binding() {
  Extender extender;
  extender.url_prefix = "http://b";
  extender.bind_verb = "bind";
  return extender;
}

Extender Ignorable(Extender extender) {
  extender.ignorable = true;
  return extender;
}

class ExtenderTest : public ::testing::Test {
 protected:
  void Use(std::vector<Extender> extenders) {
    framework::SchedulerConfiguration config = framework::DefaultConfiguration();
    config.extenders = std::move(extenders);
    harness_.emplace(OptionsFor(config), testing::ProfilesOf(config));
  }
  void TearDown() override {
    EXPECT_EQ(harness_->engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_->engine().VerifyCaches().value_or("equal"), "equal");
  }
  void Nodes(const std::vector<std::string>& names, const std::string& cpu = "4") {
    for (const std::string& name : names) {
      harness_->Node(NodeBuilder(name).Has("cpu", cpu).Has("memory", "8Gi").Has("pods", "110"));
    }
  }
  void Pod(const std::string& name, const std::string& cpu = "1", std::int32_t priority = 0) {
    harness_->Pod(PodBuilder(name).Asks("cpu", cpu).Priority(priority));
    harness_->Schedule();
  }
  // The last question, which must be about the pod.
  const AskExtender& Asked(const std::string& pod) {
    KNX_CHECK(!harness_->asked().empty(), "no extender was asked");
    EXPECT_EQ(harness_->asked().back().second.pod.name, pod);
    return harness_->asked().back().second;
  }
  void Answer(ExtenderAnswer answer) {
    harness_->Answer(harness_->asked().back().first, std::move(answer));
  }
  [[nodiscard]] PodStanding Standing(const std::string& pod) {
    return harness_->engine().Standing("uid-" + pod);
  }
  [[nodiscard]] std::size_t asked() { return harness_->asked().size(); }

  std::optional<testing::Harness> harness_;
};

TEST_F(ExtenderTest, IsAskedAboutTheNodesThatThePluginsAccept) {
  Use({Filtering()});
  Nodes({"c", "a", "b"});
  Nodes({"small"}, "500m");
  Pod("p");
  EXPECT_THAT(Asked("p").nodes, ElementsAre("a", "b", "c"));
  EXPECT_EQ(Asked("p").verb, ExtenderVerb::kFilter);
  EXPECT_EQ(Standing("p"), PodStanding::kPaused);
  Answer({.nodes = {"b"}});
  EXPECT_EQ(harness_->NodeOf("p"), "b");
}

TEST_F(ExtenderTest, IsNotAskedAboutPodsThatAskForNothingItManages) {
  Extender extender = Filtering();
  extender.managed_resources = {{"example.com/gpu", true}};
  Use({extender});
  Nodes({"a"});
  Pod("plain");
  EXPECT_EQ(harness_->NodeOf("plain"), "a");
  EXPECT_EQ(asked(), 0u);
  harness_->Pod(PodBuilder("managed").Asks("cpu", "1").Asks("example.com/gpu", "1"));
  harness_->Schedule();
  EXPECT_THAT(Asked("managed").nodes, ElementsAre("a")) << "no plugin counts what it manages";
}

TEST_F(ExtenderTest, WhatItRefusesIsSaidInItsWordsAndAnythingMayChangeItsMind) {
  Use({Filtering()});
  Nodes({"a", "b", "c", "d"});
  Nodes({"small"}, "500m");
  Pod("p");
  Answer({.failed = {{"a", "too loud"}, {"b", "too loud"}}, .unresolvable = {{"c", "too far"}}});
  EXPECT_EQ(harness_->Why("p"),
            "0/5 nodes are available: 1 Insufficient cpu, 1 too far, 2 too loud. no new claims to "
            "deallocate, preemption: 0/5 "
            "nodes are available: 2 No preemption victims found for incoming pod, 3 Preemption is "
            "not helpful for scheduling.")
      << "of the node that it only left out nothing is said";
  EXPECT_EQ(harness_->patches().back().reason, "Unschedulable");
  EXPECT_EQ(harness_->PlaceOf("p"), QueuePlace::kUnschedulable);
  harness_->Pod(PodBuilder("other").On("a"));
  EXPECT_EQ(harness_->PlaceOf("p"), QueuePlace::kBackoff);
  harness_->Pass(Duration::Seconds(2));
  EXPECT_EQ(asked(), 2u);
  Answer({.nodes = {"d"}});
  EXPECT_EQ(harness_->NodeOf("p"), "d");
}

TEST_F(ExtenderTest, WhatHappensWhileItIsAskedCountsForThePod) {
  Use({Filtering()});
  Nodes({"a"});
  Pod("p");
  harness_->Pod(PodBuilder("other").On("a"));
  Answer({.failed = {{"a", "no"}}});
  EXPECT_EQ(harness_->PlaceOf("p"), QueuePlace::kBackoff) << "the event came while it was asked";
}

TEST_F(ExtenderTest, AnErrorFailsTheAttemptUnlessTheExtenderIsIgnorable) {
  Use({Ignorable(Filtering("http://i")), Filtering("http://f")});
  Nodes({"a", "b"});
  Pod("p");
  EXPECT_EQ(Asked("p").extender, 0u) << "ignorable ones come last";
  Answer({.failure = "it is on fire"});
  EXPECT_EQ(harness_->Why("p"), "it is on fire");
  EXPECT_EQ(harness_->patches().back().reason, "SchedulerError");
  EXPECT_EQ(harness_->PlaceOf("p"), QueuePlace::kErrorBackoff);
  harness_->Pass(Duration::Seconds(2));
  Answer({.nodes = {"b"}});
  EXPECT_EQ(Asked("p").extender, 1u);
  EXPECT_THAT(Asked("p").nodes, ElementsAre("b"));
  Answer({.failure = "it is on fire"});
  EXPECT_EQ(harness_->NodeOf("p"), "b");
}

TEST_F(ExtenderTest, ANodeThatItMadeUpIsAnError) {
  Use({Filtering()});
  Nodes({"a"});
  Pod("p");
  Answer({.nodes = {"a", "moon"}});
  EXPECT_EQ(harness_->Why("p"),
            "extender \"http://f\" claims a filtered node \"moon\" which is not found in the input "
            "node list");
}

TEST_F(ExtenderTest, ScoresOfAllAreAddedUpWithTheirWeights) {
  Use({Scoring(1), Scoring(3)});
  Nodes({"a", "b", "c"});
  Pod("p");
  ASSERT_EQ(asked(), 2u) << "all at once";
  harness_->Answer(harness_->asked()[1].first, ExtenderAnswer{.scores = {{"b", 4}, {"moon", 10}}});
  EXPECT_EQ(Standing("p"), PodStanding::kPaused);
  harness_->Answer(harness_->asked()[0].first, ExtenderAnswer{.scores = {{"c", 10}}});
  EXPECT_EQ(harness_->NodeOf("p"), "b") << "4 * 3 is more than 10 * 1";
}

TEST_F(ExtenderTest, NumbersThatNoExtenderShouldGiveDoNoHarm) {
  Use({Scoring(1000)});
  Nodes({"a", "b", "c"});
  Pod("p");
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  Answer({.scores = {{"a", least}, {"b", most}, {"b", most}, {"c", least}, {"c", least}}});
  EXPECT_EQ(harness_->NodeOf("p"), "b");
}

TEST_F(ExtenderTest, WithoutScoresThePluginsDecide) {
  Use({Scoring()});
  Nodes({"a", "b"});
  harness_->Pod(PodBuilder("there").Asks("cpu", "2").On("a"));
  Pod("p");
  Answer({.failure = "no"});
  EXPECT_EQ(harness_->NodeOf("p"), "b");
}

TEST_F(ExtenderTest, OfOneNodeNobodyIsAskedHowGoodItIs) {
  Use({Scoring()});
  Nodes({"a"});
  Pod("p");
  EXPECT_EQ(asked(), 0u);
  EXPECT_EQ(harness_->NodeOf("p"), "a");
}

TEST_F(ExtenderTest, OthersGoOnWhileOnePodWaits) {
  Extender extender = Filtering();
  extender.managed_resources = {{"example.com/gpu", true}};
  Use({extender});
  Nodes({"a"}, "2");
  harness_->Pod(PodBuilder("slow").Asks("cpu", "2").Asks("example.com/gpu", "1"));
  harness_->Schedule();
  Pod("quick", "1");
  EXPECT_EQ(harness_->NodeOf("quick"), "a");
  Answer({.nodes = {"a"}});
  EXPECT_THAT(harness_->Why("slow"), StartsWith("0/1 nodes are available: 1 Insufficient cpu."))
      << "the room went to another while the extender was asked";
}

TEST_F(ExtenderTest, TwoThatWaitForTheSameRoomDoNotBothGetIt) {
  Use({Filtering()});
  Nodes({"a", "b"}, "1");
  Pod("p");
  Pod("q");
  const ActionId for_p = harness_->asked()[0].first, for_q = harness_->asked()[1].first;
  harness_->Answer(for_q, ExtenderAnswer{.nodes = {"a"}});
  EXPECT_EQ(harness_->NodeOf("q"), "a");
  harness_->Answer(for_p, ExtenderAnswer{.nodes = {"a"}});
  EXPECT_EQ(harness_->NodeOf("p"), "");
  ASSERT_EQ(asked(), 3u) << "it is asked anew, about what is left";
  EXPECT_THAT(Asked("p").nodes, ElementsAre("b"));
  Answer({.nodes = {"b"}});
  EXPECT_EQ(harness_->NodeOf("p"), "b");
}

TEST_F(ExtenderTest, TheNextBestIsTakenIfTheBestDoesNotFitAnyMore) {
  Use({Filtering(), Scoring()});
  Nodes({"a", "b"}, "1");
  Pod("p");
  Answer({.nodes = {"a", "b"}});
  harness_->Pod(PodBuilder("other").Asks("cpu", "1").On("b"));
  Answer({.scores = {{"b", 10}}});
  EXPECT_EQ(harness_->NodeOf("p"), "a");
}

TEST_F(ExtenderTest, ANodeThatGoesMeanwhileIsNotTaken) {
  Use({Filtering()});
  Nodes({"a", "b"});
  Pod("p");
  harness_->NodeGone("a");
  Answer({.nodes = {"a", "b"}});
  EXPECT_EQ(harness_->NodeOf("p"), "b");
  Pod("q");
  harness_->NodeGone("b");
  Answer({.nodes = {"b"}});
  EXPECT_EQ(harness_->Why("q"), "no nodes available to schedule pods");
}

TEST_F(ExtenderTest, AnswersForAPodThatIsGoneReachNobody) {
  Use({Filtering(), Scoring()});
  Nodes({"a", "b"});
  Pod("deleted");
  harness_->PodGone("deleted");
  Answer({.nodes = {"a"}});
  Pod("bound");
  harness_->Pod(PodBuilder("bound").Asks("cpu", "1").On("b"));
  Answer({.nodes = {"a"}});
  EXPECT_EQ(Standing("bound"), PodStanding::kBound);
  Pod("leaving");
  harness_->Pod(PodBuilder("leaving").Asks("cpu", "1").Terminating());
  Answer({.nodes = {"a", "b"}});
  EXPECT_EQ(harness_->NodeOf("leaving"), "");
  EXPECT_EQ(harness_->PlaceOf("leaving"), QueuePlace::kNone);
  EXPECT_EQ(asked(), 3u) << "nobody asked for scores";
}

TEST_F(ExtenderTest, OneThatNeverAnswersIsGivenUp) {
  Extender slow = Filtering();
  slow.http_timeout = Duration::Seconds(7);
  Use({slow});
  Nodes({"a"});
  Pod("p");
  harness_->Pass(Duration::Minutes(15) + Duration::Seconds(6));
  EXPECT_EQ(Standing("p"), PodStanding::kPaused);
  harness_->Pass(Duration::Seconds(1));
  EXPECT_THAT(harness_->notes(), ElementsAre("FailedScheduling: no answer in time"));
  harness_->Answer(harness_->asked()[0].first, ExtenderAnswer{.nodes = {"a"}});
  EXPECT_EQ(harness_->NodeOf("p"), "") << "too late";
}

TEST_F(ExtenderTest, TheNominatedNodeIsAskedAboutFirst) {
  Use({Filtering()});
  Nodes({"a", "b"});
  harness_->Pod(PodBuilder("p").Asks("cpu", "1").Nominated("b"));
  harness_->Schedule();
  EXPECT_THAT(Asked("p").nodes, ElementsAre("b"));
  Answer({.failure = "no"});
  EXPECT_THAT(Asked("p").nodes, ElementsAre("a", "b")) << "then about all";
  Answer({.nodes = {"a"}});
  EXPECT_EQ(harness_->NodeOf("p"), "a");
}

TEST_F(ExtenderTest, BindsInPlaceOfThePlugins) {
  Use({Binding()});
  Nodes({"a"});
  Pod("p");
  EXPECT_EQ(harness_->NodeOf("p"), "extender 0: a");
  harness_->FinishBinding("p", "out of rope");
  EXPECT_EQ(harness_->Why("p"), "out of rope");
  EXPECT_EQ(harness_->PlaceOf("p"), QueuePlace::kErrorBackoff);
  harness_->Pass(Duration::Seconds(2));
  harness_->FinishBinding("p");
  EXPECT_EQ(Standing("p"), PodStanding::kBound);
}

TEST_F(ExtenderTest, ThePluginsBindIfAnIgnorableExtenderCannot) {
  Use({Ignorable(Binding())});
  Nodes({"a"});
  Pod("p");
  harness_->FinishBinding("p", "out of rope");
  EXPECT_EQ(harness_->NodeOf("p"), "a");
  harness_->FinishBinding("p", "conflict");
  EXPECT_EQ(harness_->Why("p"), "running Bind plugin \"DefaultBinder\": conflict");
}

class ExtenderPreemption : public ExtenderTest {
 protected:
  void Fill(std::vector<Extender> extenders) {
    Use(std::move(extenders));
    Nodes({"a", "b"}, "2");
    harness_->Pod(PodBuilder("a1").Asks("cpu", "1").Priority(1).On("a"));
    harness_->Pod(PodBuilder("a2").Asks("cpu", "1").Priority(1).On("a"));
    harness_->Pod(PodBuilder("b1").Asks("cpu", "2").Priority(5).On("b"));
    Pod("vip", "2", 10);
  }
};

TEST_F(ExtenderPreemption, IsAskedWhoCouldGoAndDecides) {
  Fill({Preempting()});
  const AskExtender& ask = Asked("vip");
  EXPECT_EQ(ask.verb, ExtenderVerb::kPreempt);
  ASSERT_EQ(ask.victims.size(), 2u);
  EXPECT_EQ(ask.victims[0].node, "a");
  ASSERT_EQ(ask.victims[0].pods.size(), 2u);
  EXPECT_EQ(ask.victims[1].pods[0].uid, "uid-b1");
  EXPECT_THAT(harness_->evictions(), IsEmpty());
  Answer({.victims = {{"b", {"uid-b1"}, 0}}});
  EXPECT_THAT(harness_->evictions(), ElementsAre("b1")) << "a would have been the better one";
  harness_->FinishEviction("b1");
  harness_->Pass(Duration::Seconds(2));
  EXPECT_EQ(harness_->NodeOf("vip"), "b");
}

// As with kube-scheduler: who asks it does not know better.
TEST_F(ExtenderPreemption, MayNameWhoIsMoreImportant) {
  Fill({Preempting()});
  harness_->Pod(PodBuilder("b1").Asks("cpu", "2").Priority(20).On("b"));
  Answer({.victims = {{"b", {"uid-b1"}, 0}}});
  EXPECT_THAT(harness_->evictions(), ElementsAre("b1"));
}

TEST_F(ExtenderPreemption, MayAgreeToNothing) {
  Fill({Preempting()});
  Answer({});
  EXPECT_THAT(harness_->evictions(), IsEmpty());
  EXPECT_EQ(harness_->Why("vip"),
            "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: "
            "no candidate node for "
            "preemption");
}

TEST_F(ExtenderPreemption, WhoLiesIsNotBelieved) {
  const struct {
    ExtenderAnswer answer;
    std::string why;
  } lies[] = {
      {{.victims = {{"moon", {"uid-a1"}, 0}}}, "nodeinfo not found for node name \"moon\""},
      {{.victims = {{"a", {"uid-b1"}, 0}}},
       "extender: http://p claims to preempt pod (UID: &{uid-b1}) on node: a, but the pod is not "
       "found on that node"},
      {{.victims = {{"a", {}, 0}}}, "expected at least one victim pod on node \"a\""},
      {{.failure = "asleep"}, "asleep"},
  };
  for (const auto& lie : lies) {
    Fill({Preempting()});
    Answer(lie.answer);
    EXPECT_THAT(harness_->evictions(), IsEmpty());
    EXPECT_EQ(harness_->Why("vip"),
              "0/2 nodes are available: 2 Insufficient cpu. preemption: " + lie.why);
    Fill({Ignorable(Preempting())});
    Answer(lie.answer);
    const bool empty = !lie.answer.victims.empty() && lie.answer.victims[0].uids.empty();
    ASSERT_EQ(harness_->plans().size(), empty ? 0u : 1u) << "the others decide";
  }
}

TEST_F(ExtenderPreemption, WhoNamesANodeThatItWasNotAskedAboutIsNotBelieved) {
  for (const bool ignorable : {false, true}) {
    Use({Filtering(), ignorable ? Ignorable(Preempting()) : Preempting()});
    Nodes({"a", "b"}, "2");
    harness_->Pod(PodBuilder("a1").Asks("cpu", "1").Priority(1).On("a"));
    harness_->Pod(PodBuilder("b1").Asks("cpu", "2").Priority(1).On("b"));
    Pod("vip", "1", 10);
    ASSERT_THAT(Asked("vip").nodes, ElementsAre("a"));
    Answer({});
    ASSERT_EQ(Asked("vip").victims.size(), 1u);
    EXPECT_EQ(Asked("vip").victims[0].node, "b");
    Answer({.victims = {{"a", {"uid-a1"}, 0}}});
    EXPECT_EQ(asked(), 2u) << "the same questions again and again";
    if (ignorable) {
      EXPECT_THAT(harness_->evictions(), ElementsAre("b1")) << "the others decide";
      continue;
    }
    EXPECT_THAT(harness_->evictions(), IsEmpty());
    EXPECT_THAT(harness_->Why("vip"), HasSubstr("preemption: extender: http://p names node a, "
                                                "which it was not asked about"));
  }
}

TEST_F(ExtenderPreemption, NobodyIsEvictedForRoomThatIsThereByNow) {
  Fill({Preempting()});
  harness_->PodGone("a1");
  Answer({.victims = {{"a", {"uid-a1", "uid-a2"}, 0}}});
  EXPECT_THAT(harness_->evictions(), IsEmpty()) << "it is asked anew";
  ASSERT_EQ(asked(), 2u);
  ASSERT_EQ(Asked("vip").victims[0].pods.size(), 1u);
  harness_->PodGone("b1");
  Answer({.victims = {{"b", {"uid-b1"}, 0}}});
  EXPECT_THAT(harness_->evictions(), IsEmpty());
  EXPECT_EQ(harness_->NodeOf("vip"), "b");
}

TEST_F(ExtenderPreemption, EachIsAskedAboutWhatTheOneBeforeLeft) {
  Fill({Preempting(), Ignorable(Preempting())});
  Answer({.victims = {{"a", {"uid-a1", "uid-a2"}, 0}}});
  ASSERT_EQ(asked(), 2u);
  EXPECT_EQ(Asked("vip").extender, 1u);
  ASSERT_EQ(Asked("vip").victims.size(), 1u);
  Answer({.failure = "asleep"});
  ASSERT_EQ(harness_->plans().size(), 1u);
  EXPECT_EQ(harness_->plans()[0].node, "a");
  EXPECT_EQ(harness_->plans()[0].victims.size(), 2u);
}

}  // namespace
}  // namespace knx::engine
