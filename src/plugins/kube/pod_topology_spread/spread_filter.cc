#include "plugins/kube/pod_topology_spread/spread_filter.h"

#include <algorithm>
#include <array>

#include "plugins/common/row_blocks.h"

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
  std::array<Detail, kRowsInBlock> found;
  ForEachBlock(nodes, [&](std::size_t begin, framework::NodeRows block) {
    found.fill(kFits);
    for (std::size_t c = 0; c < limits_.size(); ++c) {
      const SpreadCounts::Count& count = counts_.counts()[c];
      const std::uint32_t* const domains = count.topology->domains().data();
      const std::int32_t* const pods = count.pods.data();
      const std::int64_t limit = limits_[c];
      for (std::size_t i = 0; i < block.size(); ++i) {
        const std::uint32_t domain = domains[block[i].index];
        const Detail here = domain == cluster::Topology::kNowhere ? kNoLabel
                            : pods[domain] > limit                ? kTooMany
                                                                  : kFits;
        // Of two constraints that a node breaks, the first gives the reason.
        found[i] = found[i] == kFits ? here : found[i];
      }
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (found[i] == kFits) continue;
      const bool hopeless = found[i] == kNoLabel;
      out.Reject(begin + i,
                 hopeless ? framework::Code::kUnresolvable : framework::Code::kUnschedulable,
                 found[i]);
    }
  });
}

void SpreadFilter::Keep(std::vector<cluster::NodeRow>& nodes) const {
  for (std::size_t c = 0; c < limits_.size(); ++c) {
    const SpreadCounts::Count& count = counts_.counts()[c];
    const std::uint32_t* const domains = count.topology->domains().data();
    const std::int32_t* const pods = count.pods.data();
    const std::int64_t limit = limits_[c];
    KeepRows(nodes, [=](cluster::NodeRow row) {
      const std::uint32_t domain = domains[row.index];
      return (domain != cluster::Topology::kNowhere) & (pods[domain] <= limit);
    });
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
