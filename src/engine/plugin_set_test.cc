#include "engine/plugin_set.h"

#include <gtest/gtest.h>

#include <vector>

namespace knx::engine {
namespace {

PluginSet Of(const std::vector<std::uint8_t>& plugins) {
  PluginSet set;
  for (const std::uint8_t plugin : plugins) set.Add(plugin);
  return set;
}

TEST(PluginSet, ListsItsMembersInAscendingOrder) {
  const std::vector<std::uint8_t> members = {0, 1, 63, 64, 127, 128, 254, 255};
  std::vector<std::uint8_t> listed;
  Of({255, 64, 0, 128, 63, 1, 254, 127, 64}).ForEach([&](std::uint8_t p) { listed.push_back(p); });
  EXPECT_EQ(listed, members);
  for (const std::uint8_t plugin : members) EXPECT_TRUE(Of(members).Contains(plugin));
  EXPECT_FALSE(Of(members).Contains(65));
  EXPECT_FALSE(Of(members).empty());
  EXPECT_TRUE(PluginSet{}.empty());
}

TEST(PluginSet, AsksNoFurtherThanTheFirstYes) {
  std::vector<std::uint8_t> asked;
  EXPECT_TRUE(Of({5, 70, 200}).Any([&](std::uint8_t plugin) {
    asked.push_back(plugin);
    return plugin == 70;
  }));
  EXPECT_EQ(asked, (std::vector<std::uint8_t>{5, 70}));
  EXPECT_FALSE(Of({5, 70, 200}).Any([](std::uint8_t) { return false; }));
}

TEST(PluginSet, CombinesLikeASet) {
  const PluginSet a = Of({1, 70, 130});
  const PluginSet b = Of({70, 200});
  EXPECT_EQ(a & b, Of({70}));
  EXPECT_EQ(a | b, Of({1, 70, 130, 200}));
  EXPECT_EQ(a - b, Of({1, 130}));
  EXPECT_TRUE(a.Intersects(b));
  EXPECT_FALSE(a.Intersects(Of({2, 71})));
}

}  // namespace
}  // namespace knx::engine
