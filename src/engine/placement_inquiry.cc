// A decision taken apart, for who wants to see all of it.
#include <algorithm>

#include "engine/placement.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;
using framework::Code;
using framework::Verdict;

namespace {

std::vector<Inquiry::Score> ScoresOf(const PreparedScorer& scorer, std::span<const NodeRow> rows) {
  std::vector<std::int64_t> raw(rows.size());
  scorer.scorer->OnFeasible(rows);
  scorer.scorer->Score(rows, raw);
  std::vector<std::int32_t> weighted(rows.size(), 0);
  AddNormalized(scorer, raw, weighted);
  std::vector<Inquiry::Score> scores;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t shown = raw[i] == framework::kIgnored ? 0 : raw[i];
    const std::int32_t weight = std::max(scorer.weight, 1);
    scores.push_back({shown, weighted[i] / weight, weighted[i]});
  }
  return scores;
}

}  // namespace

Inquiry Placer::Inquire(const framework::Profile& profile, PodId pod) {
  Inquiry inquiry;
  const Placement placement = Place(profile, pod);
  if (placement.node.valid()) inquiry.chosen = state_.nodes().name(placement.node);
  inquiry.message = placement.message;
  for (std::size_t i = 0; i < profile.plugins.size(); ++i) {
    if (placement.attempt.rejected_by.Contains(static_cast<std::uint8_t>(i))) {
      inquiry.unschedulable.emplace_back(profile.plugins[i]->name());
    }
  }
  std::sort(inquiry.unschedulable.begin(), inquiry.unschedulable.end());

  PreparedClass prepared(profile, state_, state_.pod(pod).pod_class, state_.RelationOf(pod), pod);
  prepared.Refresh();
  inquiry.outcome = prepared.outcome();
  if (!prepared.outcome().ok()) {
    inquiry.rejected_by = profile.plugins[prepared.rejected_by()]->name();
    return inquiry;
  }
  std::vector<NodeRow> rows;
  if (prepared.only_rows()) {
    rows = *prepared.only_rows();
    inquiry.only_nodes.emplace();
    for (const NodeRow row : rows) inquiry.only_nodes->push_back(state_.nodes().name(row));
  } else {
    state_.nodes().present().ForEach([&](std::uint32_t row) { rows.push_back(NodeRow{row}); });
  }
  std::sort(rows.begin(), rows.end(), [this](NodeRow a, NodeRow b) {
    return state_.nodes().name(a) < state_.nodes().name(b);
  });
  std::vector<NodeRow> feasible;
  for (const NodeRow row : rows) {
    const Verdict verdict = JudgeWithNominated(prepared, pod, row);
    const std::string& name = state_.nodes().name(row);
    if (verdict.code == Code::kSuccess) {
      feasible.push_back(row);
      inquiry.feasible.push_back(name);
      continue;
    }
    Inquiry::Rejection rejection{
        name, std::string(profile.plugins[verdict.plugin]->name()), verdict.code, {}};
    prepared.FilterOf(verdict.plugin)->Explain(verdict, rejection.reasons);
    inquiry.rejections.push_back(std::move(rejection));
  }
  prepared.Refresh();
  for (const PreparedScorer& scorer : prepared.scorers()) {
    if (feasible.empty()) break;
    inquiry.scores.push_back(
        {std::string(profile.plugins[scorer.plugin]->name()), ScoresOf(scorer, feasible)});
  }
  inquiry.totals = TotalScores(prepared, feasible);
  return inquiry;
}

}  // namespace knx::engine
