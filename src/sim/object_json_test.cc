#include "sim/object_json.h"

#include <gtest/gtest.h>

#include "k8s/read_object.h"

namespace knx::sim {
namespace {

TEST(ToJson, IsReadBackAsWhatItWas) {
  const auto read = k8s::ReadManifests(R"(apiVersion: v1
kind: Pod
metadata:
  name: p
  namespace: ns
  labels: {a: "1"}
  annotations: {text: "with \"quotes\"\nand lines"}
  ownerReferences: [{kind: Job, name: j, uid: u, controller: true}]
spec:
  nodeName: n1
  priority: 3
  preemptionPolicy: Never
  schedulingGates: [{name: g}]
  nodeSelector: {x: z}
  hostNetwork: true
  overhead: {cpu: 10m}
  activeDeadlineSeconds: 9
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: k, operator: In, values: [v]}]}]
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 5, preference: {matchFields: [{key: metadata.name, operator: In, values: [n1]}]}}
  tolerations: [{key: t, operator: Exists, effect: NoExecute, tolerationSeconds: 4}]
  containers:
  - {name: c, image: i, resources: {requests: {cpu: 1500m, memory: 1Gi}, limits: {cpu: 2}},
     ports: [{containerPort: 80, hostPort: 8080, hostIP: 10.0.0.1, protocol: UDP}]}
  initContainers: [{name: s, restartPolicy: Always}]
status:
  phase: Running
  startTime: "2026-01-01T00:00:01Z"
  nominatedNodeName: m
  conditions: [{type: T, status: "True", reason: R, message: M, lastTransitionTime: "2026-01-01T00:00:02Z"}]
  containerStatuses: [{name: c, allocatedResources: {cpu: 1}, resources: {requests: {cpu: 2}}}]
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {a: b}}
spec: {unschedulable: true, taints: [{key: k, value: v, effect: NoSchedule}]}
status: {allocatable: {cpu: "4", pods: "10"}, images: [{names: [x, z], sizeBytes: 7}],
         conditions: [{type: Ready, status: "True"}]}
)",
                                       "m.yaml");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  const auto& pod = std::get<k8s::Pod>((*read)[0].object);
  const auto& node = std::get<k8s::Node>((*read)[1].object);
  const auto pod_again = k8s::ReadJsonObject(ToJson(pod));
  ASSERT_TRUE(pod_again.ok()) << pod_again.error().ToString() << ToJson(pod);
  const auto& p = std::get<k8s::Pod>(*pod_again);
  EXPECT_EQ(p.spec, pod.spec);
  EXPECT_EQ(p.status, pod.status);
  EXPECT_EQ(p.meta.annotations, pod.meta.annotations);
  EXPECT_EQ(p.meta.owners, pod.meta.owners);
  EXPECT_EQ(ToJson(p), ToJson(pod));
  const auto node_again = k8s::ReadJsonObject(ToJson(node));
  ASSERT_TRUE(node_again.ok()) << node_again.error().ToString();
  EXPECT_EQ(ToJson(std::get<k8s::Node>(*node_again)), ToJson(node));
}

}  // namespace
}  // namespace knx::sim
