// How good is a node for one class of pods, by how full they would make it?
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "framework/plugin.h"
#include "plugins/common/scored_resources.h"
#include "plugins/kube/node_resources_fit/node_resources_fit.h"

namespace knx::plugins {

class FitScorer final : public framework::NodeScorer {
 public:
  // `score_by_use` must outlive the scorer.
  FitScorer(const cluster::NodeTable& nodes, std::vector<ScoredRequest> requests,
            NodeResourcesFitArgs::Strategy strategy, const ScoreByUse& score_by_use);

  void Score(framework::NodeRows nodes, std::span<std::int64_t> raw) const override;

 private:
  const cluster::NodeTable& nodes_;
  std::vector<ScoredRequest> requests_;
  NodeResourcesFitArgs::Strategy strategy_;
  const ScoreByUse& score_by_use_;
};

}  // namespace knx::plugins
