// Rejects nodes that are marked unschedulable, except for pods that tolerate that.
#pragma once

#include <string_view>

#include "framework/plugin.h"

namespace knx::plugins {

class NodeUnschedulable final : public framework::Plugin, public framework::FilterPlugin {
 public:
  static constexpr std::string_view kName = "NodeUnschedulable";

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::EventSet events() const override;
  [[nodiscard]] bool MayHelp(const framework::ClusterEvent& event,
                             const framework::PodView& pod) const override;
  [[nodiscard]] framework::PreFilterResult PreFilter(const framework::PodView& pod) const override;
  [[nodiscard]] bool has_pre_filter() const override { return false; }
};

}  // namespace knx::plugins
