#include "plugins/registry.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "framework/config.h"
#include "framework/plugin.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

std::unique_ptr<framework::Plugin> MakePlugin(std::string_view name) {
  for (const framework::PluginEntry& entry : AllPlugins()) {
    if (entry.name == name) return *testing::MakeFromYaml(entry.make, "");
  }
  return nullptr;
}

TEST(Registry, MakesEveryPluginUnderItsNameWithoutArguments) {
  std::set<std::string_view> names;
  for (const framework::PluginEntry& entry : AllPlugins()) {
    SCOPED_TRACE(entry.name);
    EXPECT_TRUE(names.insert(entry.name).second) << "listed twice";
    for (const char* yaml : {"", "null", "{}"}) {
      const auto plugin = testing::MakeFromYaml(entry.make, yaml);
      ASSERT_TRUE(plugin.ok()) << plugin.error().ToString();
      EXPECT_EQ((*plugin)->name(), entry.name);
    }
  }
}

TEST(Registry, RefusesArgumentsThatAPluginDoesNotKnow) {
  for (const framework::PluginEntry& entry : AllPlugins()) {
    SCOPED_TRACE(entry.name);
    for (const char* yaml : {"noSuchField: 1", "[]", "kind: NoSuchArgs", "apiVersion: v2"}) {
      const auto plugin = testing::MakeFromYaml(entry.make, yaml);
      ASSERT_FALSE(plugin.ok()) << yaml;
      EXPECT_EQ(plugin.error().place.file, "config.yaml");
      EXPECT_EQ(plugin.error().place.line, 1);
      EXPECT_NE(plugin.error().message.find("args"), std::string::npos) << plugin.error().message;
    }
    const std::string right =
        fmt::format("apiVersion: kubescheduler.config.k8s.io/v1\nkind: {}Args", entry.name);
    EXPECT_TRUE(testing::MakeFromYaml(entry.make, right).ok());
  }
}

// Which points a plugin can be named in decides what a configuration may say.
TEST(Registry, PluginsAreAtThePointsOfKubeScheduler) {
  struct Case {
    std::string_view name, points;
  };
  const Case cases[] = {
      {"SchedulingGates", "preEnqueue"},
      {"PrioritySort", "queueSort"},
      {"NodeUnschedulable", "filter"},
      {"NodeName", "filter"},
      {"TaintToleration", "filter preScore score"},
      {"NodeAffinity", "preFilter filter preScore score"},
      {"NodePorts", "preFilter filter"},
      {"NodeResourcesFit", "preFilter filter preScore score"},
      {"VolumeRestrictions", "preFilter filter"},
      {"NodeVolumeLimits", "preFilter filter"},
      {"VolumeBinding", "preFilter filter preScore score reserve preBind"},
      {"VolumeZone", "preFilter filter"},
      {"PodTopologySpread", "preFilter filter preScore score"},
      {"InterPodAffinity", "preFilter filter preScore score"},
      {"NodeResourcesBalancedAllocation", "preScore score"},
      {"ImageLocality", "score"},
      {"DefaultBinder", "bind"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::unique_ptr<framework::Plugin> plugin = MakePlugin(c.name);
    ASSERT_NE(plugin, nullptr);
    std::string points;
    const auto at = [&](bool there, std::string_view point) {
      if (there) points += (points.empty() ? "" : " ") + std::string(point);
    };
    const auto* filter = dynamic_cast<const framework::FilterPlugin*>(plugin.get());
    const auto* score = dynamic_cast<const framework::ScorePlugin*>(plugin.get());
    at(dynamic_cast<const framework::PreEnqueuePlugin*>(plugin.get()) != nullptr, "preEnqueue");
    at(dynamic_cast<const framework::QueueSortPlugin*>(plugin.get()) != nullptr, "queueSort");
    at(filter != nullptr && filter->has_pre_filter(), "preFilter");
    at(filter != nullptr && filter->has_filter(), "filter");
    at(score != nullptr && score->has_pre_score(), "preScore");
    at(score != nullptr, "score");
    at(dynamic_cast<const framework::ReservePlugin*>(plugin.get()) != nullptr, "reserve");
    at(dynamic_cast<const framework::PreBindPlugin*>(plugin.get()) != nullptr, "preBind");
    at(dynamic_cast<const framework::BindPlugin*>(plugin.get()) != nullptr, "bind");
    EXPECT_EQ(points, c.points);
  }
}

// ---- the configurations that are shipped ----

std::string Shipped(const std::string& path) {
  std::ifstream in(std::filesystem::path(KNX_SOURCE_DIR) / path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// The text of the block `key: |`, without what it is indented by.
std::string BlockOf(const std::string& yaml, const std::string& key) {
  std::istringstream lines(yaml.substr(yaml.find(key + ": |")));
  std::string line, block;
  std::getline(lines, line);
  std::size_t indent = 0;
  while (std::getline(lines, line)) {
    if (indent == 0) indent = line.find_first_not_of(' ');
    if (line.find_first_not_of(' ') < indent) break;
    block += line.substr(std::min(indent, line.size())) + "\n";
  }
  return block;
}

// What the profile kubenexus-scheduler comes to, point by point, of what is built.
std::string BuiltPluginsOf(const std::string& configuration, const std::string& name) {
  const auto config = framework::ReadConfiguration(configuration, name);
  EXPECT_TRUE(config.ok()) << (config.ok() ? "" : config.error().ToString());
  if (!config.ok()) return {};
  std::string out;
  for (const framework::ProfileConfiguration& profile : config->profiles) {
    if (profile.scheduler_name != "kubenexus-scheduler") continue;
    for (const auto& point : profile.resolved.points) {
      for (const framework::ResolvedPlugin& entry : point) {
        if (MakePlugin(entry.plugin->name) != nullptr)
          out += fmt::format(" {}", entry.plugin->name);
      }
      out += "\n";
    }
  }
  return out;
}

TEST(ShippedConfigurations, HaveTheSamePluginsForPodsThatNameUs) {
  const std::string shipped = BuiltPluginsOf(Shipped("config/config.yaml"), "config.yaml");
  EXPECT_NE(shipped.find("BackfillScoring"), std::string::npos) << shipped;
  const std::string manifest = Shipped("deploy/kubenexus-scheduler.yaml");
  EXPECT_EQ(BuiltPluginsOf(BlockOf(manifest, "config.yaml"), "the manifest"), shipped);
  EXPECT_EQ(BuiltPluginsOf(Shipped("tools/cluster/scheduler.yaml"), "make cluster"), shipped);
}

}  // namespace
}  // namespace knx::plugins
