// Finds out who pods are for and what they do.
// The rules are looked at when a pod is seen and what they say is kept in the state; the plugin
// switches that on and carries the rules.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "cluster/workload_profile.h"
#include "framework/plugin.h"
#include "framework/registry.h"

namespace knx::plugins {

class ProfileClassifier final : public framework::Plugin, public framework::ClassifierPlugin {
 public:
  static constexpr std::string_view kName = "ProfileClassifier";

  static Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginArgs& args);
  explicit ProfileClassifier(cluster::ProfileRules rules) : rules_(std::move(rules)) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] const cluster::ProfileRules& profile_rules() const override { return rules_; }

 private:
  cluster::ProfileRules rules_;
};

}  // namespace knx::plugins
