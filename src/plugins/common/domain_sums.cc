#include "plugins/common/domain_sums.h"

#include <algorithm>

namespace knx::plugins {

void DomainSums::Add(cluster::PodSelectorId id, cluster::MatchMeasure measure,
                     std::int64_t weight) {
  matches_.push_back({&kinship_.Get(id).matching, measure, weight});
}

void DomainSums::Add(cluster::PodSelectorId id, cluster::CarryMeasure measure,
                     std::int64_t weight) {
  carries_.push_back({&kinship_.Get(id).carried, measure, weight});
}

void DomainSums::AddTo(std::uint32_t domain, std::int64_t amount) {
  if (domain == cluster::Topology::kNowhere) return;
  sums_[domain] += amount;
  total_ += amount;
}

template <class Counter>
bool DomainSums::Reaches(const std::vector<Source<Counter>>& sources) {
  return std::all_of(sources.begin(), sources.end(), [](const Source<Counter>& source) {
    return source.counter->Reaches(source.position);
  });
}

template <class Counter>
void DomainSums::Follow(std::vector<Source<Counter>>& sources,
                        std::vector<std::uint32_t>& changed) {
  for (Source<Counter>& source : sources) {
    for (const auto& change : source.counter->Since(source.position)) {
      const std::int64_t delta = change.delta[source.measure];
      if (delta == 0) continue;
      const std::uint32_t domain = topology_->domain(change.row);
      AddTo(domain, source.weight * delta);
      changed.push_back(domain);
    }
    source.position = source.counter->end();
  }
}

template <class Counter>
void DomainSums::Sum(std::vector<Source<Counter>>& sources) {
  for (Source<Counter>& source : sources) {
    for (const auto& [row, numbers] : source.counter->rows()) {
      AddTo(topology_->domain(row), source.weight * numbers[source.measure]);
    }
    source.position = source.counter->end();
  }
}

bool DomainSums::Refresh(std::vector<std::uint32_t>& changed) {
  if (version_ == topology_->version() && Reaches(matches_) && Reaches(carries_)) {
    Follow(matches_, changed);
    Follow(carries_, changed);
    return false;
  }
  version_ = topology_->version();
  sums_.assign(topology_->domain_limit(), 0);
  total_ = 0;
  Sum(matches_);
  Sum(carries_);
  return true;
}

}  // namespace knx::plugins
