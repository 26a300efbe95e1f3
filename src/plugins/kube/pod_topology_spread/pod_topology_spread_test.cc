#include "plugins/kube/pod_topology_spread/pod_topology_spread.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::Evenly;
using cluster::testing::Labelled;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using testing::Answer;
using testing::Fits;
using testing::Never;
using testing::NotNow;

constexpr auto kSoft = k8s::WhenUnsatisfiable::kScheduleAnyway;
const char* const kTooMany = "node(s) didn't match pod topology spread constraints";
const char* const kNoLabel =
    "node(s) didn't match pod topology spread constraints (missing required label)";

class SpreadTest : public ::testing::Test {
 protected:
  // Labels as "zone=a host=n1".
  cluster::NodeRow Node(const std::string& name, std::string_view labels) {
    NodeBuilder node(name);
    while (!labels.empty()) {
      const std::size_t end = std::min(labels.find(' '), labels.size());
      const std::string_view label = labels.substr(0, end);
      const std::size_t equals = label.find('=');
      node.Label(label.substr(0, equals), std::string(label.substr(equals + 1)));
      labels.remove_prefix(std::min(end + 1, labels.size()));
    }
    rows_.push_back(AddNode(state_, node));
    return rows_.back();
  }
  // So many pods on a node.
  void Place(const std::string& node, int count, const std::string& app = "x",
             const std::string& name_space = "default", bool deleted = false) {
    for (int i = 0; i < count; ++i) {
      state_.AddPod(PodBuilder("placed-" + std::to_string(placed_++))
                        .Namespace(name_space)
                        .Label("app", app)
                        .BeingDeleted(deleted)
                        .On(node));
    }
  }
  // Two zones of two nodes with 3, 0 | 1, 1 pods.
  void TwoZones() {
    Node("a1", "zone=a host=a1");
    Node("a2", "zone=a host=a2");
    Node("b1", "zone=b host=b1");
    Node("b2", "zone=b host=b2");
    Place("a1", 3);
    Place("b1", 1);
    Place("b2", 1);
  }
  framework::PodView Incoming(const k8s::Pod& pod) {
    return testing::RelatedView(state_, state_.AddPod(pod));
  }
  std::vector<Answer> Judge(const k8s::Pod& pod) {
    return testing::Judge(plugin_.PreFilter(Incoming(pod)), rows_);
  }

  cluster::State state_;
  std::vector<cluster::NodeRow> rows_;
  PodTopologySpread plugin_{PodTopologySpreadArgs{}};
  int placed_ = 0;
};

PodBuilder Web(const std::string& name = "web") { return PodBuilder(name).Label("app", "x"); }
k8s::TopologySpreadConstraint ByZone(std::int32_t max_skew = 1) {
  return Evenly("zone", Labelled({{"app", "x"}}), max_skew);
}
k8s::TopologySpreadConstraint ByHost(std::int32_t max_skew = 1) {
  return Evenly("host", Labelled({{"app", "x"}}), max_skew);
}

TEST_F(SpreadTest, ADomainMayHaveSoManyMoreThanTheEmptiest) {
  TwoZones();
  const auto no = NotNow({kTooMany});
  EXPECT_EQ(Judge(Web("1").Spread(ByZone(1))), (std::vector{no, no, Fits(), Fits()}));
  EXPECT_EQ(Judge(Web("2").Spread(ByZone(2))), (std::vector{Fits(), Fits(), Fits(), Fits()}));
  EXPECT_EQ(Judge(Web("3").Spread(ByHost(1))), (std::vector{no, Fits(), no, no}));
  EXPECT_EQ(Judge(Web("4").Spread(ByHost(2))), (std::vector{no, Fits(), Fits(), Fits()}));
  EXPECT_EQ(Judge(Web("5").Spread(ByZone(1)).Spread(ByHost(2))),
            (std::vector{no, no, Fits(), Fits()}))
      << "both must hold";
}

TEST_F(SpreadTest, APodThatIsNotMeantByItsConstraintAddsNothing) {
  TwoZones();
  const auto no = NotNow({kTooMany});
  EXPECT_EQ(Judge(PodBuilder("other").Label("app", "y").Spread(ByZone(1))),
            (std::vector{Fits(), Fits(), Fits(), Fits()}));
  EXPECT_EQ(Judge(PodBuilder("other2").Label("app", "y").Spread(ByHost(2))),
            (std::vector{no, Fits(), Fits(), Fits()}));
}

TEST_F(SpreadTest, OnlyStayingPodsOfTheNamespaceCount) {
  TwoZones();
  Place("b1", 5, "x", "elsewhere");
  Place("b1", 5, "y");
  Place("b1", 5, "x", "default", true);
  const auto no = NotNow({kTooMany});
  EXPECT_EQ(Judge(Web().Spread(ByZone(1))), (std::vector{no, no, Fits(), Fits()}));
}

TEST_F(SpreadTest, WithoutASelectorNothingCountsAndWithAnEmptyOneNeither) {
  TwoZones();
  const std::vector all{Fits(), Fits(), Fits(), Fits()};
  EXPECT_EQ(Judge(Web("1").Spread(Evenly("zone", std::nullopt))), all);
  EXPECT_EQ(Judge(Web("2").Spread(Evenly("zone", k8s::LabelSelector{}))), all);
}

TEST_F(SpreadTest, NodesWithoutALabelAreRejectedAndNotCounted) {
  TwoZones();
  Node("bare", "host=bare");
  const auto no = NotNow({kTooMany});
  EXPECT_EQ(Judge(Web("1").Spread(ByZone(1))),
            (std::vector{no, no, Fits(), Fits(), Never({kNoLabel})}));
  // The empty host is not among those with both labels, so that the emptiest has none all the same:
  // a2.
  EXPECT_EQ(Judge(Web("2").Spread(ByHost(1)).Spread(ByZone(5))),
            (std::vector{no, Fits(), no, no, Never({kNoLabel})}));
}

TEST_F(SpreadTest, MissingDomainsCountAsEmpty) {
  TwoZones();
  const auto no = NotNow({kTooMany});
  auto constraint = ByZone(2);
  constraint.min_domains = 3;
  EXPECT_EQ(Judge(Web("1").Spread(constraint)), (std::vector{no, no, no, no}));
  constraint.max_skew = 3;
  EXPECT_EQ(Judge(Web("2").Spread(constraint)), (std::vector{no, no, Fits(), Fits()}));
  constraint.min_domains = 2;
  constraint.max_skew = 2;
  EXPECT_EQ(Judge(Web("3").Spread(constraint)), (std::vector{Fits(), Fits(), Fits(), Fits()}));
}

TEST_F(SpreadTest, PoliciesSayWhichNodesCount) {
  struct Case {
    std::string_view name;
    bool honor_affinity, honor_taints;
    std::vector<bool> fits;
  };
  // The pod must go to zones a and b; zone c is empty. Zone b is tainted and has 1.
  const Case cases[] = {
      {"affinity", true, false, {false, true, true}},
      {"neither", false, false, {false, false, true}},
      {"both", true, true, {true, true, true}},
      {"taints", false, true, {false, true, true}},
  };
  Node("a", "zone=a pool=1");
  rows_.push_back(AddNode(state_, NodeBuilder("b")
                                      .Label("zone", "b")
                                      .Label("pool", "1")
                                      .Taint("k", "", k8s::TaintEffect::kNoSchedule)));
  Node("c", "zone=c");
  Place("a", 2);
  Place("b", 1);
  int number = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto constraint = ByZone(1);
    constraint.node_affinity_policy =
        c.honor_affinity ? k8s::NodeInclusionPolicy::kHonor : k8s::NodeInclusionPolicy::kIgnore;
    constraint.node_taints_policy =
        c.honor_taints ? k8s::NodeInclusionPolicy::kHonor : k8s::NodeInclusionPolicy::kIgnore;
    const auto answers =
        Judge(Web(std::to_string(number++)).NodeSelector("pool", "1").Spread(constraint));
    std::vector<bool> fits;
    for (const Answer& answer : answers) fits.push_back(answer == Fits());
    EXPECT_EQ(fits, c.fits);
  }
}

TEST_F(SpreadTest, APreparedFilterFollowsWhatHappens) {
  TwoZones();
  const auto no = NotNow({kTooMany});
  const auto prepared = plugin_.PreFilter(Incoming(Web().Spread(ByZone(1))));
  const auto judge = [&] {
    prepared.filter->Refresh();
    return testing::Judge(prepared, rows_);
  };
  EXPECT_EQ(judge(), (std::vector{no, no, Fits(), Fits()}));
  Place("b1", 1);
  EXPECT_EQ(judge(), (std::vector{Fits(), Fits(), Fits(), Fits()}));
  Place("b1", 1);
  EXPECT_EQ(judge(), (std::vector{Fits(), Fits(), no, no}));
  state_.UpsertNode(NodeBuilder("b2").Label("zone", "c"));  // takes its pod along
  EXPECT_EQ(judge(), (std::vector{no, no, no, Fits()}));
  state_.RemoveNode(rows_[3]);
  rows_.pop_back();
  EXPECT_EQ(judge(), (std::vector{Fits(), Fits(), Fits()}));
}

TEST_F(SpreadTest, APlanCountsPodsThatAreBeingDeleted) {
  Node("a", "zone=a");
  Node("b", "zone=b");
  Place("a", 1);
  Place("b", 1, "x", "default", true);
  const auto prepared = plugin_.PreFilter(Incoming(Web().Spread(ByZone(1))));
  const auto no = NotNow({kTooMany});
  EXPECT_EQ(testing::Judge(prepared, rows_), (std::vector{no, Fits()}));
  const cluster::PodId leaving = state_.nodes().pods(rows_[1])[0];
  const auto mark = state_.Mark();
  state_.Displace(leaving);
  prepared.filter->OnPodRemoved(leaving, rows_[1]);
  state_.Rollback(mark);
  prepared.filter->OnPodAdded(leaving, rows_[1]);
  prepared.filter->Refresh();
  EXPECT_EQ(testing::Judge(prepared, rows_), (std::vector{no, Fits()})) << "as before";
}

TEST_F(SpreadTest, APlanCountsPodsThatAnEmptySelectorMeans) {
  Node("a", "zone=a");
  Node("b", "zone=b");
  Place("a", 3);
  const auto prepared =
      plugin_.PreFilter(Incoming(Web().Spread(Evenly("zone", k8s::LabelSelector{}))));
  EXPECT_EQ(testing::Judge(prepared, rows_), (std::vector{Fits(), Fits()})) << "nobody is counted";
  const cluster::PodId nominated = state_.AddPod(Web("nominated"));
  prepared.filter->OnPodAdded(nominated, rows_[1]);
  EXPECT_EQ(testing::Judge(prepared, rows_), (std::vector{Fits(), NotNow({kTooMany})}));
  prepared.filter->OnPodRemoved(nominated, rows_[1]);
  EXPECT_EQ(testing::Judge(prepared, rows_), (std::vector{Fits(), Fits()}));
}

TEST_F(SpreadTest, MalformedSelectorsAreErrors) {
  Node("a", "zone=a");
  const k8s::LabelSelector wrong{{}, {{"app", k8s::SelectorOperator::kIn, {}}}};
  const auto hard = plugin_.PreFilter(Incoming(Web("1").Spread(Evenly("zone", wrong))));
  EXPECT_EQ(hard.outcome.code, framework::Code::kError);
  EXPECT_EQ(hard.outcome.reason,
            "get constraints from pod: obtaining pod's hard topology spread constraints: values: "
            "Invalid value: null: for 'in', 'notin' operators, values set can't be empty");
  const auto view = Incoming(Web("2").Spread(Evenly("zone", wrong, 1, kSoft)));
  EXPECT_EQ(plugin_.PreFilter(view).outcome.code, framework::Code::kSkip);
  EXPECT_EQ(plugin_.PreScore(view).outcome.reason,
            "calculating preScoreState: obtaining pod's soft topology spread constraints: values: "
            "Invalid value: null: for 'in', 'notin' operators, values set can't be empty");
}

// ---- scores ----

class SpreadScoreTest : public SpreadTest {
 protected:
  std::vector<std::int64_t> Scores(const k8s::Pod& pod) {
    const auto prepared = plugin_.PreScore(Incoming(pod));
    if (prepared.scorer == nullptr) return {};
    prepared.scorer->OnFeasible(rows_);
    return testing::Scores(prepared, rows_);
  }
};

TEST_F(SpreadScoreTest, FewPodsAreBetter) {
  Node("a", "zone=a kubernetes.io/hostname=a");
  Node("b", "zone=b kubernetes.io/hostname=b");
  Node("c", "zone=b kubernetes.io/hostname=c");
  Place("a", 3);
  Place("b", 2);
  Place("c", 2);
  // By zone: 3, 4, 4 pods times ln(4): 4.16, 5.55, 5.55; rounded 4, 6, 6.
  EXPECT_EQ(Scores(Web("1").Spread(Evenly("zone", Labelled({{"app", "x"}}), 1, kSoft))),
            (std::vector<std::int64_t>{100, 66, 66}));
  // By node: 3, 2, 2 times ln(5): 4.83, 3.22, 3.22; rounded 5, 3, 3.
  EXPECT_EQ(
      Scores(Web("2").Spread(Evenly("kubernetes.io/hostname", Labelled({{"app", "x"}}), 1, kSoft))),
      (std::vector<std::int64_t>{60, 100, 100}));
  // Both, with skews of 2 and 5: 8.99 + 5, 8.76 + 5, 8.76 + 5.
  EXPECT_EQ(
      Scores(Web("3")
                 .Spread(Evenly("zone", Labelled({{"app", "x"}}), 2, kSoft))
                 .Spread(Evenly("kubernetes.io/hostname", Labelled({{"app", "x"}}), 5, kSoft))),
      (std::vector<std::int64_t>{100, 100, 100}));
}

TEST_F(SpreadScoreTest, NoPodsAtAllIsBestAndALargeSkewEvensOut) {
  Node("a", "zone=a");
  Node("b", "zone=b");
  EXPECT_EQ(Scores(Web("1").Spread(Evenly("zone", Labelled({{"app", "x"}}), 1, kSoft))),
            (std::vector<std::int64_t>{100, 100}));
  Place("a", 1);
  EXPECT_EQ(Scores(Web("2").Spread(Evenly("zone", Labelled({{"app", "x"}}), 1, kSoft))),
            (std::vector<std::int64_t>{0, 100}));
  EXPECT_EQ(Scores(Web("3").Spread(Evenly("zone", Labelled({{"app", "x"}}), 100, kSoft))),
            (std::vector<std::int64_t>{99, 100}));
}

TEST_F(SpreadScoreTest, NodesWithoutALabelGetNothing) {
  Node("a", "zone=a");
  Node("b", "zone=b");
  Node("bare", "");
  Place("a", 1);
  const auto prepared =
      plugin_.PreScore(Incoming(Web().Spread(Evenly("zone", Labelled({{"app", "x"}}), 1, kSoft))));
  prepared.scorer->OnFeasible(rows_);
  EXPECT_EQ(testing::RawScores(prepared, rows_),
            (std::vector<std::int64_t>{1, 0, framework::kIgnored}));
}

TEST_F(SpreadScoreTest, TheSizeOfATopologyIsThatOfTheNodesThatFit) {
  Node("a", "zone=a");
  Node("b", "zone=b");
  Node("c", "zone=c");
  Place("a", 4);
  const auto prepared =
      plugin_.PreScore(Incoming(Web().Spread(Evenly("zone", Labelled({{"app", "x"}}), 1, kSoft))));
  prepared.scorer->OnFeasible(rows_);
  EXPECT_EQ(testing::RawScores(prepared, rows_), (std::vector<std::int64_t>{6, 0, 0}));  // 4 ln 5
  rows_.pop_back();
  prepared.scorer->OnFeasible(rows_);
  EXPECT_EQ(testing::RawScores(prepared, rows_), (std::vector<std::int64_t>{6, 0}));  // 4 ln 4
  rows_.pop_back();
  prepared.scorer->OnFeasible(rows_);
  EXPECT_EQ(testing::RawScores(prepared, rows_), (std::vector<std::int64_t>{4}));  // 4 ln 3
}

TEST_F(SpreadScoreTest, OnlyHardConstraintsMeanNoScoreAndOnlySoftOnesNoFilter) {
  TwoZones();
  EXPECT_EQ(plugin_.PreScore(Incoming(Web("1").Spread(ByZone()))).outcome.code,
            framework::Code::kSkip);
  EXPECT_EQ(
      plugin_
          .PreFilter(Incoming(Web("2").Spread(Evenly("zone", Labelled({{"app", "x"}}), 1, kSoft))))
          .outcome.code,
      framework::Code::kSkip);
  const auto plain = Incoming(Web("3"));
  EXPECT_EQ(plugin_.PreFilter(plain).outcome.code, framework::Code::kSkip);
  EXPECT_EQ(plugin_.PreScore(plain).outcome.code, framework::Code::kSkip);
}

// ---- defaults ----

class SpreadDefaultsTest : public SpreadScoreTest {
 protected:
  SpreadDefaultsTest() {
    k8s::Service service;
    service.meta.namespace_ = "default";
    service.meta.name = "web";
    service.selector = {{"app", "x"}};
    state_.UpsertObject(service);
  }
  void Use(std::string_view yaml) {
    auto args = testing::MakeFromYaml(&PodTopologySpread::Make, yaml);
    ASSERT_TRUE(args.ok()) << args.error().ToString();
    made_ = std::move(*args);
    plugin_ = dynamic_cast<PodTopologySpread&>(*made_);
  }
  std::unique_ptr<framework::Plugin> made_;
};

TEST_F(SpreadDefaultsTest, PodsOfAServiceAreSpreadByNodeAndZone) {
  Use("");
  Node("a", "topology.kubernetes.io/zone=a kubernetes.io/hostname=a");
  Node("b", "topology.kubernetes.io/zone=b kubernetes.io/hostname=b");
  Node("c", "kubernetes.io/hostname=c");
  Place("a", 2);
  Place("c", 1);
  const auto view = Incoming(Web());
  EXPECT_EQ(plugin_.PreFilter(view).outcome.code, framework::Code::kSkip);
  const auto prepared = plugin_.PreScore(view);
  ASSERT_NE(prepared.scorer, nullptr);
  prepared.scorer->OnFeasible(rows_);
  // 2 ln 5 + 2 + 2 ln 5 + 4; 2 + 4; 1 ln 5 + 2: a node without a zone is scored by its pods alone.
  EXPECT_EQ(testing::RawScores(prepared, rows_), (std::vector<std::int64_t>{12, 6, 4}));
}

TEST_F(SpreadDefaultsTest, PodsWithConstraintsOfTheirOwnOrWithoutSiblingsHaveNone) {
  Use("");
  TwoZones();
  EXPECT_EQ(Scores(Web("1").Spread(ByZone())), std::vector<std::int64_t>{});
  EXPECT_EQ(Scores(PodBuilder("2").Label("app", "other")), std::vector<std::int64_t>{});
}

TEST_F(SpreadDefaultsTest, AListOfConstraintsIsFollowedLikeThoseOfAPod) {
  Use(R"(
defaultingType: List
defaultConstraints:
- {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}
- {maxSkew: 1, topologyKey: host, whenUnsatisfiable: ScheduleAnyway}
)");
  TwoZones();
  Node("bare", "");
  const auto no = NotNow({kTooMany});
  EXPECT_EQ(Judge(Web("1")), (std::vector{no, no, Fits(), Fits(), Never({kNoLabel})}));
  const auto prepared = plugin_.PreScore(Incoming(Web("2")));
  prepared.scorer->OnFeasible(rows_);
  // Times ln(4 + 2); a node without the label is ignored.
  EXPECT_EQ(testing::RawScores(prepared, rows_),
            (std::vector<std::int64_t>{5, 0, 2, 2, framework::kIgnored}));
}

TEST_F(SpreadDefaultsTest, AnEmptyListSwitchesDefaultsOff) {
  Use("defaultingType: List");
  TwoZones();
  EXPECT_EQ(Scores(Web()), std::vector<std::int64_t>{});
}

// ---- events ----

class SpreadEventsTest : public SpreadTest {
 protected:
  SpreadEventsTest() {
    TwoZones();
    auto constraint = ByZone();
    constraint.node_taints_policy = k8s::NodeInclusionPolicy::kHonor;
    waiting_ = state_.AddPod(Web("waiting").Spread(constraint));
  }
  framework::PodInEvent InEvent(cluster::PodId id) {
    const cluster::Pod& pod = state_.pod(id);
    return {&state_.class_of(id), pod.kin, {}, pod.node, pod.nominated, 0};
  }
  bool Helps(framework::EventKind kind, const k8s::Pod& now, const k8s::Pod& before) {
    framework::ClusterEvent event;
    event.kind = kind;
    k8s::Pod first = before;
    first.meta.uid += "-before";
    event.pod = state_.AddPod(now);
    event.pod_now = InEvent(event.pod);
    event.pod_before = InEvent(state_.AddPod(first));
    return plugin_.MayHelp(event, testing::View(state_, waiting_));
  }
  bool NodeHelps(framework::EventKind kind, const k8s::Node& now,
                 const std::optional<k8s::Node>& before) {
    framework::ClusterEvent event;
    event.kind = kind;
    if (before) event.row = AddNode(state_, *before);
    const cluster::NodeFacts facts =
        before ? state_.nodes().facts(event.row) : cluster::NodeFacts{};
    if (kind == framework::EventKind::kNodeDelete) {
      state_.RemoveNode(event.row);
    } else {
      event.row = AddNode(state_, now);
    }
    if (before) event.node_before = &facts;
    return plugin_.MayHelp(event, testing::View(state_, waiting_));
  }
  cluster::PodId waiting_;
};

TEST_F(SpreadEventsTest, PodsThatAreMeantMakeADifference) {
  using framework::EventKind;
  EXPECT_TRUE(Helps(EventKind::kAssignedPodAdd, Web("1").On("b1"), Web("1").On("b1")));
  EXPECT_FALSE(Helps(EventKind::kAssignedPodAdd, Web("2").Namespace("n").On("b1"),
                     Web("2").Namespace("n").On("b1")));
  EXPECT_FALSE(
      Helps(EventKind::kAssignedPodAdd, PodBuilder("3").On("b1"), PodBuilder("3").On("b1")));
  EXPECT_TRUE(Helps(EventKind::kAssignedPodDelete, Web("4").On("a1"), Web("4").On("a1")));
  EXPECT_FALSE(Helps(EventKind::kUnassignedPodDelete, Web("5"), Web("5")));
  EXPECT_TRUE(Helps(EventKind::kAssignedPodLabel, Web("6").On("a1"), PodBuilder("6").On("a1")));
  EXPECT_TRUE(Helps(EventKind::kAssignedPodLabel, PodBuilder("7").On("a1"), Web("7").On("a1")));
  EXPECT_FALSE(Helps(EventKind::kAssignedPodLabel, Web("8").Label("b", "2").On("a1"),
                     Web("8").Label("b", "1").On("a1")));
}

TEST_F(SpreadEventsTest, NodesMakeADifferenceWhenADomainComesGoesOrChanges) {
  using framework::EventKind;
  const auto node = [](const char* zone) { return NodeBuilder("n").Label("zone", zone); };
  const NodeBuilder bare("n");
  EXPECT_TRUE(NodeHelps(EventKind::kNodeAdd, node("c"), std::nullopt));
  EXPECT_FALSE(NodeHelps(EventKind::kNodeAdd, NodeBuilder("m"), std::nullopt));
  EXPECT_TRUE(NodeHelps(EventKind::kNodeLabel, node("c"), node("d")));
  EXPECT_TRUE(NodeHelps(EventKind::kNodeLabel, node("c"), bare));
  EXPECT_TRUE(NodeHelps(EventKind::kNodeLabel, bare, node("c")));
  EXPECT_FALSE(NodeHelps(EventKind::kNodeLabel, node("c").Label("x", "1"), node("c")));
  EXPECT_FALSE(NodeHelps(EventKind::kNodeLabel, NodeBuilder("n").Label("x", "1"), bare));
  EXPECT_TRUE(NodeHelps(EventKind::kNodeTaint, node("c"),
                        node("c").Taint("k", "", k8s::TaintEffect::kNoSchedule)));
  EXPECT_FALSE(NodeHelps(EventKind::kNodeTaint, bare,
                         NodeBuilder("n").Taint("k", "", k8s::TaintEffect::kNoSchedule)));
  EXPECT_FALSE(NodeHelps(EventKind::kNodeDelete, bare, bare));
  EXPECT_TRUE(NodeHelps(EventKind::kNodeDelete, node("c"), node("c")));
}

TEST_F(SpreadEventsTest, TheWaitingPodItselfMakesADifference) {
  framework::ClusterEvent event;
  event.pod = waiting_;
  event.kind = framework::EventKind::kOwnTolerations;
  event.pod_now = event.pod_before = InEvent(waiting_);
  EXPECT_TRUE(plugin_.MayHelp(event, testing::View(state_, waiting_)));
  const cluster::PodId plain = state_.AddPod(Web("plain").Spread(ByZone()));
  event.pod = plain;
  EXPECT_FALSE(plugin_.MayHelp(event, testing::View(state_, plain))) << "taints are ignored";
  event.kind = framework::EventKind::kOwnLabel;
  event.pod_now = InEvent(plain);
  event.pod_before = InEvent(state_.AddPod(PodBuilder("unlabelled")));
  EXPECT_TRUE(plugin_.MayHelp(event, testing::View(state_, plain)));
}

}  // namespace
}  // namespace knx::plugins
