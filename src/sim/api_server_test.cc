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

  for (const char* span : {"soon", "-1s", "999999h"}) {
    k8s::Pod pod = PodForTest("b", "1");
    pod.meta.annotations = {{std::string(scenario::kRunFor), span}};
    EXPECT_FALSE(cluster_.api().Create(pod, Actor::kUser).ok()) << span;
  }
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
