// Rejects nodes on which a disk of the pod is in use by another, and every node while a claim that
// only one pod may use is in use.
#pragma once

#include <string_view>

#include "framework/plugin.h"

namespace knx::plugins {

class VolumeRestrictions final : public framework::Plugin, public framework::FilterPlugin {
 public:
  static constexpr std::string_view kName = "VolumeRestrictions";

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::EventSet events() const override;
  [[nodiscard]] bool MayHelp(const framework::ClusterEvent& event,
                             const framework::PodView& pod) const override;
  [[nodiscard]] framework::PreFilterResult PreFilter(const framework::PodView& pod) const override;
};

}  // namespace knx::plugins
