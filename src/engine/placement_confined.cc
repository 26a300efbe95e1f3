// Placing a pod of a plan that has to stay within one topology domain.
#include <fmt/format.h>

#include <algorithm>

#include "engine/placement.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;
using framework::Code;

Placement Placer::PlaceConfined(const framework::Profile& profile, PodId pod) {
  state_.RefreshRanks();
  const cluster::RelationId relation = state_.RelationOf(pod);
  ClassCache& cache = caches_.Get(profile, state_.pod(pod).pod_class, relation, parallel_for_);
  if (cache.prepared().asks_anew()) {
    PreparedClass prepared(profile, state_, state_.pod(pod).pod_class, relation, pod);
    prepared.Refresh();
    return ChooseConfined(pod, prepared);
  }
  PreparedClass& prepared = cache.prepared();
  prepared.Refresh();
  const bool by_nodes_alone = cache.remembers() && !prepared.has_domains();
  return by_nodes_alone ? ChooseConfined(cache, pod, prepared) : ChooseConfined(pod, prepared);
}

Placement Placer::ChooseConfined(const ClassCache& cache, PodId pod, PreparedClass& prepared) {
  Placement placement;
  const NodeRow nominated = state_.pod(pod).nominated;
  if (nominated.valid() && MayUse(nominated) && FitsNominatedNode(prepared, pod)) {
    placement.node = nominated;
    return placement;
  }
  const bool rivals = !state_.nominations().empty();
  std::vector<NodeRow> fitting;
  std::vector<std::int32_t> totals;
  Judged judged{confines_->rows, {}};
  for (const NodeRow row : confines_->rows) {
    framework::Verdict verdict = cache.verdict(row);
    if (cache.feasible(row) && rivals && HasRivals(pod, row)) {
      verdict = JudgeWithNominated(prepared, pod, row);
    }
    judged.verdicts.push_back(verdict);
    if (verdict.code != Code::kSuccess || !MayUse(row)) continue;
    fitting.push_back(row);
    totals.push_back(cache.total(row));
  }
  if (fitting.empty()) return RefuseConfined(prepared, judged);
  placement.node = BestBy(totals, fitting);
  return placement;
}

Placement Placer::ChooseConfined(PodId pod, PreparedClass& prepared) {
  if (!prepared.outcome().ok()) return Rejected(prepared);
  Placement placement;
  const NodeRow nominated = state_.pod(pod).nominated;
  if (nominated.valid() && MayUse(nominated) && FitsNominatedNode(prepared, pod)) {
    placement.node = nominated;
    return placement;
  }
  Judged judged{prepared.only_rows() ? *prepared.only_rows() : confines_->rows, {}};
  std::erase_if(judged.rows, [this](NodeRow row) { return !MayUse(row); });
  const std::vector<NodeRow> fitting = JudgeRows(prepared, pod, judged);
  if (fitting.empty()) return RefuseConfined(prepared, judged);
  if (fitting.size() > 1 && !prepared.score_outcome().ok()) return Failed(prepared.score_outcome());
  placement.node = BestOf(prepared, fitting);
  return placement;
}

// As if the other nodes had been left out by the label.
Placement Placer::RefuseConfined(const PreparedClass& prepared, const Judged& judged) const {
  Placement placement;
  ReasonCounts reasons;
  CountAll(prepared, judged, reasons, placement.attempt);
  for (const std::uint8_t plugin : prepared.narrowed_by()) {
    placement.attempt.rejected_by.Add(plugin);
  }
  const std::size_t narrowed = confines_->rows.size() - judged.rows.size();
  if (narrowed > 0) reasons[prepared.LeftOutReason({})] += narrowed;
  const std::size_t outside = state_.nodes().node_count() - confines_->rows.size();
  if (outside > 0) {
    reasons[fmt::format("node(s) outside of {} {}", state_.words().Text(confines_->key),
                        state_.words().Text(confines_->value))] += outside;
  }
  placement.message = FailureText(reasons);
  return placement;
}

}  // namespace knx::engine
