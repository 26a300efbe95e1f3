#include "plugins/kube/default_binder/default_binder.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

TEST(DefaultBinder, LeavesTheBindingToTheEngine) {
  cluster::State state;
  const cluster::NodeRow row = cluster::testing::AddNode(state, cluster::testing::NodeBuilder("n"));
  const cluster::PodId pod = cluster::testing::AddPod(state, cluster::testing::PodBuilder("p"));
  EXPECT_EQ(DefaultBinder().Bind(testing::View(state, pod), row).code, framework::Code::kSuccess);
}

}  // namespace
}  // namespace knx::plugins
