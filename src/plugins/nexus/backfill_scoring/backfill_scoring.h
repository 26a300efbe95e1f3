// Lets small work pass large work that waits, without delaying it.
// Promises and who may pass are the engine's; the plugin switches them on for a profile and carries
// their arguments.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "framework/plugin.h"
#include "framework/registry.h"

namespace knx::plugins {

class BackfillScoring final : public framework::Plugin, public framework::BackfillPlugin {
 public:
  static constexpr std::string_view kName = "BackfillScoring";

  static Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginArgs& args);
  explicit BackfillScoring(framework::BackfillArgs args = {}) : args_(args) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  // Room comes, or somebody goes to whom a start was promised.
  [[nodiscard]] framework::EventSet events() const override;
  [[nodiscard]] const framework::BackfillArgs& backfill_args() const override { return args_; }

 private:
  framework::BackfillArgs args_;
};

}  // namespace knx::plugins
