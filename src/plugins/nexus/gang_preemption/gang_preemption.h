// Makes room for a gang that does not fit by evicting less important pods, gangs as wholes.
// The search and the evictions are the engine's; the plugin switches them on for a profile and
// carries their arguments.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "framework/plugin.h"
#include "framework/registry.h"

namespace knx::plugins {

class GangPreemption final : public framework::Plugin, public framework::GangPreemptionPlugin {
 public:
  static constexpr std::string_view kName = "GangPreemption";

  static Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginArgs& args);
  explicit GangPreemption(framework::GangPreemptionArgs args = {}) : args_(args) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] const framework::GangPreemptionArgs& gang_preemption_args() const override {
    return args_;
  }

 private:
  framework::GangPreemptionArgs args_;
};

}  // namespace knx::plugins
