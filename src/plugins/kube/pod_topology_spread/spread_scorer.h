// Prefers nodes in domains with few pods; domains of a small topology weigh less than those of a
// large one.
#pragma once

#include <cstdint>
#include <vector>

#include "framework/plugin.h"
#include "plugins/kube/pod_topology_spread/spread_counts.h"

namespace knx::plugins {

class SpreadScorer final : public framework::NodeScorer {
 public:
  SpreadScorer(const framework::PodView& pod, SpreadConstraints constraints);

  void Refresh() override;
  void OnFeasible(framework::NodeRows feasible) override;
  void Score(framework::NodeRows nodes, std::span<std::int64_t> raw) const override;
  [[nodiscard]] bool normalizes() const override { return true; }
  [[nodiscard]] std::int64_t Normalize(std::int64_t raw,
                                       framework::ScoreBounds bounds) const override;
  [[nodiscard]] bool Current() const override { return counts_.Current(); }

 private:
  // What a constraint adds to the score of a node.
  struct Part {
    bool by_node = false;  // hostname: pods are counted on the node itself, whatever its label says
    double weight = 0;
    double base = 0;
    std::vector<double> terms;  // by domain, unless by_node
    // by_node: the pods on each row.
    std::vector<std::int32_t> on_row;
    std::uint64_t position = 0;
    bool filled = false;
  };
  void RefreshRows(Part& part, const cluster::MatchCounter* counter) const;
  [[nodiscard]] bool Ignored(cluster::NodeRow row) const;
  [[nodiscard]] std::size_t CountValues(const SpreadCounts::Count& count,
                                        framework::NodeRows feasible, bool some_ignored);
  // Adds to the scores of the nodes.
  static void AddPart(const Part& part, const cluster::Topology& topology,
                      framework::NodeRows nodes, double* scores);
  void FillTerms(Part& part, const SpreadCounts::Count& count) const;

  const cluster::State& state_;
  SpreadCounts counts_;
  std::vector<Part> parts_;
  bool some_ignored_ = false;
  std::vector<bool> seen_;  // by domain
};

}  // namespace knx::plugins
