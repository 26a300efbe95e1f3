#include "plugins/kube/priority_sort/priority_sort.h"

#include <gtest/gtest.h>

namespace knx::plugins {
namespace {

TEST(PrioritySort, IsAQueueSortPluginAndNothingElse) {
  const PrioritySort plugin;
  const framework::Plugin& base = plugin;
  EXPECT_EQ(base.name(), "PrioritySort");
  EXPECT_NE(dynamic_cast<const framework::QueueSortPlugin*>(&base), nullptr);
  EXPECT_EQ(dynamic_cast<const framework::FilterPlugin*>(&base), nullptr);
  EXPECT_EQ(dynamic_cast<const framework::ScorePlugin*>(&base), nullptr);
}

}  // namespace
}  // namespace knx::plugins
