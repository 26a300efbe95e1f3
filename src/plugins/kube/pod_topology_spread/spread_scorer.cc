#include "plugins/kube/pod_topology_spread/spread_scorer.h"

#include <algorithm>
#include <array>

#include "k8s/names.h"
#include "plugins/common/go_math.h"
#include "plugins/common/row_blocks.h"

namespace knx::plugins {

using cluster::Topology;

SpreadScorer::SpreadScorer(const framework::PodView& pod, SpreadConstraints constraints)
    : state_(pod.state), counts_(pod, std::move(constraints)) {
  const Symbol hostname = state_.words().Find(k8s::names::kHostname);
  for (const SpreadCounts::Count& count : counts_.counts()) {
    Part& part = parts_.emplace_back();
    part.by_node = hostname.valid() && count.constraint.topology_key == hostname;
    part.base = static_cast<double>(count.constraint.max_skew - 1);
  }
  Refresh();
}

void SpreadScorer::Refresh() {
  counts_.Refresh();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].by_node) RefreshRows(parts_[i], counts_.counter(i));
  }
}

void SpreadScorer::RefreshRows(Part& part, const cluster::MatchCounter* counter) const {
  const std::size_t rows = state_.nodes().row_count();
  if (part.on_row.size() < rows) part.on_row.resize(rows, 0);
  if (counter == nullptr) return;
  if (part.filled && counter->Reaches(part.position)) {
    for (const auto& change : counter->Since(part.position)) {
      part.on_row[change.row.index] += change.delta[cluster::kStayingPods];
    }
  } else {
    std::fill(part.on_row.begin(), part.on_row.end(), 0);
    for (const auto& [row, numbers] : counter->rows()) {
      part.on_row[row.index] = numbers[cluster::kStayingPods];
    }
    part.filled = true;
  }
  part.position = counter->end();
}

bool SpreadScorer::Ignored(cluster::NodeRow row) const {
  const auto& counts = counts_.counts();
  return std::any_of(counts.begin(), counts.end(), [row](const SpreadCounts::Count& count) {
    return count.topology->domains()[row.index] == Topology::kNowhere;
  });
}

// How many different values of the label the nodes have. A node without it has the empty value.
std::size_t SpreadScorer::CountValues(const SpreadCounts::Count& count,
                                      framework::NodeRows feasible, bool some_ignored) {
  const Topology& topology = *count.topology;
  const std::uint32_t empty = topology.Find(state_.words().Find(""));
  seen_.assign(topology.domain_limit(), false);
  std::size_t values = 0;
  // All there are; nodes without the label are one more.
  const std::size_t all = topology.domain_count() + (counts_.need_all_labels() ? 0 : 1);
  for (const cluster::NodeRow row : feasible) {
    if (some_ignored && Ignored(row)) continue;
    std::uint32_t domain = topology.domains()[row.index];
    if (domain == Topology::kNowhere) domain = empty;
    if (seen_[domain]) continue;
    seen_[domain] = true;
    if (++values == all) break;
  }
  return values;
}

void SpreadScorer::FillTerms(Part& part, const SpreadCounts::Count& count) const {
  part.terms.resize(count.pods.size());
  for (std::size_t d = 0; d < count.pods.size(); ++d) {
    part.terms[d] = static_cast<double>(count.pods[d]) * part.weight + part.base;
  }
  // A node without the label gets nothing for it. Its pods are those of the empty value.
  const std::uint32_t empty = count.topology->Find(state_.words().Find(""));
  if (empty != Topology::kNowhere) {
    part.terms[empty] =
        static_cast<double>(count.pods[empty] + count.pods[Topology::kNowhere]) * part.weight +
        part.base;
  }
  part.terms[Topology::kNowhere] = 0;
}

void SpreadScorer::OnFeasible(framework::NodeRows feasible) {
  const auto& counts = counts_.counts();
  const bool complete = std::all_of(counts.begin(), counts.end(), [this](const auto& count) {
    return count.topology->labelled_nodes() == state_.nodes().node_count();
  });
  some_ignored_ = counts_.need_all_labels() && !complete;
  std::size_t taking_part = feasible.size();
  if (some_ignored_) {
    taking_part -= static_cast<std::size_t>(std::count_if(
        feasible.begin(), feasible.end(), [this](cluster::NodeRow row) { return Ignored(row); }));
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::size_t size =
        parts_[i].by_node ? taking_part : CountValues(counts[i], feasible, some_ignored_);
    parts_[i].weight = GoLog(static_cast<double>(size + 2));
    if (!parts_[i].by_node) FillTerms(parts_[i], counts[i]);
  }
}

void SpreadScorer::Score(framework::NodeRows nodes, std::span<std::int64_t> raw) const {
  std::array<double, kRowsInBlock> scores;
  ForEachBlock(nodes, [&](std::size_t begin, framework::NodeRows block) {
    scores.fill(0);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      AddPart(parts_[p], *counts_.counts()[p].topology, block, scores.data());
    }
    for (std::size_t i = 0; i < block.size(); ++i) raw[begin + i] = RoundHalfUp(scores[i]);
    if (!some_ignored_) return;
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (Ignored(block[i])) raw[begin + i] = framework::kIgnored;
    }
  });
}

void SpreadScorer::AddPart(const Part& part, const Topology& topology, framework::NodeRows nodes,
                           double* scores) {
  const std::uint32_t* const domains = topology.domains().data();
  if (!part.by_node) {
    const double* const terms = part.terms.data();
    for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] += terms[domains[nodes[i].index]];
    return;
  }
  const std::int32_t* const on_row = part.on_row.data();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::uint32_t row = nodes[i].index;
    const double term = static_cast<double>(on_row[row]) * part.weight + part.base;
    scores[i] += domains[row] == Topology::kNowhere ? 0 : term;
  }
}

std::int64_t SpreadScorer::Normalize(std::int64_t raw, framework::ScoreBounds bounds) const {
  if (bounds.max <= 0) return framework::kMaxScore;
  return framework::kMaxScore * (bounds.max + bounds.min - raw) / bounds.max;
}

}  // namespace knx::plugins
