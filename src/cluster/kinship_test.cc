#include "cluster/kinship.h"

#include <gtest/gtest.h>

#include "cluster/state.h"
#include "cluster/testing/builders.h"

namespace knx::cluster {
namespace {

using testing::Evenly;
using testing::Labelled;
using testing::NamespaceWith;
using testing::NodeBuilder;
using testing::PodBuilder;
using testing::Pods;

class KinshipTest : public ::testing::Test {
 protected:
  KinshipTest() {
    state_.UpsertNode(NodeBuilder("n1").Label("zone", "a"));
    state_.UpsertNode(NodeBuilder("n2").Label("zone", "b"));
  }
  void TearDown() override { EXPECT_EQ(state_.Verify().value_or("equal"), "equal"); }

  PodId Add(const k8s::Pod& pod) { return state_.AddPod(pod); }
  NodeRow Row(std::string_view name) const { return state_.nodes().Find(name); }
  const PodSelector& Selector(PodSelectorId id) const { return state_.kinship().Get(id); }
  MatchCounter::Numbers Matching(PodSelectorId id, std::string_view node) const {
    return Selector(id).matching.At(Row(node));
  }
  const Relation& RelationOf(PodId id) { return state_.kinship().Get(state_.RelationOf(id)); }

  State state_;
};

TEST_F(KinshipTest, PodsOfWhomNobodySpeaksAreUnrelated) {
  const PodId a = Add(PodBuilder("a").Label("app", "a").On("n1"));
  EXPECT_EQ(state_.RelationOf(a), kUnrelated);
  const PodId other = Add(PodBuilder("b").Apart(Pods("zone", Labelled({{"app", "b"}}))));
  EXPECT_EQ(state_.RelationOf(a), kUnrelated) << "somebody else is meant";
  const PodId speaker = Add(PodBuilder("c").Apart(Pods("zone", Labelled({{"app", "a"}}))));
  EXPECT_NE(state_.RelationOf(a), kUnrelated);
  state_.RemovePod(speaker);
  EXPECT_EQ(state_.RelationOf(a), kUnrelated) << "nobody speaks of it any more";
  state_.RemovePod(other);
}

TEST_F(KinshipTest, SelectorsCountPodsThatWereThereBeforeAndThatComeLater) {
  Add(PodBuilder("early").Label("app", "a").On("n1"));
  const PodId speaker = Add(PodBuilder("s").Apart(Pods("zone", Labelled({{"app", "a"}}))));
  const PodSelectorId id = state_.class_of(speaker).terms.apart[0];
  EXPECT_EQ(Matching(id, "n1"), (MatchCounter::Numbers{1, 1}));
  const PodId late = Add(PodBuilder("late").Label("app", "a").On("n1"));
  const PodId assumed = Add(PodBuilder("assumed").Label("app", "a"));
  state_.Assume(assumed, Row("n2"));
  EXPECT_EQ(Matching(id, "n1"), (MatchCounter::Numbers{2, 2}));
  EXPECT_EQ(Matching(id, "n2"), (MatchCounter::Numbers{1, 1}));
  state_.UpdatePod(late, PodBuilder("late").Label("app", "a").On("n1").BeingDeleted());
  EXPECT_EQ(Matching(id, "n1"), (MatchCounter::Numbers{2, 1})) << "one is being deleted";
  state_.UpdatePod(late, PodBuilder("late").Label("app", "b").On("n1").BeingDeleted());
  EXPECT_EQ(Matching(id, "n1"), (MatchCounter::Numbers{1, 1})) << "it changed its label";
  state_.Displace(assumed);
  EXPECT_EQ(Matching(id, "n2"), (MatchCounter::Numbers{0, 0}));
}

TEST_F(KinshipTest, PodsThatSayTheSameShareASelector) {
  const PodId a = Add(PodBuilder("a").Near(Pods("zone", Labelled({{"app", "x"}}))));
  const PodId b =
      Add(PodBuilder("b").Asks("cpu", "1").Apart(Pods("zone", Labelled({{"app", "x"}}))));
  const PodId c = Add(PodBuilder("c").Apart(Pods("rack", Labelled({{"app", "x"}}))));
  const PodId d = Add(PodBuilder("d").Namespace("n").Apart(Pods("zone", Labelled({{"app", "x"}}))));
  const PodSelectorId shared = state_.class_of(a).terms.near[0];
  EXPECT_EQ(state_.class_of(b).terms.apart[0], shared);
  EXPECT_NE(state_.class_of(c).terms.apart[0], shared) << "another topology";
  EXPECT_NE(state_.class_of(d).terms.apart[0], shared) << "its own namespace is another one";
}

TEST_F(KinshipTest, WhatPlacedPodsSayIsCountedWhereTheyAre) {
  const auto term = Pods("zone", Labelled({{"app", "x"}}));
  const PodId a = Add(PodBuilder("a").Apart(term).PrefersApart(7, term).On("n1"));
  Add(PodBuilder("b").Near(term).PrefersNear(3, term).On("n1"));
  const PodSelectorId id = state_.class_of(a).terms.apart[0];
  EXPECT_EQ(Selector(id).carried.At(Row("n1")), (CarryCounter::Numbers{1, 1, -4}));
  const auto mark = state_.Mark();
  state_.Displace(a);
  EXPECT_EQ(Selector(id).carried.At(Row("n1")), (CarryCounter::Numbers{0, 1, 3}));
  state_.Rollback(mark);
  EXPECT_EQ(Selector(id).carried.At(Row("n1")), (CarryCounter::Numbers{1, 1, -4}));
}

TEST_F(KinshipTest, NamespacesAreListedSelectedOrThePodsOwn) {
  struct Case {
    std::string_view name;
    k8s::PodAffinityTerm term;
    std::vector<std::string> want;  // namespaces in which a pod is meant
  };
  const auto any = Labelled({{"app", "x"}});
  const Case cases[] = {
      {"own", Pods("zone", any), {"default"}},
      {"listed", Pods("zone", any, {"red", "blue"}), {"blue", "red"}},
      {"all", Pods("zone", any, {}, k8s::LabelSelector{}), {"blue", "default", "red"}},
      {"selected", Pods("zone", any, {}, Labelled({{"color", "red"}})), {"red"}},
      {"selected and listed",
       Pods("zone", any, {"blue"}, Labelled({{"color", "red"}})),
       {"blue", "red"}},
      {"not selected",
       Pods("zone", any, {},
            k8s::LabelSelector{{}, {{"color", k8s::SelectorOperator::kNotIn, {"red"}}}}),
       {"blue", "default"}},
      {"no pods", Pods("zone", std::nullopt), {}},
  };
  for (const std::string name : {"red", "blue", "default"}) {
    state_.UpsertObject(NamespaceWith(name, {{"color", name}}));
    Add(PodBuilder("in-" + name).Namespace(name).Label("app", "x").On("n1"));
  }
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const PodId speaker = Add(PodBuilder("speaker").Apart(c.term));
    const PodSelectorId id = state_.class_of(speaker).terms.apart[0];
    std::vector<std::string> got;
    for (const std::string name : {"blue", "default", "red"}) {
      const PodId pod = state_.pods().Find("uid-in-" + name);
      if (state_.kinship().Means(id, state_.pod(pod).kin)) got.push_back(name);
    }
    EXPECT_EQ(got, c.want);
    state_.RemovePod(speaker);
  }
}

TEST_F(KinshipTest, ANamespaceThatChangesItsLabelsChangesWhoIsMeant) {
  const PodId pod = Add(PodBuilder("p").Namespace("red").Label("app", "x").On("n1"));
  const PodId speaker = Add(PodBuilder("speaker").Apart(
      Pods("zone", Labelled({{"app", "x"}}), {}, Labelled({{"team", "a"}}))));
  const PodSelectorId id = state_.class_of(speaker).terms.apart[0];
  EXPECT_EQ(Matching(id, "n1")[kAllPods], 0);
  EXPECT_EQ(state_.RelationOf(pod), kUnrelated);
  state_.UpsertObject(NamespaceWith("red", {{"team", "a"}}));
  EXPECT_EQ(Matching(id, "n1")[kAllPods], 1);
  EXPECT_TRUE(RelationOf(pod).MeantBy(id));
  state_.RemoveObject(NamespaceWith("red", {{"team", "a"}}));
  EXPECT_EQ(Matching(id, "n1")[kAllPods], 0);
  EXPECT_EQ(state_.RelationOf(pod), kUnrelated);
}

TEST_F(KinshipTest, APodMustMeetEveryRequiredTermToCount) {
  const PodId speaker = Add(PodBuilder("s")
                                .Near(Pods("zone", Labelled({{"app", "x"}})))
                                .Near(Pods("rack", Labelled({{"tier", "db"}}))));
  Add(PodBuilder("one").Label("app", "x").On("n1"));
  Add(PodBuilder("both").Label("app", "x").Label("tier", "db").On("n2"));
  const PodSelectorId all = state_.class_of(speaker).terms.near_all;
  EXPECT_EQ(Matching(all, "n1")[kAllPods], 0);
  EXPECT_EQ(Matching(all, "n2")[kAllPods], 1);
}

TEST_F(KinshipTest, KeysOfLabelsMakeOtherSelectorsOfOneConstraint) {
  auto constraint = Evenly("zone", Labelled({{"app", "x"}}));
  constraint.match_label_keys = {"revision", "missing"};
  const auto pod = [&](std::string name, std::string revision) {
    return PodBuilder(name).Label("app", "x").Label("revision", revision).Spread(constraint);
  };
  const PodId one = Add(pod("one", "1"));
  const PodId two = Add(pod("two", "2"));
  const PodId same = Add(pod("same", "2"));
  EXPECT_NE(state_.pod(one).pod_class, state_.pod(two).pod_class);
  EXPECT_EQ(state_.pod(same).pod_class, state_.pod(two).pod_class);
  const PodSelectorId id = state_.class_of(two).terms.spread[0].selector;
  EXPECT_FALSE(state_.kinship().Means(id, state_.pod(one).kin));
  EXPECT_TRUE(state_.kinship().Means(id, state_.pod(same).kin));
}

TEST_F(KinshipTest, AListWithAMalformedTermCountsForNothing) {
  const k8s::LabelSelector wrong{{}, {{"app", k8s::SelectorOperator::kIn, {}}}};
  const PodId pod = Add(PodBuilder("p")
                            .Near(Pods("zone", Labelled({{"app", "x"}})))
                            .Near(Pods("zone", wrong))
                            .Apart(Pods("zone", Labelled({{"app", "y"}})))
                            .PrefersNear(1, Pods("zone", Labelled({}), {}, wrong))
                            .On("n1"));
  const ClassTerms& terms = state_.class_of(pod).terms;
  EXPECT_TRUE(terms.near.empty());
  EXPECT_FALSE(terms.near_all.valid());
  EXPECT_EQ(terms.apart.size(), 1U);
  EXPECT_EQ(
      terms.affinity_error,
      "[requiredAffinityTerms: values: Invalid value: null: for 'in', 'notin' operators, values "
      "set can't be empty, preferredAffinityTerms: values: Invalid value: null: for 'in', "
      "'notin' operators, values set can't be empty]");
}

TEST_F(KinshipTest, SiblingsFollowFromServicesAndController) {
  const auto service = [](std::string name, k8s::StringMap selector) {
    k8s::Service out;
    out.meta.namespace_ = "default";
    out.meta.name = std::move(name);
    out.selector = std::move(selector);
    return out;
  };
  k8s::Workload set;
  set.meta.namespace_ = "default";
  set.meta.name = "rs";
  set.selector = k8s::LabelSelector{{{"hash", "1"}}, {{"app", k8s::SelectorOperator::kExists, {}}}};
  const PodId lone = Add(PodBuilder("lone").Label("app", "x"));
  const PodId owned = Add(
      PodBuilder("owned").Label("app", "x").Label("hash", "1").ControlledBy("ReplicaSet", "rs"));
  const PodId foreign = Add(PodBuilder("foreign")
                                .Label("app", "y")
                                .ControlledBy("ReplicaSet", "rs", "apps.example.com/v1"));
  EXPECT_FALSE(RelationOf(lone).siblings.valid());
  EXPECT_FALSE(RelationOf(owned).siblings.valid()) << "its controller is not known";
  state_.UpsertObject(set);
  state_.UpsertObject(service("web", {{"app", "x"}}));
  state_.UpsertObject(service("other", {{"app", "z"}}));
  const auto labels_of = [&](PodId pod) {
    const PodSelectorId id = RelationOf(pod).siblings;
    return id.valid() ? Selector(id).query.conditions[0].labels : std::nullopt;
  };
  EXPECT_EQ(labels_of(lone), Labelled({{"app", "x"}}));
  EXPECT_EQ(labels_of(owned), (k8s::LabelSelector{{{"app", "x"}, {"hash", "1"}},
                                                  {{"app", k8s::SelectorOperator::kExists, {}}}}));
  EXPECT_EQ(labels_of(foreign), std::nullopt) << "a controller of a kind by the same name";
  state_.RemoveObject(service("web", {{"app", "x"}}));
  EXPECT_EQ(labels_of(lone), std::nullopt);
}

TEST_F(KinshipTest, RelationsAreSharedAndForgotten) {
  const PodId a = Add(PodBuilder("a").Label("app", "x").Label("name", "a"));
  const PodId b = Add(PodBuilder("b").Label("app", "x").Label("name", "b"));
  const PodId speaker = Add(PodBuilder("s").Apart(Pods("zone", Labelled({{"app", "x"}}))));
  const RelationId relation = state_.RelationOf(a);
  EXPECT_EQ(state_.RelationOf(b), relation);
  state_.RemovePod(a);
  EXPECT_TRUE(state_.kinship().Exists(relation));
  state_.RemovePod(b);
  EXPECT_FALSE(state_.kinship().Exists(relation));
  state_.RemovePod(speaker);
}

TEST_F(KinshipTest, DomainsFollowTheLabelsOfNodes) {
  const TopologyUse zones = state_.nodes().UseTopology(state_.words().Find("zone"));
  EXPECT_EQ(zones->domain_count(), 2U);
  EXPECT_NE(zones->domain(Row("n1")), zones->domain(Row("n2")));
  const std::uint64_t version = zones->version();
  state_.UpsertNode(NodeBuilder("n3").Label("zone", "b"));
  EXPECT_EQ(zones->domain(Row("n3")), zones->domain(Row("n2")));
  EXPECT_NE(zones->version(), version);
  state_.UpsertNode(NodeBuilder("n4"));
  EXPECT_EQ(zones->domain(Row("n4")), Topology::kNowhere);
  EXPECT_EQ(zones->labelled_nodes(), 3U);
  state_.RemoveNode(Row("n1"));
  EXPECT_EQ(zones->domain_count(), 1U);
  state_.UpsertNode(NodeBuilder("n4").Label("zone", "c"));
  EXPECT_EQ(zones->domain_count(), 2U);
  EXPECT_EQ(zones->domain(Row("n4")), zones->Find(state_.words().Find("c")));
  EXPECT_LT(zones->domain(Row("n4")), zones->domain_limit());
}

}  // namespace
}  // namespace knx::cluster
