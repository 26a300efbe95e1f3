// Accepts nodes that match the pod's nodeSelector and required node affinity, and prefers those
// that match its preferred terms. A configuration can add an affinity to every pod of a profile.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "framework/plugin.h"
#include "framework/registry.h"
#include "k8s/objects.h"

namespace knx::plugins {

struct NodeAffinityArgs {
  k8s::NodeAffinity added_affinity;
};

class NodeAffinity final : public framework::Plugin,
                           public framework::FilterPlugin,
                           public framework::ScorePlugin {
 public:
  static constexpr std::string_view kName = "NodeAffinity";

  static Result<std::unique_ptr<framework::Plugin>> Make(const framework::PluginArgs& args);
  explicit NodeAffinity(NodeAffinityArgs args) : added_(std::move(args.added_affinity)) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::EventSet events() const override;
  [[nodiscard]] bool MayHelp(const framework::ClusterEvent& event,
                             const framework::PodView& pod) const override;
  [[nodiscard]] framework::PreFilterResult PreFilter(const framework::PodView& pod) const override;
  [[nodiscard]] framework::PreScoreResult PreScore(const framework::PodView& pod) const override;

 private:
  k8s::NodeAffinity added_;
};

}  // namespace knx::plugins
