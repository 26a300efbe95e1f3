#include "cluster/gang_declaration.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace knx::cluster {
namespace {

using Map = k8s::StringMap;

std::optional<GangDeclaration> Read(Map labels, Map annotations = {},
                                    std::optional<k8s::PodGroupReference> group = {}) {
  k8s::Pod pod;
  std::sort(labels.begin(), labels.end());
  std::sort(annotations.begin(), annotations.end());
  pod.meta.labels = std::move(labels);
  pod.meta.annotations = std::move(annotations);
  pod.spec.pod_group = std::move(group);
  return ReadGangDeclaration(pod);
}

const std::string kOurs = "pod-group.scheduling.kubenexus.io/";
const std::string kSigs = "pod-group.scheduling.sigs.k8s.io/";
const std::string kKueue = "kueue.x-k8s.io/pod-group-";

TEST(GangDeclaration, EverySpellingIsRead) {
  const GangDeclaration train{"train", 4};
  EXPECT_EQ(Read({{kOurs + "name", "train"}, {kOurs + "min-available", "4"}}), train);
  EXPECT_EQ(Read({{kSigs + "name", "train"}, {kSigs + "min-available", "4"}}), train);
  EXPECT_EQ(Read({{kSigs + "name", "train"}, {kSigs + "min-member", "4"}}), train);
  EXPECT_EQ(Read({{kSigs + "name", "train"}, {kOurs + "min-available", "4"}}), train) << "mixed";
  EXPECT_EQ(Read({}, {{kSigs + "name", "train"}, {kSigs + "min-available", "4"}}), train);
  EXPECT_EQ(Read({{kOurs + "name", "train"}}, {{kOurs + "min-available", "4"}}), train);
  EXPECT_EQ(Read({{kKueue + "name", "train"}}, {{kKueue + "total-count", "4"}}), train);
  EXPECT_EQ(Read({{"gang.scheduling.kubenexus.io/name", "train"}},
                 {{"scheduling.kubenexus.io/min-available", "4"}}),
            train);
}

TEST(GangDeclaration, ARoleHasAMinimumOfItsOwn) {
  const k8s::StringMap gang = {{kOurs + "min-available", "4"}, {kOurs + "name", "train"}};
  const auto with = [&](k8s::StringMap more) {
    more.insert(more.end(), gang.begin(), gang.end());
    std::sort(more.begin(), more.end());
    return Read(more).value_or(GangDeclaration{});
  };
  EXPECT_EQ(with({}).role, "");
  EXPECT_EQ(with({{kOurs + "role", "ps"}}).role, "ps");
  EXPECT_EQ(with({{kOurs + "role", "ps"}}).role_minimum, 0);
  EXPECT_EQ(with({{kOurs + "role", "ps"}, {kOurs + "role-min-available", "2"}}).role_minimum, 2);
  EXPECT_EQ(with({{kOurs + "role-min-available", "2"}}).role_minimum, 0) << "of no role";
  EXPECT_EQ(with({{kOurs + "role", "ps"}, {kOurs + "role-min-available", "0"}}).problem,
            "role-min-available must be at least 1, got 0");
  const auto volcano =
      Read({{"volcano.sh/task-spec", "worker"}}, {{"scheduling.k8s.io/group-name", "train"}});
  ASSERT_TRUE(volcano.has_value());
  EXPECT_EQ(volcano->role, "worker");
}

// The name and the minimum of the gang, and what is said about contradictions.
struct Winner {
  std::string name;
  std::int32_t minimum = 0;
  std::string conflict = {};
  friend bool operator==(const Winner&, const Winner&) = default;
};
Winner WinnerOf(const std::optional<GangDeclaration>& gang) {
  return gang ? Winner{gang->name, gang->minimum, gang->conflict} : Winner{};
}

TEST(GangDeclaration, OurKeysComeBeforeOthersAndLabelsBeforeAnnotations) {
  EXPECT_EQ(WinnerOf(Read({{kOurs + "name", "a"},
                           {kSigs + "name", "b"},
                           {kOurs + "min-available", "2"},
                           {kSigs + "min-available", "3"}})),
            (Winner{"a", 2,
                    "label pod-group.scheduling.kubenexus.io/name says a, label "
                    "pod-group.scheduling.sigs.k8s.io/name says b: the first counts"}));
  EXPECT_EQ(WinnerOf(Read({{kSigs + "name", "a"}, {kSigs + "min-member", "2"}},
                          {{kOurs + "name", "a"}, {kOurs + "min-available", "3"}})),
            (Winner{"a", 2,
                    "label pod-group.scheduling.sigs.k8s.io/min-member says 2, annotation "
                    "pod-group.scheduling.kubenexus.io/min-available says 3: the first counts"}));
  EXPECT_EQ(WinnerOf(Read({{kOurs + "name", "a"}, {kOurs + "min-available", "2"}},
                          {{kOurs + "name", "a"}, {kOurs + "min-available", "2"}})),
            (Winner{"a", 2}));
}

const std::string kObject = "scheduling.x-k8s.io/pod-group";
const std::string kVolcano = "scheduling.k8s.io/group-name";

TEST(GangDeclaration, ObjectsAreNamedInEverySpelling) {
  const auto by = [](GangSource source, std::string name = "train") {
    return GangDeclaration{.name = std::move(name), .source = source};
  };
  EXPECT_EQ(Read({}, {}, {{"", "train", ""}}), by(GangSource::kPodGroup));
  EXPECT_EQ(Read({}, {}, {{"job", "train", ""}}), by(GangSource::kWorkload, "job/train"));
  EXPECT_EQ(Read({}, {}, {{"job", "train", "3"}}), by(GangSource::kWorkload, "job/train/3"));
  EXPECT_EQ(
      Read({{"scheduling.k8s.io/pod-group", "train"}, {"scheduling.k8s.io/workload-name", "job"}}),
      by(GangSource::kWorkload, "job/train"));
  EXPECT_EQ(Read({{"scheduling.k8s.io/workload-name", "job"}}), std::nullopt) << "of which group?";
  EXPECT_EQ(Read({{kObject, "train"}}), by(GangSource::kSigsPodGroup));
  EXPECT_EQ(Read({}, {{kObject, "train"}}), by(GangSource::kSigsPodGroup));
  EXPECT_EQ(Read({}, {{kVolcano, "train"}}), by(GangSource::kVolcano));
  EXPECT_EQ(Read({{kVolcano, "train"}}), std::nullopt) << "Volcano reads an annotation only";
  EXPECT_EQ(Read({}, {}, {{"", "", ""}}), std::nullopt);
}

TEST(GangDeclaration, ObjectsComeBeforeLabelsAndKubernetesComesFirst) {
  const auto all = Read({{kOurs + "name", "own"}, {kOurs + "min-available", "2"}, {kObject, "crd"}},
                        {{kVolcano, "volcano"}}, {{"", "native", ""}});
  EXPECT_EQ(WinnerOf(all), (Winner{"native", 2,
                                   "spec.schedulingGroup says native, label "
                                   "scheduling.x-k8s.io/pod-group says crd: the first counts"}));
  EXPECT_EQ(all->source, GangSource::kPodGroup);
  EXPECT_EQ(Read({{kObject, "crd"}}, {{kVolcano, "volcano"}})->source, GangSource::kSigsPodGroup);
  EXPECT_EQ(Read({{kOurs + "name", "own"}}, {{kVolcano, "volcano"}})->source, GangSource::kVolcano);
  // Of the same name in two spellings there is nothing to say.
  EXPECT_EQ(WinnerOf(Read({{kOurs + "name", "a"}, {kOurs + "min-available", "x"}, {kObject, "a"}})),
            (Winner{"a", 0, ""}));
}

TEST(GangDeclaration, WhoSaysOnlyHalfIsTold) {
  const auto why = [](Map labels, Map annotations = {}) {
    k8s::Pod pod;
    pod.meta.labels = std::move(labels);
    pod.meta.annotations = std::move(annotations);
    EXPECT_FALSE(ReadGangDeclaration(pod));
    return WhyInNoGang(pod);
  };
  EXPECT_EQ(why({{kOurs + "name", "train"}}),
            "label pod-group.scheduling.kubenexus.io/name says train, and there is no minimum of "
            "the pod group (pod-group.scheduling.kubenexus.io/min-available): the pod starts for "
            "itself");
  EXPECT_EQ(why({{kOurs + "min-avaliable", "4"}, {kOurs + "name", "train"}}),
            "label pod-group.scheduling.kubenexus.io/name says train, and there is no minimum of "
            "the pod group (pod-group.scheduling.kubenexus.io/min-available), and nobody reads "
            "label pod-group.scheduling.kubenexus.io/min-avaliable: the pod starts for itself");
  EXPECT_EQ(why({}, {{kOurs + "min-available", "4"}}),
            "annotation pod-group.scheduling.kubenexus.io/min-available says 4, and there is no "
            "name of a pod group (pod-group.scheduling.kubenexus.io/name): the pod starts for "
            "itself");
  EXPECT_EQ(why({{kOurs + "min-available", "1"}, {kOurs + "name", "train"}}), "")
      << "that is meant so";
  EXPECT_EQ(why({{kOurs + "name", "train"}, {kOurs + "sub-group-min-available", "1"}}), "");
  EXPECT_EQ(why({{kOurs + "role", "ps"}}), "");
  EXPECT_EQ(why({{"kueue.x-k8s.io/queue-name", "team"}}), "");
  EXPECT_EQ(why({}), "");
}

TEST(GangDeclaration, AMemberIsToldOfAKeyThatNobodyReads) {
  const auto gang = Read(
      {{kOurs + "min-available", "2"}, {kOurs + "min-subgroups", "2"}, {kOurs + "name", "train"}});
  EXPECT_EQ(gang->conflict, "nobody reads label pod-group.scheduling.kubenexus.io/min-subgroups");
}

TEST(GangDeclaration, LongTextsAreCutShortInWhatIsSaid) {
  const auto gang = Read({{kObject, "a"}}, {{kOurs + "name", std::string(100'000, 'x')}});
  EXPECT_LT(gang->conflict.size(), 400U);
}

TEST(GangObject, PodGroupsAndWorkloadsSayHowManyStartTogether) {
  using Groups = std::vector<std::pair<std::string, std::int32_t>>;
  k8s::PodGroup group;
  group.meta.name = "train";
  group.minimum = 4;
  constexpr std::pair<k8s::PodGroupApi, GangSource> kApis[] = {
      {k8s::PodGroupApi::kKubernetes, GangSource::kPodGroup},
      {k8s::PodGroupApi::kSigs, GangSource::kSigsPodGroup},
      {k8s::PodGroupApi::kVolcano, GangSource::kVolcano}};
  for (const auto& [api, source] : kApis) {
    group.api = api;
    const auto read = ReadGangObject(group);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->source, source);
    EXPECT_EQ(read->groups, (Groups{{"train", 4}}));
  }
  k8s::GroupWorkload workload;
  workload.meta.name = "job";
  workload.groups = {{"driver", 1}, {"workers", 8}};
  const auto read = ReadGangObject(workload);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->source, GangSource::kWorkload);
  EXPECT_EQ(read->groups, (Groups{{"job/driver", 1}, {"job/workers", 8}}));
  EXPECT_FALSE(ReadGangObject(k8s::Namespace{}));
}

TEST(GangObject, ReplicasOfAGroupBelongToTheGroup) {
  EXPECT_EQ(GroupOf(GangSource::kWorkload, "job/workers/3"), "job/workers");
  EXPECT_EQ(GroupOf(GangSource::kWorkload, "job/workers"), "job/workers");
  EXPECT_EQ(GroupOf(GangSource::kVolcano, "a/b/c"), "a/b/c") << "an annotation may be anything";
}

TEST(GangDeclaration, HalfADeclarationAndAGangOfOneAreNone) {
  EXPECT_EQ(Read({}), std::nullopt);
  EXPECT_EQ(Read({{kOurs + "name", "a"}}), std::nullopt);
  EXPECT_EQ(Read({{kOurs + "min-available", "3"}}), std::nullopt);
  EXPECT_EQ(Read({{kOurs + "name", ""}, {kOurs + "min-available", "3"}}), std::nullopt);
  EXPECT_EQ(Read({{kOurs + "name", "a"}, {kOurs + "min-available", "1"}}), std::nullopt);
}

TEST(GangDeclaration, AMinimumThatCannotBeReadIsNotIgnored) {
  const auto problem = [](const std::string& minimum) {
    const auto read = Read({{kOurs + "name", "a"}, {kOurs + "min-available", minimum}});
    return read ? read->problem : "not a gang";
  };
  EXPECT_EQ(problem("three"),
            "failed to parse min-available value \"three\": a whole number is wanted");
  EXPECT_EQ(problem("3.5"),
            "failed to parse min-available value \"3.5\": a whole number is wanted");
  EXPECT_EQ(problem(" 3"), "failed to parse min-available value \" 3\": a whole number is wanted");
  EXPECT_EQ(problem("0"), "min-available must be at least 1, got 0");
  EXPECT_EQ(problem("-7"), "min-available must be at least 1, got -7");
  EXPECT_EQ(problem("1000001"), "min-available must be at most 1000000, got 1000001");
  EXPECT_EQ(problem("99999999999999999999"),
            "min-available must be at most 1000000, got 99999999999999999999");
}

TEST(GangDeclaration, WhatIsSaidOfTextsOfAnyLengthIsShort) {
  const std::string key = kOurs + "min-available";
  for (const std::string& minimum :
       {std::string(200'000, '9'), "-" + std::string(200'000, '9'), std::string(200'000, 'x')}) {
    const auto read = Read({}, {{kOurs + "name", "a"}, {key, minimum}});
    ASSERT_TRUE(read.has_value());
    EXPECT_LT(read->problem.size(), 200U);
    EXPECT_NE(read->problem.find("…"), std::string::npos);
  }
  const auto two = Read({}, {{kOurs + "name", std::string(1000, 'a')},
                             {key, "2"},
                             {"pod-group.scheduling.sigs.k8s.io/name", "b"}});
  ASSERT_TRUE(two.has_value());
  EXPECT_LT(two->conflict.size(), 400U);
}

TEST(GangDeclaration, ATopologyKeyIsALabelOrAnAnnotation) {
  const Map gang = {{kOurs + "name", "a"}, {kOurs + "min-available", "3"}};
  Map labelled = gang;
  labelled.emplace_back(kOurs + "topology-key", "rack");
  EXPECT_EQ(Read(labelled)->topology_key, "rack");
  EXPECT_EQ(Read(gang, {{kOurs + "topology-key", "topology.kubernetes.io/rack"}})->topology_key,
            "topology.kubernetes.io/rack");
  EXPECT_EQ(Read(gang)->topology_key, "");
}

TEST(GangDeclaration, SubGroupsMayBeAllThatIsSaidOfMinimums) {
  const auto read = [](Map labels) {
    labels.emplace_back(kOurs + "name", "a");
    return Read(std::move(labels));
  };
  const auto said = read({{kOurs + "min-available", "9"},
                          {kOurs + "sub-group", "r1"},
                          {kOurs + "sub-group-min-available", "4"},
                          {kOurs + "min-sub-groups", "2"}});
  ASSERT_TRUE(said);
  EXPECT_EQ(said->minimum, 9);
  EXPECT_EQ(said->sub_group, "r1");
  EXPECT_EQ(said->sub_group_minimum, 4);
  EXPECT_EQ(said->min_sub_groups, 2);
  const Map whole = {{kOurs + "sub-group", "r1"}, {kOurs + "sub-group-min-available", "4"}};
  EXPECT_EQ(read(whole)->minimum, 4);
  Map two = whole;
  two.emplace_back(kOurs + "min-sub-groups", "2");
  EXPECT_EQ(read(two)->minimum, 8);
  Map one_in_all = whole;
  one_in_all.emplace_back(kOurs + "min-available", "1");
  EXPECT_EQ(read(one_in_all)->minimum, 2) << "no single pod starts";
  EXPECT_EQ(read({{kOurs + "sub-group", "r1"}}), std::nullopt);
  EXPECT_EQ(read({{kOurs + "sub-group", "r1"}, {kOurs + "sub-group-min-available", "1"}}),
            std::nullopt);
  EXPECT_EQ(read({{kOurs + "sub-group", "r1"}, {kOurs + "min-sub-groups", "3"}})->minimum, 3)
      << "without a size one pod of each is enough";
  EXPECT_EQ(read({{kOurs + "min-sub-groups", "1"}}), std::nullopt);
  Map wrong = whole;
  wrong.emplace_back(kOurs + "min-sub-groups", "some");
  EXPECT_EQ(read(wrong)->problem,
            "failed to parse min-sub-groups value \"some\": a whole number is wanted");
}

std::optional<GangDeclaration> ReadOfOperator(Map labels, Map annotations = {}) {
  k8s::Pod pod;
  std::sort(labels.begin(), labels.end());
  std::sort(annotations.begin(), annotations.end());
  pod.meta.labels = std::move(labels);
  pod.meta.annotations = std::move(annotations);
  return ReadGangDeclaration(pod, OperatorGangs::kRead);
}

GangDeclaration OfOperator(const std::string& name, std::int32_t minimum) {
  return {name, minimum, {}, GangSource::kOperator};
}

TEST(GangDeclaration, PodsOfOperatorsBelongToTheirJobIfThatIsWanted) {
  const std::string lws = "leaderworkerset.sigs.k8s.io/";
  const Map group = {{lws + "name", "vllm"}, {lws + "group-index", "1"}};
  const Map size = {{lws + "size", "3"}};
  EXPECT_EQ(ReadOfOperator(group, size), OfOperator("LeaderWorkerSet/vllm/1", 3));
  EXPECT_EQ(Read(group, size), std::nullopt) << "nobody asked for it";
  EXPECT_EQ(ReadOfOperator(group, {{lws + "size", "1"}}), std::nullopt) << "a gang of one is none";
  EXPECT_EQ(ReadOfOperator(group), std::nullopt) << "nobody says how many";
  EXPECT_EQ(ReadOfOperator({{lws + "name", "vllm"}}, size), std::nullopt) << "nor which group";
  EXPECT_EQ(ReadOfOperator({{"training.kubeflow.org/job-name", "train"}}), std::nullopt);
  for (const auto& [label, gang] :
       {std::pair("training.kubeflow.org/job-name", "Kubeflow/j"),
        std::pair("jobset.sigs.k8s.io/jobset-name", "JobSet/j"),
        std::pair("ray.io/cluster", "Ray/j"), std::pair("spark-app-selector", "Spark/j"),
        std::pair("volcano.sh/job-name", "Volcano/j")}) {
    EXPECT_EQ(ReadOfOperator({{label, "j"}, {kOurs + "min-available", "4"}}), OfOperator(gang, 4));
  }
}

TEST(GangDeclaration, WhatAPodSaysItselfComesBeforeItsOperator) {
  const std::string lws = "leaderworkerset.sigs.k8s.io/";
  const Map size = {{lws + "size", "3"}};
  EXPECT_EQ(ReadOfOperator({{lws + "name", "vllm"},
                            {lws + "group-index", "1"},
                            {kOurs + "name", "train"},
                            {kOurs + "min-available", "2"}},
                           size),
            (GangDeclaration{"train", 2}));
  EXPECT_EQ(
      ReadOfOperator(
          {{lws + "name", "vllm"}, {lws + "group-index", "1"}, {kOurs + "min-available", "2"}},
          size),
      OfOperator("LeaderWorkerSet/vllm/1", 2));
  const auto wrong = ReadOfOperator({{lws + "name", "vllm"}, {lws + "group-index", "1"}},
                                    {{lws + "size", "many"}});
  ASSERT_TRUE(wrong.has_value());
  EXPECT_EQ(wrong->problem, "failed to parse size value \"many\": a whole number is wanted");
}

}  // namespace
}  // namespace knx::cluster
