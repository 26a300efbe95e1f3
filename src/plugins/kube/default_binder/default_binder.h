// Binds every pod that no other bind plugin took.
// The engine sends the binding; the plugin says that it is to be sent.
#pragma once

#include <string_view>

#include "framework/plugin.h"

namespace knx::plugins {

class DefaultBinder final : public framework::Plugin, public framework::BindPlugin {
 public:
  static constexpr std::string_view kName = "DefaultBinder";

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::Outcome Bind(const framework::PodView& /*pod*/,
                                        cluster::NodeRow /*node*/) const override {
    return framework::Outcome::Success();
  }
};

}  // namespace knx::plugins
