// Claims of devices. They are not allocated yet: a pod with claims is kept waiting rather than put
// on a node without its devices. For all others the plugin does what kube-scheduler's does, which
// shows only in what is said when nothing fits.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "framework/plugin.h"
#include "framework/registry.h"

namespace knx::plugins {

class DynamicResources final : public framework::Plugin,
                               public framework::FilterPlugin,
                               public framework::PostFilterPlugin {
 public:
  static constexpr std::string_view kName = "DynamicResources";

  static Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginArgs& args);

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::EventSet events() const override { return {}; }
  [[nodiscard]] framework::PreFilterResult PreFilter(const framework::PodView& pod) const override;
  [[nodiscard]] framework::PostFilterResult PostFilter(
      const framework::PodView& pod, const framework::Rejections& rejections) const override;
};

}  // namespace knx::plugins
