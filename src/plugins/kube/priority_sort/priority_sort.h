// Selects the order of the queue: higher priority first, then who waits longer.
// The order itself is the queue's, one for all profiles; this is the entry that a configuration
// names.
#pragma once

#include <string_view>

#include "framework/plugin.h"

namespace knx::plugins {

class PrioritySort final : public framework::Plugin, public framework::QueueSortPlugin {
 public:
  static constexpr std::string_view kName = "PrioritySort";

  [[nodiscard]] std::string_view name() const override { return kName; }
};

}  // namespace knx::plugins
