// Rejects nodes without room for what the pod asks for, and prefers nodes by how full it would make
// them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/plugin.h"
#include "framework/registry.h"
#include "plugins/common/scored_resources.h"

namespace knx::plugins {

struct NodeResourcesFitArgs {
  enum class Strategy { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };
  struct ShapePoint {
    std::int32_t utilization = 0;  // 0..100
    std::int32_t score = 0;        // 0..10
  };

  std::vector<std::string> ignored_resources, ignored_resource_groups;
  Strategy strategy = Strategy::kLeastAllocated;
  std::vector<ScoredResource> resources = DefaultScoredResources();
  std::vector<ShapePoint> shape;  // for kRequestedToCapacityRatio, by rising utilization
};

Result<NodeResourcesFitArgs> ReadNodeResourcesFitArgs(const framework::PluginArgs& args);

// The score for every percentage of use from 0 to 100: straight lines between the points of a
// shape.
using ScoreByUse = std::array<std::int64_t, 101>;
ScoreByUse ScoresOfShape(const std::vector<NodeResourcesFitArgs::ShapePoint>& shape);

class NodeResourcesFit final : public framework::Plugin,
                               public framework::FilterPlugin,
                               public framework::ScorePlugin {
 public:
  static constexpr std::string_view kName = "NodeResourcesFit";

  static Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginArgs& args);
  explicit NodeResourcesFit(NodeResourcesFitArgs args);

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::EventSet events() const override;
  [[nodiscard]] bool MayHelp(const framework::ClusterEvent& event,
                             const framework::PodView& pod) const override;
  [[nodiscard]] framework::PreFilterResult PreFilter(const framework::PodView& pod) const override;
  [[nodiscard]] framework::PreScoreResult PreScore(const framework::PodView& pod) const override;

 private:
  [[nodiscard]] bool IsIgnored(std::string_view resource) const;

  NodeResourcesFitArgs args_;
  ScoreByUse score_by_use_{};
};

}  // namespace knx::plugins
