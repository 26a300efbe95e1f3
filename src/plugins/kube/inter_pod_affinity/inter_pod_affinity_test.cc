#include "plugins/kube/inter_pod_affinity/inter_pod_affinity.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::Labelled;
using cluster::testing::NamespaceWith;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using cluster::testing::Pods;
using testing::Answer;
using testing::Fits;
using testing::Never;
using testing::NotNow;

const Answer kNotNear = Never({"node(s) didn't match pod affinity rules"});
const Answer kNotApart = NotNow({"node(s) didn't match pod anti-affinity rules"});
const Answer kOthers = NotNow({"node(s) didn't satisfy existing pods anti-affinity rules"});

k8s::PodAffinityTerm Db(std::string key = "zone") {
  return Pods(std::move(key), Labelled({{"app", "db"}}));
}

// Nodes a1 and a2 in zone a, b1 in zone b, and one without a zone.
class AffinityTest : public ::testing::Test {
 protected:
  AffinityTest() {
    for (const auto& [name, zone] :
         {std::pair("a1", "a"), std::pair("a2", "a"), std::pair("b1", "b")}) {
      rows_.push_back(AddNode(state_, NodeBuilder(name).Label("zone", zone).Label("host", name)));
    }
    rows_.push_back(AddNode(state_, NodeBuilder("bare").Label("host", "bare")));
  }
  framework::PodView Incoming(const k8s::Pod& pod) {
    return testing::RelatedView(state_, state_.AddPod(pod));
  }
  std::vector<Answer> Judge(const k8s::Pod& pod) {
    return testing::Judge(plugin_.PreFilter(Incoming(pod)), rows_);
  }
  std::vector<std::int64_t> RawScores(const k8s::Pod& pod) {
    const auto prepared = plugin_.PreScore(Incoming(pod));
    if (prepared.scorer == nullptr) return {};
    return testing::RawScores(prepared, rows_);
  }
  void Use(std::string_view yaml) {
    auto made = testing::MakeFromYaml(&InterPodAffinity::Make, yaml);
    ASSERT_TRUE(made.ok()) << made.error().ToString();
    plugin_ = dynamic_cast<InterPodAffinity&>(**made);
  }
  cluster::PodId Place(const PodBuilder& pod, const std::string& node) {
    return state_.AddPod(PodBuilder(pod).On(node));
  }

  cluster::State state_;
  std::vector<cluster::NodeRow> rows_;
  InterPodAffinity plugin_{InterPodAffinityArgs{}};
};

PodBuilder DbPod(const std::string& name) { return PodBuilder(name).Label("app", "db"); }

// A quirk of kube-scheduler: a plugin that had nothing to say is not told of what a plan adds.
TEST_F(AffinityTest, NominatedPodsKeepNobodyAwayWhereNobodyElseDoes) {
  const cluster::PodId nominated = state_.AddPod(PodBuilder("n").Apart(Db()));
  const auto prepared = plugin_.PreFilter(Incoming(PodBuilder("db").Label("app", "db")));
  ASSERT_NE(prepared.filter, nullptr);
  const auto with_nominated = [&] {
    prepared.filter->Refresh();
    const auto mark = state_.Mark();
    state_.Assume(nominated, rows_[0]);
    prepared.filter->OnPodAdded(nominated, rows_[0]);
    prepared.filter->Refresh();
    const Answer answer = testing::Judge(prepared, rows_)[0];
    prepared.filter->OnPodRemoved(nominated, rows_[0]);
    state_.Rollback(mark);
    return answer;
  };
  EXPECT_EQ(with_nominated(), Fits());
  const cluster::PodId there = Place(PodBuilder("t").Apart(Db()), "b1");
  EXPECT_EQ(with_nominated(), kOthers) << "somebody keeps pods away, if not from here";
  state_.RemovePod(there);
  EXPECT_EQ(with_nominated(), Fits());
}

TEST_F(AffinityTest, NearMeansInTheSameDomain) {
  Place(DbPod("db"), "a1");
  EXPECT_EQ(Judge(PodBuilder("1").Near(Db())), (std::vector{Fits(), Fits(), kNotNear, kNotNear}));
  EXPECT_EQ(Judge(PodBuilder("2").Near(Db("host"))),
            (std::vector{Fits(), kNotNear, kNotNear, kNotNear}));
  EXPECT_EQ(Judge(PodBuilder("3").Near(Db()).Near(Db("host"))),
            (std::vector{Fits(), kNotNear, kNotNear, kNotNear}));
}

TEST_F(AffinityTest, OnePodMustMeetAllTerms) {
  const auto big = Pods("zone", Labelled({{"size", "big"}}));
  Place(DbPod("db"), "a1");
  Place(PodBuilder("big").Label("size", "big"), "a1");
  EXPECT_EQ(Judge(PodBuilder("1").Near(Db()).Near(big)),
            (std::vector{kNotNear, kNotNear, kNotNear, kNotNear}));
  Place(DbPod("both").Label("size", "big"), "b1");
  EXPECT_EQ(Judge(PodBuilder("2").Near(Db()).Near(big)),
            (std::vector{kNotNear, kNotNear, Fits(), kNotNear}));
}

TEST_F(AffinityTest, TheFirstOfAKindMayGoAnywhereWithTheLabel) {
  EXPECT_EQ(Judge(DbPod("1").Near(Db())), (std::vector{Fits(), Fits(), Fits(), kNotNear}));
  EXPECT_EQ(Judge(PodBuilder("2").Near(Db())),
            (std::vector{kNotNear, kNotNear, kNotNear, kNotNear}))
      << "it is not of the kind it wants near";
  // A pod on a node without the label is near nobody, and does not stand in the way either.
  Place(DbPod("lost"), "bare");
  EXPECT_EQ(Judge(DbPod("3").Near(Db())), (std::vector{Fits(), Fits(), Fits(), kNotNear}));
  Place(DbPod("found"), "b1");
  EXPECT_EQ(Judge(DbPod("4").Near(Db())), (std::vector{kNotNear, kNotNear, Fits(), kNotNear}));
}

TEST_F(AffinityTest, ApartMeansInAnotherDomainOrInNone) {
  Place(DbPod("db"), "a1");
  EXPECT_EQ(Judge(PodBuilder("1").Apart(Db())),
            (std::vector{kNotApart, kNotApart, Fits(), Fits()}));
  EXPECT_EQ(Judge(PodBuilder("2").Apart(Db("host"))),
            (std::vector{kNotApart, Fits(), Fits(), Fits()}));
  Place(PodBuilder("cache").Label("app", "cache"), "b1");
  EXPECT_EQ(Judge(PodBuilder("3").Apart(Db()).Apart(Pods("zone", Labelled({{"app", "cache"}})))),
            (std::vector{kNotApart, kNotApart, kNotApart, Fits()}))
      << "any term suffices";
}

TEST_F(AffinityTest, PlacedPodsKeepOthersAway) {
  Place(PodBuilder("loner").Apart(Db()), "a1");
  EXPECT_EQ(Judge(DbPod("1")), (std::vector{kOthers, kOthers, Fits(), Fits()}));
  EXPECT_EQ(Judge(PodBuilder("2")), (std::vector{Fits(), Fits(), Fits(), Fits()}));
  EXPECT_EQ(Judge(DbPod("3").Namespace("elsewhere")),
            (std::vector{Fits(), Fits(), Fits(), Fits()}));
}

TEST_F(AffinityTest, OfSeveralReasonsTheFirstIsGiven) {
  Place(DbPod("db").Apart(Pods("zone", Labelled({{"app", "web"}}))), "a1");
  const auto web = [](std::string name) { return PodBuilder(name).Label("app", "web"); };
  EXPECT_EQ(Judge(web("1").Apart(Db())), (std::vector{kNotApart, kNotApart, Fits(), Fits()}));
  EXPECT_EQ(Judge(web("2").Near(Pods("zone", Labelled({{"app", "none"}}))).Apart(Db())),
            (std::vector{kNotNear, kNotNear, kNotNear, kNotNear}));
  EXPECT_EQ(Judge(web("3").Near(Db())), (std::vector{kOthers, kOthers, kNotNear, kNotNear}));
}

TEST_F(AffinityTest, PodsThatAreBeingDeletedStillCount) {
  Place(DbPod("db").BeingDeleted(), "a1");
  EXPECT_EQ(Judge(PodBuilder("1").Near(Db())), (std::vector{Fits(), Fits(), kNotNear, kNotNear}));
  EXPECT_EQ(Judge(PodBuilder("2").Apart(Db())),
            (std::vector{kNotApart, kNotApart, Fits(), Fits()}));
}

TEST_F(AffinityTest, NamespacesOfBothSidesAreHonoured) {
  state_.UpsertObject(NamespaceWith("red", {{"team", "a"}}));
  state_.UpsertObject(NamespaceWith("default", {{"team", "b"}}));
  const auto db_of = [](const char* team) {
    return Pods("zone", Labelled({{"app", "db"}}), {}, Labelled({{"team", team}}));
  };
  const k8s::LabelSelector not_a{{}, {{"team", k8s::SelectorOperator::kNotIn, {"a"}}}};
  Place(DbPod("db").Namespace("red"), "a1");
  EXPECT_EQ(Judge(PodBuilder("1").Near(Db())),
            (std::vector{kNotNear, kNotNear, kNotNear, kNotNear}));
  EXPECT_EQ(Judge(PodBuilder("2").Near(db_of("a"))),
            (std::vector{Fits(), Fits(), kNotNear, kNotNear}));
  // kube-scheduler up to 1.36 takes such a selector to mean every namespace.
  EXPECT_EQ(Judge(PodBuilder("3").Apart(Pods("zone", Labelled({{"app", "db"}}), {}, not_a))),
            (std::vector{Fits(), Fits(), Fits(), Fits()}));
  Place(PodBuilder("loner").Namespace("red").Apart(db_of("b")), "b1");
  EXPECT_EQ(Judge(DbPod("4")), (std::vector{Fits(), Fits(), kOthers, Fits()}));
  EXPECT_EQ(Judge(DbPod("5").Namespace("red")), (std::vector{Fits(), Fits(), Fits(), Fits()}));
}

TEST_F(AffinityTest, WhoNeitherSpeaksNorIsSpokenOfIsSkipped) {
  const auto plain = Incoming(PodBuilder("1"));
  EXPECT_EQ(plugin_.PreFilter(plain).outcome.code, framework::Code::kSkip);
  EXPECT_EQ(plugin_.PreScore(plain).outcome.code, framework::Code::kSkip);
}

TEST_F(AffinityTest, MalformedTermsRejectThePod) {
  const k8s::LabelSelector wrong{{}, {{"app", k8s::SelectorOperator::kExists, {"v"}}}};
  const auto result = plugin_.PreFilter(Incoming(PodBuilder("1").Near(Pods("zone", wrong))));
  EXPECT_EQ(result.outcome.code, framework::Code::kUnresolvable);
  EXPECT_EQ(
      result.outcome.reason,
      "parsing pod: requiredAffinityTerms: values: Invalid value: [\"v\"]: values set must be "
      "empty for exists and does not exist");
}

TEST_F(AffinityTest, APreparedFilterFollowsWhatHappens) {
  const auto prepared = plugin_.PreFilter(Incoming(DbPod("1").Near(Db()).Apart(Db("host"))));
  const auto judge = [&] {
    prepared.filter->Refresh();
    return testing::Judge(prepared, rows_);
  };
  EXPECT_EQ(judge(), (std::vector{Fits(), Fits(), Fits(), kNotNear})) << "it may be the first";
  const cluster::PodId db = Place(DbPod("db"), "a1");
  EXPECT_EQ(judge(), (std::vector{kNotApart, Fits(), kNotNear, kNotNear}));
  const auto mark = state_.Mark();
  state_.Displace(db);
  EXPECT_EQ(judge(), (std::vector{Fits(), Fits(), Fits(), kNotNear}));
  state_.Rollback(mark);
  state_.UpsertNode(NodeBuilder("bare").Label("zone", "a").Label("host", "bare"));
  EXPECT_EQ(judge(), (std::vector{kNotApart, Fits(), kNotNear, Fits()}));
  state_.UpdatePod(db, DbPod("db").Label("app", "web").On("a1"));
  EXPECT_EQ(judge(), (std::vector{Fits(), Fits(), Fits(), Fits()}));
}

// ---- scores ----

TEST_F(AffinityTest, WishesAddUpByDomain) {
  Place(DbPod("db1"), "a1");
  Place(DbPod("db2"), "b1");
  Place(DbPod("db3"), "b1");
  EXPECT_EQ(RawScores(PodBuilder("1").PrefersNear(5, Db())),
            (std::vector<std::int64_t>{5, 5, 10, 0}));
  EXPECT_EQ(RawScores(PodBuilder("2").PrefersApart(5, Db()).PrefersNear(2, Db("host"))),
            (std::vector<std::int64_t>{-3, -5, -6, 0}));
}

TEST_F(AffinityTest, WishesOfPlacedPodsCountToo) {
  Place(PodBuilder("friend").PrefersNear(30, Db()), "a1");
  Place(PodBuilder("foe").PrefersApart(10, Db("host")), "a1");
  Place(PodBuilder("needs").Near(Db()), "b1");
  EXPECT_EQ(RawScores(DbPod("1")), (std::vector<std::int64_t>{20, 30, 1, 0}));
  Use("hardPodAffinityWeight: 100");
  EXPECT_EQ(RawScores(DbPod("2")), (std::vector<std::int64_t>{20, 30, 100, 0}));
  Use("hardPodAffinityWeight: 0");
  EXPECT_EQ(RawScores(DbPod("3")), (std::vector<std::int64_t>{20, 30, 0, 0}));
}

TEST_F(AffinityTest, WishesOfPlacedPodsCanBeIgnoredByThoseWithoutWishes) {
  Use("ignorePreferredTermsOfExistingPods: true");
  Place(DbPod("friend").PrefersNear(30, Db()), "a1");
  EXPECT_EQ(RawScores(DbPod("1")), std::vector<std::int64_t>{});
  EXPECT_EQ(RawScores(DbPod("2").PrefersApart(1, Db("host"))),
            (std::vector<std::int64_t>{29, 30, 0, 0}));
}

TEST_F(AffinityTest, ScoresAreStretchedFromZeroToAHundred) {
  Place(DbPod("db1"), "a1");
  Place(DbPod("db2"), "a1");
  Place(DbPod("db3"), "b1");
  const auto prepared = plugin_.PreScore(Incoming(PodBuilder("1").PrefersNear(1, Db("host"))));
  EXPECT_EQ(testing::Scores(prepared, rows_), (std::vector<std::int64_t>{100, 0, 50, 0}));
  const auto apart = plugin_.PreScore(Incoming(PodBuilder("2").PrefersApart(3, Db("host"))));
  EXPECT_EQ(testing::Scores(apart, rows_), (std::vector<std::int64_t>{0, 100, 50, 100}));
  const auto nobody = plugin_.PreScore(
      Incoming(PodBuilder("3").PrefersNear(1, Pods("zone", Labelled({{"app", "none"}})))));
  EXPECT_EQ(testing::Scores(nobody, rows_), (std::vector<std::int64_t>{0, 0, 0, 0}));
  // 100 * (29/100) is a little less than 29 in floating point, and cut off.
  EXPECT_EQ(prepared.scorer->Normalize(29, {0, 100}), 28);
  EXPECT_EQ(prepared.scorer->Normalize(1, {0, 3}), 33);
}

TEST(InterPodAffinityArgs, AreReadAndRefused) {
  for (const char* yaml : {"hardPodAffinityWeight: -1", "hardPodAffinityWeight: 101"}) {
    const auto made = testing::MakeFromYaml(&InterPodAffinity::Make, yaml);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().ToString().find("config.yaml:1:24: args.hardPodAffinityWeight: "),
              std::string::npos)
        << made.error().ToString();
  }
}

// ---- events ----

class AffinityEventsTest : public AffinityTest {
 protected:
  framework::PodInEvent InEvent(cluster::PodId id) {
    const cluster::Pod& pod = state_.pod(id);
    return {&state_.class_of(id), pod.kin, {}, pod.node, pod.nominated, 0};
  }
  // Whether the event about another pod, as it is now and was before, helps a waiting one.
  bool Helps(framework::EventKind kind, const k8s::Pod& waiting, const PodBuilder& now,
             std::optional<PodBuilder> before = std::nullopt) {
    const cluster::PodId id = state_.AddPod(waiting);
    framework::ClusterEvent event;
    event.kind = kind;
    const cluster::PodId pod_now = state_.AddPod(now);
    const cluster::PodId pod_before = before ? state_.AddPod(*before) : pod_now;
    event.pod = pod_now;
    event.pod_now = InEvent(pod_now);
    event.pod_before = InEvent(pod_before);
    const bool helps = plugin_.MayHelp(event, testing::View(state_, id));
    state_.RemovePod(id);
    if (before) state_.RemovePod(pod_before);
    state_.RemovePod(pod_now);
    return helps;
  }
  bool NodeHelps(framework::EventKind kind, const k8s::Pod& waiting, const k8s::Node& now,
                 const std::optional<k8s::Node>& before = std::nullopt) {
    const cluster::PodId id = state_.AddPod(waiting);
    framework::ClusterEvent event;
    event.kind = kind;
    if (before) event.row = AddNode(state_, *before);
    const cluster::NodeFacts facts =
        before ? state_.nodes().facts(event.row) : cluster::NodeFacts{};
    event.row = AddNode(state_, now);
    if (before) event.node_before = &facts;
    const bool helps = plugin_.MayHelp(event, testing::View(state_, id));
    state_.RemovePod(id);
    return helps;
  }
};

TEST_F(AffinityEventsTest, APodThatIsWantedNearHelpsWhenItComes) {
  using framework::EventKind;
  const k8s::Pod near = PodBuilder("w").Near(Db());
  EXPECT_TRUE(Helps(EventKind::kAssignedPodAdd, near, DbPod("o").On("a1")));
  EXPECT_FALSE(Helps(EventKind::kAssignedPodAdd, near, PodBuilder("o").On("a1")));
  EXPECT_FALSE(Helps(EventKind::kAssignedPodAdd, near, DbPod("o").Namespace("n").On("a1")));
  EXPECT_TRUE(
      Helps(EventKind::kAssignedPodLabel, near, DbPod("o").On("a1"), PodBuilder("p").On("a1")));
  EXPECT_FALSE(
      Helps(EventKind::kAssignedPodLabel, near, PodBuilder("o").On("a1"), DbPod("p").On("a1")));
  EXPECT_FALSE(Helps(EventKind::kAssignedPodDelete, near, DbPod("o").On("a1")));
  const k8s::Pod both = PodBuilder("w").Near(Db()).Near(Pods("zone", Labelled({{"size", "big"}})));
  EXPECT_FALSE(Helps(EventKind::kAssignedPodAdd, both, DbPod("o").On("a1")));
}

TEST_F(AffinityEventsTest, TheLastOfItsGroupHelpsWhenItGoesForThenAnotherMayBeTheFirst) {
  using framework::EventKind;
  const k8s::Pod of_group = DbPod("w").Near(Db());
  EXPECT_TRUE(Helps(EventKind::kAssignedPodDelete, of_group, DbPod("o").On("a1")));
  EXPECT_TRUE(
      Helps(EventKind::kAssignedPodLabel, of_group, PodBuilder("o").On("a1"), DbPod("p").On("a1")));
  EXPECT_FALSE(Helps(EventKind::kAssignedPodDelete, of_group, PodBuilder("o").On("a1")));
}

TEST_F(AffinityEventsTest, APodThatIsWantedApartHelpsWhenItGoes) {
  using framework::EventKind;
  const k8s::Pod apart = PodBuilder("w").Apart(Db()).Apart(Pods("zone", Labelled({{"x", "y"}})));
  EXPECT_TRUE(Helps(EventKind::kAssignedPodDelete, apart, DbPod("o").On("a1")));
  EXPECT_TRUE(Helps(EventKind::kUnassignedPodDelete, apart, DbPod("o").Nominated("a1")));
  EXPECT_FALSE(Helps(EventKind::kUnassignedPodDelete, apart, DbPod("o")));
  EXPECT_FALSE(Helps(EventKind::kAssignedPodDelete, apart, PodBuilder("o").On("a1")));
  EXPECT_FALSE(Helps(EventKind::kAssignedPodAdd, apart, DbPod("o").On("a1")));
  EXPECT_TRUE(
      Helps(EventKind::kAssignedPodLabel, apart, PodBuilder("o").On("a1"), DbPod("p").On("a1")));
  // One that wants to be apart from the waiting pod.
  EXPECT_TRUE(
      Helps(EventKind::kAssignedPodDelete, DbPod("w"), PodBuilder("o").Apart(Db()).On("a1")));
  EXPECT_FALSE(
      Helps(EventKind::kAssignedPodDelete, PodBuilder("w"), PodBuilder("o").Apart(Db()).On("a1")));
}

TEST_F(AffinityEventsTest, NodesHelpWhenTheyJoinOrLeaveADomain) {
  using framework::EventKind;
  const auto node = [](const char* zone) { return NodeBuilder("n").Label("zone", zone); };
  const NodeBuilder bare("n");
  const k8s::Pod near = PodBuilder("w").Near(Db());
  EXPECT_TRUE(NodeHelps(EventKind::kNodeAdd, near, node("a")));
  EXPECT_FALSE(NodeHelps(EventKind::kNodeAdd, near, bare));
  EXPECT_TRUE(NodeHelps(EventKind::kNodeLabel, near, node("a"), bare));
  EXPECT_TRUE(NodeHelps(EventKind::kNodeLabel, near, node("a"), node("b")));
  EXPECT_FALSE(NodeHelps(EventKind::kNodeLabel, near, bare, node("a")));
  EXPECT_FALSE(NodeHelps(EventKind::kNodeLabel, near, node("a").Label("x", "y"), node("a")));
  EXPECT_TRUE(NodeHelps(EventKind::kNodeTaint, near, bare, bare));
  const k8s::Pod apart = PodBuilder("w").Apart(Db());
  EXPECT_TRUE(NodeHelps(EventKind::kNodeAdd, apart, bare));
  EXPECT_TRUE(NodeHelps(EventKind::kNodeLabel, apart, bare, node("a")));
  EXPECT_TRUE(NodeHelps(EventKind::kNodeLabel, apart, node("b"), node("a")));
  EXPECT_FALSE(NodeHelps(EventKind::kNodeLabel, apart, node("a"), bare));
  EXPECT_FALSE(NodeHelps(EventKind::kNodeAdd, DbPod("w"), node("c")));
  Place(PodBuilder("loner").Apart(Db()), "a1");
  EXPECT_TRUE(NodeHelps(EventKind::kNodeAdd, DbPod("w"), node("c")))
      << "it is kept away from where it could be";
}

}  // namespace
}  // namespace knx::plugins
