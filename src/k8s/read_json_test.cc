#include "k8s/read_json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "k8s/read_object.h"

namespace knx::k8s {
namespace {

// As an API server writes it: every field, most of which nobody here reads.
constexpr std::string_view kPod = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0",
"generateName":"web-","namespace":"shop","uid":"6f1c","resourceVersion":"42","generation":1,
"creationTimestamp":"2026-01-31T12:00:00Z","labels":{"app":"web","zone":"b"},
"annotations":{"a/b":"{\"x\": \"\u00e9\"}"},"ownerReferences":[{"apiVersion":"apps/v1",
"kind":"ReplicaSet","name":"web","uid":"77","controller":true,"blockOwnerDeletion":true}],
"managedFields":[{"manager":"kubectl","fieldsV1":{"f:spec":{"f:containers":{"k:{}":{".":{}}}}}}]},
"spec":{"volumes":[{"name":"t","projected":{"sources":[{"serviceAccountToken":{}}]}},
{"name":"i","image":{"reference":"data:2","pullPolicy":"Always"}}],"containers":[{"name":"web",
"image":"web:1","ports":[{"containerPort":80,"hostPort":8080,"protocol":"TCP"}],"resources":{
"limits":{"cpu":"2","memory":"1Gi","nvidia.com/gpu":"1"},"requests":{"cpu":"500m","memory":"1Gi",
"nvidia.com/gpu":"1"}},"imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always",
"terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","nodeSelector":{"disk":"ssd"},
"nodeName":"n1","securityContext":{},"schedulerName":"kubenexus-scheduler","affinity":{
"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{
"matchExpressions":[{"key":"gpu","operator":"In","values":["a","b"]}]}]}},"podAffinity":{}},
"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",
"tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,
"preemptionPolicy":"PreemptLowerPriority"},"status":{"phase":"Running","conditions":[{
"type":"PodScheduled","status":"True","lastProbeTime":null,
"lastTransitionTime":"2026-01-31T12:00:01Z"}],"hostIP":"10.0.0.1","startTime":
"2026-01-31T12:00:01Z","containerStatuses":[{"name":"web","ready":true,"restartCount":0,
"state":{"running":{}},"allocatedResources":{"cpu":"500m"},"resources":{"requests":{"cpu":"1"}}}],
"qosClass":"Burstable"}})";

constexpr std::string_view kNode = R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n1",
"labels":{"kubernetes.io/hostname":"n1"}},"spec":{"podCIDR":"10.0.0.0/24","unschedulable":true,
"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule",
"timeAdded":"2026-01-31T12:00:00Z"}]},"status":{"capacity":{"cpu":"8","memory":"32Gi",
"pods":"110","ephemeral-storage":"101430960Ki"},"allocatable":{"cpu":"7900m","memory":"31Gi",
"pods":"110"},"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":
"2026-01-31T12:00:00Z","reason":"KubeletReady"}],"addresses":[{"type":"Hostname","address":"n1"}],
"images":[{"names":["a@sha256:0","a:1"],"sizeBytes":123456789}]}})";

TEST(ReadJsonObject, ReadsAPodAndANodeWithoutATree) {
  const std::optional<Object> pod = ReadJsonFast(kPod);
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(std::get<Pod>(*pod).meta.annotations, (StringMap{{"a/b", "{\"x\": \"\u00e9\"}"}}));
  EXPECT_EQ(std::get<Pod>(*pod).spec.image_volumes, std::vector<std::string>{"data:2"});
  EXPECT_EQ(std::get<Pod>(*pod).status.containers[0].actuated,
            (ResourceList{{"cpu", Quantity::FromUnits(1)}}));
  const std::optional<Object> node = ReadJsonFast(kNode);
  ASSERT_TRUE(node.has_value());
  EXPECT_EQ(std::get<Node>(*node).allocatable[0].second, Quantity::FromMilli(7900));
  for (const std::string_view json : {kPod, kNode}) {
    const Result<Object> explained = ReadJsonExplained(json);
    ASSERT_TRUE(explained.ok()) << explained.error().ToString();
    EXPECT_TRUE(*explained == *ReadJsonFast(json));
    EXPECT_TRUE(*explained == *ReadJsonObject(json));
  }
}

TEST(ReadJsonObject, ExplainsWhatTheFastPathRefuses) {
  struct Case {
    std::string_view json, want;
  };
  const Case cases[] = {
      {"", "<input>:1:1: not valid JSON: expected { or ["},
      {"{", "<input>:1:2: not valid JSON: expected a key in double quotes"},
      {"[]", "<input>:1:1: expected a map, found a list"},
      {"{\"kind\":\"Pod\"}", "<input>:1:1: apiVersion: missing, but required"},
      {R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"A"}})",
       "<input>:1:58: metadata.name: \"A\" is not a name: allowed are a to z, 0 to 9, - and ., at "
       "least one and at most 253 of them"},
      {R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},
"status":{"capacity":{"cpu":"-1"}}})",
       "<input>:2:29: status.capacity.cpu: must not be negative, but is -1"},
      {R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},"spec":{"unschedulable":0}})",
       "<input>:1:82: spec.unschedulable: expected true or false, found the number 0"},
      {R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a","labels":{"a":"","a":""}}})",
       "<input>:1:74: the key \"a\" is here twice, first in line 1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.json);
    EXPECT_FALSE(ReadJsonFast(c.json).has_value());
    const Result<Object> object = ReadJsonObject(c.json);
    ASSERT_FALSE(object.ok());
    EXPECT_EQ(object.error().ToString(), c.want);
  }
  EXPECT_FALSE(ReadJsonObject(R"({"apiVersion":"v1","kind":"List","items":[]})").ok())
      << "one object, not a list of them";
}

TEST(ReadJsonObject, ReadsByTheTreeWhatTheFastPathCannot) {
  constexpr std::string_view json =
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},
          "status":{"capacity":{"cpu":0.5}}})";
  EXPECT_FALSE(ReadJsonFast(json).has_value());
  const Result<Object> object = ReadJsonObject(json);
  ASSERT_TRUE(object.ok()) << object.error().ToString();
  EXPECT_EQ(std::get<Node>(*object).capacity, (ResourceList{{"cpu", Quantity::FromMilli(500)}}));
}

// A server that is newer than we are may have let them through.
TEST(ReadJsonObject, TakesWordsThatItDoesNotKnow) {
  const auto object = ReadJsonObject(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}],)"
      R"("tolerations":[{"operator":"Near","effect":"Sometimes"}],"affinity":{"podAffinity":{)"
      R"("requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{)"
      R"("matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]}}]}}}})");
  ASSERT_TRUE(object.ok()) << object.error().ToString();
  const PodSpec& spec = std::get<Pod>(*object).spec;
  EXPECT_EQ(spec.tolerations[0].op, TolerationOperator::kUnknown);
  EXPECT_EQ(spec.tolerations[0].effect, TaintEffect::kUnknown);
  const Requirement& requirement = spec.pod_affinity.required[0].selector->match_expressions[0];
  EXPECT_EQ(requirement, (Requirement{"a", SelectorOperator::kUnknown, {"1"}, "Gt"}))
      << "pods are not selected by numbers";
}

TEST(ReadJsonObject, AgreesWithItselfOnTheCorpus) {
  std::size_t read = 0;
  const std::filesystem::path corpus =
      std::filesystem::path(KNX_SOURCE_DIR) / "tests/corpus/read_json_fuzz";
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string json{std::istreambuf_iterator<char>(in), {}};
    const std::optional<Object> fast = ReadJsonFast(json);
    const Result<Object> explained = ReadJsonExplained(json);
    if (!explained.ok()) continue;
    ++read;
    if (fast) {
      EXPECT_TRUE(*fast == *explained);
    }
    EXPECT_TRUE(*ReadJsonObject(json) == *explained);
  }
  EXPECT_GE(read, 5U);
}

}  // namespace
}  // namespace knx::k8s
