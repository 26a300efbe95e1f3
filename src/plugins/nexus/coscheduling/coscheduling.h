// Pods of a gang start together or not at all.
// Planning, waiting and binding are the engine's; the plugin switches them on for a profile and
// carries their arguments.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "framework/plugin.h"
#include "framework/registry.h"

namespace knx::plugins {

class Coscheduling final : public framework::Plugin,
                           public framework::QueueSortPlugin,
                           public framework::GangPlugin {
 public:
  static constexpr std::string_view kName = "Coscheduling";

  static Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginArgs& args);
  explicit Coscheduling(framework::GangArgs args = {}) : args_(args) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  // Nodes that join a topology domain may help a gang that has to be in one, and whatever leaves
  // more in the cluster one that wants something in all.
  [[nodiscard]] framework::EventSet events() const override;
  [[nodiscard]] bool MayHelp(const framework::ClusterEvent& event,
                             const framework::PodView& pod) const override;
  [[nodiscard]] const framework::GangArgs& gang_args() const override { return args_; }

 private:
  framework::GangArgs args_;
};

}  // namespace knx::plugins
