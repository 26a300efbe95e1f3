// Sees to it that a pod's claims have their volumes where the pod goes: volumes that are there must
// be usable on the node, and claims that wait for a pod get a volume that is free there, or one
// that is made for the node. What has to be written for that is written, and waited for, before the
// pod is bound.
#pragma once

#include <memory>
#include <string_view>

#include "base/time.h"
#include "framework/plugin.h"
#include "framework/registry.h"

namespace knx::plugins {

struct VolumeBindingArgs {
  Duration bind_timeout = Duration::Seconds(600);
};

class VolumeBinding final : public framework::Plugin,
                            public framework::FilterPlugin,
                            public framework::ScorePlugin,
                            public framework::ReservePlugin,
                            public framework::PreBindPlugin {
 public:
  static constexpr std::string_view kName = "VolumeBinding";

  static Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginArgs& args);
  explicit VolumeBinding(VolumeBindingArgs args = {}) : args_(args) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::EventSet events() const override;
  [[nodiscard]] bool MayHelp(const framework::ClusterEvent& event,
                             const framework::PodView& pod) const override;
  [[nodiscard]] framework::PreFilterResult PreFilter(const framework::PodView& pod) const override;
  // Scores nothing: kube-scheduler does so behind a gate that is off.
  [[nodiscard]] framework::PreScoreResult PreScore(const framework::PodView& pod) const override;
  [[nodiscard]] bool Reserves(const cluster::PodClass& pod_class) const override {
    return !pod_class.claims.empty();
  }
  [[nodiscard]] bool PreBinds(const cluster::PodClass& pod_class) const override {
    return !pod_class.claims.empty();
  }
  [[nodiscard]] framework::Outcome Reserve(const framework::PodView& pod, cluster::NodeRow node,
                                           cluster::State& state) const override;
  void Unreserve(const framework::PodView& pod, cluster::NodeRow node,
                 cluster::State& state) const override;
  [[nodiscard]] framework::StepResult PreBind(const framework::PodView& pod,
                                              cluster::NodeRow node) const override;
  [[nodiscard]] framework::StepResult ResumePreBind(const framework::PodView& pod,
                                                    cluster::NodeRow node,
                                                    const framework::Answer& answer) const override;

 private:
  [[nodiscard]] framework::StepResult CheckBindings(const framework::PodView& pod,
                                                    cluster::NodeRow node) const;

  VolumeBindingArgs args_;
};

}  // namespace knx::plugins
