// Gangs about whose members extenders are asked: what about, when, and that nothing of a gang is
// held by answers that come late, lie or never come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using framework::Extender;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Extender WithVerbs(const std::string& filter, const std::string& prioritize) {
  Extender extender;
  extender.url_prefix = "http://x";
  extender.filter_verb = filter;
  extender.prioritize_verb = prioritize;
  extender.weight = 1;
  return extender;
}

Extender OptionalOne(Extender extender) {
  extender.ignorable = true;
  return extender;
}

class GangExtenderTest : public ::testing::Test {
 protected:
  void Use(std::vector<Extender> extenders) {
    auto config = testing::ConfigurationWith({"Coscheduling", "GangPreemption"});
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
  static PodBuilder Member(const std::string& name, const std::string& cpu = "2", int minimum = 3) {
    return PodBuilder(name)
        .Asks("cpu", cpu)
        .Label("pod-group.scheduling.kubenexus.io/name", "train")
        .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(minimum));
  }
  // Three members of 2 CPUs each.
  void Gang(std::int32_t priority = 0) {
    for (const std::string name : {"m0", "m1", "m2"}) {
      harness_->Pod(Member(name).Priority(priority));
    }
    harness_->Schedule();
  }
  [[nodiscard]] const AskExtender& Question(std::size_t number) {
    KNX_CHECK(number < asked(), "nobody was asked so often");
    return harness_->asked()[number].second;
  }
  void Answer(std::size_t number, ExtenderAnswer answer) {
    harness_->Answer(harness_->asked()[number].first, std::move(answer));
    harness_->Schedule();
  }
  [[nodiscard]] std::size_t asked() { return harness_->asked().size(); }
  std::size_t Placed() {
    std::size_t placed = 0;
    for (const std::string name : {"m0", "m1", "m2"}) placed += harness_->NodeOf(name) != "";
    return placed;
  }
  std::int64_t Used() {
    const cluster::State& state = harness_->engine().state();
    std::int64_t used = 0;
    state.nodes().present().ForEach([&](std::uint32_t row) {
      used += state.nodes().requested(cluster::kCpu)[cluster::NodeRow{row}] / 1000;
    });
    return used;
  }

  std::optional<testing::Harness> harness_;
};

TEST_F(GangExtenderTest, IsAskedOnceForMembersThatAreAlikeAndTheGangGoesWhereItSays) {
  Use({WithVerbs("filter", "")});
  Nodes({"c", "a", "b"});
  Nodes({"small"}, "1");
  Gang();
  ASSERT_EQ(asked(), 1u);
  EXPECT_EQ(Question(0).verb, ExtenderVerb::kFilter);
  EXPECT_THAT(Question(0).nodes, ElementsAre("a", "b", "c")) << "none that is always too small";
  EXPECT_EQ(Used(), 0) << "nothing is held while it is asked";
  Answer(0, {.nodes = {"b", "c"}});
  EXPECT_EQ(asked(), 1u);
  EXPECT_EQ(Placed(), 3u);
  for (const std::string name : {"m0", "m1", "m2"}) EXPECT_NE(harness_->NodeOf(name), "a");
}

TEST_F(GangExtenderTest, EachShapeIsAskedAboutForItself) {
  Use({WithVerbs("filter", "")});
  Nodes({"a", "b"}, "8");
  harness_->Pod(Member("m0", "4"));
  harness_->Pod(Member("m1"));
  harness_->Pod(Member("m2"));
  harness_->Schedule();
  ASSERT_EQ(asked(), 2u) << "at the same time";
  const bool large_first = Question(0).pod.name == "m0";
  Answer(large_first ? 1 : 0, {.nodes = {"b"}});
  EXPECT_EQ(Placed(), 0u) << "one answer is missing";
  Answer(large_first ? 0 : 1, {.nodes = {"a"}});
  EXPECT_EQ(harness_->NodeOf("m0"), "a");
  EXPECT_EQ(harness_->NodeOf("m1"), "b");
  EXPECT_EQ(harness_->NodeOf("m2"), "b");
}

TEST_F(GangExtenderTest, TheNextIsAskedAboutWhatTheLastHasLeft) {
  Use({WithVerbs("filter", ""), WithVerbs("filter", "prioritize")});
  Nodes({"a", "b", "c"}, "8");
  Gang();
  Answer(0, {.nodes = {"a", "c"}});
  ASSERT_EQ(asked(), 2u);
  EXPECT_EQ(Question(1).extender, 1u);
  EXPECT_THAT(Question(1).nodes, ElementsAre("a", "c"));
  Answer(1, {.nodes = {"a", "c"}});
  ASSERT_EQ(asked(), 3u);
  EXPECT_EQ(Question(2).verb, ExtenderVerb::kPrioritize);
  Answer(2, {.scores = {{"c", 10}}});
  EXPECT_EQ(harness_->NodeOf("m0"), "c");
  EXPECT_EQ(harness_->NodeOf("m1"), "c");
  EXPECT_EQ(harness_->NodeOf("m2"), "c");
}

TEST_F(GangExtenderTest, AGangThatDoesNotFitWhereItMayGoHoldsNothingAndSaysWhy) {
  Use({WithVerbs("filter", "")});
  Nodes({"a", "b", "c"});
  Gang();
  Answer(0, {.nodes = {"a"}, .failed = {{"b", "too loud"}}});
  EXPECT_EQ(Placed(), 0u);
  EXPECT_EQ(Used(), 0);
  for (const std::string name : {"m0", "m1", "m2"}) {
    EXPECT_THAT(harness_->Why(name),
                AllOf(HasSubstr("needs 3 pods at once, 2 fit"), HasSubstr("1 too loud"),
                      HasSubstr("Extender \"http://x\" took 2 nodes away."),
                      HasSubstr("Impossible now: at most 2 fit")));
  }
  EXPECT_EQ(harness_->patches().back().reason, "Unschedulable");
  // Anything may change its mind.
  harness_->Pod(PodBuilder("other").On("a"));
  harness_->Pass(Duration::Seconds(12));
  ASSERT_EQ(asked(), 2u);
  Answer(1, {.nodes = {"a", "b"}});
  EXPECT_EQ(Placed(), 3u);
}

TEST_F(GangExtenderTest, AnErrorFailsTheAttemptUnlessTheExtenderIsIgnorable) {
  Use({WithVerbs("filter", ""), OptionalOne(WithVerbs("filter", "prioritize"))});
  Nodes({"a", "b"});
  Gang();
  Answer(0, {.failure = "it is on fire"});
  EXPECT_EQ(Placed(), 0u);
  EXPECT_EQ(Used(), 0);
  EXPECT_THAT(harness_->Why("m1"), HasSubstr("it is on fire"));
  EXPECT_EQ(harness_->patches().back().reason, "SchedulerError");
  harness_->Pass(Duration::Seconds(2));
  ASSERT_EQ(asked(), 2u);
  Answer(1, {.nodes = {"a", "b"}});
  Answer(2, {.failure = "it is on fire"});
  Answer(3, {.failure = "it is on fire"});
  EXPECT_EQ(Placed(), 3u);
}

TEST_F(GangExtenderTest, ANodeThatItMadeUpIsAnError) {
  Use({WithVerbs("filter", "")});
  Nodes({"a", "b"});
  Gang();
  Answer(0, {.nodes = {"a", "b", "moon"}});
  EXPECT_EQ(Placed(), 0u);
  EXPECT_THAT(harness_->Why("m0"), HasSubstr("claims a filtered node \"moon\""));
}

TEST_F(GangExtenderTest, OneThatNeverAnswersHoldsUpNobody) {
  Use({WithVerbs("filter", "")});
  Nodes({"a", "b"});
  Gang();
  harness_->Pass(Duration::Minutes(16));
  EXPECT_EQ(Used(), 0);
  ASSERT_EQ(asked(), 2u);
  EXPECT_THAT(harness_->Why("m0"), HasSubstr("no answer in time"));
  Answer(0, {.nodes = {"a", "b"}});
  EXPECT_EQ(Placed(), 0u) << "that is the answer to a question of long ago";
  Answer(1, {.nodes = {"a", "b"}});
  EXPECT_EQ(Placed(), 3u);
}

TEST_F(GangExtenderTest, OthersGoOnWhileItIsAsked) {
  Extender extender = WithVerbs("filter", "");
  extender.managed_resources = {{"example.com/gpu", true}};
  Use({extender});
  Nodes({"a", "b"});
  for (const std::string name : {"m0", "m1", "m2"}) {
    harness_->Pod(Member(name).Asks("example.com/gpu", "1"));
  }
  harness_->Schedule();
  ASSERT_EQ(asked(), 1u);
  harness_->Pod(PodBuilder("quick").Asks("cpu", "4"));
  harness_->ScheduleAndBind();
  EXPECT_NE(harness_->NodeOf("quick"), "");
  Answer(0, {.nodes = {"a", "b"}});
  EXPECT_EQ(Placed(), 0u) << "the room is gone";
  EXPECT_EQ(Used(), 4);
}

TEST_F(GangExtenderTest, NobodyIsAskedAboutGangsThatAskForNothingItManages) {
  Extender extender = WithVerbs("filter", "");
  extender.managed_resources = {{"example.com/gpu", true}};
  Use({extender});
  Nodes({"a", "b"});
  Gang();
  EXPECT_EQ(asked(), 0u);
  EXPECT_EQ(Placed(), 3u);
}

TEST_F(GangExtenderTest, IsAskedAgainAboutNodesThatComeMeanwhile) {
  Use({WithVerbs("filter", "")});
  Nodes({"a"});
  Gang();
  Nodes({"b"});
  Answer(0, {.nodes = {"a"}});
  EXPECT_EQ(Placed(), 0u);
  ASSERT_EQ(asked(), 2u);
  EXPECT_THAT(Question(1).nodes, ElementsAre("a", "b"));
  Answer(1, {.nodes = {"a", "b"}});
  EXPECT_EQ(Placed(), 3u);
}

TEST_F(GangExtenderTest, IsNotAskedForEverAboutNodesThatKeepComing) {
  Use({WithVerbs("filter", "")});
  Nodes({"n0", "n1"});
  Gang();
  for (std::size_t i = 0; i < 5 && Placed() == 0; ++i) {
    Nodes({"later" + std::to_string(i)});
    ASSERT_EQ(asked(), i + 1);
    Answer(i, {.nodes = Question(i).nodes});
  }
  EXPECT_EQ(asked(), 3u);
  EXPECT_EQ(Placed(), 3u);
}

TEST_F(GangExtenderTest, MembersMayComeAndGoMeanwhile) {
  Use({WithVerbs("filter", "")});
  Nodes({"a", "b"}, "8");
  Gang();
  ASSERT_EQ(asked(), 1u);
  const std::string first = Question(0).pod.name;
  harness_->PodGone(first);
  harness_->Pod(Member("m3"));
  Answer(0, {.nodes = {"a"}});
  ASSERT_EQ(asked(), 2u) << "what was said was said of one that is gone";
  EXPECT_NE(Question(1).pod.name, first);
  harness_->Pod(Member("m4"));
  Answer(1, {.nodes = {"b"}});
  EXPECT_EQ(asked(), 2u) << "the new one is like those";
  EXPECT_EQ(harness_->NodeOf("m3"), "b");
  EXPECT_EQ(harness_->NodeOf("m4"), "b");
}

TEST_F(GangExtenderTest, AGangThatGoesIsForgotten) {
  Use({WithVerbs("filter", "")});
  Nodes({"a", "b"});
  Gang();
  for (const std::string name : {"m0", "m1", "m2"}) harness_->PodGone(name);
  Answer(0, {.nodes = {"a", "b"}});
  EXPECT_EQ(Used(), 0);
}

TEST_F(GangExtenderTest, TooFewMembersWaitAgain) {
  Use({WithVerbs("filter", "")});
  Nodes({"a", "b"});
  Gang();
  harness_->PodGone("m2");
  Answer(0, {.nodes = {"a", "b"}});
  EXPECT_EQ(Placed(), 0u);
  harness_->Pod(Member("m2"));
  harness_->Schedule();
  ASSERT_EQ(asked(), 2u) << "what it said was for another attempt";
  Answer(1, {.nodes = {"a", "b"}});
  EXPECT_EQ(Placed(), 3u);
}

TEST_F(GangExtenderTest, NobodyIsEvictedWhereItDoesNotWantTheGang) {
  Use({WithVerbs("filter", "")});
  Nodes({"a", "b", "c"});
  for (const std::string node : {"a", "b", "c"}) {
    harness_->Pod(PodBuilder("on-" + node).Asks("cpu", "4").On(node));
  }
  Gang(10);
  Answer(0, {.nodes = {"b", "c"}});
  std::vector<std::string> gone;
  while (!harness_->evictions().empty()) {
    gone.push_back(harness_->evictions().front());
    harness_->FinishEviction(gone.back());
  }
  std::sort(gone.begin(), gone.end());
  EXPECT_THAT(gone, ElementsAre("on-b", "on-c"));
  harness_->Pass(Duration::Seconds(2));
  ASSERT_EQ(asked(), 2u);
  Answer(1, {.nodes = {"b", "c"}});
  EXPECT_EQ(Placed(), 3u);
}

TEST_F(GangExtenderTest, BindsMembersIfThatIsItsPart) {
  Extender binding;
  binding.url_prefix = "http://b";
  binding.bind_verb = "bind";
  Use({binding});
  Nodes({"a", "b"});
  Gang();
  EXPECT_EQ(asked(), 0u);
  EXPECT_THAT(harness_->NodeOf("m0"), HasSubstr("extender 0: "));
  harness_->FinishBinding("m0", "not today");
  harness_->FinishBinding("m1");
  harness_->FinishBinding("m2");
  harness_->Pass(Duration::Seconds(12));
  harness_->FinishBinding("m0");
  EXPECT_EQ(Used(), 6);
}

}  // namespace
}  // namespace knx::engine
