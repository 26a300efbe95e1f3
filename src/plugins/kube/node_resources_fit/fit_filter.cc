#include "plugins/kube/node_resources_fit/fit_filter.h"

#include <absl/container/inlined_vector.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace knx::plugins {
namespace {

struct Columns {
  const cluster::Column* allocatable;
  const cluster::Column* requested;
  std::int64_t amount;
};

// Wraps where the numbers are absurd, as kube-scheduler's do.
std::int64_t Free(const Columns& columns, cluster::NodeRow row) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>((*columns.allocatable)[row]) -
                                   static_cast<std::uint64_t>((*columns.requested)[row]));
}

}  // namespace

FitFilter::FitFilter(const cluster::NodeTable& nodes, std::vector<Request> requests)
    : nodes_(nodes), requests_(std::move(requests)) {
  takes_.push_back({cluster::kPods, 1});
  for (const Request& request : requests_) takes_.push_back({request.id, request.amount});
  std::sort(takes_.begin(), takes_.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
}

void FitFilter::Filter(framework::NodeRows nodes, framework::Verdicts& out) const {
  absl::InlinedVector<Columns, 8> columns;
  for (const Request& request : requests_) {
    columns.push_back(
        {&nodes_.allocatable(request.id), &nodes_.requested(request.id), request.amount});
  }
  const cluster::Column& pods_allowed = nodes_.allocatable(cluster::kPods);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const cluster::NodeRow row = nodes[i];
    std::uint64_t lacking = nodes_.pod_count(row) >= pods_allowed[row] ? kPodsBit : 0;
    for (std::size_t r = 0; r < columns.size(); ++r) {
      lacking |= columns[r].amount > Free(columns[r], row) ? BitOf(r) : 0;
    }
    if (lacking == 0) continue;
    // What is more than the whole node has will not fit whoever leaves.
    const bool too_large = std::any_of(columns.begin(), columns.end(), [row](const Columns& c) {
      return c.amount > (*c.allocatable)[row];
    });
    out.Reject(i, too_large ? framework::Code::kUnresolvable : framework::Code::kUnschedulable,
               lacking);
  }
}

void FitFilter::Explain(const framework::Verdict& verdict,
                        std::vector<std::string>& reasons) const {
  if ((verdict.detail & kPodsBit) != 0) reasons.emplace_back("Too many pods");
  const bool shared = requests_.size() > kLastBit;
  const std::size_t own_bits = shared ? kLastBit - 1 : requests_.size();
  for (std::size_t r = 0; r < own_bits; ++r) {
    if ((verdict.detail & BitOf(r)) != 0) {
      reasons.push_back(fmt::format("Insufficient {}", requests_[r].name));
    }
  }
  if (shared && (verdict.detail & BitOf(kLastBit)) != 0) {
    reasons.push_back(
        fmt::format("Insufficient one of {} more resources", requests_.size() - own_bits));
  }
}

}  // namespace knx::plugins
