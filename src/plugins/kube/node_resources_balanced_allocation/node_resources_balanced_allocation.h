// Prefers nodes whose resources the pod leaves used alike, measured by how much better or worse it
// makes them.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/plugin.h"
#include "framework/registry.h"
#include "plugins/common/scored_resources.h"

namespace knx::plugins {

struct NodeResourcesBalancedAllocationArgs {
  std::vector<ScoredResource> resources = DefaultScoredResources();
};

class NodeResourcesBalancedAllocation final : public framework::Plugin,
                                              public framework::ScorePlugin {
 public:
  static constexpr std::string_view kName = "NodeResourcesBalancedAllocation";

  static Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginArgs& args);
  explicit NodeResourcesBalancedAllocation(NodeResourcesBalancedAllocationArgs args)
      : args_(std::move(args)) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::PreScoreResult PreScore(const framework::PodView& pod) const override;

 private:
  NodeResourcesBalancedAllocationArgs args_;
};

}  // namespace knx::plugins
