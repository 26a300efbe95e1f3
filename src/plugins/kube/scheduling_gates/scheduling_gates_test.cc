#include "plugins/kube/scheduling_gates/scheduling_gates.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddPod;
using cluster::testing::PodBuilder;

TEST(SchedulingGates, KeepsPodsWithGatesAndNamesThem) {
  cluster::State state;
  const SchedulingGates plugin;
  const auto ask = [&](const k8s::Pod& pod) {
    return plugin.PreEnqueue(testing::View(state, AddPod(state, pod)));
  };
  EXPECT_EQ(ask(PodBuilder("free")).code, framework::Code::kSuccess);
  const framework::Outcome one = ask(PodBuilder("one").Gate("example.com/a"));
  EXPECT_EQ(one.code, framework::Code::kUnresolvable);
  EXPECT_EQ(one.reason, "waiting for scheduling gates: [example.com/a]");
  EXPECT_EQ(ask(PodBuilder("two").Gate("b").Gate("a")).reason,
            "waiting for scheduling gates: [b a]");
}

TEST(SchedulingGates, AsksThePodAndNotItsClass) {
  cluster::State state;
  const SchedulingGates plugin;
  const cluster::PodId gated = AddPod(state, PodBuilder("gated").Gate("a"));
  const cluster::PodId free = AddPod(state, PodBuilder("free"));
  ASSERT_EQ(state.pod(gated).pod_class, state.pod(free).pod_class);
  EXPECT_TRUE(plugin.PreEnqueue(testing::View(state, free)).ok());
  const framework::PodView any{state, state.class_of(gated), cluster::PodId{}};
  EXPECT_TRUE(plugin.PreEnqueue(any).ok());
}

TEST(SchedulingGates, WaitsForItsGatesOnly) {
  const SchedulingGates plugin;
  EXPECT_TRUE(plugin.events().Contains(framework::EventKind::kOwnGatesRemoved));
  EXPECT_FALSE(plugin.events().Contains(framework::EventKind::kNodeAdd));
  EXPECT_FALSE(plugin.events().Contains(framework::EventKind::kOwnOther));
}

}  // namespace
}  // namespace knx::plugins
