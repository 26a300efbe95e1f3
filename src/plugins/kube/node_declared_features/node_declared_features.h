// Rejects nodes that do not declare a feature which the pod needs.
#pragma once

#include <string_view>

#include "framework/plugin.h"

namespace knx::plugins {

class NodeDeclaredFeatures final : public framework::Plugin, public framework::FilterPlugin {
 public:
  static constexpr std::string_view kName = "NodeDeclaredFeatures";

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::EventSet events() const override;
  [[nodiscard]] bool MayHelp(const framework::ClusterEvent& event,
                             const framework::PodView& pod) const override;
  [[nodiscard]] framework::PreFilterResult PreFilter(const framework::PodView& pod) const override;
};

}  // namespace knx::plugins
