#include "k8s/operators.h"

#include <gtest/gtest.h>

#include <string>

#include "k8s/drivers.h"

namespace knx::k8s {
namespace {

std::string NameOfOperator(const ObjectMeta& meta) {
  const Operator* const found = OperatorOf(meta);
  return found == nullptr ? "" : std::string(found->name);
}

TEST(Operators, PodsAreKnownByTheirLabels) {
  struct Case {
    std::string_view name;
    StringMap labels;
    std::string_view want;
    WorkloadType type = WorkloadType::kNone;
  };
  const Case cases[] = {
      {"nobody's", {{"app", "web"}, {"pod-template-hash", "1"}}, ""},
      {"PyTorchJob",
       {{"training.kubeflow.org/job-name", "a"},
        {"training.kubeflow.org/operator-name", "pytorchjob-controller"},
        {"training.kubeflow.org/replica-type", "worker"}},
       "Kubeflow",
       WorkloadType::kTraining},
      {"MPIJob",
       {{"training.kubeflow.org/job-name", "a"},
        {"training.kubeflow.org/operator-name", "mpi-operator"}},
       "MPI",
       WorkloadType::kTraining},
      {"Spark's driver", {{"spark-role", "driver"}}, "Spark", WorkloadType::kBatch},
      {"Ray", {{"ray.io/cluster", "r"}, {"ray.io/node-type", "head"}}, "Ray", WorkloadType::kBatch},
      {"a Job of a JobSet",
       {{"batch.kubernetes.io/job-name", "a-0"}, {"jobset.sigs.k8s.io/jobset-name", "a"}},
       "JobSet",
       WorkloadType::kBatch},
      {"LeaderWorkerSet",
       {{"leaderworkerset.sigs.k8s.io/name", "vllm"}},
       "LeaderWorkerSet",
       WorkloadType::kInference},
      {"Volcano", {{"volcano.sh/job-name", "a"}}, "Volcano", WorkloadType::kBatch},
      {"Argo", {{"workflows.argoproj.io/workflow", "a"}}, "Argo", WorkloadType::kBatch},
      {"KServe on a LeaderWorkerSet",
       {{"leaderworkerset.sigs.k8s.io/name", "m"}, {"serving.kserve.io/inferenceservice", "m"}},
       "KServe",
       WorkloadType::kInference},
      {"Seldon", {{"seldon-deployment-id", "m"}}, "Seldon", WorkloadType::kInference},
      {"Jupyter", {{"hub.jupyter.org/username", "ann"}}, "Jupyter", WorkloadType::kInteractive},
      {"Job", {{"batch.kubernetes.io/job-name", "a"}}, "Job", WorkloadType::kBatch},
      {"an older Kubeflow", {{"kubeflow.org/component", "worker"}}, "Job", WorkloadType::kBatch},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ObjectMeta meta;
    meta.labels = c.labels;
    EXPECT_EQ(NameOfOperator(meta), c.want);
    const Operator* const found = OperatorOf(meta);
    EXPECT_EQ(found == nullptr ? WorkloadType::kNone : found->type, c.type);
  }
}

TEST(Operators, PodsAreKnownByTheirOwner) {
  struct Case {
    std::string_view api_version, kind, want;
  };
  const Case cases[] = {
      {"batch/v1", "Job", "Job"},
      {"batch.volcano.sh/v1alpha1", "Job", "Volcano"},
      {"kubeflow.org/v1", "PyTorchJob", "Kubeflow"},
      {"kubeflow.org/v2beta1", "MPIJob", "MPI"},
      {"apps/v1", "ReplicaSet", ""},
      {"example.com/v1", "Job", ""},
      {"", "Job", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.api_version);
    ObjectMeta meta;
    meta.owners = {{.kind = std::string(c.kind),
                    .name = "a",
                    .uid = "u",
                    .controller = true,
                    .api_version = std::string(c.api_version)}};
    EXPECT_EQ(NameOfOperator(meta), c.want);
  }
}

TEST(Operators, WhatAModelRunsOnSaysWhichPodsBelongTogether) {
  ObjectMeta meta;
  meta.labels = {{"leaderworkerset.sigs.k8s.io/name", "m"},
                 {"serving.kserve.io/inferenceservice", "m"}};
  ASSERT_NE(GangOperatorOf(meta), nullptr);
  EXPECT_EQ(GangOperatorOf(meta)->name, "LeaderWorkerSet");
  meta.labels = {{"workflows.argoproj.io/workflow", "a"}};
  EXPECT_EQ(GangOperatorOf(meta), nullptr);
}

TEST(Operators, DriversAreKnownByTheirLabels) {
  EXPECT_TRUE(IsDriver({{"spark-role", "driver"}}));
  EXPECT_TRUE(IsDriver({{"app", "x"}, {"ray.io/node-type", "head"}}));
  EXPECT_FALSE(IsDriver({{"spark-role", "executor"}}));
  EXPECT_FALSE(IsDriver({{"ray.io/node-type", "worker"}}));
  EXPECT_FALSE(IsDriver({}));
}

TEST(Operators, WhatPeopleCallWhatTheyRunIsInALabel) {
  EXPECT_EQ(AppNameOf({{"app", "x"}, {"app.kubernetes.io/name", "y"}, {"spark-app-name", "z"}}),
            "z");
  EXPECT_EQ(AppNameOf({{"app", "x"}, {"app.kubernetes.io/name", "y"}}), "y");
  EXPECT_EQ(AppNameOf({{"app", "x"}, {"app.kubernetes.io/name", ""}}), "x");
  EXPECT_EQ(AppNameOf({}), "");
}

TEST(Operators, EveryNameOfAGangIsAMark) {
  for (const Operator& one : Operators()) {
    if (one.gang_name.empty()) continue;
    SCOPED_TRACE(one.name);
    ObjectMeta meta;
    meta.labels = {{std::string(one.gang_name), "x"}};
    EXPECT_NE(OperatorOf(meta), nullptr);
  }
}

}  // namespace
}  // namespace knx::k8s
