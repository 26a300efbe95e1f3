#include "plugins/kube/node_affinity/node_affinity.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::AddPod;
using cluster::testing::Label;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using framework::EventKind;
using Op = k8s::SelectorOperator;
using Names = std::vector<std::string>;

const testing::Answer kNoMatch =
    testing::Never({"node(s) didn't match Pod's node affinity/selector"});

k8s::NodeSelectorTerm Labels(std::vector<k8s::Requirement> expressions) {
  return {std::move(expressions), {}};
}
k8s::NodeSelectorTerm Named(std::vector<std::string> names, Op op = Op::kIn) {
  return {{}, {{"metadata.name", op, std::move(names)}}};
}

TEST(NodeAffinity, AcceptsNodesThatMatch) {
  struct Case {
    std::string_view name;
    PodBuilder pod;
    Names fits;  // of the nodes a (zone a, cores 8), b (zone b, cores 16) and bare
  };
  const Case cases[] = {
      {"nodeSelector", PodBuilder("p").NodeSelector("zone", "a"), {"a"}},
      {"a value nobody has", PodBuilder("p").NodeSelector("zone", "z"), {}},
      {"a key nobody has", PodBuilder("p").NodeSelector("rack", "a"), {}},
      {"In", PodBuilder("p").Requires(Labels({Label("zone", Op::kIn, {"b", "z"})})), {"b"}},
      {"NotIn",
       PodBuilder("p").Requires(Labels({Label("zone", Op::kNotIn, {"b"})})),
       {"a", "bare"}},
      {"Exists", PodBuilder("p").Requires(Labels({Label("zone", Op::kExists)})), {"a", "b"}},
      {"DoesNotExist",
       PodBuilder("p").Requires(Labels({Label("zone", Op::kDoesNotExist)})),
       {"bare"}},
      {"Gt", PodBuilder("p").Requires(Labels({Label("cores", Op::kGt, {"8"})})), {"b"}},
      {"Lt", PodBuilder("p").Requires(Labels({Label("cores", Op::kLt, {"9"})})), {"a"}},
      {"Gt on a word", PodBuilder("p").Requires(Labels({Label("zone", Op::kGt, {"0"})})), {}},
      {"both must hold",
       PodBuilder("p").NodeSelector("zone", "a").Requires(Labels({Label("cores", Op::kGt, {"8"})})),
       {}},
      {"all conditions of a term",
       PodBuilder("p").Requires(
           Labels({Label("zone", Op::kExists), Label("cores", Op::kIn, {"16"})})),
       {"b"}},
      {"any of the terms",
       PodBuilder("p")
           .Requires(Labels({Label("zone", Op::kIn, {"a"})}))
           .Requires(Labels({Label("zone", Op::kDoesNotExist)})),
       {"a", "bare"}},
      {"an empty term matches nothing", PodBuilder("p").Requires({}), {}},
      {"a malformed term does not hide another",
       PodBuilder("p")
           .Requires(Labels({Label("zone", Op::kIn, {})}))
           .Requires(Labels({Label("zone", Op::kIn, {"a"})})),
       {"a"}},
      {"a malformed term matches nothing",
       PodBuilder("p").Requires(Labels({Label("cores", Op::kGt, {"many"})})),
       {}},
      {"by name", PodBuilder("p").Requires(Named({"b"})), {"b"}},
      {"not by name", PodBuilder("p").Requires(Named({"b"}, Op::kNotIn)), {"a", "bare"}},
      {"two names in one condition are malformed", PodBuilder("p").Requires(Named({"a", "b"})), {}},
  };
  const NodeAffinity plugin(NodeAffinityArgs{});
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    cluster::State state;
    AddNode(state, NodeBuilder("a").Label("zone", "a").Label("cores", "8"));
    AddNode(state, NodeBuilder("b").Label("zone", "b").Label("cores", "16"));
    AddNode(state, NodeBuilder("bare"));
    const auto prepared = plugin.PreFilter(testing::View(state, AddPod(state, c.pod)));
    ASSERT_EQ(prepared.outcome.code, framework::Code::kSuccess);
    EXPECT_EQ(prepared.scope, framework::Scope::kFacts);
    for (const char* name : {"a", "b", "bare"}) {
      const bool fits = std::find(c.fits.begin(), c.fits.end(), name) != c.fits.end();
      EXPECT_EQ(testing::Judge(prepared, state.nodes().Find(name)),
                fits ? testing::Fits() : kNoMatch)
          << name;
    }
  }
}

TEST(NodeAffinity, NarrowsTheNodesIfEveryTermNamesSome) {
  struct Case {
    std::string_view name;
    PodBuilder pod;
    std::optional<Names> want;
  };
  const Case cases[] = {
      {"one name", PodBuilder("p").Requires(Named({"b"})), Names{"b"}},
      {"two terms", PodBuilder("p").Requires(Named({"b"})).Requires(Named({"a"})), Names{"a", "b"}},
      {"a term by labels",
       PodBuilder("p").Requires(Named({"b"})).Requires(Labels({Label("zone", Op::kExists)})),
       std::nullopt},
      {"a name beside labels",
       PodBuilder("p").Requires(
           {{Label("zone", Op::kExists)}, {{"metadata.name", Op::kIn, {"b"}}}}),
       Names{"b"}},
      {"only NotIn", PodBuilder("p").Requires(Named({"b"}, Op::kNotIn)), std::nullopt},
      {"no terms by name", PodBuilder("p").NodeSelector("zone", "a"), std::nullopt},
  };
  const NodeAffinity plugin(NodeAffinityArgs{});
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    cluster::State state;
    EXPECT_EQ(plugin.PreFilter(testing::View(state, AddPod(state, c.pod))).only_nodes, c.want);
  }
  cluster::State state;
  const auto conflict = plugin.PreFilter(testing::View(
      state, AddPod(state, PodBuilder("p").Requires({{},
                                                     {{"metadata.name", Op::kIn, {"a"}},
                                                      {"metadata.name", Op::kIn, {"b"}}}}))));
  EXPECT_EQ(conflict.outcome.code, framework::Code::kUnresolvable);
  EXPECT_EQ(conflict.outcome.reason, "pod affinity terms conflict");
  EXPECT_EQ(testing::Judge(conflict, AddNode(state, NodeBuilder("a"))), kNoMatch);
}

TEST(NodeAffinity, HasNothingToSayAboutPodsWithoutAny) {
  cluster::State state;
  const NodeAffinity plugin(NodeAffinityArgs{});
  const cluster::PodId plain = AddPod(state, PodBuilder("plain"));
  EXPECT_EQ(plugin.PreFilter(testing::View(state, plain)).outcome.code, framework::Code::kSkip);
  EXPECT_EQ(plugin.PreScore(testing::View(state, plain)).outcome.code, framework::Code::kSkip);
  const cluster::PodId soft =
      AddPod(state, PodBuilder("soft").Prefers(1, Labels({Label("zone", Op::kExists)})));
  EXPECT_EQ(plugin.PreFilter(testing::View(state, soft)).outcome.code, framework::Code::kSkip);
  EXPECT_EQ(plugin.PreScore(testing::View(state, soft)).outcome.code, framework::Code::kSuccess);
}

TEST(NodeAffinity, PrefersNodesByTheWeightsThatMatch) {
  cluster::State state;
  const cluster::NodeRow rows[] = {
      AddNode(state, NodeBuilder("a").Label("zone", "a").Label("disk", "ssd")),
      AddNode(state, NodeBuilder("b").Label("zone", "b").Label("disk", "ssd")),
      AddNode(state, NodeBuilder("bare")),
  };
  const NodeAffinity plugin(NodeAffinityArgs{});
  const auto ask = [&](const k8s::Pod& pod) {
    const auto prepared = plugin.PreScore(testing::View(state, AddPod(state, pod)));
    EXPECT_EQ(prepared.scope, framework::Scope::kFacts);
    return testing::Scores(prepared, rows);
  };
  using Scores = std::vector<std::int64_t>;
  EXPECT_EQ(ask(PodBuilder("p")
                    .Prefers(2, Labels({Label("zone", Op::kIn, {"a"})}))
                    .Prefers(5, Labels({Label("disk", Op::kIn, {"ssd"})}))),
            (Scores{100, 71, 0}));
  EXPECT_EQ(ask(PodBuilder("nobody").Prefers(7, Labels({Label("zone", Op::kIn, {"z"})}))),
            (Scores{0, 0, 0}));
  EXPECT_EQ(ask(PodBuilder("empty and weightless")
                    .Prefers(7, {})
                    .Prefers(0, Labels({Label("zone", Op::kExists)}))
                    .Prefers(1, Named({"bare"}))),
            (Scores{0, 0, 100}));
}

TEST(NodeAffinity, RefusesToScoreByMalformedTerms) {
  cluster::State state;
  const NodeAffinity plugin(NodeAffinityArgs{});
  const cluster::PodId pod =
      AddPod(state, PodBuilder("p").Prefers(1, Labels({Label("zone", Op::kIn, {})})));
  const auto prepared = plugin.PreScore(testing::View(state, pod));
  EXPECT_EQ(prepared.outcome.code, framework::Code::kError);
  EXPECT_EQ(
      prepared.outcome.reason,
      "[0].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, values "
      "set can't be empty");
}

TEST(NodeAffinity, CallsWordsThatAreNoNumbersWhatKubeSchedulerCallsThem) {
  cluster::State state;
  const NodeAffinity plugin(NodeAffinityArgs{});
  const std::string complaint =
      "values[0]: Invalid value: \"many\": for 'Gt', 'Lt' operators, the value must be an integer";
  const auto many = Labels({Label("zone", Op::kExists), Label("cores", Op::kGt, {"many"})});
  const cluster::PodId one = AddPod(state, PodBuilder("one").Prefers(1, many));
  EXPECT_EQ(plugin.PreScore(testing::View(state, one)).outcome.reason,
            "[0].matchExpressions[1]." + complaint);
  const cluster::PodId two = AddPod(state, PodBuilder("two").Prefers(1, many).Prefers(2, many));
  EXPECT_EQ(
      plugin.PreScore(testing::View(state, two)).outcome.reason,
      "[[0].matchExpressions[1]." + complaint + ", [1].matchExpressions[1]." + complaint + "]");
}

TEST(NodeAffinity, IsPreparedAnewWhenANodeBringsOneOfItsWords) {
  cluster::State state;
  const cluster::NodeRow row = AddNode(state, NodeBuilder("n").Label("zone", "a"));
  const NodeAffinity plugin(NodeAffinityArgs{});
  const cluster::PodId pod =
      AddPod(state, PodBuilder("p")
                        .NodeSelector("zone", "z")
                        .Prefers(1, Labels({Label("zone", Op::kIn, {"y"})})));
  auto filter = plugin.PreFilter(testing::View(state, pod));
  auto score = plugin.PreScore(testing::View(state, pod));
  EXPECT_EQ(testing::Judge(filter, row), kNoMatch);

  AddNode(state, NodeBuilder("m").Label("unrelated", "words"));
  EXPECT_TRUE(filter.filter->Current());
  EXPECT_TRUE(score.scorer->Current());
  AddNode(state, NodeBuilder("n").Label("zone", "z"));
  EXPECT_FALSE(filter.filter->Current());
  EXPECT_TRUE(score.scorer->Current());
  filter = plugin.PreFilter(testing::View(state, pod));
  EXPECT_EQ(testing::Judge(filter, row), testing::Fits());
  // All its words are known now: nothing that comes can make it stale, and it reads the labels of
  // the moment.
  AddNode(state, NodeBuilder("n").Label("zone", "y"));
  EXPECT_TRUE(filter.filter->Current());
  EXPECT_EQ(testing::Judge(filter, row), kNoMatch);
  EXPECT_FALSE(score.scorer->Current());
  score = plugin.PreScore(testing::View(state, pod));
  EXPECT_EQ(testing::ScoreOf(score, row), 100);
}

constexpr std::string_view kAddedAffinity = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: NodeAffinityArgs
addedAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
    - matchExpressions:
      - {key: pool, operator: In, values: [batch]}
  preferredDuringSchedulingIgnoredDuringExecution:
  - weight: 3
    preference:
      matchExpressions:
      - {key: disk, operator: Exists}
)";

TEST(NodeAffinity, AddsTheAffinityOfTheConfiguration) {
  const auto plugin = testing::MakeFromYaml(&NodeAffinity::Make, kAddedAffinity);
  ASSERT_TRUE(plugin.ok()) << plugin.error().ToString();
  const auto& affinity = dynamic_cast<const NodeAffinity&>(**plugin);
  cluster::State state;
  const cluster::NodeRow batch =
      AddNode(state, NodeBuilder("batch").Label("pool", "batch").Label("zone", "a"));
  const cluster::NodeRow disk =
      AddNode(state, NodeBuilder("disk").Label("pool", "batch").Label("disk", "ssd"));
  const cluster::NodeRow other = AddNode(state, NodeBuilder("other").Label("zone", "a"));
  const cluster::PodId pod = AddPod(state, PodBuilder("plain"));
  const auto prepared = affinity.PreFilter(testing::View(state, pod));
  EXPECT_EQ(testing::Judge(prepared, batch), testing::Fits());
  EXPECT_EQ(testing::Judge(prepared, other),
            testing::Never({"node(s) didn't match scheduler-enforced node affinity"}));
  const auto zoned = affinity.PreFilter(
      testing::View(state, AddPod(state, PodBuilder("zoned").NodeSelector("zone", "a"))));
  EXPECT_EQ(testing::Judge(zoned, batch), testing::Fits());
  EXPECT_EQ(testing::Judge(zoned, disk), kNoMatch);

  const cluster::NodeRow rows[] = {batch, disk};
  const auto plain = testing::View(state, pod);
  EXPECT_EQ(testing::Scores(affinity.PreScore(plain), rows), (std::vector<std::int64_t>{0, 100}));

  framework::ClusterEvent event;
  event.kind = EventKind::kNodeAdd;
  event.row = other;
  EXPECT_FALSE(affinity.MayHelp(event, plain));
  event.row = batch;
  EXPECT_TRUE(affinity.MayHelp(event, plain));
}

TEST(NodeAffinity, RefusesArgumentsThatMeanNothing) {
  struct Case {
    std::string_view name, yaml, want;
  };
  const Case cases[] = {
      {"unknown field", "addedAfinity: {}", "addedAfinity"},
      {"unknown field inside", "addedAffinity: {required: []}", "args.addedAffinity.required"},
      {"wrong kind", "kind: NodeResourcesFitArgs", "must be NodeAffinityArgs"},
      {"wrong version", "apiVersion: v1", "must be kubescheduler.config.k8s.io/v1"},
      {"malformed term",
       "addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
       "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: [x]}]}]}}",
       "requiredDuringSchedulingIgnoredDuringExecution: nodeSelectorTerms[0].matchExpressions[0]: "
       "label a with Gt or Lt needs a 64-bit integer"},
      {"malformed preference",
       "addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
       "[{weight: 1, preference: {matchFields: [{key: spec, operator: In, values: [x]}]}}]}",
       "[0].preference.matchFields[0]: field \"spec\" cannot be selected by"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto plugin = testing::MakeFromYaml(&NodeAffinity::Make, c.yaml);
    ASSERT_FALSE(plugin.ok());
    EXPECT_NE(plugin.error().ToString().find(c.want), std::string::npos)
        << plugin.error().ToString();
  }
}

TEST(NodeAffinity, IsHelpedByNodesThatComeToMatch) {
  cluster::State state;
  const NodeAffinity plugin(NodeAffinityArgs{});
  const cluster::PodId pod = AddPod(state, PodBuilder("p").NodeSelector("zone", "a"));
  const cluster::NodeRow match = AddNode(state, NodeBuilder("match").Label("zone", "a"));
  const cluster::NodeRow no_match = AddNode(state, NodeBuilder("other").Label("zone", "b"));
  const cluster::NodeFacts good = state.nodes().facts(match);
  const cluster::NodeFacts bad = state.nodes().facts(no_match);
  const auto helps = [&](EventKind kind, cluster::NodeRow row, const cluster::NodeFacts* before) {
    framework::ClusterEvent event;
    event.kind = kind;
    event.row = row;
    event.node_before = before;
    EXPECT_TRUE(plugin.events().Contains(kind));
    return plugin.MayHelp(event, testing::View(state, pod));
  };
  EXPECT_TRUE(helps(EventKind::kNodeAdd, match, nullptr));
  EXPECT_FALSE(helps(EventKind::kNodeAdd, no_match, nullptr));
  EXPECT_TRUE(helps(EventKind::kNodeLabel, match, &bad));
  EXPECT_FALSE(helps(EventKind::kNodeLabel, match, &good));
  EXPECT_FALSE(helps(EventKind::kNodeLabel, no_match, &good));
  EXPECT_TRUE(helps(EventKind::kNodeTaint, no_match, &bad)) << "kube-scheduler's quirk";
  EXPECT_FALSE(plugin.events().Contains(EventKind::kAssignedPodDelete));
}

}  // namespace
}  // namespace knx::plugins
