// What is counted by node, added up by topology domain and kept up to date: a pod that came or went
// costs one step.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/state.h"

namespace knx::plugins {

class DomainSums {
 public:
  DomainSums(const cluster::State& state, Symbol topology_key)
      : kinship_(state.kinship()), topology_(state.nodes().UseTopology(topology_key)) {}

  // Counts every number of the measure so many times.
  void Add(cluster::PodSelectorId id, cluster::MatchMeasure measure, std::int64_t weight);
  void Add(cluster::PodSelectorId id, cluster::CarryMeasure measure, std::int64_t weight);

  // Takes over what changed. True: every sum may be another one; otherwise those of `changed` may,
  // to which domains are added.
  bool Refresh(std::vector<std::uint32_t>& changed);

  // By domain. Nodes without the label add to nothing, so that theirs is always zero.
  [[nodiscard]] const std::vector<std::int64_t>& sums() const { return sums_; }
  [[nodiscard]] std::int64_t total() const { return total_; }
  [[nodiscard]] const cluster::Topology& topology() const { return *topology_; }

 private:
  template <class Counter>
  struct Source {
    const Counter* counter;
    std::size_t measure;
    std::int64_t weight;
    std::uint64_t position = 0;
  };
  void AddTo(std::uint32_t domain, std::int64_t amount);
  template <class Counter>
  [[nodiscard]] static bool Reaches(const std::vector<Source<Counter>>& sources);
  template <class Counter>
  void Follow(std::vector<Source<Counter>>& sources, std::vector<std::uint32_t>& changed);
  template <class Counter>
  void Sum(std::vector<Source<Counter>>& sources);

  const cluster::Kinship& kinship_;
  cluster::TopologyUse topology_;
  std::vector<Source<cluster::MatchCounter>> matches_;
  std::vector<Source<cluster::CarryCounter>> carries_;
  std::uint64_t version_ = 0;  // of the topology; 0: nothing is summed yet
  std::vector<std::int64_t> sums_;
  std::int64_t total_ = 0;
};

}  // namespace knx::plugins
