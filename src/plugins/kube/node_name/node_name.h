// Accepts only the node that a pod asks for by name.
// A pod whose nodeName is set counts as placed, so this has work only where a pod is asked about
// that way.
#pragma once

#include <string_view>

#include "framework/plugin.h"

namespace knx::plugins {

class NodeName final : public framework::Plugin, public framework::FilterPlugin {
 public:
  static constexpr std::string_view kName = "NodeName";

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::EventSet events() const override;
  [[nodiscard]] framework::PreFilterResult PreFilter(const framework::PodView& pod) const override;
  [[nodiscard]] bool has_pre_filter() const override { return false; }
};

}  // namespace knx::plugins
