// Keeps the room that ResourceReservation objects ask for, for the pods that they are for. The room
// is kept by the engine; the plugin switches that on and carries its arguments.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "framework/plugin.h"
#include "framework/registry.h"

namespace knx::plugins {

class ResourceReservation final : public framework::Plugin, public framework::ReservationPlugin {
 public:
  static constexpr std::string_view kName = "ResourceReservation";

  static Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginArgs& args);
  explicit ResourceReservation(framework::ReservationArgs args = {}) : args_(args) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] const framework::ReservationArgs& reservation_args() const override {
    return args_;
  }

 private:
  framework::ReservationArgs args_;
};

}  // namespace knx::plugins
