// Makes room for a pod that fits nowhere by evicting less important ones.
// The search and the evictions are the engine's; the plugin switches them on, says how far to look,
// and keeps the pod out of the queue until the evictions it needs were asked for.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "framework/plugin.h"
#include "framework/registry.h"

namespace knx::plugins {

class DefaultPreemption final : public framework::Plugin,
                                public framework::PreEnqueuePlugin,
                                public framework::PostFilterPlugin {
 public:
  static constexpr std::string_view kName = "DefaultPreemption";

  static Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginArgs& args);
  explicit DefaultPreemption(framework::PreemptionArgs args = {}) : args_(args) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::EventSet events() const override {
    return {framework::EventKind::kAssignedPodDelete};
  }
  [[nodiscard]] framework::Outcome PreEnqueue(const framework::PodView& pod) const override;
  [[nodiscard]] framework::PostFilterResult PostFilter(
      const framework::PodView& pod, const framework::Rejections& rejections) const override;

 private:
  framework::PreemptionArgs args_;
};

}  // namespace knx::plugins
