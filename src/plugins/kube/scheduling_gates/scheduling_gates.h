// Keeps a pod out of the queue while it has scheduling gates.
#pragma once

#include <string_view>

#include "framework/plugin.h"

namespace knx::plugins {

class SchedulingGates final : public framework::Plugin, public framework::PreEnqueuePlugin {
 public:
  static constexpr std::string_view kName = "SchedulingGates";

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::EventSet events() const override {
    return {framework::EventKind::kOwnGatesRemoved};
  }
  [[nodiscard]] framework::Outcome PreEnqueue(const framework::PodView& pod) const override;
};

}  // namespace knx::plugins
