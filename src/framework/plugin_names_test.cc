#include "framework/plugin_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace knx::framework {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string_view> Names(PluginOrigin origin) {
  std::vector<std::string_view> names;
  for (const KnownPlugin& plugin : KnownPlugins()) {
    if (plugin.origin == origin) names.push_back(plugin.name);
  }
  return names;
}

TEST(PluginNames, BeginWithTheDefaultSetOfKubeSchedulerInItsOrder) {
  EXPECT_THAT(Names(PluginOrigin::kDefault),
              ElementsAre("SchedulingGates", "PrioritySort", "NodeUnschedulable", "NodeName",
                          "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
                          "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone",
                          "PodTopologySpread", "InterPodAffinity", "DynamicResources",
                          "DefaultPreemption", "NodeResourcesBalancedAllocation", "ImageLocality",
                          "DefaultBinder", "NodeDeclaredFeatures"));
  EXPECT_EQ(KnownPlugins().front().name, "SchedulingGates");
}

TEST(PluginNames, HaveKubeSchedulersGatedPlugins) {
  EXPECT_THAT(Names(PluginOrigin::kOptional),
              ElementsAre("GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount"));
}

TEST(PluginNames, HaveAllOfOurs) {
  EXPECT_THAT(Names(PluginOrigin::kOurs),
              ElementsAre("ProfileClassifier", "Coscheduling", "ResourceReservation",
                          "WorkloadAwareScoring", "TopologyScoring", "BackfillScoring",
                          "ResourceFragmentationScore", "TenantHardwareAffinityScore",
                          "VRAMScheduler", "NetworkFabricScore", "NUMATopology", "GangPreemption",
                          "GPUTopology", "QueueFairness"));
}

TEST(PluginNames, AreUniqueAndFoundAndStandSomewhere) {
  std::set<std::string_view> names;
  for (const KnownPlugin& plugin : KnownPlugins()) {
    SCOPED_TRACE(plugin.name);
    EXPECT_TRUE(names.insert(plugin.name).second);
    EXPECT_EQ(FindPlugin(plugin.name), &plugin);
    EXPECT_NE(PointNames(plugin.points), "");
    EXPECT_EQ(RemovedPluginAdvice(plugin.name), "");
  }
}

TEST(PluginNames, TheShorterSpellingsOfTheDocumentsMeanTheSamePlugin) {
  struct Case {
    std::string_view alias, want;
  };
  const Case cases[] = {
      {"NUMATopologyScoring", "NUMATopology"},
      {"NodeResourceTopology", "NUMATopology"},
      {"ResourceFragmentation", "ResourceFragmentationScore"},
      {"TenantHardware", "TenantHardwareAffinityScore"},
      {"NetworkFabric", "NetworkFabricScore"},
      {"WorkloadAware", "WorkloadAwareScoring"},
      {"Backfill", "BackfillScoring"},
      {"BackfillScheduler", "BackfillScoring"},
      {"TopologySpread", "TopologyScoring"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.alias);
    ASSERT_NE(FindPlugin(c.alias), nullptr);
    EXPECT_EQ(FindPlugin(c.alias), FindPlugin(c.want));
    EXPECT_EQ(FindPlugin(c.alias)->name, c.want);
  }
}

TEST(PluginNames, AreSpelledExactly) {
  for (const std::string_view name : {"", "*", "nodename", "NodeName ", "NUMA", "Coscheduler"}) {
    EXPECT_EQ(FindPlugin(name), nullptr) << name;
  }
}

TEST(PluginNames, WhatKubeSchedulerRemovedComesWithAdvice) {
  for (const std::string_view name : {"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits",
                                      "SelectorSpread", "NodeResourcesMostAllocated"}) {
    EXPECT_EQ(FindPlugin(name), nullptr) << name;
    EXPECT_NE(RemovedPluginAdvice(name), "") << name;
  }
}

TEST(NamesLike, FindsWhatWasMeant) {
  struct Case {
    std::string_view written, want;
  };
  const Case cases[] = {
      {"NodeAfinity", "NodeAffinity"},
      {"nodeaffinity", "NodeAffinity"},
      {"NodeResourceFit", "NodeResourcesFit"},
      {"NumaTopology", "NUMATopology"},
      {"CoScheduling", "Coscheduling"},
      {"PodTopologySpred", "PodTopologySpread"},
      {"BalancedAllocation", "NodeResourcesBalancedAllocation"},
      {"VRAMSchedulerPlugin", "VRAMScheduler"},
  };
  for (const Case& c : cases) EXPECT_THAT(NamesLike(c.written), Contains(c.want)) << c.written;
  EXPECT_EQ(NamesLike("NodeAfinity").front(), "NodeAffinity");
}

TEST(NamesLike, SaysNothingWhereNothingIsNear) {
  EXPECT_THAT(NamesLike("MyOwnThing"), IsEmpty());
  EXPECT_THAT(NamesLike(""), IsEmpty());
  EXPECT_THAT(NamesLike(std::string(10'000, 'x')), IsEmpty());
}

TEST(NamesLike, IsShort) {
  EXPECT_LE(NamesLike("Node").size(), 3U);
  EXPECT_LE(NamesLike("Scor").size(), 3U);
}

TEST(PointNames, AreThoseOfTheConfigurationInTheOrderOfACycle) {
  EXPECT_EQ(PointNames({Point::kScore, Point::kFilter}), "filter, score");
  EXPECT_EQ(PointNames({}), "");
  std::string all;
  for (const Point point : kAllPoints) all += std::string(PointName(point)) + ' ';
  EXPECT_EQ(
      all,
      "preEnqueue queueSort preFilter filter postFilter preScore score reserve permit preBind "
      "bind postBind placementGenerate placementScore ");
}

}  // namespace
}  // namespace knx::framework
