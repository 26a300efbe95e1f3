// Workloads and jobs: how many pods, with which names, in which order.
#include <gtest/gtest.h>

#include <algorithm>

#include "k8s/owner.h"
#include "k8s/selector.h"
#include "scenario/annotations.h"
#include "sim/cluster_for_test.h"

namespace knx::sim {
namespace {

using k8s::WorkloadKind;

class ControllersTest : public testing::Test {
 protected:
  ControllersTest() {
    cluster_.AddNodes(3, "8");
    cluster_.Start();
  }
  void Scale(WorkloadKind kind, const std::string& name, std::int32_t replicas) {
    k8s::Workload next = *cluster_.store().Find<k8s::Workload>(WorkloadKey(kind, "default", name));
    next.replicas = replicas;
    cluster_.store().Put(next, Actor::kUser);
  }
  k8s::Job JobForTest(int parallelism, std::optional<int> completions, const char* run_for) {
    k8s::Job job;
    job.meta.name = "work";
    job.meta.namespace_ = "default";
    job.parallelism = parallelism;
    job.completions = completions;
    job.pod_template.spec = SpecForTest("1");
    job.pod_template.meta.annotations = {{std::string(scenario::kRunFor), run_for}};
    return job;
  }
  std::int64_t CountPhase(k8s::PodPhase phase) {
    std::int64_t n = 0;
    for (const auto& [key, pod] : cluster_.store().All<k8s::Pod>()) n += pod->status.phase == phase;
    return n;
  }
  ClusterForTest cluster_;
};

TEST_F(ControllersTest, ADeploymentHasAReplicaSetThatHasPods) {
  cluster_.Create(WorkloadForTest(WorkloadKind::kDeployment, "web", 3, "1"));
  cluster_.RunFor(Duration::Seconds(5));
  const auto names = cluster_.PodNames();
  ASSERT_EQ(names.size(), 3U);
  const PodPtr pod = cluster_.Pod(names[0]);
  EXPECT_EQ(pod->status.phase, k8s::PodPhase::kRunning);
  const k8s::OwnerReference* owner = ControllerOf(pod->meta);
  ASSERT_NE(owner, nullptr);
  EXPECT_EQ(owner->kind, "ReplicaSet");
  EXPECT_TRUE(owner->name.starts_with("web-"));
  EXPECT_TRUE(names[0].starts_with(owner->name + "-"));
  EXPECT_NE(k8s::FindValue(pod->meta.labels, "pod-template-hash"), nullptr);
  const scenario::PodSelection of_web{.namespace_ = {}, .name = {}, .labels = {}, .owner = "web"};
  EXPECT_TRUE(of_web.Matches(*pod));

  Scale(WorkloadKind::kDeployment, "web", 5);
  cluster_.RunFor(Duration::Seconds(5));
  EXPECT_EQ(cluster_.PodNames().size(), 5U);
  Scale(WorkloadKind::kDeployment, "web", 1);
  cluster_.RunFor(Duration::Seconds(5));
  EXPECT_EQ(cluster_.PodNames().size(), 1U);
  ASSERT_TRUE(cluster_.api().Delete("Deployment", "default", "web", Actor::kUser).ok());
  EXPECT_TRUE(cluster_.Settle());
  EXPECT_TRUE(cluster_.PodNames().empty());
  EXPECT_TRUE(cluster_.store().All<k8s::Workload>().empty());
}

TEST_F(ControllersTest, LostPodsAreReplacedWaitingOnesGoFirst) {
  cluster_.Create(WorkloadForTest(WorkloadKind::kReplicationController, "rc", 2, "8"));
  cluster_.Create(WorkloadForTest(WorkloadKind::kReplicaSet, "rs", 2, "8"));
  cluster_.RunFor(Duration::Seconds(5));
  EXPECT_EQ(cluster_.tally().waiting, 1) << "three nodes for four pods";
  const auto names = cluster_.PodNames();
  ASSERT_TRUE(cluster_.api().DeletePod("default/" + names[0], Actor::kUser).ok());
  cluster_.RunFor(Duration::Seconds(20));
  EXPECT_EQ(cluster_.PodNames().size(), 4U);
  EXPECT_EQ(cluster_.Pod(names[0]), nullptr);
  Scale(WorkloadKind::kReplicationController, "rc", 1);
  Scale(WorkloadKind::kReplicaSet, "rs", 1);
  cluster_.RunFor(Duration::Seconds(5));
  EXPECT_EQ(cluster_.tally().waiting, 0);
  EXPECT_EQ(cluster_.tally().running, 2);
}

TEST_F(ControllersTest, AStatefulSetGoesByNumber) {
  cluster_.Create(WorkloadForTest(WorkloadKind::kStatefulSet, "db", 3, "1"));
  cluster_.RunFor(Duration::Milliseconds(500));
  EXPECT_EQ(cluster_.PodNames(), std::vector<std::string>{"db-0"}) << "the next waits for it";
  cluster_.RunFor(Duration::Seconds(10));
  EXPECT_EQ(cluster_.PodNames(), (std::vector<std::string>{"db-0", "db-1", "db-2"}));
  EXPECT_EQ(*k8s::FindValue(cluster_.Pod("db-1")->meta.labels, "apps.kubernetes.io/pod-index"),
            "1");
  Scale(WorkloadKind::kStatefulSet, "db", 1);
  cluster_.RunFor(Duration::Milliseconds(1200));
  EXPECT_EQ(cluster_.PodNames(), (std::vector<std::string>{"db-0", "db-1"}))
      << "the last goes first";
  cluster_.RunFor(Duration::Seconds(5));
  EXPECT_EQ(cluster_.PodNames(), std::vector<std::string>{"db-0"});
}

TEST_F(ControllersTest, AJobRunsUntilItsCompletions) {
  cluster_.Create(JobForTest(2, 5, "10s"));
  cluster_.RunFor(Duration::Seconds(5));
  EXPECT_EQ(CountPhase(k8s::PodPhase::kRunning), 2);
  EXPECT_TRUE(cluster_.Settle());
  EXPECT_EQ(CountPhase(k8s::PodPhase::kSucceeded), 5);
  EXPECT_EQ(cluster_.PodNames().size(), 5U);
  ASSERT_TRUE(cluster_.api().Delete("Job", "default", "work", Actor::kUser).ok());
  EXPECT_TRUE(cluster_.Settle());
  EXPECT_TRUE(cluster_.PodNames().empty());
}

TEST_F(ControllersTest, AnIndexedJobNumbersItsPods) {
  k8s::Job job = JobForTest(3, 3, "10s");
  job.indexed = true;
  cluster_.Create(job);
  EXPECT_TRUE(cluster_.Settle());
  const auto names = cluster_.PodNames();
  ASSERT_EQ(names.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(names[i].starts_with("work-" + std::to_string(i) + "-")) << names[i];
  }
}

TEST_F(ControllersTest, AFailingJobGivesUp) {
  k8s::Job job = JobForTest(1, 1, "1s");
  job.pod_template.meta.annotations.insert(job.pod_template.meta.annotations.begin(),
                                           {std::string(scenario::kEndsAs), "Failed"});
  cluster_.Create(job);
  EXPECT_TRUE(cluster_.Settle(Duration::Minutes(120)));
  EXPECT_EQ(CountPhase(k8s::PodPhase::kFailed), 7) << "six retries";
}

TEST_F(ControllersTest, PodsThatAreRefusedAreReportedAndMadeLater) {
  for (const auto kind : {WorkloadKind::kReplicaSet, WorkloadKind::kDeployment}) {
    k8s::Workload web = WorkloadForTest(kind, "web", 1, "1");
    web.pod_template.spec.priority_class_name = "later";
    cluster_.Create(web);
  }
  cluster_.RunFor(Duration::Seconds(5));
  const std::vector<std::string> complaints = cluster_.Complaints();
  ASSERT_EQ(complaints.size(), 2U);
  EXPECT_TRUE(complaints[0].starts_with("Deployment default/web: pods \"web-")) << complaints[0];
  EXPECT_TRUE(complaints[1].starts_with("ReplicaSet default/web: pods \"web-")) << complaints[1];
  for (const std::string& complaint : complaints) {
    EXPECT_TRUE(complaint.ends_with("no PriorityClass with name later was found")) << complaint;
  }
  k8s::PriorityClass later;
  later.meta.name = "later";
  cluster_.Create(later);
  cluster_.RunFor(Duration::Minutes(1));
  EXPECT_EQ(cluster_.PodNames().size(), 2U);
}

TEST_F(ControllersTest, ANamespaceTakesEverythingWithIt) {
  k8s::Workload web = WorkloadForTest(WorkloadKind::kDeployment, "web", 2, "1");
  web.meta.namespace_ = "shop";
  cluster_.Create(web);
  cluster_.RunFor(Duration::Seconds(5));
  EXPECT_EQ(cluster_.PodNames().size(), 2U);
  ASSERT_TRUE(cluster_.api().Delete("Namespace", "", "shop", Actor::kUser).ok());
  EXPECT_TRUE(cluster_.Settle());
  EXPECT_TRUE(cluster_.PodNames().empty());
}

}  // namespace
}  // namespace knx::sim
