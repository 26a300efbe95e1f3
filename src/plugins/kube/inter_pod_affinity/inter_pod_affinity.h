// Accepts nodes where the pods are, or are not, that the pod wants near or apart, and where no pod
// is that wants to be apart from it; prefers nodes by what the pod and the pods there prefer.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "framework/plugin.h"
#include "framework/registry.h"

namespace knx::plugins {

struct InterPodAffinityArgs {
  // What a term that a placed pod requires counts for in scores.
  std::int32_t hard_pod_affinity_weight = 1;
  // A pod without wishes of its own does not care for those of placed pods.
  bool ignore_preferred_terms_of_existing_pods = false;
};

class InterPodAffinity final : public framework::Plugin,
                               public framework::FilterPlugin,
                               public framework::ScorePlugin {
 public:
  static constexpr std::string_view kName = "InterPodAffinity";

  static Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginArgs& args);
  explicit InterPodAffinity(const InterPodAffinityArgs& args) : args_(args) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::EventSet events() const override;
  [[nodiscard]] bool MayHelp(const framework::ClusterEvent& event,
                             const framework::PodView& pod) const override;
  [[nodiscard]] framework::PreFilterResult PreFilter(const framework::PodView& pod) const override;
  [[nodiscard]] framework::PreScoreResult PreScore(const framework::PodView& pod) const override;

 private:
  InterPodAffinityArgs args_;
};

}  // namespace knx::plugins
