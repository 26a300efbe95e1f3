// Rejects nodes with taints that the pod does not tolerate, and prefers nodes with fewer of the
// soft ones. Nodes with the same taints share a set; tolerations are judged once a set.
#pragma once

#include <string_view>

#include "framework/plugin.h"

namespace knx::plugins {

class TaintToleration final : public framework::Plugin,
                              public framework::FilterPlugin,
                              public framework::ScorePlugin {
 public:
  static constexpr std::string_view kName = "TaintToleration";

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::EventSet events() const override;
  [[nodiscard]] bool MayHelp(const framework::ClusterEvent& event,
                             const framework::PodView& pod) const override;
  [[nodiscard]] framework::PreFilterResult PreFilter(const framework::PodView& pod) const override;
  [[nodiscard]] bool has_pre_filter() const override { return false; }
  [[nodiscard]] framework::PreScoreResult PreScore(const framework::PodView& pod) const override;
};

}  // namespace knx::plugins
