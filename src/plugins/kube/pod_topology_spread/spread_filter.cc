#include "plugins/kube/pod_topology_spread/spread_filter.h"

namespace knx::plugins {

void SpreadFilter::FindLimits() {
  limits_.clear();
  for (const SpreadCounts::Count& count : counts_.counts()) {
    // With fewer domains than wanted, those that are missing are empty.
    const bool enough = count.domains >= static_cast<std::uint32_t>(count.constraint.min_domains);
    const std::int64_t least = enough ? count.min : 0;
    limits_.push_back(least + count.constraint.max_skew - (count.means_itself ? 1 : 0));
  }
}

void SpreadFilter::Filter(framework::NodeRows nodes, framework::Verdicts& out) const {
  struct Column {
    const std::uint32_t* domains;
    const std::int32_t* pods;
    std::int64_t limit;
  };
  std::vector<Column> columns;
  for (std::size_t c = 0; c < limits_.size(); ++c) {
    const SpreadCounts::Count& count = counts_.counts()[c];
    columns.push_back({count.topology->domains().data(), count.pods.data(), limits_[c]});
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const Column& column : columns) {
      const std::uint32_t domain = column.domains[nodes[i].index];
      if (domain == cluster::Topology::kNowhere) {
        out.Reject(i, framework::Code::kUnresolvable, kNoLabel);
        break;
      }
      if (column.pods[domain] > column.limit) {
        out.Reject(i, framework::Code::kUnschedulable, kTooMany);
        break;
      }
    }
  }
}

void SpreadFilter::Explain(const framework::Verdict& verdict,
                           std::vector<std::string>& reasons) const {
  reasons.emplace_back(verdict.detail == kNoLabel
                           ? "node(s) didn't match pod topology spread constraints (missing "
                             "required label)"
                           : "node(s) didn't match pod topology spread constraints");
}

}  // namespace knx::plugins
