#include "k8s/read_object.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace knx::k8s {
namespace {

Quantity Units(std::int64_t units) { return Quantity::FromUnits(units); }
Quantity Milli(std::int64_t milli) { return Quantity::FromMilli(milli); }

// The only object of a text; a failed test and an empty object if there is none of that type.
template <class T>
T Only(std::string_view text) {
  auto objects = ReadManifests(text, "f.yaml");
  if (!objects.ok() || objects->size() != 1 || !std::holds_alternative<T>((*objects)[0].object)) {
    ADD_FAILURE() << (objects.ok() ? "not one object of the kind" : objects.error().ToString());
    return {};
  }
  return std::get<T>((*objects)[0].object);
}

constexpr std::string_view kFullPod = R"(
apiVersion: v1
kind: Pod
metadata:
  name: web-0
  namespace: shop
  uid: 6f1c
  resourceVersion: "42"
  generation: 3
  labels: {app: web, tier.example.com/level: gold}
  annotations: {note: "any text: here"}
  creationTimestamp: 1970-01-01T00:00:01Z
  deletionTimestamp: "1970-01-01T00:00:02Z"
  finalizers: [example.com/hold]
  ownerReferences:
    - {apiVersion: apps/v1, kind: StatefulSet, name: web, uid: "77", controller: true}
spec:
  nodeName: node-1
  schedulerName: kubenexus-scheduler
  priorityClassName: high
  priority: 1000
  preemptionPolicy: Never
  hostNetwork: true
  activeDeadlineSeconds: 60
  terminationGracePeriodSeconds: 0
  schedulingGates: [{name: example.com/wait}]
  nodeSelector: {disk: ssd}
  overhead: {cpu: 10m}
  resources: {requests: {cpu: 3}}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions: [{key: cores, operator: Gt, values: ["8"]}]
            matchFields: [{key: metadata.name, operator: In, values: [node-1]}]
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 5
          preference: {matchExpressions: [{key: gpu, operator: Exists}]}
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - topologyKey: zone
          labelSelector: {matchLabels: {app: db}}
          namespaces: [data]
          matchLabelKeys: [color]
          mismatchLabelKeys: [size]
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 7
          podAffinityTerm: {topologyKey: rack, namespaceSelector: {}}
  topologySpreadConstraints:
    - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}
    - maxSkew: 3
      topologyKey: rack
      whenUnsatisfiable: ScheduleAnyway
      labelSelector: {matchExpressions: [{key: app, operator: Exists}]}
      minDomains: 2
      nodeAffinityPolicy: Ignore
      nodeTaintsPolicy: Honor
      matchLabelKeys: [color]
  tolerations:
    - {key: gpu, operator: Exists, effect: NoSchedule}
    - {key: down, value: x, effect: NoExecute, tolerationSeconds: 30}
  containers:
    - name: web
      image: web:1
      restartPolicy: Always
      ports:
        - {containerPort: 80}
        - {containerPort: 53, hostPort: 5353, hostIP: 10.0.0.1, protocol: UDP}
      resources: {requests: {cpu: 1500m, memory: 1Gi}, limits: {nvidia.com/gpu: 2}}
  initContainers:
    - {name: proxy, restartPolicy: Always}
    - {name: setup}
  volumes: [{name: a, emptyDir: {}}, {name: b, image: {reference: "data:2"}}]
status:
  phase: Running
  nominatedNodeName: node-2
  startTime: 1970-01-01T00:00:03Z
  conditions:
    - {type: PodScheduled, status: "False", reason: Unschedulable, message: no room,
       lastTransitionTime: 1970-01-01T00:00:04Z}
  containerStatuses:
    - {name: web, allocatedResources: {cpu: 1}, resources: {requests: {cpu: 2}}}
  initContainerStatuses: [{name: proxy, resources: {}}]
  allocatedResources: {cpu: 4}
  resources: {requests: {cpu: 5}}
)";

TEST(ReadManifests, ReadsTheMetadataOfAPod) {
  const Pod pod = Only<Pod>(kFullPod);
  EXPECT_EQ(pod.meta, (ObjectMeta{.name = "web-0",
                                  .namespace_ = "shop",
                                  .uid = "6f1c",
                                  .resource_version = "42",
                                  .generation = 3,
                                  .labels = {{"app", "web"}, {"tier.example.com/level", "gold"}},
                                  .annotations = {{"note", "any text: here"}},
                                  .owners = {{.kind = "StatefulSet",
                                              .name = "web",
                                              .uid = "77",
                                              .controller = true,
                                              .api_version = "apps/v1"}},
                                  .finalizers = {"example.com/hold"},
                                  .created = Time{1'000'000'000},
                                  .deleted = Time{2'000'000'000}}));
}

TEST(ReadManifests, ReadsTheSpecOfAPod) {
  PodSpec spec;
  spec.node_name = "node-1";
  spec.scheduler_name = "kubenexus-scheduler";
  spec.priority_class_name = "high";
  spec.priority = 1000;
  spec.preemption_policy = PreemptionPolicy::kNever;
  spec.host_network = true;
  spec.active_deadline_seconds = 60;
  spec.termination_grace_seconds = 0;
  spec.scheduling_gates = {"example.com/wait"};
  spec.node_selector = {{"disk", "ssd"}};
  spec.overhead = {{"cpu", Milli(10)}};
  spec.resources = ResourceRequirements{.requests = {{"cpu", Units(3)}}, .limits = {}};
  spec.node_affinity = NodeAffinity{
      .required =
          NodeSelector{{{.match_expressions = {{"cores", SelectorOperator::kGt, {"8"}}},
                         .match_fields = {{"metadata.name", SelectorOperator::kIn, {"node-1"}}}}}},
      .preferred = {{.weight = 5,
                     .preference = {.match_expressions = {{"gpu", SelectorOperator::kExists, {}}},
                                    .match_fields = {}}}}};
  spec.pod_affinity.required = {{.selector = LabelSelector{{{"app", "db"}}, {}},
                                 .namespaces = {"data"},
                                 .namespace_selector = {},
                                 .topology_key = "zone",
                                 .match_label_keys = {"color"},
                                 .mismatch_label_keys = {"size"}}};
  spec.pod_anti_affinity.preferred = {{.weight = 7,
                                       .term = {.selector = {},
                                                .namespaces = {},
                                                .namespace_selector = LabelSelector{},
                                                .topology_key = "rack",
                                                .match_label_keys = {},
                                                .mismatch_label_keys = {}}}};
  spec.topology_spread.resize(2);
  spec.topology_spread[0].topology_key = "zone";
  spec.topology_spread[1] = {
      .max_skew = 3,
      .topology_key = "rack",
      .when_unsatisfiable = WhenUnsatisfiable::kScheduleAnyway,
      .selector = LabelSelector{{}, {{"app", SelectorOperator::kExists, {}}}},
      .min_domains = 2,
      .node_affinity_policy = NodeInclusionPolicy::kIgnore,
      .node_taints_policy = NodeInclusionPolicy::kHonor,
      .match_label_keys = {"color"}};
  spec.tolerations = {{.key = "gpu",
                       .value = "",
                       .op = TolerationOperator::kExists,
                       .effect = TaintEffect::kNoSchedule,
                       .seconds = {}},
                      {.key = "down",
                       .value = "x",
                       .op = TolerationOperator::kEqual,
                       .effect = TaintEffect::kNoExecute,
                       .seconds = 30}};
  spec.containers = {{.name = "web",
                      .image = "web:1",
                      .resources = {.requests = {{"cpu", Milli(1500)},
                                                 {"memory", Units(1 << 30)},
                                                 {"nvidia.com/gpu", Units(2)}},
                                    .limits = {{"nvidia.com/gpu", Units(2)}}},
                      .ports = {{.host_ip = "", .protocol = "TCP", .host_port = 80},
                                {.host_ip = "10.0.0.1", .protocol = "UDP", .host_port = 5353}},
                      .restart_always = false}};
  spec.init_containers.resize(2);
  spec.init_containers[0].name = "proxy";
  spec.init_containers[0].restart_always = true;
  spec.init_containers[1].name = "setup";
  spec.image_volumes = {"data:2"};
  EXPECT_EQ(Only<Pod>(kFullPod).spec, spec);
}

TEST(ReadManifests, ReadsTheStatusOfAPod) {
  PodStatus status;
  status.phase = PodPhase::kRunning;
  status.nominated_node_name = "node-2";
  status.start_time = Time{3'000'000'000};
  status.conditions = {{.type = "PodScheduled",
                        .status = "False",
                        .reason = "Unschedulable",
                        .message = "no room",
                        .last_transition = Time{4'000'000'000}}};
  status.containers = {{.name = "web",
                        .allocated = ResourceList{{"cpu", Units(1)}},
                        .actuated = ResourceList{{"cpu", Units(2)}}}};
  status.init_containers = {{.name = "proxy", .allocated = {}, .actuated = ResourceList{}}};
  status.allocated = ResourceList{{"cpu", Units(4)}};
  status.actuated = ResourceList{{"cpu", Units(5)}};
  EXPECT_EQ(Only<Pod>(kFullPod).status, status);
}

TEST(ReadManifests, FillsInWhatTheApiServerWould) {
  const Pod pod = Only<Pod>(R"(
apiVersion: v1
kind: Pod
metadata: {name: a, creationTimestamp: null}
spec:
  schedulerName: ""
  tolerations: [{}]
  containers:
    - name: a
      ports: [{containerPort: 80}]
      resources: {requests: {cpu: 100u}, limits: {cpu: 1, memory: 1k}}
)");
  EXPECT_EQ(pod.meta.namespace_, "default");
  EXPECT_EQ(pod.meta.created, std::nullopt);
  EXPECT_EQ(pod.spec.scheduler_name, "default-scheduler");
  EXPECT_EQ(pod.spec.preemption_policy, PreemptionPolicy::kLowerPriority);
  EXPECT_EQ(pod.spec.termination_grace_seconds, 30);
  EXPECT_EQ(pod.spec.tolerations, std::vector<Toleration>(1));
  EXPECT_EQ(pod.spec.containers[0].ports, std::vector<ContainerPort>(1));
  EXPECT_EQ(pod.spec.containers[0].resources.requests,
            (ResourceList{{"cpu", Milli(1)}, {"memory", Units(1000)}}))
      << "rounded up to a thousandth; requests follow limits";
  EXPECT_EQ(pod.status, PodStatus{});
}

TEST(ReadManifests, DefaultsTheRequestsOfAPodAsAWhole) {
  const auto requests = [](std::string_view pod_level, std::string_view container) {
    const Pod pod = Only<Pod>(
        fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {{resources: {}, "
                    "containers: [{{name: a, resources: {}}}]}}}}",
                    pod_level, container));
    return pod.spec.resources.value_or(ResourceRequirements{});
  };
  const ResourceRequirements none;
  EXPECT_EQ(requests("~", "{limits: {cpu: 1}}"), none);
  EXPECT_EQ(requests("{}", "{limits: {cpu: 1}}"), none);
  EXPECT_EQ(requests("{requests: {cpu: 2}}", "{requests: {memory: 1k}}").requests,
            (ResourceList{{"cpu", Units(2)}}))
      << "without limits nothing is added";
  EXPECT_EQ(requests("{limits: {cpu: 4, memory: 2k, x.com/y: 1}}", "{requests: {cpu: 1}}").requests,
            (ResourceList{{"cpu", Units(1)}, {"memory", Units(2000)}}))
      << "from the containers, then from the limits";
  const ResourceRequirements huge =
      requests("{limits: {cpu: 4}}", "{limits: {hugepages-2Mi: 4Mi, x.com/y: 1}}");
  EXPECT_EQ(huge.limits, (ResourceList{{"cpu", Units(4)}, {"hugepages-2Mi", Units(4 << 20)}}));
  EXPECT_EQ(huge.requests, huge.limits);
}

TEST(ReadManifests, ReadsNodes) {
  const Node node = Only<Node>(R"(
apiVersion: v1
kind: Node
metadata: {name: n1, namespace: ignored, labels: {kubernetes.io/hostname: n1, worker: }}
spec:
  unschedulable: yes
  taints: [{key: a, effect: NoSchedule}, {key: b, value: c, effect: NoExecute}]
status:
  capacity: {cpu: "4", memory: 8Gi, pods: 110}
  images: [{names: [a:1, "a@sha256:0"], sizeBytes: 1234}]
  conditions: [{type: Ready, status: "True"}]
)");
  EXPECT_EQ(node.meta.name, "n1");
  EXPECT_EQ(node.meta.namespace_, "");
  EXPECT_EQ(node.meta.labels, (StringMap{{"kubernetes.io/hostname", "n1"}, {"worker", ""}}));
  EXPECT_TRUE(node.unschedulable);
  EXPECT_EQ(node.taints,
            (std::vector<Taint>{{.key = "a", .value = "", .effect = TaintEffect::kNoSchedule},
                                {.key = "b", .value = "c", .effect = TaintEffect::kNoExecute}}));
  EXPECT_EQ(node.capacity, (ResourceList{{"cpu", Units(4)},
                                         {"memory", Units(std::int64_t{8} << 30)},
                                         {"pods", Units(110)}}));
  EXPECT_EQ(node.allocatable, node.capacity);
  EXPECT_EQ(node.images,
            (std::vector<ContainerImage>{{.names = {"a:1", "a@sha256:0"}, .size_bytes = 1234}}));
  EXPECT_EQ(node.conditions, (std::vector<Condition>{{.type = "Ready",
                                                      .status = "True",
                                                      .reason = "",
                                                      .message = "",
                                                      .last_transition = {}}}));
  EXPECT_EQ(Only<Node>("{apiVersion: v1, kind: Node, metadata: {name: a}, status: {capacity: {cpu: "
                       "2}, allocatable: {}}}")
                .allocatable,
            ResourceList{})
      << "an empty list is not an absent one";
}

constexpr std::string_view kTemplate =
    "{metadata: {labels: {app: a}}, spec: {containers: [{name: c}]}}";

TEST(ReadManifests, ReadsWhatMakesPods) {
  const auto workload = [](std::string_view api_version, std::string_view kind,
                           std::string_view spec) {
    return Only<Workload>(
        fmt::format("{{apiVersion: {}, kind: {}, metadata: {{name: w}}, spec: {{{}template: {}}}}}",
                    api_version, kind, spec, kTemplate));
  };
  const LabelSelector by_template{.match_labels = {{"app", "a"}}, .match_expressions = {}};

  const Workload deployment =
      workload("apps/v1", "Deployment",
               "replicas: 3, selector: {matchExpressions: [{key: app, operator: Exists}]}, ");
  EXPECT_EQ(deployment.kind, WorkloadKind::kDeployment);
  EXPECT_EQ(deployment.replicas, 3);
  EXPECT_EQ(deployment.selector->match_expressions,
            (std::vector<Requirement>{{"app", SelectorOperator::kExists, {}}}));
  EXPECT_EQ(deployment.pod_template.meta.labels, (StringMap{{"app", "a"}}));
  EXPECT_EQ(deployment.pod_template.spec.containers[0].name, "c");
  EXPECT_TRUE(deployment.meta.labels.empty());

  const Workload set =
      workload("apps/v1", "ReplicaSet",
               "selector: {matchExpressions: [{key: a, operator: NotIn, values: [b]}]}, ");
  EXPECT_EQ(set.kind, WorkloadKind::kReplicaSet);
  EXPECT_EQ(set.replicas, 1);
  EXPECT_EQ(set.selector->match_expressions,
            (std::vector<Requirement>{{"a", SelectorOperator::kNotIn, {"b"}}}));

  EXPECT_EQ(workload("apps/v1", "StatefulSet", "replicas: 0, ").kind, WorkloadKind::kStatefulSet);
  EXPECT_EQ(workload("apps/v1", "StatefulSet", "replicas: 0, ").replicas, 0);
  EXPECT_EQ(workload("apps/v1", "StatefulSet", "").selector, by_template);

  const Workload old = workload("v1", "ReplicationController", "selector: {app: a}, ");
  EXPECT_EQ(old.kind, WorkloadKind::kReplicationController);
  EXPECT_EQ(old.selector->match_labels, (StringMap{{"app", "a"}}));
  EXPECT_EQ(old.meta.labels, (StringMap{{"app", "a"}}));
  EXPECT_EQ(workload("v1", "ReplicationController", "").selector, by_template);
}

TEST(ReadManifests, ReadsJobs) {
  const auto job = [](std::string_view spec) {
    return Only<Job>(
        fmt::format("{{apiVersion: batch/v1, kind: Job, metadata: {{generateName: j-}}, spec: "
                    "{{{}template: {}}}}}",
                    spec, kTemplate));
  };
  const Job plain = job("");
  EXPECT_EQ(plain.meta.name, "j-");
  EXPECT_EQ(plain.meta.labels, (StringMap{{"app", "a"}}));
  EXPECT_EQ(plain.parallelism, 1);
  EXPECT_EQ(plain.completions, 1);
  EXPECT_FALSE(plain.indexed);
  EXPECT_FALSE(plain.suspend);
  EXPECT_EQ(job("parallelism: 4, ").completions, std::nullopt);
  const Job full =
      job("parallelism: 4, completions: 8, completionMode: Indexed, suspend: true, "
          "activeDeadlineSeconds: 9, ");
  EXPECT_EQ(full.parallelism, 4);
  EXPECT_EQ(full.completions, 8);
  EXPECT_TRUE(full.indexed);
  EXPECT_TRUE(full.suspend);
  EXPECT_EQ(full.active_deadline_seconds, 9);
  EXPECT_EQ(plain.backoff_limit, 6);
  EXPECT_EQ(job("backoffLimit: 0, ").backoff_limit, 0);
}

TEST(ReadManifests, ReadsWhatAJobHasBehindIt) {
  const auto status = [](std::string_view text) {
    return Only<Job>(fmt::format("{{apiVersion: batch/v1, kind: Job, metadata: {{name: j}}, spec: "
                                 "{{template: {}}}, status: {{{}}}}}",
                                 kTemplate, text))
        .status;
  };
  EXPECT_EQ(status(""), JobStatus{});
  EXPECT_EQ(status("succeeded: 3, failed: 1, completedIndexes: '0,2-3'"),
            (JobStatus{3, 1, "0,2-3", false}));
  EXPECT_TRUE(status("conditions: [{type: Complete, status: 'True'}]").over);
  EXPECT_TRUE(status("conditions: [{type: Failed, status: 'True'}]").over);
  EXPECT_FALSE(status("conditions: [{type: Failed, status: 'False'}]").over);
  EXPECT_FALSE(status("conditions: [{type: Suspended, status: 'True'}]").over);
}

TEST(ReadManifests, ReadsTheClaimTemplatesOfAStatefulSet) {
  const auto set = Only<Workload>(
      fmt::format("{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: s}}, spec: "
                  "{{template: {}, volumeClaimTemplates: [{{metadata: {{name: data}}, spec: "
                  "{{storageClassName: fast}}}}]}}}}",
                  kTemplate));
  ASSERT_EQ(set.claim_templates.size(), 1U);
  EXPECT_EQ(set.claim_templates[0].meta.name, "data");
  EXPECT_EQ(set.claim_templates[0].storage_class, "fast");
}

TEST(ReadManifests, ReadsTheRest) {
  EXPECT_EQ(
      Only<Namespace>("{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {x: z}}}")
          .meta.labels,
      (StringMap{{"kubernetes.io/metadata.name", "a"}, {"x", "z"}}));

  const PriorityClass high = Only<PriorityClass>(
      "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: -5, "
      "globalDefault: true, preemptionPolicy: Never}");
  EXPECT_EQ(high.value, -5);
  EXPECT_TRUE(high.global_default);
  EXPECT_EQ(high.preemption_policy, PreemptionPolicy::kNever);

  const PodDisruptionBudget budget = Only<PodDisruptionBudget>(R"(
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: b}
spec: {minAvailable: 50%, selector: {matchLabels: {a: b}}}
status: {disruptionsAllowed: 2, disruptedPods: {z: "2026-01-01T00:00:00Z", b: null}}
)");
  EXPECT_EQ(budget.min_available, (IntOrPercent{.value = 50, .percent = true}));
  EXPECT_EQ(budget.max_unavailable, std::nullopt);
  EXPECT_EQ(budget.selector->match_labels, (StringMap{{"a", "b"}}));
  EXPECT_EQ(budget.disruptions_allowed, 2);
  EXPECT_EQ(budget.disrupted_pods, (std::vector<std::string>{"b", "z"}));
  const PodDisruptionBudget count = Only<PodDisruptionBudget>(
      "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: "
      "{maxUnavailable: 3}}");
  EXPECT_EQ(count.max_unavailable, (IntOrPercent{.value = 3, .percent = false}));
  EXPECT_EQ(count.selector, std::nullopt);

  EXPECT_EQ(Only<Service>(
                "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {selector: {a: b}}}")
                .selector,
            (StringMap{{"a", "b"}}));
}

// The names of all objects and the lines they begin in.
std::string Names(std::string_view text, const ReadOptions& options = {}) {
  const auto objects = ReadManifests(text, "f.yaml", options);
  if (!objects.ok()) return objects.error().ToString();
  std::string out;
  for (const ObjectAt& at : *objects) {
    std::visit(
        [&](const auto& object) { out += fmt::format("{}:{} ", object.meta.name, at.place.line); },
        at.object);
  }
  return out;
}

TEST(ReadManifests, UnfoldsDocumentsAndLists) {
  EXPECT_EQ(Names(""), "");
  EXPECT_EQ(
      Names("---\n---\n# nothing\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n"
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n"),
      "a:5 b:9 ");
  EXPECT_EQ(Names("apiVersion: v1\nkind: List\nitems:\n"
                  "- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n"
                  "- apiVersion: v1\n  kind: List\n  items:\n"
                  "  - {apiVersion: v1, kind: Node, metadata: {name: b}}\n"),
            "a:4 b:8 ");
  EXPECT_EQ(Names("{apiVersion: v1, kind: NodeList, items: [{metadata: {name: a}},\n"
                  "{apiVersion: v1, kind: Node, metadata: {name: b}}]}"),
            "a:1 b:2 ")
      << "items of a typed list need not repeat their kind";
  EXPECT_EQ(Names("{apiVersion: v1, kind: List}"), "");
  EXPECT_EQ(Names(R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}})"),
            "a:1 ");
}

TEST(ReadManifests, SkipsOtherKindsIfAsked) {
  constexpr std::string_view text =
      "apiVersion: v1\nkind: ConfigMap\ndata: [any, thing]\n---\n"
      "{apiVersion: v1, kind: List, items: [{apiVersion: example.com/v1, kind: Foo},\n"
      "{apiVersion: v1, kind: Node, metadata: {name: a}}]}\n---\n"
      "{apiVersion: v1, kind: SecretList, items: [{}]}";
  std::vector<SkippedObject> skipped;
  EXPECT_EQ(Names(text, {.skipped = &skipped}), "a:6 ");
  std::string out;
  for (const SkippedObject& object : skipped) {
    out += fmt::format("{} {}:{} ", object.api_version, object.kind, object.place.line);
  }
  EXPECT_EQ(out, "v1 ConfigMap:1 example.com/v1 Foo:5 v1 Secret:8 ");
  const std::string refused = Names(text);
  EXPECT_TRUE(
      refused.starts_with("f.yaml:2:7: kind: \"ConfigMap\" of apiVersion \"v1\" is not "
                          "known; known are v1 Pod, v1 Node, v1 Namespace, v1 Service, "))
      << refused;
  EXPECT_TRUE(refused.ends_with(", scheduling.kubenexus.io/v1alpha1 ResourceReservation"))
      << refused;
  EXPECT_EQ(Names("{kind: Foo}", {.skipped = &skipped}),
            "f.yaml:1:1: apiVersion: missing, but required");
}

}  // namespace
}  // namespace knx::k8s
