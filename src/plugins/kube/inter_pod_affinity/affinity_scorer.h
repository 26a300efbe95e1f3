// Prepared for a class and relation: what each domain counts for.
#pragma once

#include <cstdint>
#include <vector>

#include "framework/plugin.h"
#include "plugins/common/domain_sums.h"
#include "plugins/kube/inter_pod_affinity/inter_pod_affinity.h"

namespace knx::plugins {

class PodAffinityScorer final : public framework::NodeScorer {
 public:
  PodAffinityScorer(const framework::PodView& pod, const InterPodAffinityArgs& args);

  // Every node gets the same.
  [[nodiscard]] bool empty() const { return keys_.empty(); }

  void Score(framework::NodeRows nodes, std::span<std::int64_t> raw) const override;
  void Refresh() override;
  [[nodiscard]] bool normalizes() const override { return true; }
  [[nodiscard]] std::int64_t Normalize(std::int64_t raw,
                                       framework::ScoreBounds bounds) const override;

 private:
  struct OfKey {
    Symbol key;
    DomainSums wishes;
  };
  DomainSums& Of(const cluster::State& state, Symbol key);

  std::vector<OfKey> keys_;
  std::vector<std::uint32_t> changed_;
};

}  // namespace knx::plugins
