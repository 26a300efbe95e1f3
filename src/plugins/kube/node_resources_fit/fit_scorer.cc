#include "plugins/kube/node_resources_fit/fit_scorer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace knx::plugins {
namespace {

// The mean of `score(used, allocatable)` over the resources that the node has, by weight.
template <class ScoreOne, class Divide>
void ScoreRows(const ScoredTable& table, framework::NodeRows nodes, std::span<std::int64_t> raw,
               ScoreOne score_one, Divide divide) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::int64_t sum = 0, weights = 0;
    for (const ScoredColumns& columns : table) {
      const std::int64_t allocatable = (*columns.allocatable)[nodes[i]];
      if (allocatable <= 0) continue;
      const std::int64_t used = AddAmounts((*columns.used)[nodes[i]], columns.amount);
      const std::int64_t score =
          score_one(std::clamp<std::int64_t>(used, 0, allocatable), allocatable);
      // Only the shape of RequestedToCapacityRatio can leave a resource out.
      if (score < 0) continue;
      sum += score * columns.weight;
      weights += columns.weight;
    }
    raw[i] = weights == 0 ? 0 : divide(sum, weights);
  }
}

// Sums are small, so truncating the division of doubles is exact.
std::int64_t Truncated(std::int64_t sum, std::int64_t weights) {
  if (weights == 2) [[likely]]
    return sum / 2;  // cpu and memory, alike
  return static_cast<std::int64_t>(static_cast<double>(sum) / static_cast<double>(weights));
}

std::int64_t Rounded(std::int64_t sum, std::int64_t weights) {
  return static_cast<std::int64_t>(
      std::round(static_cast<double>(sum) / static_cast<double>(weights)));
}

}  // namespace

FitScorer::FitScorer(const cluster::NodeTable& nodes, std::vector<ScoredRequest> requests,
                     NodeResourcesFitArgs::Strategy strategy, const ScoreByUse& score_by_use)
    : nodes_(nodes),
      requests_(std::move(requests)),
      strategy_(strategy),
      score_by_use_(score_by_use) {}

void FitScorer::Score(framework::NodeRows nodes, std::span<std::int64_t> raw) const {
  ScoredTable table;
  for (const ScoredRequest& request : requests_) {
    const cluster::Column& used = request.id == cluster::kCpu      ? nodes_.assumed_cpu()
                                  : request.id == cluster::kMemory ? nodes_.assumed_memory()
                                                                   : nodes_.requested(request.id);
    table.push_back({&nodes_.allocatable(request.id), &used, request.amount, request.weight});
  }
  switch (strategy_) {
    case NodeResourcesFitArgs::Strategy::kLeastAllocated:
      return ScoreRows(
          table, nodes, raw,
          [](std::int64_t used, std::int64_t whole) { return Percent(whole - used, whole); },
          Truncated);
    case NodeResourcesFitArgs::Strategy::kMostAllocated:
      return ScoreRows(
          table, nodes, raw,
          [](std::int64_t used, std::int64_t whole) { return Percent(used, whole); }, Truncated);
    case NodeResourcesFitArgs::Strategy::kRequestedToCapacityRatio:
      return ScoreRows(
          table, nodes, raw,
          [this](std::int64_t used, std::int64_t whole) {
            const std::int64_t score =
                score_by_use_[static_cast<std::size_t>(Percent(used, whole))];
            return score > 0 ? score : -1;
          },
          Rounded);
  }
}

}  // namespace knx::plugins
