// Keeps pods of a kind spread evenly over the domains of a topology: rejects nodes where there
// would be too many of them (hard constraints) and prefers nodes where there are few (soft ones). A
// profile can have constraints for pods that say nothing themselves and belong to a service or a
// controller.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/plugin.h"
#include "framework/registry.h"
#include "k8s/objects.h"
#include "plugins/kube/pod_topology_spread/spread_constraint.h"

namespace knx::plugins {

struct PodTopologySpreadArgs {
  // For pods without constraints of their own.
  std::vector<k8s::TopologySpreadConstraint> default_constraints;
  // They are those of Kubernetes, which do without labels that a node lacks.
  bool system_defaults = true;
};

Result<PodTopologySpreadArgs> ReadPodTopologySpreadArgs(const framework::PluginArgs& args);

class PodTopologySpread final : public framework::Plugin,
                                public framework::FilterPlugin,
                                public framework::ScorePlugin {
 public:
  static constexpr std::string_view kName = "PodTopologySpread";

  static Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginArgs& args);
  explicit PodTopologySpread(PodTopologySpreadArgs args) : args_(std::move(args)) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::EventSet events() const override;
  [[nodiscard]] bool MayHelp(const framework::ClusterEvent& event,
                             const framework::PodView& pod) const override;
  [[nodiscard]] framework::PreFilterResult PreFilter(const framework::PodView& pod) const override;
  [[nodiscard]] framework::PreScoreResult PreScore(const framework::PodView& pod) const override;

 private:
  // The constraints that hold for the pod, hard or soft ones. `siblings`: the pods that defaults
  // are about.
  [[nodiscard]] SpreadConstraints ConstraintsOf(const framework::PodView& pod,
                                                cluster::PodSelectorId siblings, bool hard) const;
  [[nodiscard]] bool PodChangeHelps(const framework::ClusterEvent& event,
                                    const framework::PodView& pod) const;
  [[nodiscard]] bool NodeChangeHelps(const framework::ClusterEvent& event,
                                     const framework::PodView& pod) const;

  PodTopologySpreadArgs args_;
};

}  // namespace knx::plugins
