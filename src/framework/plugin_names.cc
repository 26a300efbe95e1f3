#include "framework/plugin_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/near_names.h"

namespace knx::framework {
namespace {

using enum Point;
using enum PluginOrigin;

// The extension points of kube-scheduler's plugins are those of v1.36, those of ours the ones the
// documents name.
constexpr KnownPlugin kPlugins[] = {
    {"SchedulingGates", kDefault, {kPreEnqueue}},
    {"PrioritySort", kDefault, {kQueueSort}},
    {"NodeUnschedulable", kDefault, {kFilter}},
    {"NodeName", kDefault, {kFilter}},
    {"TaintToleration", kDefault, {kFilter, kPreScore, kScore}, 3},
    {"NodeAffinity", kDefault, {kPreFilter, kFilter, kPreScore, kScore}, 2},
    {"NodePorts", kDefault, {kPreFilter, kFilter}},
    {"NodeResourcesFit", kDefault, {kPreFilter, kFilter, kPreScore, kScore, kPlacementScore}, 1},
    {"VolumeRestrictions", kDefault, {kPreFilter, kFilter}},
    {"NodeVolumeLimits", kDefault, {kPreFilter, kFilter}},
    {"VolumeBinding", kDefault, {kPreFilter, kFilter, kPreScore, kScore, kReserve, kPreBind}},
    {"VolumeZone", kDefault, {kPreFilter, kFilter}},
    {"PodTopologySpread", kDefault, {kPreFilter, kFilter, kPreScore, kScore}, 2},
    {"InterPodAffinity", kDefault, {kPreFilter, kFilter, kPreScore, kScore}, 2},
    // Before DefaultPreemption: giving back an idle claim is better than evicting a pod.
    {"DynamicResources",
     kDefault,
     {kPreEnqueue, kPreFilter, kFilter, kPostFilter, kScore, kReserve, kPreBind},
     2},
    {"DefaultPreemption", kDefault, {kPreEnqueue, kPostFilter}},
    {"NodeResourcesBalancedAllocation", kDefault, {kPreScore, kScore}, 1},
    {"ImageLocality", kDefault, {kScore}, 1},
    {"DefaultBinder", kDefault, {kBind}},
    {"NodeDeclaredFeatures", kDefault, {kPreFilter, kFilter}},

    {"GangScheduling", kOptional, {kPreEnqueue, kPermit}},
    {"TopologyPlacementGenerator", kOptional, {kPlacementGenerate}},
    {"PodGroupPodsCount", kOptional, {kPlacementScore}, 1},

    {"ProfileClassifier", kOurs, {kPreFilter}},
    {"Coscheduling", kOurs, {kQueueSort, kPreFilter, kReserve, kPermit}},
    {"ResourceReservation", kOurs, {kPreFilter, kFilter, kReserve, kPostBind}},
    {"WorkloadAwareScoring", kOurs, {kScore}},
    {"TopologyScoring", kOurs, {kScore}},
    {"BackfillScoring", kOurs, {kScore}},
    {"ResourceFragmentationScore", kOurs, {kFilter, kScore}},
    {"TenantHardwareAffinityScore", kOurs, {kScore}},
    {"VRAMScheduler", kOurs, {kFilter, kScore}},
    {"NetworkFabricScore", kOurs, {kFilter, kScore}},
    {"NUMATopology", kOurs, {kFilter, kScore}},
    {"GangPreemption", kOurs, {kPostFilter}},
    {"GPUTopology", kOurs, {kFilter, kScore}},
    {"QueueFairness", kOurs, {kPreEnqueue, kPostFilter}},
};

constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
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

constexpr std::pair<std::string_view, std::string_view> kRemoved[] = {
    {"AzureDiskLimits", "NodeVolumeLimits does its work"},
    {"CinderLimits", "NodeVolumeLimits does its work"},
    {"EBSLimits", "NodeVolumeLimits does its work"},
    {"GCEPDLimits", "NodeVolumeLimits does its work"},
    {"NodeResourcesLeastAllocated",
     "NodeResourcesFit does its work with scoringStrategy.type LeastAllocated"},
    {"NodeResourcesMostAllocated",
     "NodeResourcesFit does its work with scoringStrategy.type MostAllocated"},
    {"RequestedToCapacityRatio",
     "NodeResourcesFit does its work with scoringStrategy.type RequestedToCapacityRatio"},
    {"SelectorSpread", "PodTopologySpread does its work"},
};

template <std::size_t n>
std::string_view Find(const std::pair<std::string_view, std::string_view> (&table)[n],
                      std::string_view name) {
  for (const auto& [key, value] : table) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace

std::string_view PointName(Point point) {
  static constexpr std::array<std::string_view, kPointCount> kNames = {
      "preEnqueue", "queueSort", "preFilter",         "filter",        "postFilter",
      "preScore",   "score",     "reserve",           "permit",        "preBind",
      "bind",       "postBind",  "placementGenerate", "placementScore"};
  return kNames[static_cast<std::size_t>(point)];
}

std::string PointNames(PointSet points) {
  std::vector<std::string_view> names;
  for (const Point point : kAllPoints) {
    if (points.Contains(point)) names.push_back(PointName(point));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::span<const KnownPlugin> KnownPlugins() { return kPlugins; }

const KnownPlugin* FindPlugin(std::string_view name) {
  const std::string_view canonical = Find(kAliases, name);
  if (!canonical.empty()) name = canonical;
  for (const KnownPlugin& plugin : kPlugins) {
    if (plugin.name == name) return &plugin;
  }
  return nullptr;
}

std::string_view RemovedPluginAdvice(std::string_view name) { return Find(kRemoved, name); }

std::vector<std::string_view> NamesLike(std::string_view name) {
  std::vector<std::string_view> names;
  for (const KnownPlugin& plugin : kPlugins) names.push_back(plugin.name);
  return NamesNear(name, names);
}

}  // namespace knx::framework
