#include <fmt/format.h>
#include <gtest/gtest.h>

#include "k8s/kind_name.h"
#include "k8s/read_json.h"
#include "k8s/read_object.h"

namespace knx::k8s {
namespace {

Object ObjectFrom(const std::string& text) {
  auto read = ReadManifests(text, "f.yaml");
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
  if (!read.ok() || read->size() != 1) return {};
  return read->front().object;
}

TEST(ReadPodGroups, OfThreeProjects) {
  struct Case {
    std::string api_version, spec;
    PodGroupApi api;
    std::int32_t minimum;
  };
  const std::vector<Case> cases = {
      {"scheduling.k8s.io/v1alpha2", "{schedulingPolicy: {gang: {minCount: 4}}}",
       PodGroupApi::kKubernetes, 4},
      {"scheduling.k8s.io/v1alpha3", "{schedulingPolicy: {gang: {minCount: 4}}}",
       PodGroupApi::kKubernetes, 4},
      {"scheduling.k8s.io/v1beta1", "{schedulingPolicy: {gang: {minCount: 4}}}",
       PodGroupApi::kKubernetes, 4},
      {"scheduling.k8s.io/v1alpha2", "{schedulingPolicy: {basic: {}}}", PodGroupApi::kKubernetes,
       1},
      {"scheduling.x-k8s.io/v1alpha1",
       "{minMember: 3, minResources: {cpu: 3}, scheduleTimeoutSeconds: 10}", PodGroupApi::kSigs, 3},
      {"scheduling.x-k8s.io/v1alpha1", "{}", PodGroupApi::kSigs, 1},
      {"scheduling.volcano.sh/v1beta1", "{minMember: 5, queue: default}", PodGroupApi::kVolcano, 5},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.api_version + c.spec);
    const Object object = ObjectFrom(
        "{apiVersion: " + c.api_version +
        ", kind: PodGroup, metadata: {name: train, namespace: ml}, spec: " + c.spec + "}");
    ASSERT_TRUE(std::holds_alternative<PodGroup>(object));
    const auto& group = std::get<PodGroup>(object);
    EXPECT_EQ(group.api, c.api);
    EXPECT_EQ(group.minimum, c.minimum);
    EXPECT_EQ(group.meta.namespace_ + "/" + group.meta.name, "ml/train");
    EXPECT_EQ(KindName(object), "PodGroup");
  }
}

TEST(ReadPodGroups, WhereThePodsMustBeTogether) {
  const auto key_of = [](const std::string& constraints) {
    const Object object = ObjectFrom(
        "{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: train}, spec: "
        "{schedulingPolicy: {gang: {minCount: 4}}" +
        constraints + "}}");
    return std::get<PodGroup>(object).topology_key;
  };
  EXPECT_EQ(key_of(", schedulingConstraints: {topology: [{key: topology.kubernetes.io/rack}]}"),
            "topology.kubernetes.io/rack");
  EXPECT_EQ(key_of(", schedulingConstraints: {topology: []}"), "");
  EXPECT_EQ(key_of(", schedulingConstraints: {}"), "");
  EXPECT_EQ(key_of(""), "");
}

TEST(ReadPodGroups, WhatTheStatusOfOneOfKubernetesSays) {
  const auto read = [](const std::string& version, const std::string& type) {
    return std::get<PodGroup>(ObjectFrom(
        "{apiVersion: scheduling.k8s.io/" + version +
        ", kind: PodGroup, metadata: {name: g}, spec: {schedulingPolicy: {basic: {}}}, status: "
        "{conditions: [{type: DisruptionTarget, status: 'True'}, {type: " +
        type +
        ", status: 'False', reason: Unschedulable, message: m, observedGeneration: 3, "
        "lastTransitionTime: '2023-11-14T22:13:20Z'}]}}"));
  };
  PodGroupCondition said;
  said.said = {"PodGroupScheduled", "False", "Unschedulable", "m", Time{1'700'000'000'000'000'000}};
  said.observed_generation = 3;
  EXPECT_EQ(read("v1alpha2", "PodGroupScheduled").scheduled, said);
  EXPECT_EQ(read("v1alpha2", "PodGroupScheduled").version, "v1alpha2");
  EXPECT_EQ(read("v1beta1", "PodGroupScheduled").scheduled, std::nullopt);
  said.said.type = "PodGroupInitiallyScheduled";
  EXPECT_EQ(read("v1beta1", "PodGroupInitiallyScheduled").scheduled, said);
  EXPECT_EQ(read("v1alpha3", "PodGroupInitiallyScheduled").version, "v1alpha3");
}

TEST(ReadPodGroups, WhoOfAGroupMayBeDisrupted) {
  const auto read = [](const std::string& version, const std::string& spec) {
    return std::get<PodGroup>(ObjectFrom("{apiVersion: scheduling.k8s.io/" + version +
                                         ", kind: PodGroup, metadata: {name: g}, spec: " + spec +
                                         "}"))
        .disruption;
  };
  EXPECT_EQ(read("v1alpha2", "{disruptionMode: Pod}"), DisruptionMode::kSingle);
  EXPECT_EQ(read("v1alpha2", "{disruptionMode: PodGroup}"), DisruptionMode::kAll);
  EXPECT_EQ(read("v1alpha2", "{disruptionMode: Other}"), DisruptionMode::kUnset);
  EXPECT_EQ(read("v1beta1", "{disruptionMode: {single: {}}}"), DisruptionMode::kSingle);
  EXPECT_EQ(read("v1beta1", "{disruptionMode: {all: {}}}"), DisruptionMode::kAll);
  EXPECT_EQ(read("v1beta1", "{}"), DisruptionMode::kUnset);
}

TEST(ReadPodGroups, HowLongThoseOfKubernetesSigsWait) {
  const auto read = [](const std::string& version, const std::string& seconds) {
    return std::get<PodGroup>(ObjectFrom("{apiVersion: " + version +
                                         ", kind: PodGroup, metadata: {name: g}, spec: "
                                         "{minMember: 2, scheduleTimeoutSeconds: " +
                                         seconds + "}}"))
        .schedule_timeout_seconds;
  };
  EXPECT_EQ(read("scheduling.x-k8s.io/v1alpha1", "300"), 300);
  EXPECT_EQ(read("scheduling.x-k8s.io/v1alpha1", "null"), std::nullopt);
  EXPECT_EQ(read("scheduling.volcano.sh/v1beta1", "300"), std::nullopt);
}

TEST(ReadPodGroups, WhatMustBeLeftInAll) {
  const auto manifest = [](const std::string& version, const std::string& resources) {
    return "{apiVersion: " + version +
           ", kind: PodGroup, metadata: {name: g}, spec: {minMember: 2, minResources: " +
           resources + "}}";
  };
  const auto read = [&](const std::string& version, const std::string& resources) {
    return std::get<PodGroup>(ObjectFrom(manifest(version, resources))).min_resources;
  };
  const std::string sigs = "scheduling.x-k8s.io/v1alpha1";
  const std::string volcano = "scheduling.volcano.sh/v1beta1";
  const ResourceList wanted = {{"cpu", Quantity::FromMilli(1500)},
                               {"nvidia.com/gpu", Quantity::FromUnits(16)}};
  EXPECT_EQ(read(sigs, "{nvidia.com/gpu: 16, cpu: 1500m, memory: 0}"), wanted);
  EXPECT_EQ(read(volcano,
                 "{cpu: 1.5, nvidia.com/gpu: '16', requests.cpu: 1.5, limits.cpu: 3, "
                 "count/pods: 2, requests.nvidia.com/gpu: 16}"),
            wanted);
  EXPECT_EQ(read(sigs, "null"), ResourceList());
  EXPECT_EQ(read(sigs, "{gpu: 16, cpu: 1500m}"), wanted);
  for (const std::string_view wrong : {"{cpus: 8}", "{gpu: 1, nvidia.com/gpu: 2}"}) {
    SCOPED_TRACE(wrong);
    const auto refused = ReadManifests(manifest(sigs, std::string(wrong)), "f");
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("minResources"), std::string::npos)
        << refused.error().message;
  }
  for (const std::string_view amount : {"-1", "much", "[]"}) {
    SCOPED_TRACE(amount);
    const auto refused = ReadManifests(manifest(sigs, fmt::format("{{cpu: {}}}", amount)), "f");
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("minResources"), std::string::npos)
        << refused.error().message;
  }
}

TEST(ReadPodGroups, RolesOfAVolcanoJob) {
  const Object object = ObjectFrom(
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: train}, spec: "
      "{minMember: 3, minTaskMember: {ps: 1, worker: 2}}}");
  ASSERT_TRUE(std::holds_alternative<PodGroup>(object));
  EXPECT_EQ(std::get<PodGroup>(object).role_minimums,
            (std::vector<std::pair<std::string, std::int32_t>>{{"ps", 1}, {"worker", 2}}));
}

TEST(ReadPodGroups, SubGroupsOfAVolcanoJob) {
  const Object object = ObjectFrom(
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: train}, spec: "
      "{minMember: 8, subGroupPolicy: [{name: decode, labelSelector: {matchLabels: {part: "
      "decode}}, "
      "matchLabelKeys: [replica], subGroupSize: 4, minSubGroups: 2}, {}]}}");
  ASSERT_TRUE(std::holds_alternative<PodGroup>(object));
  const SubGroupPolicy decode{"decode", LabelSelector{{{"part", "decode"}}, {}}, {"replica"}, 4, 2};
  EXPECT_EQ(std::get<PodGroup>(object).sub_group_policies,
            (std::vector<SubGroupPolicy>{decode, SubGroupPolicy()}));
}

TEST(ReadPodGroups, GroupsOfAWorkload) {
  const Object object = ObjectFrom(
      "{apiVersion: scheduling.k8s.io/v1alpha1, kind: Workload, metadata: {name: job}, spec: "
      "{podGroups: [{name: driver, policy: {basic: {}}}, "
      "{name: workers, policy: {gang: {minCount: 8}}}]}}");
  ASSERT_TRUE(std::holds_alternative<GroupWorkload>(object));
  EXPECT_EQ(std::get<GroupWorkload>(object).groups,
            (std::vector<GroupWorkload::Group>{{"driver", 1}, {"workers", 8}}));
  EXPECT_EQ(KindName(object), "Workload");
}

TEST(ReadPodGroups, APodNamesItsGroup) {
  const auto read = [](const std::string& field) {
    const Object object = ObjectFrom(
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}], " +
        field + "}}");
    return std::get<Pod>(object).spec.pod_group;
  };
  EXPECT_EQ(read("schedulingGroup: {podGroupName: train}"), (PodGroupReference{"", "train", ""}));
  EXPECT_EQ(read("workloadRef: {name: job, podGroup: workers, podGroupReplicaKey: '2'}"),
            (PodGroupReference{"job", "workers", "2"}));
  EXPECT_EQ(read("schedulingGroup: {}"), std::nullopt);
  EXPECT_EQ(read("hostNetwork: false"), std::nullopt);
}

TEST(ReadPodGroups, ByTheFastPathToo) {
  const auto object = ReadJsonFast(
      R"({"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup",)"
      R"("metadata":{"name":"g","namespace":"default","uid":"1"},"spec":{"minMember":3}})");
  ASSERT_TRUE(object);
  EXPECT_EQ(std::get<PodGroup>(*object).minimum, 3);
  EXPECT_FALSE(ReadJsonFast(R"({"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup",)"
                            R"("metadata":{"name":"g"},"spec":{"minMember":"three"}})"));
}

}  // namespace
}  // namespace knx::k8s
