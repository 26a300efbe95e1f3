// Kubelets and what happens around nodes.
#include <gtest/gtest.h>

#include "k8s/names.h"
#include "scenario/annotations.h"
#include "sim/cluster_for_test.h"

namespace knx::sim {
namespace {

class NodesTest : public testing::Test {
 protected:
  void Run(int nodes) {
    cluster_.AddNodes(nodes, "4");
    cluster_.Start();
  }
  k8s::Pod Ending(const char* name, const char* run_for, const char* ends_as) {
    k8s::Pod pod = PodForTest(name, "1");
    pod.meta.annotations = {{std::string(scenario::kEndsAs), ends_as},
                            {std::string(scenario::kRunFor), run_for}};
    return pod;
  }
  ClusterForTest cluster_;
};

TEST_F(NodesTest, PodsStartRunAndEnd) {
  Run(1);
  cluster_.Create(Ending("good", "10s", "Succeeded"));
  cluster_.Create(Ending("bad", "5s", "Failed"));
  cluster_.RunFor(Duration::Milliseconds(500));
  EXPECT_EQ(cluster_.Pod("good")->status.phase, k8s::PodPhase::kPending);
  EXPECT_EQ(cluster_.NodeOf("good"), "node-1");
  cluster_.RunFor(Duration::Seconds(1));
  EXPECT_EQ(cluster_.Pod("good")->status.phase, k8s::PodPhase::kRunning);
  EXPECT_TRUE(IsReady(*cluster_.Pod("good")));
  cluster_.RunFor(Duration::Seconds(6));
  EXPECT_EQ(cluster_.Pod("bad")->status.phase, k8s::PodPhase::kFailed);
  EXPECT_TRUE(cluster_.Settle());
  EXPECT_EQ(cluster_.Pod("good")->status.phase, k8s::PodPhase::kSucceeded);
}

TEST_F(NodesTest, AResizeIsDonePutOffOrRefusedAsThePodSays) {
  Run(1);
  struct Case {
    const char *name, *answer, *reason, *cpu;  // the reason and the cpu that the status then says
  };
  const Case cases[] = {{"plain", nullptr, nullptr, "2"},
                        {"done", "Done", nullptr, "2"},
                        {"deferred", "Deferred", "Deferred", "1"},
                        {"refused", "Infeasible", "Infeasible", "1"}};
  for (const Case& c : cases) {
    k8s::Pod pod = PodForTest(c.name, "1");
    pod.spec.node_name = "node-1";
    if (c.answer != nullptr) pod.meta.annotations = {{std::string(scenario::kResize), c.answer}};
    cluster_.Create(pod);
  }
  cluster_.RunFor(Duration::Seconds(2));
  const auto change = [&](const std::string& name, const std::function<void(k8s::Pod&)>& how) {
    EXPECT_TRUE(cluster_.api().UpdatePod("default/" + name, Actor::kUser, how).ok());
  };
  for (const Case& c : cases) {
    change(c.name, [](k8s::Pod& pod) { pod.spec.containers = SpecForTest("2").containers; });
  }
  const auto cpu = [&](const char* name) {
    return cluster_.Pod(name)->status.containers.at(0).actuated->at(0).second.ToString();
  };
  cluster_.RunFor(Duration::Milliseconds(500));
  for (const Case& c : cases) EXPECT_EQ(cpu(c.name), "1") << "not yet: " << c.name;
  cluster_.RunFor(Duration::Seconds(1));
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(cpu(c.name), c.cpu);
    const auto* pending =
        FindCondition(cluster_.Pod(c.name)->status.conditions, k8s::names::kPodResizePending);
    ASSERT_EQ(pending != nullptr, c.reason != nullptr);
    if (pending != nullptr) {
      EXPECT_EQ(pending->reason, c.reason);
    }
  }
  for (const char* name : {"deferred", "refused"}) {
    change(name, [](k8s::Pod& pod) { pod.meta.annotations.clear(); });
  }
  cluster_.RunFor(Duration::Seconds(2));
  for (const char* name : {"deferred", "refused"}) {
    EXPECT_EQ(cpu(name), "2");
    EXPECT_EQ(FindCondition(cluster_.Pod(name)->status.conditions, k8s::names::kPodResizePending),
              nullptr);
  }
}

TEST_F(NodesTest, ADeadNodeResizesWhenItIsBack) {
  Run(1);
  cluster_.Create(PodForTest("a", "1"));
  cluster_.RunFor(Duration::Seconds(2));
  ASSERT_TRUE(cluster_.node_lifecycle().Kill("node-1").ok());
  ASSERT_TRUE(
      cluster_.api()
          .UpdatePod("default/a", Actor::kUser,
                     [](k8s::Pod& pod) { pod.spec.containers = SpecForTest("2").containers; })
          .ok());
  const auto cpu = [&] {
    return cluster_.Pod("a")->status.containers.at(0).actuated->at(0).second.ToString();
  };
  cluster_.RunFor(Duration::Seconds(10));
  EXPECT_EQ(cpu(), "1");
  ASSERT_TRUE(cluster_.node_lifecycle().Restart("node-1").ok());
  cluster_.RunFor(Duration::Seconds(2));
  EXPECT_EQ(cpu(), "2");
}

TEST_F(NodesTest, ADeadlineEndsAPod) {
  Run(1);
  k8s::Pod pod = PodForTest("long", "1");
  pod.spec.active_deadline_seconds = 10;
  cluster_.Create(pod);
  cluster_.RunFor(Duration::Seconds(20));
  EXPECT_EQ(cluster_.Pod("long")->status.phase, k8s::PodPhase::kFailed);
}

TEST_F(NodesTest, ADeadNodeIsTaintedAndEmptiedLater) {
  Run(1);
  cluster_.Create(PodForTest("a", "1"));
  cluster_.RunFor(Duration::Seconds(5));
  ASSERT_TRUE(cluster_.node_lifecycle().Kill("node-1").ok());
  cluster_.RunFor(Duration::Seconds(39));
  EXPECT_TRUE(cluster_.store().Find<k8s::Node>("node-1")->taints.empty());
  cluster_.RunFor(Duration::Seconds(2));
  EXPECT_EQ(cluster_.store().Find<k8s::Node>("node-1")->taints.size(), 2U);
  EXPECT_FALSE(IsReady(*cluster_.Pod("a")));
  cluster_.RunFor(Duration::Seconds(301));
  ASSERT_NE(cluster_.Pod("a"), nullptr) << "nobody is there to end it";
  EXPECT_TRUE(cluster_.Pod("a")->meta.deleted.has_value());
  cluster_.RunFor(Duration::Minutes(10));
  ASSERT_NE(cluster_.Pod("a"), nullptr);
  ASSERT_TRUE(cluster_.node_lifecycle().Restart("node-1").ok());
  cluster_.RunFor(Duration::Seconds(3));
  EXPECT_EQ(cluster_.Pod("a"), nullptr);
  EXPECT_TRUE(cluster_.store().Find<k8s::Node>("node-1")->taints.empty());
}

TEST_F(NodesTest, ANodeThatComesBackInTimeBeginsItsPodsAnew) {
  Run(1);
  cluster_.Create(Ending("a", "30s", "Succeeded"));
  cluster_.RunFor(Duration::Seconds(20));
  ASSERT_TRUE(cluster_.node_lifecycle().Kill("node-1").ok());
  cluster_.RunFor(Duration::Seconds(20));
  ASSERT_TRUE(cluster_.node_lifecycle().Restart("node-1").ok());
  cluster_.RunFor(Duration::Seconds(20));
  EXPECT_EQ(cluster_.Pod("a")->status.phase, k8s::PodPhase::kRunning) << "it began again";
  cluster_.RunFor(Duration::Seconds(12));
  EXPECT_EQ(cluster_.Pod("a")->status.phase, k8s::PodPhase::kSucceeded);
}

TEST_F(NodesTest, PodsOfANodeThatIsGoneAreRemoved) {
  Run(2);
  cluster_.Create(PodForTest("a", "3"));
  cluster_.Create(PodForTest("b", "3"));
  cluster_.RunFor(Duration::Seconds(5));
  const std::string node = cluster_.NodeOf("a");
  ASSERT_TRUE(cluster_.api().Delete("Node", "", node, Actor::kUser).ok());
  EXPECT_TRUE(cluster_.Settle());
  EXPECT_EQ(cluster_.Pod("a"), nullptr);
  EXPECT_NE(cluster_.Pod("b"), nullptr);
}

TEST_F(NodesTest, ATaintEvictsWhoDoesNotTolerateIt) {
  Run(1);
  k8s::Pod brave = PodForTest("brave", "1");
  k8s::Toleration toleration;
  toleration.key = "fire";
  toleration.op = k8s::TolerationOperator::kExists;
  brave.spec.tolerations = {toleration};
  cluster_.Create(brave);
  k8s::Pod patient = brave;
  patient.meta.name = "patient";
  patient.spec.tolerations[0].seconds = 60;
  cluster_.Create(patient);
  cluster_.Create(PodForTest("timid", "1"));
  cluster_.RunFor(Duration::Seconds(5));
  ASSERT_TRUE(cluster_.api()
                  .UpdateNode("node-1", Actor::kUser,
                              [](k8s::Node& node) {
                                node.taints = {{"fire", "", k8s::TaintEffect::kNoExecute}};
                              })
                  .ok());
  cluster_.RunFor(Duration::Seconds(5));
  EXPECT_EQ(cluster_.Pod("timid"), nullptr);
  EXPECT_NE(cluster_.Pod("patient"), nullptr);
  cluster_.RunFor(Duration::Seconds(60));
  EXPECT_EQ(cluster_.Pod("patient"), nullptr);
  EXPECT_NE(cluster_.Pod("brave"), nullptr);
  EXPECT_EQ(cluster_.api().evictions(), 2);
}

TEST_F(NodesTest, ADrainWaitsForTheBudgetUnlessToldNotTo) {
  Run(3);
  k8s::PodDisruptionBudget budget;
  budget.meta.name = "all";
  budget.meta.namespace_ = "default";
  budget.selector.emplace();
  budget.max_unavailable = k8s::IntOrPercent{.value = 0, .percent = false};
  cluster_.Create(budget);
  cluster_.Create(WorkloadForTest(k8s::WorkloadKind::kReplicaSet, "web", 3, "3"));
  cluster_.RunFor(Duration::Seconds(5));
  ASSERT_TRUE(cluster_.node_lifecycle().Drain("node-1", true).ok());
  EXPECT_TRUE(cluster_.Settle()) << "a drain that cannot go on is no reason to wait for ever";
  EXPECT_EQ(cluster_.api().evictions(), 0);
  ASSERT_TRUE(cluster_.api().Delete("PodDisruptionBudget", "default", "all", Actor::kUser).ok());
  cluster_.RunFor(Duration::Seconds(10));
  EXPECT_EQ(cluster_.api().evictions(), 1) << "now the drain could go on";
  ASSERT_TRUE(cluster_.node_lifecycle().Drain("node-2", false).ok());
  EXPECT_TRUE(cluster_.Settle());
  EXPECT_EQ(cluster_.api().evictions(), 2);
  EXPECT_TRUE(cluster_.store().PodsOn("node-1").empty());
}

TEST_F(NodesTest, AResizeHoldsWhenTheKubeletHasActed) {
  Run(1);
  cluster_.Create(PodForTest("a", "3"));
  cluster_.RunFor(Duration::Seconds(5));
  cluster_.Create(PodForTest("b", "2"));
  cluster_.RunFor(Duration::Seconds(5));
  EXPECT_EQ(cluster_.NodeOf("b"), "");
  ASSERT_TRUE(cluster_.api()
                  .UpdatePod("default/a", Actor::kUser,
                             [](k8s::Pod& pod) {
                               pod.spec.containers[0].resources.requests = {
                                   {"cpu", k8s::Quantity::FromUnits(1)}};
                             })
                  .ok());
  EXPECT_EQ(cluster_.Pod("a")->meta.generation, 2);
  cluster_.RunFor(Duration::Milliseconds(500));
  EXPECT_EQ(cluster_.NodeOf("b"), "") << "the container still has what it had";
  cluster_.RunFor(Duration::Seconds(20));
  EXPECT_EQ(cluster_.NodeOf("b"), "node-1");
}

}  // namespace
}  // namespace knx::sim
