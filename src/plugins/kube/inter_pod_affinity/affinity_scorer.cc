#include "plugins/kube/inter_pod_affinity/affinity_scorer.h"

#include <algorithm>

namespace knx::plugins {

using cluster::PodSelectorId;

PodAffinityScorer::PodAffinityScorer(const framework::PodView& pod,
                                     const InterPodAffinityArgs& args) {
  const cluster::Kinship& kinship = pod.state.kinship();
  for (const auto& term : pod.pod_class.terms.preferred) {
    Of(pod.state, kinship.Get(term.selector).topology_key)
        .Add(term.selector, cluster::kAllPods, term.weight);
  }
  for (const PodSelectorId id : kinship.Get(pod.relation).meant_by) {
    const Symbol key = kinship.Get(id).topology_key;
    if (!key.valid()) continue;
    DomainSums& wishes = Of(pod.state, key);
    wishes.Add(id, cluster::kPreference, 1);
    if (args.hard_pod_affinity_weight > 0) {
      wishes.Add(id, cluster::kNear, args.hard_pod_affinity_weight);
    }
  }
  Refresh();
}

DomainSums& PodAffinityScorer::Of(const cluster::State& state, Symbol key) {
  const auto it =
      std::find_if(keys_.begin(), keys_.end(), [key](const OfKey& k) { return k.key == key; });
  return it != keys_.end() ? it->wishes
                           : keys_.emplace_back(OfKey{key, DomainSums(state, key)}).wishes;
}

void PodAffinityScorer::Refresh() {
  for (OfKey& key : keys_) key.wishes.Refresh(changed_);
  changed_.clear();
}

void PodAffinityScorer::Score(framework::NodeRows nodes, std::span<std::int64_t> raw) const {
  const auto for_each = [nodes](const DomainSums& wishes, auto take) {
    const std::uint32_t* const domains = wishes.topology().domains().data();
    const std::int64_t* const sums = wishes.sums().data();
    for (std::size_t i = 0; i < nodes.size(); ++i) take(i, sums[domains[nodes[i].index]]);
  };
  for_each(keys_[0].wishes, [raw](std::size_t i, std::int64_t sum) { raw[i] = sum; });
  for (const OfKey& key : std::span(keys_).subspan(1)) {
    for_each(key.wishes, [raw](std::size_t i, std::int64_t sum) { raw[i] += sum; });
  }
}

std::int64_t PodAffinityScorer::Normalize(std::int64_t raw, framework::ScoreBounds bounds) const {
  if (bounds.max <= bounds.min) return 0;
  // In this order of operations, which decides about the last bit.
  const double share =
      static_cast<double>(raw - bounds.min) / static_cast<double>(bounds.max - bounds.min);
  return static_cast<std::int64_t>(static_cast<double>(framework::kMaxScore) * share);
}

}  // namespace knx::plugins
