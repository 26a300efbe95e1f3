#include "cluster/topology.h"

namespace knx::cluster {

void Topology::Set(NodeRow row, Symbol value) {
  if (row.index >= domains_.size()) domains_.resize(row.index + 1, kNowhere);
  const std::uint32_t before = domains_[row.index];
  if (values_[before] == value) return;
  ++version_;
  std::uint32_t now = kNowhere;
  if (value.valid()) {
    const auto [it, fresh] = by_value_.try_emplace(value, domain_limit());
    if (fresh && !free_.empty()) {
      it->second = free_.back();
      free_.pop_back();
    }
    now = it->second;
    if (now == domain_limit()) {
      nodes_.push_back(0);
      values_.push_back(value);
    }
    values_[now] = value;
    ++nodes_[now];
    ++labelled_;
  }
  domains_[row.index] = now;
  if (before == kNowhere) return;
  --labelled_;
  if (--nodes_[before] > 0) return;
  by_value_.erase(values_[before]);
  values_[before] = Symbol{};
  free_.push_back(before);
}

}  // namespace knx::cluster
