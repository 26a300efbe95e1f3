// Rejects nodes in domains that have too many pods already.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/plugin.h"
#include "plugins/kube/pod_topology_spread/spread_counts.h"

namespace knx::plugins {

class SpreadFilter final : public framework::NodeFilter {
 public:
  SpreadFilter(const framework::PodView& pod, SpreadConstraints constraints)
      : counts_(pod, std::move(constraints)) {
    FindLimits();
  }

  void Filter(framework::NodeRows nodes, framework::Verdicts& out) const override;
  void Keep(std::vector<cluster::NodeRow>& nodes) const override;
  void Explain(const framework::Verdict& verdict, std::vector<std::string>& reasons) const override;
  [[nodiscard]] bool Current() const override { return counts_.Current(); }
  void Refresh() override {
    counts_.Refresh();
    FindLimits();
  }
  void OnPodAdded(cluster::PodId pod, cluster::NodeRow row) override {
    counts_.OnPlan(pod, row, +1);
    FindLimits();
  }
  void OnPodRemoved(cluster::PodId pod, cluster::NodeRow row) override {
    counts_.OnPlan(pod, row, -1);
    FindLimits();
  }

 private:
  enum Detail : std::uint8_t { kFits, kTooMany, kNoLabel };
  void FindLimits();

  SpreadCounts counts_;
  std::vector<std::int64_t> limits_;  // by constraint: more pods than this are too many
};

}  // namespace knx::plugins
