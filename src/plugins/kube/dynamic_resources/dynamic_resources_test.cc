#include "plugins/kube/dynamic_resources/dynamic_resources.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddPod;
using cluster::testing::PodBuilder;

framework::PodView ViewOf(cluster::State& state, const k8s::Pod& pod) {
  const cluster::PodId id = AddPod(state, pod);
  return {state, state.class_of(id), id};
}

TEST(DynamicResources, APodWithoutClaimsIsNoneOfItsConcern) {
  cluster::State state;
  const auto result = DynamicResources().PreFilter(ViewOf(state, PodBuilder("p")));
  EXPECT_EQ(result.outcome.code, framework::Code::kSkip);
}

TEST(DynamicResources, APodWithClaimsWaitsRatherThanRunWithoutItsDevices) {
  cluster::State state;
  k8s::Pod pod = PodBuilder("p");
  pod.spec.resource_claims = {"gpu"};
  const auto result = DynamicResources().PreFilter(ViewOf(state, pod));
  EXPECT_EQ(result.outcome.code, framework::Code::kUnresolvable);
  EXPECT_EQ(result.outcome.reason, "resource claims are not supported yet");
}

TEST(DynamicResources, SaysWhatKubeSchedulerSaysWhenNothingFits) {
  cluster::State state;
  const framework::PodView view = ViewOf(state, PodBuilder("p"));
  const auto asked = DynamicResources().PostFilter(view, {});
  EXPECT_EQ(asked.outcome.code, framework::Code::kUnschedulable);
  EXPECT_EQ(asked.outcome.reason, "no new claims to deallocate");
  framework::Rejections before;
  before.was_asked = false;
  const auto not_asked = DynamicResources().PostFilter(view, before);
  EXPECT_EQ(not_asked.outcome.code, framework::Code::kError);
  EXPECT_EQ(not_asked.outcome.reason, "not found");
}

}  // namespace
}  // namespace knx::plugins
