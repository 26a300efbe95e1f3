// Rejects nodes to which a driver could not attach the pod's volumes beside those that are, or have
// to be, attached there.
#pragma once

#include <string_view>

#include "framework/plugin.h"

namespace knx::plugins {

class NodeVolumeLimits final : public framework::Plugin, public framework::FilterPlugin {
 public:
  static constexpr std::string_view kName = "NodeVolumeLimits";

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::EventSet events() const override;
  [[nodiscard]] bool MayHelp(const framework::ClusterEvent& event,
                             const framework::PodView& pod) const override;
  [[nodiscard]] framework::PreFilterResult PreFilter(const framework::PodView& pod) const override;
};

}  // namespace knx::plugins
