#include "framework/plugin_sets.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "framework/testing_config.h"

namespace knx::framework {
namespace {

using testing::kHead;
using testing::Show;
using testing::ShowAll;

// The default set at every point, as kube-scheduler lists it at start.
constexpr std::string_view kDefaultPoints =
    "preEnqueue: SchedulingGates DynamicResources DefaultPreemption\n"
    "queueSort: PrioritySort\n"
    "preFilter: NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits "
    "VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources "
    "NodeDeclaredFeatures\n"
    "filter: NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit "
    "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
    "InterPodAffinity DynamicResources NodeDeclaredFeatures\n"
    "postFilter: DynamicResources DefaultPreemption\n"
    "preScore: TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread "
    "InterPodAffinity NodeResourcesBalancedAllocation\n"
    "score: TaintToleration:3 NodeAffinity:2 NodeResourcesFit:1 VolumeBinding:1 "
    "PodTopologySpread:2 InterPodAffinity:2 DynamicResources:2 NodeResourcesBalancedAllocation:1 "
    "ImageLocality:1\n"
    "reserve: VolumeBinding DynamicResources\n"
    "preBind: VolumeBinding DynamicResources\n"
    "bind: DefaultBinder\n"
    "placementScore: NodeResourcesFit:1\n";

// The first profile of a configuration with these plugins, in YAML.
ResolvedPlugins ResolveText(std::string_view plugins) {
  const std::string text = fmt::format("{}profiles:\n- plugins: {}\n", kHead, plugins);
  Result<SchedulerConfiguration> config = ReadConfiguration(text, "test.yaml");
  if (!config.ok()) {
    ADD_FAILURE() << config.error().ToString();
    return {};
  }
  return config->profiles.front().resolved;
}

TEST(Resolve, NothingSaidGivesTheDefaultSet) {
  EXPECT_EQ(ShowAll(Resolve({})), kDefaultPoints);
  EXPECT_EQ(ShowAll(ResolveText("{}")), kDefaultPoints);
  EXPECT_EQ(ShowAll(DefaultConfiguration().profiles.front().resolved), kDefaultPoints);
}

struct PluginsCase {
  std::string_view name, plugins;
  Point point;
  std::string_view want;
};

void CheckPlugins(std::span<const PluginsCase> cases) {
  for (const PluginsCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Show(ResolveText(c.plugins), c.point), c.want);
  }
}

// Keeps the lists short: these five and a bind plugin instead of the default set.
#define KNX_FEW                                                                                  \
  "multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: NodeName}, "     \
  "{name: TaintToleration, weight: 3}, {name: NodeAffinity, weight: 2}, {name: ImageLocality}, " \
  "{name: DefaultBinder}]}"

TEST(Resolve, MultiPointChangesTheDefaultSet) {
  const PluginsCase cases[] = {
      {"a plugin of ours is added at the end of every point it extends",
       "{multiPoint: {enabled: [{name: NUMATopology, weight: 10}]}}", Point::kScore,
       "TaintToleration:3 NodeAffinity:2 NodeResourcesFit:1 VolumeBinding:1 PodTopologySpread:2 "
       "InterPodAffinity:2 DynamicResources:2 NodeResourcesBalancedAllocation:1 ImageLocality:1 "
       "NUMATopology:10"},
      {"a default named again keeps its place and takes the new weight",
       "{multiPoint: {enabled: [{name: NodeAffinity, weight: 7}]}}", Point::kScore,
       "TaintToleration:3 NodeAffinity:7 NodeResourcesFit:1 VolumeBinding:1 PodTopologySpread:2 "
       "InterPodAffinity:2 DynamicResources:2 NodeResourcesBalancedAllocation:1 ImageLocality:1"},
      {"named again without a weight it weighs 1, not what the default set gave it",
       "{multiPoint: {enabled: [{name: TaintToleration}]}}", Point::kScore,
       "TaintToleration:1 NodeAffinity:2 NodeResourcesFit:1 VolumeBinding:1 PodTopologySpread:2 "
       "InterPodAffinity:2 DynamicResources:2 NodeResourcesBalancedAllocation:1 ImageLocality:1"},
      {"a default disabled by name is gone from every point",
       "{multiPoint: {disabled: [{name: DynamicResources}]}}", Point::kPostFilter,
       "DefaultPreemption"},
      {"disabled and enabled by name, it is enabled, at the end",
       "{multiPoint: {disabled: [{name: DynamicResources}], enabled: [{name: DynamicResources}]}}",
       Point::kPostFilter, "DefaultPreemption DynamicResources"},
      {"disabling what is not in the default set does nothing to it",
       "{multiPoint: {disabled: [{name: NUMATopology}], enabled: [{name: NUMATopology}]}, score: "
       "{disabled: [{name: '*'}]}, filter: {disabled: [{name: NodeName}]}}",
       Point::kFilter,
       "NodeUnschedulable TaintToleration NodeAffinity NodePorts NodeResourcesFit "
       "VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
       "InterPodAffinity DynamicResources NodeDeclaredFeatures NUMATopology"},
      {"* leaves only what is enabled beside it", "{" KNX_FEW "}", Point::kScore,
       "TaintToleration:3 NodeAffinity:2 ImageLocality:1"},
      {"the order of multiPoint is the order of the points",
       "{multiPoint: {disabled: [{name: '*'}], enabled: [{name: NodeAffinity}, {name: NodeName}, "
       "{name: DefaultBinder}, {name: PrioritySort}, {name: NodeUnschedulable}]}}",
       Point::kFilter, "NodeAffinity NodeName NodeUnschedulable"},
  };
  CheckPlugins(cases);
}

TEST(Resolve, APointOfItsOwnOverridesMultiPoint) {
  const PluginsCase cases[] = {
      {"named at the point and in multiPoint: first, in the order of the point",
       "{" KNX_FEW ", score: {enabled: [{name: ImageLocality, weight: 5}, {name: TaintToleration, "
       "weight: 4}]}}",
       Point::kScore, "ImageLocality:5 TaintToleration:4 NodeAffinity:2"},
      {"named at the point without a weight it weighs 1",
       "{" KNX_FEW ", score: {enabled: [{name: TaintToleration}]}}", Point::kScore,
       "TaintToleration:1 NodeAffinity:2 ImageLocality:1"},
      {"a weight of 0 means 1",
       "{" KNX_FEW ", score: {enabled: [{name: TaintToleration, weight: 0}]}}", Point::kScore,
       "TaintToleration:1 NodeAffinity:2 ImageLocality:1"},
      {"named at the point only: last",
       "{" KNX_FEW ", score: {enabled: [{name: NUMATopology, weight: 10}, {name: ImageLocality}]}}",
       Point::kScore, "ImageLocality:1 TaintToleration:3 NodeAffinity:2 NUMATopology:10"},
      {"disabled at the point: gone from there",
       "{" KNX_FEW ", score: {disabled: [{name: NodeAffinity}]}}", Point::kScore,
       "TaintToleration:3 ImageLocality:1"},
      {"and from nowhere else", "{" KNX_FEW ", score: {disabled: [{name: NodeAffinity}]}}",
       Point::kPreScore, "TaintToleration NodeAffinity"},
      {"disabled and enabled at the point: enabled, last",
       "{" KNX_FEW
       ", score: {disabled: [{name: TaintToleration}], enabled: [{name: TaintToleration}]}}",
       Point::kScore, "NodeAffinity:2 ImageLocality:1 TaintToleration:1"},
      {"* at the point leaves only what is enabled there, in that order",
       "{" KNX_FEW
       ", score: {disabled: [{name: '*'}], enabled: [{name: VolumeBinding}, {name: NodeAffinity, "
       "weight: 9}]}}",
       Point::kScore, "VolumeBinding:1 NodeAffinity:9"},
      {"* at the point with nothing enabled leaves nothing",
       "{" KNX_FEW ", score: {disabled: [{name: '*'}]}}", Point::kScore, ""},
      {"disabled in multiPoint, enabled at one point: only there",
       "{multiPoint: {disabled: [{name: NodeAffinity}]}, filter: {enabled: [{name: NodeAffinity}], "
       "disabled: [{name: '*'}]}}",
       Point::kPreFilter,
       "NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone "
       "PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures"},
      {"placementScore takes its weight from its own entry",
       "{placementScore: {enabled: [{name: NodeResourcesFit, weight: 6}]}}", Point::kPlacementScore,
       "NodeResourcesFit:6"},
      {"and score keeps that of multiPoint",
       "{" KNX_FEW ", placementScore: {enabled: [{name: NodeResourcesFit, weight: 6}]}}",
       Point::kScore, "TaintToleration:3 NodeAffinity:2 ImageLocality:1"},
      {"a weight at a point without scores is no matter",
       "{" KNX_FEW ", filter: {enabled: [{name: NodeAffinity, weight: 99}]}}", Point::kFilter,
       "NodeAffinity NodeName TaintToleration"},
      {"another spelling is the same plugin",
       "{multiPoint: {enabled: [{name: NUMATopology, weight: 2}]}, score: {disabled: [{name: "
       "NodeResourceTopology}, {name: '*'}], enabled: [{name: NUMATopologyScoring, weight: 4}]}}",
       Point::kScore, "NUMATopology:4"},
  };
  CheckPlugins(cases);
}

TEST(Resolve, CoschedulingTakesThePlaceOfPrioritySort) {
  const PluginsCase cases[] = {
      {"named at the point, nothing disabled", "{queueSort: {enabled: [{name: Coscheduling}]}}",
       Point::kQueueSort, "Coscheduling"},
      {"as kube-scheduler wants it",
       "{queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}}", Point::kQueueSort,
       "Coscheduling"},
      {"with PrioritySort disabled by name",
       "{queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: PrioritySort}]}}",
       Point::kQueueSort, "Coscheduling"},
      {"through multiPoint", "{multiPoint: {enabled: [{name: Coscheduling}]}}", Point::kQueueSort,
       "Coscheduling"},
      {"unless PrioritySort is named at the point itself",
       "{multiPoint: {enabled: [{name: Coscheduling}]}, queueSort: {enabled: [{name: "
       "PrioritySort}]}}",
       Point::kQueueSort, "PrioritySort"},
      {"PrioritySort named at the point, which changes nothing",
       "{queueSort: {enabled: [{name: PrioritySort}]}}", Point::kQueueSort, "PrioritySort"},
      {"its other points are its own", "{multiPoint: {enabled: [{name: Coscheduling}]}}",
       Point::kPermit, "Coscheduling"},
  };
  CheckPlugins(cases);
}

TEST(Resolve, GatedPluginsAreOnWhereTheyAreNamed) {
  const ResolvedPlugins resolved = ResolveText(
      "{multiPoint: {enabled: [{name: GangScheduling}, {name: TopologyPlacementGenerator}, {name: "
      "PodGroupPodsCount, weight: 5}]}}");
  EXPECT_EQ(Show(resolved, Point::kPermit), "GangScheduling");
  EXPECT_EQ(Show(resolved, Point::kPlacementGenerate), "TopologyPlacementGenerator");
  EXPECT_EQ(Show(resolved, Point::kPlacementScore), "NodeResourcesFit:1 PodGroupPodsCount:5");
}

TEST(ResolvedPlugins, KnowWhatTheyContain) {
  const ResolvedPlugins resolved = Resolve({});
  const KnownPlugin* name = FindPlugin("NodeName");
  EXPECT_TRUE(resolved.Contains(Point::kFilter, name));
  EXPECT_FALSE(resolved.Contains(Point::kScore, name));
  EXPECT_TRUE(resolved.Contains(name));
  EXPECT_FALSE(resolved.Contains(FindPlugin("NUMATopology")));
}

}  // namespace
}  // namespace knx::framework
