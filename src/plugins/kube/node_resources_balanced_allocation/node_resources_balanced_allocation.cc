#include "plugins/kube/node_resources_balanced_allocation/node_resources_balanced_allocation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "k8s/pod_requests.h"
#include "plugins/common/args.h"

namespace knx::plugins {
namespace {

double Fraction(std::int64_t used, std::int64_t allocatable) {
  const double fraction = static_cast<double>(used) / static_cast<double>(allocatable);
  return std::max(0.0, std::min(1.0, fraction));
}

std::int64_t Used(const ScoredColumns& columns, cluster::NodeRow row, bool with_pod) {
  const std::int64_t used = (*columns.used)[row];
  return with_pod ? AddAmounts(used, columns.amount) : used;
}

// 100 if all resources are used alike, less by how much they deviate from their mean.
std::int64_t ScoreOf(double deviation) {
  return static_cast<std::int64_t>((1 - deviation) * static_cast<double>(framework::kMaxScore));
}

// Two resources, the usual case. Here and below every operation and its order is kube-scheduler's,
// so that the last bit is.
std::int64_t BalanceOfTwo(double first, double second) {
  return ScoreOf(std::abs((first - second) / 2));
}

// Any number of resources, of which the node may lack some.
std::int64_t Balance(const ScoredTable& table, cluster::NodeRow row, bool with_pod) {
  double total = 0, first = 0, second = 0;
  std::int64_t count = 0;
  const auto for_each = [&](auto visit) {
    for (const ScoredColumns& columns : table) {
      const std::int64_t allocatable = (*columns.allocatable)[row];
      if (allocatable > 0) visit(Fraction(Used(columns, row, with_pod), allocatable));
    }
  };
  for_each([&](double fraction) {
    total += fraction;
    (count == 0 ? first : second) = fraction;
    ++count;
  });
  if (count < 2) return ScoreOf(0);
  if (count == 2) return BalanceOfTwo(first, second);
  const double mean = total / static_cast<double>(count);
  double sum = 0;
  for_each([&](double fraction) { sum = sum + (fraction - mean) * (fraction - mean); });
  return ScoreOf(std::sqrt(sum / static_cast<double>(count)));
}

// By how much the pod makes the node more balanced, or less.
std::int64_t Improvement(const ScoredTable& table, cluster::NodeRow row) {
  if (table.size() == 2) {
    const std::int64_t whole[] = {(*table[0].allocatable)[row], (*table[1].allocatable)[row]};
    if (whole[0] > 0 && whole[1] > 0) {
      const double before[] = {Fraction(Used(table[0], row, false), whole[0]),
                               Fraction(Used(table[1], row, false), whole[1])};
      const double after[] = {Fraction(Used(table[0], row, true), whole[0]),
                              Fraction(Used(table[1], row, true), whole[1])};
      return BalanceOfTwo(after[0], after[1]) - BalanceOfTwo(before[0], before[1]);
    }
  }
  return Balance(table, row, true) - Balance(table, row, false);
}

class BalanceScorer final : public framework::NodeScorer {
 public:
  BalanceScorer(const cluster::NodeTable& nodes, std::vector<ScoredRequest> requests)
      : nodes_(nodes), requests_(std::move(requests)) {}

  void Score(framework::NodeRows nodes, std::span<std::int64_t> raw) const override {
    ScoredTable table;
    for (const ScoredRequest& request : requests_) {
      table.push_back({&nodes_.allocatable(request.id), &nodes_.requested(request.id),
                       request.amount, request.weight});
    }
    constexpr std::int64_t half = framework::kMaxScore / 2;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      raw[i] = half + (half + Improvement(table, nodes[i])) / 2;
    }
  }

 private:
  const cluster::NodeTable& nodes_;
  std::vector<ScoredRequest> requests_;
};

void CheckResources(k8s::FieldReader& fields, const std::vector<ScoredResource>& resources) {
  for (std::size_t i = 0; i < resources.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (resources[i].name != resources[j].name) continue;
      fields.Fail("resources",
                  fmt::format("[{}].name: \"{}\" is given twice", i, resources[i].name));
    }
  }
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NodeResourcesBalancedAllocation::Make(
    const framework::PluginArgs& args) {
  NodeResourcesBalancedAllocationArgs read;
  KNX_TRY_DONE(ReadArgs(args, "NodeResourcesBalancedAllocationArgs", [&](k8s::FieldReader& fields) {
    // All weights must be equal; kube-scheduler takes only 1.
    ReadScoredResources(fields, 1, read.resources);
    if (fields.ok()) CheckResources(fields, read.resources);
  }));
  return std::unique_ptr<framework::Plugin>(
      std::make_unique<NodeResourcesBalancedAllocation>(std::move(read)));
}

framework::PreScoreResult NodeResourcesBalancedAllocation::PreScore(
    const framework::PodView& pod) const {
  std::vector<ScoredRequest> requests =
      RequestsToScore(args_.resources, k8s::PodRequests(pod.pod_class.spec), pod.state.resources());
  framework::PreScoreResult result;
  result.scope = framework::Scope::kUsage;
  // A pod that asks for nothing would be drawn to whatever node is balanced best, and all its kind
  // with it.
  if (std::all_of(requests.begin(), requests.end(),
                  [](const ScoredRequest& request) { return request.amount == 0; })) {
    result.outcome = framework::Outcome::Skip();
    return result;
  }
  result.scorer = std::make_unique<BalanceScorer>(pod.state.nodes(), std::move(requests));
  return result;
}

}  // namespace knx::plugins
