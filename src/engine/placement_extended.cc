// Placing a pod about which extenders are asked: the part of the plugins, in steps. And what else
// is asked of the plugins about one pod or its kind.
#include <algorithm>
#include <limits>

#include "engine/placement.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;
using framework::Code;
using framework::Verdict;

template <class Work>
void Placer::WithPrepared(const framework::Profile& profile, PodId pod, Work work) {
  state_.RefreshRanks();
  const cluster::RelationId relation = state_.RelationOf(pod);
  ClassCache& cache = caches_.Get(profile, state_.pod(pod).pod_class, relation, parallel_for_);
  if (cache.prepared().asks_anew()) {
    PreparedClass prepared(profile, state_, state_.pod(pod).pod_class, relation, pod);
    prepared.Refresh();
    return work(prepared);
  }
  cache.prepared().Refresh();
  work(cache.prepared());
}

Placer::Screening Placer::Screen(const framework::Profile& profile, PodId pod, bool nominated_first,
                                 ExtenderVerdicts& verdicts) {
  Screening screening;
  if (state_.nodes().node_count() == 0) {
    screening.refusal.message = "no nodes available to schedule pods";
    return screening;
  }
  WithPrepared(profile, pod, [&](PreparedClass& prepared) {
    if (!prepared.outcome().ok()) {
      screening.refusal = Rejected(prepared);
      if (!prepared.outcome().rejected()) return;
      return TryPostFilter(profile, prepared, pod, {}, screening.refusal, &verdicts);
    }
    if (nominated_first && FitsNominatedNode(prepared, pod)) {
      screening.nominated = true;
      screening.rows = {state_.pod(pod).nominated};
      return;
    }
    Judged judged;
    screening.rows = JudgeAll(prepared, pod, judged);
    std::sort(screening.rows.begin(), screening.rows.end(), [this](NodeRow a, NodeRow b) {
      return state_.nodes().rank(a) < state_.nodes().rank(b);
    });
    if (screening.rows.empty()) {
      screening.refusal = Refuse(profile, prepared, pod, judged, &verdicts);
    }
  });
  return screening;
}

Placement Placer::ChooseAmong(const framework::Profile& profile, PodId pod,
                              std::vector<NodeRow> rows,
                              const std::map<std::string, std::int64_t>& scores,
                              std::span<const NodeRow> failed) {
  Placement placement;
  if (confines_ != nullptr) std::erase_if(rows, [this](NodeRow row) { return !MayUse(row); });
  failed_ = failed;
  WithPrepared(profile, pod, [&](PreparedClass& prepared) {
    if (!prepared.outcome().ok()) return;
    Judged judged{std::move(rows), {}};
    const std::vector<NodeRow> fitting = JudgeRows(prepared, pod, judged);
    if (fitting.size() <= 1) {
      if (!fitting.empty()) placement.node = fitting[0];
      return;
    }
    if (!prepared.score_outcome().ok()) {
      placement = Failed(prepared.score_outcome());
      return;
    }
    prepared.Refresh();
    std::vector<std::int32_t> totals = TotalScores(prepared, fitting);
    for (std::size_t i = 0; i < fitting.size(); ++i) {
      const auto score = scores.find(state_.nodes().name(fitting[i]));
      if (score == scores.end()) continue;
      using Limits = std::numeric_limits<std::int32_t>;
      totals[i] = static_cast<std::int32_t>(
          std::clamp<std::int64_t>(totals[i] + score->second, Limits::min(), Limits::max()));
    }
    placement.node = BestBy(totals, fitting);
  });
  failed_ = {};
  return placement;
}

Placement Placer::RefuseAll(const framework::Profile& profile, PodId pod,
                            ExtenderVerdicts& verdicts) {
  Placement placement;
  WithPrepared(profile, pod, [&](PreparedClass& prepared) {
    if (!prepared.outcome().ok()) {
      placement = Rejected(prepared);
      return;
    }
    Judged judged;
    JudgeAll(prepared, pod, judged);
    placement = Refuse(profile, prepared, pod, judged, &verdicts);
  });
  if (verdicts.took_nodes) placement.attempt.rejected_by.Add(*profile.extender);
  return placement;
}

Placement Placer::RefuseInPlan(const framework::Profile& profile, PodId pod,
                               ExtenderVerdicts& verdicts) {
  may_evict_ = false;
  Placement placement = RefuseAll(profile, pod, verdicts);
  may_evict_ = true;
  return placement;
}

KindRoom Placer::RoomOf(const framework::Profile& profile, PodId pod, bool alone) {
  KindRoom room;
  WithPrepared(profile, pod,
               [&](PreparedClass& prepared) { room = RoomBy(state_, prepared, alone); });
  std::erase_if(room.open, [this](NodeRow row) { return !MayUse(row); });
  return room;
}

bool Placer::Fits(const framework::Profile& profile, PodId pod, NodeRow row) {
  if (!MayUse(row)) return false;
  bool fits = false;
  WithPrepared(profile, pod, [&](PreparedClass& prepared) {
    fits = prepared.outcome().ok() && JudgeWithNominated(prepared, pod, row).code == Code::kSuccess;
  });
  return fits;
}

bool Placer::FitsAlone(const framework::Profile& profile, PodId pod, NodeRow row) {
  bool fits = false;
  WithPrepared(profile, pod, [&](PreparedClass& prepared) {
    fits = prepared.outcome().ok() && JudgeAlone(prepared, row).code == Code::kSuccess;
  });
  return fits;
}

// An extender's word counts more than a plugin's, as in kube-scheduler. A node that an extender
// took away without a word is not spoken about, and nobody is evicted there.
std::size_t Placer::TakeOver(const framework::Profile& profile, const ExtenderVerdicts& verdicts,
                             Judged& judged, ReasonCounts& reasons) const {
  for (const auto& [name, refusal] : verdicts.refused) ++reasons[refusal.text];
  std::size_t unspoken = 0;
  for (std::size_t i = 0; i < judged.rows.size(); ++i) {
    Verdict& verdict = judged.verdicts[i];
    const auto refused = verdicts.refused.find(state_.nodes().name(judged.rows[i]));
    if (refused != verdicts.refused.end()) {
      const Code code = refused->second.unresolvable ? Code::kUnresolvable : Code::kUnschedulable;
      verdict = {code, *profile.extender, 0};
    } else if (verdict.code == Code::kSuccess) {
      verdict = {Code::kUnresolvable, *profile.extender, 0};
      ++unspoken;
    }
  }
  return unspoken;
}

}  // namespace knx::engine
