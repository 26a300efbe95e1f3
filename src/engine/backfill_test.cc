#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<framework::Profile> BackfillProfiles(const std::string& args) {
  return testing::ProfilesWith({"Coscheduling", "BackfillScoring"},
                               "{name: BackfillScoring, args: {" + args + "}}");
}

// A node of 4 CPUs on which a pod of 3 runs for 100 s, and a pod of 4 that has to wait for it.
class BackfillTest : public ::testing::Test {
 protected:
  void Begin(const std::string& args = "", const std::string& runs_for = "100s") {
    harness_ = std::make_unique<testing::Harness>(EngineOptions{}, BackfillProfiles(args));
    Node("a");
    Wants("runs", "3", runs_for);
    harness_->ScheduleAndBind();
    ASSERT_EQ(harness_->NodeOf("runs"), "a");
    Wants("large", "4", "50s");
    harness_->ScheduleAndBind();
  }
  void Node(const std::string& name) {
    harness_->Node(NodeBuilder(name).Has("cpu", "4").Has("memory", "64Gi").Has("pods", "110"));
  }
  // "" as run time: nothing is said about it.
  static k8s::Pod Job(const std::string& name, const std::string& cpu, const std::string& run,
                      const k8s::StringMap& labels = {}, int priority = 0) {
    PodBuilder builder = PodBuilder(name).Asks("cpu", cpu).Priority(priority);
    for (const auto& [key, value] : labels) builder.Label(key, value);
    k8s::Pod pod = builder;
    if (!run.empty()) {
      pod.meta.annotations = {{"scheduling.kubenexus.io/expected-duration", run}};
    }
    return pod;
  }
  void Wants(const std::string& name, const std::string& cpu, const std::string& run) {
    harness_->Pod(Job(name, cpu, run));
  }
  std::string NodeOf(const std::string& name) {
    harness_->ScheduleAndBind();
    return harness_->NodeOf(name);
  }
  void End(const std::string& name) {
    k8s::Pod done = PodBuilder(name);
    done.status.phase = k8s::PodPhase::kSucceeded;
    harness_->Pod(done);
    harness_->PodGone(name);
    harness_->Pass(Duration::Seconds(11));
  }
  void TearDown() override {
    EXPECT_EQ(harness_->engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_->engine().VerifyCaches().value_or("equal"), "equal");
  }
  std::unique_ptr<testing::Harness> harness_;
};

TEST_F(BackfillTest, WhoEndsBeforeThePromisedStartPassesAndWhoDoesNotWaits) {
  Begin();
  EXPECT_THAT(harness_->Why("large"), HasSubstr("It is promised to start by "));
  Wants("long", "1", "101s");
  EXPECT_EQ(NodeOf("long"), "");
  EXPECT_EQ(harness_->Why("long"),
            "waits for its turn: it would delay the start that was promised to a pod before it");
  Wants("short", "1", "100s");
  EXPECT_EQ(NodeOf("short"), "a");
}

TEST_F(BackfillTest, ARunTimeThatCannotBeReadIsSaidToBeNone) {
  Begin();
  Wants("odd", "1", "soon");
  EXPECT_EQ(NodeOf("odd"), "");
  EXPECT_THAT(harness_->notes(), ::testing::Contains(HasSubstr("says soon, which is no time")));
}

TEST_F(BackfillTest, WithoutThePluginWhoFitsStarts) {
  harness_ = std::make_unique<testing::Harness>(EngineOptions{}, testing::GangProfiles());
  Node("a");
  Wants("runs", "3", "100s");
  harness_->ScheduleAndBind();
  Wants("large", "4", "50s");
  Wants("long", "1", "1000s");
  EXPECT_EQ(NodeOf("long"), "a");
  EXPECT_THAT(harness_->Why("large"), HasSubstr("Insufficient cpu"));
  EXPECT_THAT(harness_->Why("large"), Not(HasSubstr("promised")));
}

TEST_F(BackfillTest, TheFirstStartsAsPromisedAndThenTheOthers) {
  Begin();
  Wants("long", "1", "1000s");
  EXPECT_EQ(NodeOf("long"), "");
  harness_->Pass(Duration::Seconds(99));
  End("runs");
  EXPECT_EQ(NodeOf("large"), "a");
  EXPECT_EQ(NodeOf("long"), "");
  End("large");
  EXPECT_EQ(NodeOf("long"), "a");
}

TEST_F(BackfillTest, NodesThatAreNotPromisedAreForEverybody) {
  Begin();
  harness_->Node(NodeBuilder("b").Has("cpu", "2").Has("memory", "64Gi").Has("pods", "110"));
  Wants("long", "2", "");
  EXPECT_EQ(NodeOf("long"), "b");
}

TEST_F(BackfillTest, WhoLeavesRoomForThePromisedMayShareItsNode) {
  for (const bool share : {true, false}) {
    SCOPED_TRACE(share);
    harness_ = std::make_unique<testing::Harness>(
        EngineOptions{}, BackfillProfiles(share ? "" : "shareNodes: false"));
    Node("a");
    Wants("runs", "3", "100s");
    harness_->ScheduleAndBind();
    Wants("large", "3", "50s");
    harness_->ScheduleAndBind();
    Wants("beside", "1", "1000s");
    EXPECT_EQ(NodeOf("beside"), share ? "a" : "");
  }
}

TEST_F(BackfillTest, WhoWouldDelayOnTheBestNodeGoesToTheNextThatFits) {
  Begin();
  // Less is left of it than of the promised one, or as much, and its name comes later.
  harness_->Node(NodeBuilder("b").Has("cpu", "1").Has("memory", "64Gi").Has("pods", "110"));
  Wants("long", "1", "1000s");
  EXPECT_EQ(NodeOf("long"), "b");
  Wants("next", "1", "1000s");
  EXPECT_EQ(NodeOf("next"), "");
}

TEST_F(BackfillTest, AGangGoesWhereItDelaysNobodyWithAllOfItsMembers) {
  for (const bool share : {true, false}) {
    SCOPED_TRACE(share);
    Begin(share ? "" : "shareNodes: false");
    harness_->Node(NodeBuilder("b").Has("cpu", "2").Has("memory", "64Gi").Has("pods", "110"));
    for (const char* name : {"m1", "m2"}) {
      harness_->Pod(Job(name, "1", "1000s",
                        {{"pod-group.scheduling.kubenexus.io/name", "train"},
                         {"pod-group.scheduling.kubenexus.io/min-available", "2"}}));
    }
    EXPECT_EQ(NodeOf("m1"), "b");
    EXPECT_EQ(NodeOf("m2"), "b");
  }
}

// A gang with a member of 5 CPUs, and one of 3, is promised a node for each: beside the latter
// there is room, and more is left of the other now.
TEST_F(BackfillTest, SoManyPromisedNodesAreLookedAtForWhoMayShareThem) {
  struct Case {
    const char *args, *node;
    int members;  // of a gang that wants the room
  };
  for (const Case& c :
       {Case{"", "b", 1}, Case{"sharedNodesTried: 1", "b", 1}, Case{"sharedNodesTried: 0", "", 1},
        Case{"shareNodes: false", "", 1}, Case{"", "b", 2}, Case{"sharedNodesTried: 0", "", 2}}) {
    SCOPED_TRACE(c.args);
    harness_ = std::make_unique<testing::Harness>(EngineOptions{}, BackfillProfiles(c.args));
    harness_->Node(NodeBuilder("a").Has("cpu", "5").Has("memory", "64Gi").Has("pods", "110"));
    Node("b");
    for (const char* name : {"runs-1", "runs-2"}) Wants(name, "3", "100s");
    harness_->ScheduleAndBind();
    for (const auto& [name, cpu] : {std::pair("large", "5"), std::pair("smaller", "3")}) {
      harness_->Pod(Job(name, cpu, "50s",
                        {{"pod-group.scheduling.kubenexus.io/name", "train"},
                         {"pod-group.scheduling.kubenexus.io/min-available", "2"}}));
    }
    harness_->ScheduleAndBind();
    ASSERT_THAT(harness_->Why("large"), HasSubstr("It is promised to start by "));
    for (int i = 0; i < c.members; ++i) {
      harness_->Pod(
          Job("long-" + std::to_string(i), c.members == 1 ? "1" : "500m", "1000s",
              c.members == 1
                  ? k8s::StringMap{}
                  : k8s::StringMap{{"pod-group.scheduling.kubenexus.io/name", "long"},
                                   {"pod-group.scheduling.kubenexus.io/min-available", "2"}}));
    }
    for (int i = 0; i < c.members; ++i) EXPECT_EQ(NodeOf("long-" + std::to_string(i)), c.node);
  }
}

TEST_F(BackfillTest, AGangThatHasToBeInOneDomainIsLookedForAPlaceInAnother) {
  Begin();
  for (const char* name : {"b", "c"}) {
    harness_->Node(NodeBuilder(name)
                       .Label("rack", name)
                       .Has("cpu", name[0] == 'b' ? "1" : "2")
                       .Has("memory", "64Gi")
                       .Has("pods", "110"));
  }
  k8s::Node labelled =
      NodeBuilder("a").Label("rack", "a").Has("cpu", "4").Has("memory", "64Gi").Has("pods", "110");
  harness_->Node(labelled);
  for (const char* name : {"m1", "m2"}) {
    harness_->Pod(Job(name, "500m", "1000s",
                      {{"pod-group.scheduling.kubenexus.io/name", "train"},
                       {"pod-group.scheduling.kubenexus.io/min-available", "2"},
                       {"pod-group.scheduling.kubenexus.io/topology-key", "rack"}}));
  }
  EXPECT_THAT(NodeOf("m1"), ::testing::AnyOf("b", "c"));
  EXPECT_EQ(NodeOf("m2"), NodeOf("m1"));
}

TEST_F(BackfillTest, ARunTimeIsAlsoADeadlineOrWhatOthersOfTheOwnerTook) {
  Begin();
  k8s::Pod deadline = Job("deadline", "1", "");
  deadline.spec.active_deadline_seconds = 90;
  harness_->Pod(deadline);
  EXPECT_EQ(NodeOf("deadline"), "a");
  End("deadline");
  k8s::Pod first = Job("first", "1", "");
  first.meta.owners = {{"Job", "nightly", "uid-nightly", true, "batch/v1"}};
  harness_->Pod(first);
  EXPECT_EQ(NodeOf("first"), "") << "nobody knows how long it runs";
  harness_->PodGone("large");
  harness_->Pass(Duration::Seconds(11));
  EXPECT_EQ(NodeOf("first"), "a");
  harness_->Pass(Duration::Seconds(20));
  End("first");
  Wants("large-2", "4", "50s");
  k8s::Pod second = Job("second", "1", "");
  second.meta.owners = first.meta.owners;
  harness_->Pod(second);
  EXPECT_EQ(NodeOf("second"), "a") << "as long as the first of its owner";
}

TEST_F(BackfillTest, WithoutRunTimesThePlacesAreKeptUntilTheyAreFree) {
  Begin("", "");
  EXPECT_THAT(harness_->Why("large"), HasSubstr("Room is kept for it"));
  Wants("small", "1", "10s");
  EXPECT_EQ(NodeOf("small"), "") << "one after the other, it would never become free";
  End("runs");
  EXPECT_EQ(NodeOf("large"), "a");
  EXPECT_EQ(NodeOf("small"), "");
  End("large");
  EXPECT_EQ(NodeOf("small"), "a");
}

TEST_F(BackfillTest, ServicesAreNotExpectedToEnd) {
  harness_ = std::make_unique<testing::Harness>(EngineOptions{}, BackfillProfiles(""));
  Node("a");
  k8s::Pod service = Job("service", "3", "");
  service.meta.owners = {{"ReplicaSet", "web", "uid-web", true, "apps/v1"}};
  harness_->Pod(service);
  harness_->ScheduleAndBind();
  Wants("large", "4", "50s");
  harness_->ScheduleAndBind();
  EXPECT_THAT(harness_->Why("large"), Not(HasSubstr("kept")));
  Wants("small", "1", "");
  EXPECT_EQ(NodeOf("small"), "a") << "nobody is kept waiting for what cannot be";
}

TEST_F(BackfillTest, AMoreImportantPodNeedNotCare) {
  Begin();
  harness_->Pod(Job("vip", "1", "1000s", {}, 10));
  EXPECT_EQ(NodeOf("vip"), "a");
}

TEST_F(BackfillTest, WhoMayNotPassWaits) {
  for (const char* key :
       {"backfill.scheduling.kubenexus.io/eligible", "scheduling.kubenexus.io/backfill"}) {
    SCOPED_TRACE(key);
    Begin();
    harness_->Pod(Job("modest", "1", "10s", {{key, "false"}}));
    EXPECT_EQ(NodeOf("modest"), "");
    Wants("short", "1", "10s");
    EXPECT_EQ(NodeOf("short"), "a");
  }
}

TEST_F(BackfillTest, WhoIsNotToEvictOneThatIsLateIsNotTriedForEver) {
  harness_ = std::make_unique<testing::Harness>(EngineOptions{}, BackfillProfiles(""));
  Node("a");
  Wants("late", "4", "60s");
  harness_->ScheduleAndBind();
  k8s::Pod first = Job("first", "4", "50s", {}, 10);
  first.spec.preemption_policy = k8s::PreemptionPolicy::kNever;
  harness_->Pod(first);
  harness_->ScheduleAndBind();
  ASSERT_THAT(harness_->Why("first"), HasSubstr("It is promised to start by "));
  harness_->Pass(Duration::Seconds(90));
  // Without the late one the first could start at once; but nobody goes.
  harness_->Pod(Job("second", "1", "1000s", {}, 10));
  int decisions = 0;
  while (decisions < 50 && harness_->engine().ScheduleOne(harness_->now())) ++decisions;
  ASSERT_LT(decisions, 50);
  harness_->Schedule();
  EXPECT_TRUE(harness_->evictions().empty());
  EXPECT_THAT(harness_->Why("second"), HasSubstr("Nobody is evicted for it"));
}

TEST_F(BackfillTest, WhenTheFirstGoesAwayNobodyWaitsForItAnyMore) {
  Begin();
  Wants("long", "1", "1000s");
  EXPECT_EQ(NodeOf("long"), "");
  harness_->PodGone("large");
  harness_->Pass(Duration::Seconds(11));
  EXPECT_EQ(NodeOf("long"), "a");
}

TEST_F(BackfillTest, WhoTakesLongerThanItSaidMovesThePromise) {
  Begin();
  const std::string before = harness_->Why("large");
  harness_->Pass(Duration::Seconds(130));
  EXPECT_THAT(harness_->Why("large"), HasSubstr("It is promised to start by "));
  EXPECT_NE(harness_->Why("large"), before);
  Wants("short", "1", "60s");
  EXPECT_EQ(NodeOf("short"), "a") << "expected to need twice as long";
}

TEST_F(BackfillTest, WhoIsHeldBackIsTriedAgainWhenThePromiseMoves) {
  Begin();
  Wants("held", "1", "150s");
  EXPECT_EQ(NodeOf("held"), "");
  harness_->Pass(Duration::Seconds(150));
  EXPECT_EQ(NodeOf("held"), "") << "promised for 200 s";
  harness_->Pass(Duration::Seconds(53));
  EXPECT_EQ(NodeOf("held"), "a") << "promised for 400 s";
}

TEST_F(BackfillTest, WhoIsHeldBackIsTriedAgainWhenThePromiseGoes) {
  harness_ = std::make_unique<testing::Harness>(EngineOptions{}, BackfillProfiles(""));
  Node("a");
  harness_->Node(NodeBuilder("closed")
                     .Has("cpu", "4")
                     .Has("memory", "64Gi")
                     .Has("pods", "110")
                     .Unschedulable());
  Wants("runs", "3", "100s");
  harness_->ScheduleAndBind();
  k8s::Pod large = Job("large", "4", "50s");
  harness_->Pod(large);
  Wants("held", "1", "1000s");
  EXPECT_EQ(NodeOf("held"), "");
  large.spec.node_name = "closed";  // somebody else has put it there
  harness_->Pod(large);
  EXPECT_EQ(NodeOf("held"), "a");
}

TEST_F(BackfillTest, AGangThatIsHeldBackIsTriedAgainWhenThePromiseMoves) {
  Begin();
  harness_->Node(NodeBuilder("b").Has("cpu", "1").Has("memory", "64Gi").Has("pods", "110"));
  for (const char* name : {"m1", "m2"}) {
    harness_->Pod(Job(name, "1", "150s",
                      {{"pod-group.scheduling.kubenexus.io/name", "train"},
                       {"pod-group.scheduling.kubenexus.io/min-available", "2"}}));
  }
  EXPECT_EQ(NodeOf("m1"), "");
  EXPECT_THAT(harness_->Why("m1"), HasSubstr("waits for its turn"));
  harness_->Pass(Duration::Seconds(203));
  EXPECT_NE(NodeOf("m1"), "");
  EXPECT_NE(NodeOf("m2"), "");
}

TEST_F(BackfillTest, TheOrderDecidesWhoIsPromisedAStart) {
  struct Case {
    const char *args, *first;
  };
  for (const Case& c : {Case{"order: fcfs", "wide"}, Case{"order: sjf", "brief"},
                        Case{"order: best", "brief"}, Case{"order: best, patience: 0", "wide"}}) {
    SCOPED_TRACE(c.args);
    Begin(c.args);
    Wants("wide", "4", "500s");
    harness_->Pass(Duration::Seconds(1));
    Wants("brief", "4", "20s");
    harness_->Pass(Duration::Seconds(98));
    End("runs");
    ASSERT_EQ(NodeOf("large"), "a") << "a promise holds";
    End("large");
    EXPECT_EQ(NodeOf(c.first), "a");
  }
}

TEST_F(BackfillTest, AGangIsPromisedAStartAsAWhole) {
  const auto member = [](const std::string& name, const std::string& gang, const char* cpu,
                         const std::string& run) {
    return Job(name, cpu, run,
               {{"pod-group.scheduling.kubenexus.io/name", gang},
                {"pod-group.scheduling.kubenexus.io/min-available", "2"}});
  };
  harness_ = std::make_unique<testing::Harness>(EngineOptions{}, BackfillProfiles(""));
  Node("a");
  Node("b");
  Wants("runs", "3", "100s");
  harness_->ScheduleAndBind();
  for (const char* name : {"m1", "m2"}) harness_->Pod(member(name, "train", "4", "50s"));
  harness_->ScheduleAndBind();
  EXPECT_EQ(harness_->NodeOf("m1"), "");
  EXPECT_THAT(harness_->Why("m1"), HasSubstr("It is promised to start by "));
  EXPECT_EQ(harness_->Why("m2"), harness_->Why("m1"));
  for (const char* name : {"l1", "l2"}) harness_->Pod(member(name, "long", "1", "1000s"));
  for (const char* name : {"s1", "s2"}) harness_->Pod(member(name, "short", "1", "60s"));
  EXPECT_EQ(NodeOf("l1"), "");
  EXPECT_THAT(harness_->Why("l2"), HasSubstr("pod group default/long waits for its turn"));
  EXPECT_NE(NodeOf("s1"), "");
  EXPECT_NE(NodeOf("s2"), "");
  harness_->Pass(Duration::Seconds(60));
  End("s1");
  End("s2");
  End("runs");
  EXPECT_NE(NodeOf("m1"), "");
  EXPECT_NE(NodeOf("m2"), "");
}

TEST_F(BackfillTest, AGangWhoseTimeHasComeStartsBeforeThoseWhoWerePromisedALaterOne) {
  harness_ =
      std::make_unique<testing::Harness>(EngineOptions{}, BackfillProfiles("mode: conservative"));
  Node("a");
  Wants("runs", "3", "100s");
  harness_->ScheduleAndBind();
  for (const char* name : {"m1", "m2"}) {
    harness_->Pod(Job(name, "2", "1000s",
                      {{"pod-group.scheduling.kubenexus.io/name", "train"},
                       {"pod-group.scheduling.kubenexus.io/min-available", "2"}}));
  }
  harness_->ScheduleAndBind();
  Wants("brief", "4", "10s");
  harness_->ScheduleAndBind();
  EXPECT_THAT(harness_->Why("brief"), HasSubstr("It is promised to start by "));
  harness_->Pass(Duration::Seconds(100));
  End("runs");
  EXPECT_EQ(NodeOf("m1"), "a");
  EXPECT_EQ(NodeOf("m2"), "a");
  EXPECT_EQ(NodeOf("brief"), "");
}

TEST_F(BackfillTest, AfterARestartAGangIsAsOldAsItsFirstMember) {
  harness_ = std::make_unique<testing::Harness>(EngineOptions{}, BackfillProfiles(""));
  Node("a");
  Wants("runs", "3", "100s");
  harness_->ScheduleAndBind();
  const auto made = [this](k8s::Pod pod, int seconds_ago) {
    pod.meta.created = harness_->now() - Duration::Seconds(seconds_ago);
    return pod;
  };
  // Listed in the order of their names.
  harness_->Pod(made(Job("a-later", "1", "1000s"), 10));
  for (const char* name : {"m1", "m2"}) {
    harness_->Pod(made(Job(name, "2", "50s",
                           {{"pod-group.scheduling.kubenexus.io/name", "train"},
                            {"pod-group.scheduling.kubenexus.io/min-available", "2"}}),
                       20));
  }
  EXPECT_EQ(NodeOf("a-later"), "");
  EXPECT_THAT(harness_->Why("a-later"), HasSubstr("waits for its turn"));
}

TEST_F(BackfillTest, ConservativelyTheNextArePromisedAStartToo) {
  for (const bool conservative : {false, true}) {
    SCOPED_TRACE(conservative);
    Begin(conservative ? "mode: conservative" : "mode: easy");
    Wants("next", "4", "50s");
    harness_->ScheduleAndBind();
    const auto promised = HasSubstr("It is promised to start by ");
    if (conservative) {
      EXPECT_THAT(harness_->Why("next"), promised);
      EXPECT_NE(harness_->Why("next"), harness_->Why("large"));
    } else {
      EXPECT_THAT(harness_->Why("next"), Not(promised));
    }
  }
}

}  // namespace
}  // namespace knx::engine
