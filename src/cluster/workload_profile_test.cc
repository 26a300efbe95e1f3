#include "cluster/workload_profile.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"

namespace knx::cluster {
namespace {

using testing::AddPod;
using testing::PodBuilder;
using enum k8s::WorkloadType;

k8s::Namespace NamespaceWith(std::string name, k8s::StringMap labels) {
  k8s::Namespace space;
  space.meta.name = std::move(name);
  space.meta.labels = std::move(labels);
  return space;
}

class WorkloadProfiles : public ::testing::Test {
 protected:
  WorkloadProfile Of(const k8s::Pod& pod) { return state_.profile_of(state_.AddPod(pod)); }
  std::string TenantOf(const k8s::Pod& pod) {
    return std::string(state_.words().Text(Of(pod).tenant));
  }

  ProfileRules rules_;
  State state_;
  WorkloadProfiles() { state_.SetProfileRules(&rules_); }
};

PodBuilder Gpus(PodBuilder pod, const std::string& gpus) {
  return pod.Asks("nvidia.com/gpu", gpus);
}
PodBuilder InGang(PodBuilder pod) {
  return pod.Label("pod-group.scheduling.kubenexus.io/name", "g")
      .Label("pod-group.scheduling.kubenexus.io/min-available", "2");
}

TEST_F(WorkloadProfiles, WhatAPodDoesIsToldByWhatIsKnownOfIt) {
  struct Case {
    std::string_view name;
    k8s::Pod pod;
    k8s::WorkloadType want;
  };
  const Case cases[] = {
      {"plain", PodBuilder("a"), kService},
      {"said by a label", PodBuilder("b").Label("workload.kubenexus.io/type", "Training"),
       kTraining},
      {"said by an annotation", PodBuilder("c").Annotation("workload.kubenexus.io/type", "batch"),
       kBatch},
      {"nonsense is not heard",
       PodBuilder("d")
           .Label("workload.kubenexus.io/type", "gaming")
           .Label("batch.kubernetes.io/job-name", "j"),
       kBatch},
      {"a label comes before the operator",
       PodBuilder("e").Label("workload.kubenexus.io/type", "service").Label("spark-role", "driver"),
       kService},
      {"current Kubeflow", PodBuilder("f").Label("training.kubeflow.org/job-name", "j"), kTraining},
      {"KServe", PodBuilder("g").Label("serving.kserve.io/inferenceservice", "m"), kInference},
      {"a notebook by its image", PodBuilder("h").Image("quay.io/Jupyter/scipy:1"), kInteractive},
      {"a notebook by its name", PodBuilder("i").Label("app.kubernetes.io/name", "my-notebook"),
       kInteractive},
      {"gitlab is no notebook", PodBuilder("j").Label("app.kubernetes.io/name", "gitlab"),
       kService},
      {"a Job", PodBuilder("k").Label("batch.kubernetes.io/job-name", "j"), kBatch},
      {"a Job with one GPU", Gpus(PodBuilder("l").Label("batch.kubernetes.io/job-name", "j"), "1"),
       kBatch},
      {"a Job with two GPUs", Gpus(PodBuilder("m").Label("batch.kubernetes.io/job-name", "j"), "2"),
       kTraining},
      {"a Job of several pods with a GPU each",
       InGang(Gpus(PodBuilder("n").Label("batch.kubernetes.io/job-name", "j"), "1")), kTraining},
      {"a gang without GPUs", InGang(PodBuilder("o")), kBatch},
      {"a gang with GPUs", InGang(Gpus(PodBuilder("q"), "1")), kTraining},
      {"a service with two GPUs", Gpus(PodBuilder("r"), "2"), kService},
      {"a predictor", PodBuilder("s").Label("app.kubernetes.io/component", "predictor"),
       kInference},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(k8s::NameOf(Of(c.pod).type), k8s::NameOf(c.want));
  }
}

TEST_F(WorkloadProfiles, TheNamespaceSaysTheTierBeforeThePodDoes) {
  const auto annotated = [](const char* name) {
    return PodBuilder(name).Namespace("team").Annotation("tenant.kubenexus.io/tier", "gold");
  };
  EXPECT_EQ(Of(PodBuilder("a").Namespace("team")).tier, Tier::kBronze);
  EXPECT_EQ(Of(annotated("b")).tier, Tier::kGold);
  const PodId known = state_.AddPod(annotated("c"));
  state_.UpsertObject(NamespaceWith("team", {{"tenant.kubenexus.io/tier", "silver"}}));
  EXPECT_EQ(state_.profile_of(known).tier, Tier::kSilver);
  EXPECT_EQ(Of(annotated("d")).tier, Tier::kSilver);
  state_.UpsertObject(NamespaceWith("team", {}));
  EXPECT_EQ(state_.profile_of(known).tier, Tier::kGold);
  state_.UpsertObject(NamespaceWith("team", {{"scheduling.kubenexus.io/tier", "silver"}}));
  EXPECT_EQ(state_.profile_of(known).tier, Tier::kSilver);
  state_.RemoveObject(NamespaceWith("team", {}));
  EXPECT_EQ(state_.profile_of(known).tier, Tier::kGold);
}

TEST_F(WorkloadProfiles, PriorityClassesStandForTiers) {
  for (const auto& [name, tier] :
       {std::pair("high-priority", Tier::kGold), std::pair("medium-priority", Tier::kSilver),
        std::pair("low-priority", Tier::kBronze), std::pair("my-class", Tier::kBronze)}) {
    SCOPED_TRACE(name);
    k8s::Pod pod = PodBuilder(name);
    pod.spec.priority_class_name = name;
    EXPECT_EQ(Of(pod).tier, tier);
  }
}

TEST_F(WorkloadProfiles, TheTenantIsTheQueueOrWhatTheNamespaceSaysOrTheNamespace) {
  EXPECT_EQ(TenantOf(PodBuilder("a").Namespace("team")), "team");
  state_.UpsertObject(NamespaceWith("team", {{"tenant.kubenexus.io/name", "acme"}}));
  EXPECT_EQ(TenantOf(PodBuilder("b").Namespace("team")), "acme");
  EXPECT_EQ(TenantOf(PodBuilder("c").Namespace("team").Label("kueue.x-k8s.io/queue-name", "q")),
            "q");
}

TEST_F(WorkloadProfiles, WhoMayBePreemptedIsSaidOrUnsaid) {
  const auto said = [](const char* name, const char* value) {
    return PodBuilder(name).Label("workload.kubenexus.io/preemptible", value);
  };
  EXPECT_EQ(Of(PodBuilder("a")).preemptible, Preemptible::kUnsaid);
  EXPECT_EQ(Of(said("b", "true")).preemptible, Preemptible::kYes);
  EXPECT_EQ(Of(said("c", "false")).preemptible, Preemptible::kNo);
  const auto fills = [](const char* name, const char* value) {
    return PodBuilder(name).Annotation("scheduling.kubenexus.io/backfill", value);
  };
  EXPECT_EQ(Of(fills("f", "true")).preemptible, Preemptible::kYes);
  EXPECT_EQ(Of(fills("g", "false")).preemptible, Preemptible::kUnsaid);
  k8s::Pod low = PodBuilder("d");
  low.spec.priority_class_name = "best-effort";
  EXPECT_EQ(Of(low).preemptible, Preemptible::kYes);
  k8s::Pod held = said("e", "false");
  held.spec.priority_class_name = "best-effort";
  EXPECT_EQ(Of(held).preemptible, Preemptible::kNo);
}

TEST_F(WorkloadProfiles, AnUpdateIsLookedAtAnew) {
  const PodId id = AddPod(state_, PodBuilder("a"));
  state_.UpdatePod(id, PodBuilder("a").Label("workload.kubenexus.io/type", "batch"));
  EXPECT_EQ(state_.profile_of(id).type, kBatch);
}

TEST_F(WorkloadProfiles, OfTwoRulesThatFitTheFirstCounts) {
  rules_ =
      ProfileRules({{.key = "b", .sets = ProfileField::kTier, .to = "silver"},
                    {.key = "a", .sets = ProfileField::kTier, .to = "gold"},
                    {.key = "a", .values = {"no"}, .sets = ProfileField::kType, .to = "batch"}});
  EXPECT_EQ(Of(PodBuilder("x").Label("a", "1").Label("b", "1")).tier, Tier::kSilver);
  EXPECT_EQ(Of(PodBuilder("y").Label("a", "1")).tier, Tier::kGold);
  EXPECT_EQ(Of(PodBuilder("z").Label("a", "NO")).type, kBatch);
}

TEST(WithoutRules, NothingIsFoundOut) {
  State state;
  const PodId id = AddPod(state, PodBuilder("a").Label("workload.kubenexus.io/type", "batch"));
  EXPECT_EQ(state.profile_of(id), WorkloadProfile{});
}

}  // namespace
}  // namespace knx::cluster
