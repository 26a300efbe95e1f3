// How many pods that a constraint means are in each domain, on the nodes that count for it; kept up
// to date. Prepared for a class and relation; what filter and scorer have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bitmap.h"
#include "cluster/state.h"
#include "framework/plugin.h"
#include "plugins/common/node_matcher.h"
#include "plugins/kube/pod_topology_spread/spread_constraint.h"

namespace knx::plugins {

class SpreadCounts {
 public:
  // Of one constraint.
  struct Count {
    cluster::ClassTerms::Spread constraint;
    cluster::TopologyUse topology;
    bool means_itself = false;         // the pod to be placed is one of those it counts
    std::vector<std::int32_t> pods;    // by domain
    std::vector<std::uint32_t> nodes;  // by domain: those that count
    // Over the domains with nodes that count.
    std::uint32_t domains = 0;
    std::int32_t min = 0;

    // For SpreadCounts alone.
    const cluster::MatchCounter* counter = nullptr;  // nullptr: nothing is counted
    std::uint64_t position = 0;
    std::uint64_t version = 0;  // of the topology; 0: nothing is counted yet
    Bitmap counted;             // rows that count
    std::uint32_t at_min = 0;
  };

  SpreadCounts(const framework::PodView& pod, SpreadConstraints constraints);

  [[nodiscard]] bool Current() const;
  void Refresh();
  [[nodiscard]] const std::vector<Count>& counts() const { return counts_; }
  [[nodiscard]] const cluster::MatchCounter* counter(std::size_t i) const {
    return counts_[i].counter;
  }
  [[nodiscard]] bool need_all_labels() const { return constraints_.need_all_labels; }

  // A plan adds or removes a pod. Balanced: what is added is removed again, or the other way round.
  void OnPlan(cluster::PodId pod, cluster::NodeRow row, int sign);

 private:
  struct Correction {
    std::size_t count;
    cluster::NodeRow row;
    int sign;
  };
  [[nodiscard]] bool Counts(const Count& count, cluster::NodeRow row) const;
  // True if some row counts now that did not, or the other way round.
  bool RefreshRows();
  void Recount(Count& count);
  void Follow(Count& count);
  void Change(Count& count, std::uint32_t domain, std::int32_t delta);
  static void FindMin(Count& count);

  const cluster::State& state_;
  SpreadConstraints constraints_;
  NodeMatcher required_;
  std::vector<bool> tolerated_;  // by taint set; empty if no constraint asks
  std::size_t taint_sets_;
  std::vector<Count> counts_;
  std::uint64_t facts_position_ = 0;
  std::vector<cluster::NodeRow> rows_;
  std::vector<Correction> corrections_;
};

}  // namespace knx::plugins
