// What the readers refuse, with the exact place and words.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "k8s/read_object.h"

namespace knx::k8s {
namespace {

struct Case {
  std::string_view text, want;
};

// Each text is read within the frame, in which {} stands for it.
void ExpectErrors(fmt::format_string<std::string_view&> frame, std::initializer_list<Case> cases) {
  for (Case c : cases) {
    SCOPED_TRACE(c.text);
    const auto objects = ReadManifests(fmt::format(frame, c.text), "f.yaml");
    if (c.want.empty()) {
      EXPECT_TRUE(objects.ok()) << objects.error().ToString();
      continue;
    }
    ASSERT_FALSE(objects.ok());
    EXPECT_EQ(objects.error().kind, ErrorKind::kInvalid);
    EXPECT_EQ(objects.error().ToString(), c.want);
  }
}

TEST(ReadManifestsErrors, OfTheObjectAsAWhole) {
  ExpectErrors(
      "{}", {{"[]", "f.yaml:1:1: expected a map, found a list"},
             {"text", "f.yaml:1:1: expected a map, found the string \"text\""},
             {"{kind: Pod}", "f.yaml:1:1: apiVersion: missing, but required"},
             {"{apiVersion: v1}", "f.yaml:1:1: kind: missing, but required"},
             {"{apiVersion: v1, kind: 5}",
              "f.yaml:1:24: kind: expected a string, found the number 5; quote it: \"5\""},
             {"{apiVersion: v1, kind: Pod}", "f.yaml:1:1: metadata: missing, but required"},
             {"{apiVersion: v1, kind: Pod, metadata: {name: a}}",
              "f.yaml:1:1: spec: missing, but required"},
             {"{apiVersion: v1, kind: List, items: {}}",
              "f.yaml:1:37: items: expected a list, found a map"},
             {"{apiVersion: v1, kind: NodeList, items: [{metadata: {name: B}}]}",
              "f.yaml:1:60: items[0].metadata.name: \"B\" is not a name: allowed are a to z, 0 to "
              "9, - and ., at least one and at most 253 of them"},
             {"{apiVersion: v1, apiVersion: v1}",
              "f.yaml:1:18: the key \"apiVersion\" is here twice, first in line 1"}});
  const auto unknown = ReadManifests("{apiVersion: apps/v1beta1, kind: Deployment}", "f.yaml");
  ASSERT_FALSE(unknown.ok());
  EXPECT_TRUE(unknown.error().message.starts_with(
      "kind: \"Deployment\" of apiVersion \"apps/v1beta1\" is not known; known are v1 Pod, "));
}

TEST(ReadManifestsErrors, OfSelectorsThatDoNotMatchTheirTemplate) {
  constexpr std::string_view kDeployment =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n"
      "  template: {metadata: {labels: {app: web, tier: x}}, spec: {containers: [{name: c}]}}\n"
      "  selector: ";
  const auto read = [&](std::string_view selector) {
    const auto objects = ReadManifests(fmt::format("{}{}", kDeployment, selector), "f.yaml");
    return objects.ok() ? "" : objects.error().ToString();
  };
  EXPECT_EQ(read("{matchLabels: {app: web}}"), "");
  EXPECT_EQ(read("{matchExpressions: [{key: tier, operator: Exists}]}"), "");
  constexpr std::string_view kWhy =
      "f.yaml:6:13: spec.selector: does not match the labels of the template, which are app=web, "
      "tier=x";
  EXPECT_EQ(read("{matchLabels: {app: db}}"), kWhy);
  EXPECT_EQ(read("{matchExpressions: [{key: tier, operator: DoesNotExist}]}"), kWhy);
  EXPECT_TRUE(read("{matchExpressions: [{key: tier, operator: In}]}")
                  .starts_with("f.yaml:6:13: spec.selector: "));
  EXPECT_EQ(
      ReadManifests("{apiVersion: v1, kind: ReplicationController, metadata: {name: a}, "
                    "spec: {selector: {a: b}, template: {spec: {containers: [{name: c}]}}}}",
                    "f.yaml")
          .error()
          .ToString(),
      "f.yaml:1:85: spec.selector: does not match the labels of the template, which are none");
}

TEST(ReadManifestsErrors, OfRequestsBeyondTheirLimits) {
  ExpectErrors(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\n"
      "spec: {{containers: [{{name: c, resources: {{{}}}}}]}}",
      {{"requests: {cpu: 1}, limits: {cpu: 1000m, memory: 1}", ""},
       {"requests: {cpu: 1}", ""},
       {"requests: {cpu: 2}, limits: {cpu: 1500m}",
        "f.yaml:4:59: spec.containers[0].resources.requests.cpu: 2 is more than the limit, which "
        "is "
        "1500m"}});
}

TEST(ReadManifestsErrors, OfMetadata) {
  const std::string long_name(254, 'a');
  const std::string long_value = fmt::format("name: a, labels: {{k: {}}}", std::string(64, 'a'));
  const std::string name_cut = fmt::format("name: {}", long_name);
  ExpectErrors(
      "apiVersion: v1\nkind: Namespace\nmetadata: {{{}}}",
      {{"name: a.b-c.0", ""},
       {"generateName: a-", ""},
       {"name: a-",
        "f.yaml:3:18: metadata.name: \"a-\" is not a name: it must begin and end with a letter or "
        "digit, as must every part between dots"},
       {"name: a.-b.c",
        "f.yaml:3:18: metadata.name: \"a.-b.c\" is not a name: it must begin and end with a letter "
        "or digit, as must every part between dots"},
       {"name: '.'",
        "f.yaml:3:18: metadata.name: \".\" is not a name: it must begin and end with a letter or "
        "digit, as must every part between dots"},
       {"", "f.yaml:3:11: metadata.name: missing, but required"},
       {"name: ~", "f.yaml:3:12: metadata.name: missing, but required"},
       {"name: ''",
        "f.yaml:3:18: metadata.name: \"\" is not a name: allowed are a to z, 0 to 9, - and ., at "
        "least one and at most 253 of them"},
       {"name: a_b",
        "f.yaml:3:18: metadata.name: \"a_b\" is not a name: allowed are a to z, 0 to 9, - and ., "
        "at "
        "least one and at most 253 of them"},
       {name_cut,
        "f.yaml:3:18: metadata.name: "
        "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\" "
        "is "
        "not a name: allowed are a to z, 0 to 9, - and ., at least one and at most 253 of them"},
       {"name: 12",
        "f.yaml:3:18: metadata.name: expected a string, found the number 12; quote it: \"12\""},
       {"name: a, namespace: B",
        "f.yaml:3:32: metadata.namespace: \"B\" is not a name: allowed are a to z, 0 to 9, - and "
        "., "
        "at least one and at most 253 of them"},
       {"name: a, generation: one",
        "f.yaml:3:33: metadata.generation: expected a whole number in decimal digits, found the "
        "string \"one\""},
       {"name: a, resourceVersion: 42",
        "f.yaml:3:38: metadata.resourceVersion: expected a string, found the number 42; quote it: "
        "\"42\""},
       {"name: a, labels: [x]", "f.yaml:3:29: metadata.labels: expected a map, found a list"},
       {"name: a, labels: {version: 1.2}",
        "f.yaml:3:39: metadata.labels.version: expected a string, found the number 1.2; quote it: "
        "\"1.2\""},
       {"name: a, labels: {gpu: yes}",
        "f.yaml:3:35: metadata.labels.gpu: expected a string, found the boolean yes; quote it: "
        "\"yes\""},
       {"name: a, labels: {'a b': c}",
        "f.yaml:3:37: metadata.labels[\"a b\"]: \"a b\" is not a label key: allowed are letters, "
        "digits, -, _ and . (at most 63), with a domain and / before it or without"},
       {"name: a, labels: {a: b c}",
        "f.yaml:3:33: metadata.labels.a: \"b c\" is not a label value: allowed are letters, "
        "digits, "
        "-, _ and ., at most 63 of them"},
       {long_value,
        "f.yaml:3:33: metadata.labels.k: "
        "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" is not a label "
        "value: allowed are letters, digits, -, _ and ., at most 63 of them"},
       {"name: a, annotations: {a: {}}",
        "f.yaml:3:38: metadata.annotations.a: expected a string, found a map"},
       {"name: a, ownerReferences: [{kind: Job}]",
        "f.yaml:3:39: metadata.ownerReferences[0].name: missing, but required"}});
}

TEST(ReadManifestsErrors, OfPodSpecs) {
  ExpectErrors(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {{containers: [{{name: c}}], {}}}",
      {{"unknown: [1]", ""},
       {"nodeName: [a]", "f.yaml:4:43: spec.nodeName: expected a string, found a list"},
       {"priority: high",
        "f.yaml:4:43: spec.priority: expected a whole number in decimal digits, found the string "
        "\"high\""},
       {"priority: 3000000000",
        "f.yaml:4:43: spec.priority: 3000000000 is out of range, allowed is -2147483648 to "
        "2147483647"},
       {"preemptionPolicy: Always",
        "f.yaml:4:51: spec.preemptionPolicy: \"Always\" is not allowed; allowed are "
        "PreemptLowerPriority, Never"},
       {"hostNetwork: 'true'",
        "f.yaml:4:46: spec.hostNetwork: expected true or false, found the string \"true\""},
       {"schedulingGates: [x]",
        "f.yaml:4:51: spec.schedulingGates[0]: expected a map, found the string \"x\""},
       {"schedulingGates: [{}]",
        "f.yaml:4:51: spec.schedulingGates[0].name: missing, but required"},
       {"tolerations: [{operator: Equals}]",
        "f.yaml:4:58: spec.tolerations[0].operator: \"Equals\" is not allowed; allowed are Equal, "
        "Exists, Lt, Gt"},
       {"tolerations: [{effect: NoWay}]",
        "f.yaml:4:56: spec.tolerations[0].effect: \"NoWay\" is not allowed; allowed are "
        "NoSchedule, "
        "PreferNoSchedule, NoExecute"},
       {"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, "
        "preference: {}}]}}",
        "f.yaml:4:118: "
        "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
        "weight: 101 is out of range, allowed is 1 to 100"},
       {"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Near}]}]}}}",
        "f.yaml:4:167: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
        "nodeSelectorTerms[0].matchExpressions[0].operator: \"Near\" is not allowed; allowed are "
        "In, "
        "NotIn, Exists, DoesNotExist, Gt, Lt"},
       {"overhead: {cpu: -1}", "f.yaml:4:49: spec.overhead.cpu: must not be negative, but is -1"},
       {"terminationGracePeriodSeconds: -1",
        "f.yaml:4:64: spec.terminationGracePeriodSeconds: -1 is out of range, allowed is 0 to "
        "9223372036854775807"},
       {"volumes: [{image: x}]",
        "f.yaml:4:51: spec.volumes[0].image: expected a map, found the string \"x\""}});
}

TEST(ReadManifestsErrors, OfContainers) {
  ExpectErrors(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers: {}",
      {{"", "f.yaml:5:3: spec.containers: a pod needs at least one container"},
       {"[]", "f.yaml:5:15: spec.containers: a pod needs at least one container"},
       {"{}", "f.yaml:5:15: spec.containers: expected a list, found a map"},
       {"[{image: x}]", "f.yaml:5:16: spec.containers[0].name: missing, but required"},
       {"[{name: a, ports: [{}]}]",
        "f.yaml:5:34: spec.containers[0].ports[0].containerPort: missing, but required"},
       {"[{name: a, ports: [{containerPort: 65536}]}]",
        "f.yaml:5:50: spec.containers[0].ports[0].containerPort: 65536 is out of range, "
        "allowed is 1 to 65535"},
       {"[{name: a, ports: [{containerPort: 1, protocol: tcp}]}]",
        "f.yaml:5:63: spec.containers[0].ports[0].protocol: \"tcp\" is not allowed; allowed "
        "are TCP, UDP, SCTP"},
       {"[{name: a, restartPolicy: Sometimes}]",
        "f.yaml:5:41: spec.containers[0].restartPolicy: \"Sometimes\" is not allowed; "
        "allowed are Always, OnFailure, Never"},
       {"[{name: a, resources: {requests: [cpu]}}]",
        "f.yaml:5:48: spec.containers[0].resources.requests: expected a map, found a list"},
       {"[{name: a, resources: {requests: {cpu: -1m}}}]",
        "f.yaml:5:54: spec.containers[0].resources.requests.cpu: must not be negative, but "
        "is -1m"},
       {"[{name: a, resources: {limits: {nvidia.com/gpu: yes}}}]",
        "f.yaml:5:63: spec.containers[0].resources.limits[\"nvidia.com/gpu\"]: expected a "
        "quantity, found the boolean yes"},
       {"[{name: a, resources: {requests: {cpu: 2 cores}}}]",
        "f.yaml:5:54: spec.containers[0].resources.requests.cpu: invalid quantity \"2 "
        "cores\": malformed; use a decimal number with an optional suffix n, u, m, k, M, G, "
        "T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent like e3"}});
}

TEST(ReadManifestsErrors, OfTheOtherKinds) {
  ExpectErrors(
      "{{apiVersion: v1, kind: Node, metadata: {{name: a}}, {}}}",
      {{"spec: {taints: [{key: a}]}",
        "f.yaml:1:67: spec.taints[0].effect: missing; allowed are NoSchedule, PreferNoSchedule, "
        "NoExecute"},
       {"spec: {unschedulable: 1}",
        "f.yaml:1:73: spec.unschedulable: expected true or false, found the number 1"},
       {"status: {images: [{sizeBytes: -1}]}",
        "f.yaml:1:81: status.images[0].sizeBytes: -1 is out of range, allowed is 0 to "
        "9223372036854775807"},
       {"status: {conditions: [{type: Ready}]}",
        "f.yaml:1:73: status.conditions[0].status: missing, but required"}});
  ExpectErrors(
      "{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: a}}, spec: {{{}}}}}",
      {{"minAvailable: 101%",
        "f.yaml:1:94: spec.minAvailable: \"101%\" is neither a whole number nor a percentage from "
        "0% "
        "to 100%"},
       {"minAvailable: '%'",
        "f.yaml:1:94: spec.minAvailable: \"%\" is neither a whole number nor a percentage from 0% "
        "to "
        "100%"},
       {"minAvailable: -1",
        "f.yaml:1:94: spec.minAvailable: -1 is out of range, allowed is 0 to 2147483647"},
       {"minAvailable: 1, maxUnavailable: 1",
        "f.yaml:1:113: spec.maxUnavailable: must not be given together with minAvailable"},
       {"selector: {matchExpressions: [{key: a, operator: Gt}]}",
        "f.yaml:1:129: spec.selector.matchExpressions[0].operator: \"Gt\" is not allowed; allowed "
        "are In, NotIn, Exists, DoesNotExist"}});
  ExpectErrors(
      "{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: a}}, spec: {{{}}}}}",
      {{"replicas: -1",
        "f.yaml:1:79: spec.replicas: -1 is out of range, allowed is 0 to 2147483647"},
       {"replicas: 1", "f.yaml:1:68: spec.template: missing, but required"},
       {"template: {}", "f.yaml:1:79: spec.template.spec: missing, but required"},
       {"template: {metadata: {labels: {a: 1}}}",
        "f.yaml:1:103: spec.template.metadata.labels.a: expected a string, found the number "
        "1; quote it: \"1\""}});
  ExpectErrors(
      "{{apiVersion: batch/v1, kind: Job, metadata: {{name: a}}, spec: {{{}}}}}",
      {{"completionMode: Any",
        "f.yaml:1:79: spec.completionMode: \"Any\" is not allowed; allowed are NonIndexed, "
        "Indexed"},
       {"suspend: maybe",
        "f.yaml:1:72: spec.suspend: expected true or false, found the string \"maybe\""}});
}

TEST(ReadManifestsErrors, OfWhatAPodSaysAboutOthers) {
  ExpectErrors(
      "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers: [{{name: c}}]\n  {}",
      {{"topologySpreadConstraints: [{maxSkew: 0, topologyKey: k, whenUnsatisfiable: "
        "DoNotSchedule}]",
        "f.yaml:6:41: spec.topologySpreadConstraints[0].maxSkew: 0 is out of range, allowed "
        "is 1 to 2147483647"},
       {"topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]",
        "f.yaml:6:31: spec.topologySpreadConstraints[0].topologyKey: missing, but required"},
       {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: k, whenUnsatisfiable: Never}]",
        "f.yaml:6:79: spec.topologySpreadConstraints[0].whenUnsatisfiable: \"Never\" is not "
        "allowed; "
        "allowed are DoNotSchedule, ScheduleAnyway"},
       {"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{}]}}",
        "f.yaml:6:77: "
        "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: "
        "missing, but required"}});
}

}  // namespace
}  // namespace knx::k8s
