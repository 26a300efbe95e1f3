#include "sim/api_server.h"

#include <gtest/gtest.h>

#include "k8s/names.h"
#include "scenario/annotations.h"
#include "sim/admission.h"
#include "sim/cluster_for_test.h"

namespace knx::sim {
namespace {

class ApiServerTest : public testing::Test {
 protected:
  engine::PodRef Ref(const std::string& name) {
    return {"default", name, cluster_.Pod(name) ? cluster_.Pod(name)->meta.uid : "?"};
  }
  std::string BindError(const engine::PodRef& ref) {
    const auto bound = cluster_.api().Bind(ref, "node-1", Actor::kScheduler);
    return bound.ok() ? "" : bound.error().message;
  }
  ClusterForTest cluster_;
};

TEST_F(ApiServerTest, RefusesBindingsInTheWordsOfTheApiServer) {
  cluster_.Create(PodForTest("free", "1"));
  EXPECT_EQ(BindError(Ref("free")), "");
  EXPECT_EQ(cluster_.NodeOf("free"), "node-1");
  EXPECT_EQ(FindCondition(cluster_.Pod("free")->status.conditions, "PodScheduled")->status, "True");

  EXPECT_EQ(BindError(Ref("free")),
            "Operation cannot be fulfilled on pods/binding \"free\": pod free is already assigned "
            "to node \"node-1\"");
  EXPECT_EQ(BindError({"default", "nobody", "u"}), "pods \"nobody\" not found");

  EXPECT_TRUE(cluster_.api().DeletePod("default/free", Actor::kUser).ok());
  EXPECT_EQ(BindError(Ref("free")),
            "Operation cannot be fulfilled on pods/binding \"free\": pod free is being deleted, "
            "cannot be assigned to a host");

  k8s::Pod gated = PodForTest("gated", "1");
  gated.spec.scheduling_gates = {"g"};
  cluster_.Create(gated);
  EXPECT_EQ(BindError(Ref("gated")),
            "Operation cannot be fulfilled on pods/binding \"gated\": pod gated has non-empty "
            ".spec.schedulingGates");

  cluster_.Create(PodForTest("other", "1"));
  const std::string uid = cluster_.Pod("other")->meta.uid;
  EXPECT_EQ(
      BindError({"default", "other", "old-uid"}),
      "Operation cannot be fulfilled on pods \"other\": StorageError: invalid object, Code: 4, "
      "Key: /registry/pods/default/other, ResourceVersion: 0, AdditionalErrorMsg: Precondition "
      "failed: UID in precondition: old-uid, UID in object meta: " +
          uid);
}

TEST_F(ApiServerTest, ResolvesPriorities) {
  k8s::PriorityClass low;
  low.meta.name = "low";
  low.value = -5;
  low.global_default = true;
  low.preemption_policy = k8s::PreemptionPolicy::kNever;
  cluster_.Create(low);
  struct Case {
    const char *name, *priority_class;
    std::optional<std::int32_t> given;
    std::int32_t want;
    const char* error;
  };
  const Case cases[] = {
      {"default", "", {}, -5, ""},
      {"named", "low", {}, -5, ""},
      {"system", "system-node-critical", {}, 2'000'001'000, ""},
      {"equal", "low", -5, -5, ""},
      {"unknown",
       "nope",
       {},
       0,
       "pods \"unknown\" is forbidden: no PriorityClass with name nope was found"},
      {"contradiction", "low", 7, 0,
       "pods \"contradiction\" is forbidden: the integer value of priority (7) must not be "
       "provided "
       "in pod spec; priority admission controller computed -5 from the given PriorityClass name"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    k8s::Pod pod = PodForTest(c.name, "1");
    pod.spec.priority_class_name = c.priority_class;
    pod.spec.priority = c.given;
    const auto created = cluster_.api().Create(pod, Actor::kUser);
    EXPECT_EQ(created.ok() ? "" : created.error().message, c.error);
    if (!created.ok()) continue;
    EXPECT_EQ(cluster_.Pod(c.name)->spec.priority, c.want);
  }
  EXPECT_EQ(cluster_.Pod("named")->spec.preemption_policy, k8s::PreemptionPolicy::kNever);
  k8s::PriorityClass second = low;
  second.meta.name = "second";
  EXPECT_FALSE(cluster_.api().Create(second, Actor::kUser).ok());
}

TEST_F(ApiServerTest, SaysWhyAGatedPodWaits) {
  k8s::Pod gated = PodForTest("gated", "1");
  gated.spec.scheduling_gates = {"g"};
  cluster_.Create(gated);
  const PodPtr pod = cluster_.Pod("gated");
  const auto* condition = FindCondition(pod->status.conditions, k8s::names::kPodScheduled);
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->reason, "SchedulingGated");
  EXPECT_EQ(condition->message, "Scheduling is blocked due to non-empty scheduling gates");
}

TEST_F(ApiServerTest, RefusesWhatExistsAndWhatItCannotRead) {
  cluster_.Create(PodForTest("a", "1"));
  const auto twice = cluster_.api().Create(PodForTest("a", "1"), Actor::kUser);
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().message, "pods \"a\" already exists");
  EXPECT_EQ(twice.error().kind, ErrorKind::kConflict);

  const std::pair<std::string_view, const char*> annotations[] = {
      {scenario::kRunFor, "soon"},    {scenario::kRunFor, "-1s"},   {scenario::kRunFor, "999999h"},
      {scenario::kEndsAs, "Unknown"}, {scenario::kResize, "Never"},
  };
  for (const auto& [name, value] : annotations) {
    k8s::Pod pod = PodForTest("b", "1");
    pod.meta.annotations = {{std::string(name), value}};
    const auto created = cluster_.api().Create(pod, Actor::kUser);
    ASSERT_FALSE(created.ok()) << name << " " << value;
    EXPECT_NE(created.error().message.find(name), std::string::npos) << created.error().message;
  }
}

TEST_F(ApiServerTest, KeepsTheStatusOfAPodThatWasThereBeforeButNotItsTimes) {
  const Time now = cluster_.agenda().now();
  k8s::Pod placed = PodForTest("placed", "1");
  placed.spec.node_name = "node-1";
  placed.status.phase = k8s::PodPhase::kRunning;
  placed.status.start_time = Time{1};
  placed.status.conditions = {{.type = "PodResizePending",
                               .status = "True",
                               .reason = "Infeasible",
                               .message = {},
                               .last_transition = Time{1}}};
  placed.status.containers = {{.name = "main", .allocated = {}, .actuated = {{}}}};
  cluster_.Create(placed);
  k8s::PodStatus want = placed.status;
  want.start_time.reset();
  want.conditions[0].last_transition = now;
  EXPECT_EQ(cluster_.Pod("placed")->status, want);

  k8s::Pod waiting = PodForTest("waiting", "1");
  waiting.status.phase = k8s::PodPhase::kRunning;
  for (const char* status : {"True", "False"}) {
    waiting.status.conditions = {{.type = "PodScheduled",
                                  .status = status,
                                  .reason = "Unschedulable",
                                  .message = "no room",
                                  .last_transition = Time{1}}};
    waiting.meta.name = status[0] == 'T' ? "contradiction" : "waiting";
    cluster_.Create(waiting);
  }
  EXPECT_EQ(cluster_.Pod("waiting")->status.phase, k8s::PodPhase::kPending);
  ASSERT_EQ(cluster_.Pod("waiting")->status.conditions.size(), 1U);
  EXPECT_EQ(cluster_.Pod("waiting")->status.conditions[0].message, "no room");
  EXPECT_TRUE(cluster_.Pod("contradiction")->status.conditions.empty());
}

TEST_F(ApiServerTest, GivesNamesToPodsThatOnlyHaveABeginning) {
  const std::string name = cluster_.Create(PodForTest("web-", "1"));
  EXPECT_EQ(name.size(), 9U);
  EXPECT_TRUE(name.starts_with("web-"));
}

TEST_F(ApiServerTest, DeletesGracefullyWhatRunsAndAtOnceWhatDoesNot) {
  cluster_.AddNodes(1, "4");
  cluster_.Create(PodForTest("waiting", "1"));
  ASSERT_TRUE(cluster_.api().DeletePod("default/waiting", Actor::kUser).ok());
  EXPECT_EQ(cluster_.Pod("waiting"), nullptr);

  cluster_.Create(PodForTest("running", "1"));
  cluster_.Start();
  cluster_.RunFor(Duration::Seconds(5));
  ASSERT_TRUE(cluster_.api().DeletePod("default/running", Actor::kUser).ok());
  ASSERT_NE(cluster_.Pod("running"), nullptr);
  EXPECT_TRUE(cluster_.Pod("running")->meta.deleted.has_value());
  EXPECT_TRUE(cluster_.api().DeletePod("default/running", Actor::kUser).ok()) << "twice is fine";
  cluster_.RunFor(Duration::Seconds(2));
  EXPECT_EQ(cluster_.Pod("running"), nullptr);
  EXPECT_EQ(cluster_.api().DeletePod("default/running", Actor::kUser).error().message,
            "pods \"running\" not found");
}

TEST_F(ApiServerTest, LetsANodeSelectorGrowOnlyWhileThePodIsGated) {
  k8s::Pod gated = PodForTest("gated", "1");
  gated.spec.scheduling_gates = {"g"};
  gated.spec.node_selector = {{"a", "1"}};
  cluster_.Create(gated);
  cluster_.Create(PodForTest("free", "1"));
  const auto select = [&](const char* pod, const k8s::StringMap& selector) {
    const auto updated =
        cluster_.api().UpdatePod(std::string("default/") + pod, Actor::kUser,
                                 [&](k8s::Pod& next) { next.spec.node_selector = selector; });
    return updated.ok() ? "" : updated.error().message;
  };
  EXPECT_EQ(select("gated", {{"a", "1"}, {"b", "2"}}), "");
  EXPECT_EQ(cluster_.Pod("gated")->meta.generation, 2);
  const std::string only_additions =
      "Pod \"gated\" is invalid: spec.nodeSelector: only additions to spec.nodeSelector are "
      "allowed "
      "(no mutations or deletions)";
  EXPECT_EQ(select("gated", {{"a", "2"}, {"b", "2"}}), only_additions);
  EXPECT_EQ(select("gated", {{"b", "2"}}), only_additions);
  EXPECT_EQ(select("free", {{"a", "1"}})
                .find("Pod \"free\" is invalid: spec: Forbidden: pod updates may not change"),
            0U);
  EXPECT_TRUE(cluster_.Pod("free")->spec.node_selector.empty());
}

TEST_F(ApiServerTest, KeepsAPodThatWaitsUntilItsLastFinalizerIsGone) {
  k8s::Pod pod = PodForTest("held", "1");
  pod.meta.finalizers = {"a", "batch.kubernetes.io/job-tracking", "b"};
  cluster_.Create(pod);
  EXPECT_EQ(cluster_.Pod("held")->meta.finalizers, (std::vector<std::string>{"a", "b"}));
  const auto remove = [&](const char* name) {
    const auto updated = cluster_.api().UpdatePod(
        "default/held", Actor::kUser,
        [&](k8s::Pod& next) { std::erase(next.meta.finalizers, std::string(name)); });
    EXPECT_TRUE(updated.ok());
  };
  remove("a");
  ASSERT_TRUE(cluster_.api().DeletePod("default/held", Actor::kUser).ok());
  ASSERT_NE(cluster_.Pod("held"), nullptr);
  EXPECT_EQ(cluster_.Pod("held")->meta.deleted, cluster_.agenda().now());
  EXPECT_TRUE(cluster_.api().DeletePod("default/held", Actor::kUser).ok()) << "twice is fine";
  EXPECT_EQ(BindError(Ref("held")),
            "Operation cannot be fulfilled on pods/binding \"held\": pod held is being deleted, "
            "cannot be assigned to a host");
  remove("b");
  EXPECT_EQ(cluster_.Pod("held"), nullptr);
}

TEST_F(ApiServerTest, KeepsAPodThatRanAsAFailedOneUntilItsLastFinalizerIsGone) {
  cluster_.AddNodes(1, "4");
  for (const char* name : {"graceful", "early", "forced"}) {
    k8s::Pod pod = PodForTest(name, "1");
    pod.meta.finalizers = {"hold"};
    cluster_.Create(pod);
  }
  cluster_.Start();
  cluster_.RunFor(Duration::Seconds(5));
  const auto remove = [&](const std::string& name) {
    (void)cluster_.api().UpdatePod("default/" + name, Actor::kUser,
                                   [](k8s::Pod& next) { next.meta.finalizers.clear(); });
  };
  ASSERT_TRUE(cluster_.api().DeletePod("default/graceful", Actor::kUser).ok());
  ASSERT_TRUE(cluster_.api().DeletePod("default/early", Actor::kUser).ok());
  ASSERT_TRUE(cluster_.api().DeletePod("default/forced", Actor::kUser, 0).ok());
  remove("early");
  ASSERT_NE(cluster_.Pod("early"), nullptr) << "its kubelet is not done";
  EXPECT_EQ(cluster_.Pod("graceful")->status.phase, k8s::PodPhase::kRunning);
  cluster_.RunFor(Duration::Seconds(2));
  EXPECT_EQ(cluster_.Pod("early"), nullptr);
  for (const char* name : {"graceful", "forced"}) {
    ASSERT_NE(cluster_.Pod(name), nullptr);
    EXPECT_EQ(cluster_.Pod(name)->status.phase, k8s::PodPhase::kFailed);
    EXPECT_FALSE(IsReady(*cluster_.Pod(name)));
    remove(name);
    EXPECT_EQ(cluster_.Pod(name), nullptr);
  }
}

TEST_F(ApiServerTest, KeepsANodeUntilItsLastFinalizerIsGone) {
  k8s::Node node = NodeForTest("node-1", "4");
  node.meta.finalizers = {"hold"};
  cluster_.Create(node);
  ASSERT_TRUE(cluster_.api().Delete("Node", "", "node-1", Actor::kUser).ok());
  const auto found = [&] { return cluster_.store().Find<k8s::Node>("node-1"); };
  ASSERT_NE(found(), nullptr);
  EXPECT_TRUE(found()->meta.deleted.has_value());
  ASSERT_TRUE(
      cluster_.api()
          .UpdateNode("node-1", Actor::kUser, [](k8s::Node& next) { next.meta.finalizers.clear(); })
          .ok());
  EXPECT_EQ(found(), nullptr);
  EXPECT_EQ(cluster_.api().Delete("Node", "", "node-1", Actor::kUser).error().message,
            "nodes \"node-1\" not found");
}

TEST_F(ApiServerTest, EvictsOnlyWhatABudgetAllows) {
  cluster_.AddNodes(2, "4");
  k8s::PodDisruptionBudget budget;
  budget.meta.name = "web";
  budget.meta.namespace_ = "default";
  budget.selector = k8s::LabelSelector{.match_labels = {{"app", "web"}}, .match_expressions = {}};
  budget.min_available = k8s::IntOrPercent{.value = 2, .percent = false};
  cluster_.Create(budget);
  cluster_.Create(WorkloadForTest(k8s::WorkloadKind::kReplicaSet, "web", 3, "1"));
  cluster_.Start();
  cluster_.RunFor(Duration::Seconds(5));
  const auto names = cluster_.PodNames();
  ASSERT_EQ(names.size(), 3U);
  const auto now = [&] {
    return cluster_.store().Find<k8s::PodDisruptionBudget>("default/web")->disruptions_allowed;
  };
  EXPECT_EQ(now(), 1);
  EXPECT_TRUE(cluster_.api().EvictPod("default/" + names[0], Actor::kUser, {}).ok());
  EXPECT_EQ(now(), 0);
  const auto second = cluster_.api().EvictPod("default/" + names[1], Actor::kUser, {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(second.error().message,
            "Cannot evict pod as it would violate the pod's disruption budget.");
  EXPECT_EQ(cluster_.api().evictions(), 1);
  cluster_.RunFor(Duration::Seconds(5));
  EXPECT_EQ(now(), 1) << "the replacement is ready";
  EXPECT_TRUE(cluster_.api().EvictPod("default/" + names[1], Actor::kUser, {}).ok());
}

}  // namespace
}  // namespace knx::sim
