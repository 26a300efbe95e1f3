#include "engine/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cluster/reservation_hold.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;
using framework::Code;
using framework::Verdict;

Placement Placer::Place(const framework::Profile& profile, PodId pod,
                        std::span<const NodeRow> failed) {
  failed_ = failed;
  Placement placement = Choose(profile, pod);
  failed_ = {};
  return placement;
}

Placement Placer::PlaceInPlan(const framework::Profile& profile, PodId pod,
                              std::span<const NodeRow> failed) {
  may_evict_ = false;
  failed_ = failed;
  Placement placement = confines_ == nullptr ? Choose(profile, pod) : PlaceConfined(profile, pod);
  failed_ = {};
  may_evict_ = true;
  return placement;
}

Placement Placer::Choose(const framework::Profile& profile, PodId pod) {
  Placement placement;
  if (state_.nodes().node_count() == 0) {
    placement.message = "no nodes available to schedule pods";
    return placement;
  }
  state_.RefreshRanks();
  const cluster::RelationId relation = state_.RelationOf(pod);
  ClassCache& cache = caches_.Get(profile, state_.pod(pod).pod_class, relation, parallel_for_);
  if (cache.prepared().asks_anew()) {
    PreparedClass prepared(profile, state_, state_.pod(pod).pod_class, relation, pod);
    return PlaceAmong(profile, prepared, pod);
  }
  cache.prepared().Refresh();
  if (!cache.remembers()) return PlaceAmong(profile, cache.prepared(), pod);
  if (cache.prepared().has_domains()) return PlaceInDomains(profile, cache, pod);
  return PlaceRemembered(profile, cache, pod);
}

// ---- nominated pods ----

// Room was promised to somebody at least as important. What is only reserved is never room that
// others made way for, unless those it is reserved for are more important.
bool Placer::IsRival(PodId other, PodId pod) const {
  const cluster::Pod& promised = state_.pod(other);
  const cluster::Pod& comes = state_.pod(pod);
  if (other == pod || promised.node.valid()) return false;
  const bool reserves = cluster::IsHold(comes) && !cluster::IsHold(promised);
  return promised.priority >= (reserves ? comes.beneficiary_priority : comes.priority);
}

bool Placer::HasRivals(PodId pod, NodeRow row) const {
  const auto nominated = state_.nominated(row);
  return std::any_of(nominated.begin(), nominated.end(),
                     [&](PodId other) { return IsRival(other, pod); });
}

Verdict Placer::JudgeAlone(PreparedClass& prepared, NodeRow row) {
  Verdict verdict;
  prepared.Refresh();
  prepared.Judge(kAllScopes, std::span(&row, 1), std::span(&verdict, 1), batch_);
  return verdict;
}

// The pod must fit with the nominated pods there, and without: they may still go elsewhere.
Verdict Placer::JudgeWithNominated(PreparedClass& prepared, PodId pod, NodeRow row) {
  if (HasRivals(pod, row)) {
    prepared.Refresh();
    const auto mark = state_.Mark();
    std::vector<PodId> added;
    const std::vector<PodId> nominated(state_.nominated(row).begin(), state_.nominated(row).end());
    for (const PodId other : nominated) {
      if (!IsRival(other, pod)) continue;
      state_.Assume(other, row);
      prepared.PodAdded(other, row);
      added.push_back(other);
    }
    const Verdict verdict = JudgeAlone(prepared, row);
    for (const PodId other : added) prepared.PodRemoved(other, row);
    state_.Rollback(mark);
    prepared.Refresh();
    if (verdict.code != Code::kSuccess) return verdict;
  }
  return JudgeAlone(prepared, row);
}

bool Placer::FitsNominatedNode(PreparedClass& prepared, PodId pod) {
  const NodeRow row = state_.pod(pod).nominated;
  // Where it failed others are kept off, and it goes there only if there is no other place.
  const bool failed = std::find(failed_.begin(), failed_.end(), row) != failed_.end();
  if (!row.valid() || failed || !state_.nodes().has_node(row)) return false;
  return JudgeWithNominated(prepared, pod, row).code == Code::kSuccess;
}

// kube-scheduler asks about the pod's own nominated node before the others, and a "no" counts even
// if that node had been left out.
bool Placer::AsksLeftOutNode(const PreparedClass& prepared, PodId pod) const {
  const NodeRow own = state_.pod(pod).nominated;
  const auto& only = prepared.only_rows();
  return only && own.valid() && state_.nodes().has_node(own) &&
         std::find(only->begin(), only->end(), own) == only->end();
}

// ---- choosing ----

Placement Placer::PlaceRemembered(const framework::Profile& profile, ClassCache& cache, PodId pod) {
  Placement placement;
  if (FitsNominatedNode(cache.prepared(), pod)) {
    placement.node = state_.pod(pod).nominated;
    return placement;
  }
  // Nodes with nominated pods: what is remembered about them does not hold for this pod.
  std::vector<NodeRow> excluded;
  for (const auto& [row, nominated] : state_.nominations()) {
    if (!state_.nodes().has_node(row) || !cache.feasible(row) || !HasRivals(pod, row)) continue;
    excluded.push_back(row);
  }
  std::erase_if(excluded, [&](NodeRow row) {
    return JudgeWithNominated(cache.prepared(), pod, row).code == Code::kSuccess;
  });
  excluded.insert(excluded.end(), left_out_.begin(), left_out_.end());
  for (const NodeRow row : excluded) cache.Exclude(row);
  if (!excluded.empty()) cache.Settle();
  placement.node = BestOf(cache);
  for (const NodeRow row : excluded) cache.Include(row);
  if (!excluded.empty()) cache.Settle();
  if (placement.node.valid()) return placement;

  Judged judged;
  state_.nodes().present().ForEach([&](std::uint32_t row) {
    judged.rows.push_back(NodeRow{row});
    judged.verdicts.push_back(cache.verdict(NodeRow{row}));
  });
  return Refuse(profile, cache.prepared(), pod, judged);
}

// What is remembered about the nodes, and what depends on their domains asked for this pod.
Placement Placer::PlaceInDomains(const framework::Profile& profile, ClassCache& cache, PodId pod) {
  PreparedClass& prepared = cache.prepared();
  Placement placement;
  if (FitsNominatedNode(prepared, pod)) {
    placement.node = state_.pod(pod).nominated;
    return placement;
  }
  std::vector<NodeRow>& feasible = contest_.Feasible(cache);
  for (const auto& [row, nominated] : state_.nominations()) {
    if (!HasRivals(pod, row)) continue;
    const auto at = std::lower_bound(feasible.begin(), feasible.end(), row);
    if (at == feasible.end() || *at != row) continue;
    if (JudgeWithNominated(prepared, pod, row).code != Code::kSuccess) feasible.erase(at);
  }
  if (!left_out_.empty()) std::erase_if(feasible, [this](NodeRow row) { return !MayUse(row); });
  if (!feasible.empty()) {
    placement.node = feasible.size() == 1 ? feasible[0] : BestBy(contest_.Totals(cache), feasible);
    return placement;
  }
  Judged judged;
  state_.nodes().present().ForEach([&](std::uint32_t row) { judged.rows.push_back(NodeRow{row}); });
  contest_.Explain(cache, judged.rows, judged.verdicts);
  return Refuse(profile, prepared, pod, judged);
}

Placement Placer::PlaceAmong(const framework::Profile& profile, PreparedClass& prepared,
                             PodId pod) {
  Placement placement;
  if (!prepared.outcome().ok()) {
    placement = Rejected(prepared);
    if (prepared.outcome().rejected()) TryPostFilter(profile, prepared, pod, {}, placement);
    return placement;
  }
  if (FitsNominatedNode(prepared, pod)) {
    placement.node = state_.pod(pod).nominated;
    return placement;
  }
  Judged judged;
  const std::vector<NodeRow> feasible = JudgeAll(prepared, pod, judged);
  if (feasible.size() > 1 && !prepared.score_outcome().ok())
    return Failed(prepared.score_outcome());
  placement.node = BestOf(prepared, feasible);
  return placement.node.valid() ? placement : Refuse(profile, prepared, pod, judged);
}

std::vector<NodeRow> Placer::JudgeAll(PreparedClass& prepared, PodId pod, Judged& judged) {
  if (prepared.only_rows()) {
    judged.rows = *prepared.only_rows();
    if (AsksLeftOutNode(prepared, pod)) judged.rows.push_back(state_.pod(pod).nominated);
  } else {
    state_.nodes().present().ForEach(
        [&](std::uint32_t row) { judged.rows.push_back(NodeRow{row}); });
  }
  return JudgeRows(prepared, pod, judged);
}

std::vector<NodeRow> Placer::JudgeRows(PreparedClass& prepared, PodId pod, Judged& judged) {
  judged.verdicts.resize(judged.rows.size());
  prepared.Judge(kAllScopes, judged.rows, judged.verdicts, batch_);
  std::vector<NodeRow> feasible;
  for (std::size_t i = 0; i < judged.rows.size(); ++i) {
    if (judged.verdicts[i].code == Code::kSuccess && HasRivals(pod, judged.rows[i])) {
      judged.verdicts[i] = JudgeWithNominated(prepared, pod, judged.rows[i]);
    }
    if (judged.verdicts[i].code == Code::kSuccess) feasible.push_back(judged.rows[i]);
  }
  if (!left_out_.empty()) std::erase_if(feasible, [this](NodeRow row) { return !MayUse(row); });
  return feasible;
}

// Nothing fits: why, and whether room can be made. A node on which somebody was promised room is
// judged with that pod first, as kube-scheduler does, so that it may be another plugin that says
// no.
Placement Placer::Refuse(const framework::Profile& profile, PreparedClass& prepared, PodId pod,
                         Judged& judged, ExtenderVerdicts* extended) {
  Placement placement;
  ReasonCounts reasons;
  for (std::size_t i = 0; i < judged.rows.size() && !state_.nominations().empty(); ++i) {
    if (!HasRivals(pod, judged.rows[i])) continue;
    judged.verdicts[i] = JudgeWithNominated(prepared, pod, judged.rows[i]);
  }
  const std::size_t unspoken =
      extended == nullptr ? 0 : TakeOver(profile, *extended, judged, reasons);
  CountAll(prepared, judged, reasons, placement.attempt);
  for (const std::uint8_t plugin : prepared.narrowed_by())
    placement.attempt.rejected_by.Add(plugin);
  const std::size_t left_out = state_.nodes().node_count() - judged.rows.size();
  if (left_out > 0) {
    const auto own = std::find(judged.rows.begin(), judged.rows.end(), state_.pod(pod).nominated);
    const auto at = static_cast<std::size_t>(own - judged.rows.begin());
    const bool by_plugin =
        own != judged.rows.end() && judged.verdicts[at].plugin != profile.extender;
    const Verdict on_nominated = by_plugin ? judged.verdicts[at] : Verdict{};
    reasons[prepared.LeftOutReason(on_nominated)] += left_out + unspoken;
  }
  placement.message = FailureText(reasons);
  TryPostFilter(profile, prepared, pod, judged, placement, extended);
  return placement;
}

NodeRow Placer::BestOf(const PreparedClass& prepared, std::span<const NodeRow> feasible) const {
  if (feasible.size() <= 1) return feasible.empty() ? NodeRow{} : feasible[0];
  return BestBy(TotalScores(prepared, feasible), feasible);
}

std::size_t Placer::LatenessOf(NodeRow row) const {
  const auto at = std::find(failed_.begin(), failed_.end(), row);
  return at == failed_.end() ? 0 : static_cast<std::size_t>(at - failed_.begin()) + 1;
}

NodeRow Placer::BestOf(ClassCache& cache) {
  const NodeRow best = cache.best();
  if (failed_.empty() || !best.valid() || LatenessOf(best) == 0) return best;
  const std::int32_t total = cache.total(best);
  std::vector<NodeRow> taken_out;
  NodeRow least_late;
  for (const NodeRow row : failed_) {
    if (!state_.nodes().has_node(row) || !cache.feasible(row) || cache.total(row) != total)
      continue;
    if (!least_late.valid()) least_late = row;
    taken_out.push_back(row);
  }
  for (const NodeRow row : taken_out) cache.Exclude(row);
  cache.Settle();
  const NodeRow other = cache.best();
  const bool as_good = other.valid() && cache.total(other) == total;
  for (const NodeRow row : taken_out) cache.Include(row);
  cache.Settle();
  return as_good ? other : least_late;
}

// Among those with the greatest total the one that comes first.
NodeRow Placer::BestBy(std::span<const std::int32_t> totals,
                       std::span<const NodeRow> feasible) const {
  std::int32_t greatest = totals[0];
  for (const std::int32_t total : totals) greatest = std::max(greatest, total);
  // A pod that failed nowhere, as nearly all, spares its nodes the question.
  const bool any_late = !failed_.empty();
  std::uint64_t first_turn = UINT64_MAX;
  std::size_t best = 0;
  for (std::size_t i = 0; i < feasible.size(); ++i) {
    if (totals[i] != greatest) continue;
    const std::uint64_t lateness = any_late ? LatenessOf(feasible[i]) : 0;
    const std::uint64_t turn = lateness << 32 | state_.nodes().rank(feasible[i]);
    best = turn < first_turn ? i : best;
    first_turn = std::min(first_turn, turn);
  }
  return feasible[best];
}

std::vector<std::int32_t> TotalScores(const PreparedClass& prepared,
                                      std::span<const NodeRow> rows) {
  std::vector<std::int32_t> totals(rows.size(), 0);
  std::vector<std::int64_t> raw(rows.size());
  for (const PreparedScorer& scorer : prepared.scorers()) {
    scorer.scorer->OnFeasible(rows);
    scorer.scorer->Score(rows, raw);
    AddNormalized(scorer, raw, totals);
  }
  return totals;
}

// ---- saying no ----

Placement Placer::Failed(const framework::Outcome& outcome) {
  Placement placement;
  placement.attempt.error = true;
  placement.message = outcome.reason;
  return placement;
}

Placement Placer::Rejected(const PreparedClass& prepared) const {
  const framework::Outcome& outcome = prepared.outcome();
  if (outcome.code == Code::kError) return Failed(outcome);
  Placement placement;
  (outcome.code == Code::kPending ? placement.attempt.pending_on : placement.attempt.rejected_by)
      .Add(prepared.rejected_by());
  if (prepared.none_left()) {
    for (const std::uint8_t plugin : prepared.narrowed_by())
      placement.attempt.rejected_by.Add(plugin);
  }
  placement.message =
      fmt::format("0/{} nodes are available: {}.", state_.nodes().node_count(), outcome.reason);
  return placement;
}

void Placer::CountAll(const PreparedClass& prepared, const Judged& judged, ReasonCounts& reasons,
                      FailedAttempt& attempt) {
  std::vector<std::pair<Verdict, std::uint64_t>> kinds;
  for (const Verdict& verdict : judged.verdicts) {
    if (verdict.code == Code::kSuccess) continue;  // of a node that is left out of the plan
    const auto known = std::find_if(kinds.rbegin(), kinds.rend(),
                                    [&](const auto& kind) { return kind.first == verdict; });
    if (known != kinds.rend()) {
      ++known->second;
    } else {
      kinds.emplace_back(verdict, 1);
    }
  }
  for (const auto& [verdict, nodes] : kinds) Count(prepared, verdict, nodes, reasons, attempt);
}

void Placer::Count(const PreparedClass& prepared, const Verdict& verdict, std::uint64_t nodes,
                   ReasonCounts& reasons, FailedAttempt& attempt) {
  attempt.rejected_by.Add(verdict.plugin);
  std::vector<std::string> texts;
  if (const framework::NodeFilter* filter = prepared.FilterOf(verdict.plugin)) {
    filter->Explain(verdict, texts);
  }
  for (std::string& text : texts) reasons[std::move(text)] += nodes;
}

std::string Placer::FailureText(const ReasonCounts& reasons) const {
  std::vector<std::string> lines;
  for (const auto& [reason, nodes] : reasons) lines.push_back(fmt::format("{} {}", nodes, reason));
  // As texts, counts included: "10 ..." comes before "9 ...", as in kube-scheduler.
  std::sort(lines.begin(), lines.end());
  std::string text = fmt::format("0/{} nodes are available:", state_.nodes().node_count());
  if (!lines.empty()) text += fmt::format(" {}.", fmt::join(lines, ", "));
  return text;
}

void Placer::TryPostFilter(const framework::Profile& profile, PreparedClass& prepared, PodId pod,
                           const Judged& judged, Placement& placement, ExtenderVerdicts* extended) {
  if (profile.post_filter.empty() || !may_evict_) return;
  const framework::PodView view{state_, state_.class_of(pod), pod};
  framework::Rejections rejections{judged.rows, judged.verdicts};
  std::string message;
  placement.keep_nomination = true;
  for (const auto& entry : profile.post_filter) {
    rejections.was_asked = prepared.WasAsked(entry.index);
    framework::PostFilterResult result = entry.plugin->PostFilter(view, rejections);
    if (result.preempt) {
      placement.preempted_by = entry.index;
      placement.tried_preemption = true;
      placement.before_preemption = message.empty() ? "" : message + ", ";
      const bool minds_gangs = profile.gang_preemption.has_value();
      // Extenders are told of victims, and expect some on every node.
      const bool counts_leaving = minds_gangs && extended == nullptr;
      result.outcome =
          Preempt({pod, prepared, rejections, *result.preempt, minds_gangs, counts_leaving},
                  placement, extended);
    } else if (result.outcome.code == Code::kSuccess) {
      placement.nominated = result.nominated;
    }
    // Who makes room, or knows for sure that nobody can, or fails, has the only word.
    if (result.outcome.code != Code::kUnschedulable) {
      message = std::move(result.outcome.reason);
      break;
    }
    if (result.outcome.reason.empty()) continue;
    message += (message.empty() ? "" : ", ") + result.outcome.reason;
  }
  if (!message.empty()) placement.message += " " + message;
}

framework::Outcome Placer::Preempt(const Preemptor::Question& question, Placement& placement,
                                   ExtenderVerdicts* extended) {
  const bool list = extended != nullptr && extended->list_candidates;
  Preemptor::Answer answer = preemptor_.Find(question, list ? &extended->candidates : nullptr);
  if (!answer.not_eligible.empty()) {
    return framework::Outcome::Unschedulable("preemption: " + answer.not_eligible);
  }
  if (!answer.node.valid()) {
    placement.keep_nomination = false;
    return framework::Outcome::Unschedulable("preemption: " + FailureText(answer.reasons));
  }
  if (list) return framework::Outcome::Success();
  placement.nominated = answer.node;
  placement.victims = std::move(answer.victims);
  return framework::Outcome::Success();
}

// ---- care ----

std::optional<std::string> Placer::VerifyClass(const framework::Profile& profile,
                                               const ClassCaches::Key& key) {
  const auto& [id, relation] = key;
  if (!state_.kinship().Exists(relation)) return std::nullopt;
  state_.RefreshRanks();
  ClassCache& cache = caches_.Get(profile, id, relation, parallel_for_);
  if (!cache.remembers()) return std::nullopt;
  PreparedClass fresh(profile, state_, id, relation, PodId{});
  fresh.Refresh();
  cache.prepared().Refresh();
  std::vector<NodeRow> rows;
  state_.nodes().present().ForEach([&](std::uint32_t row) { rows.push_back(NodeRow{row}); });
  std::vector<Verdict> verdicts(rows.size());
  fresh.Judge(kAllScopes, rows, verdicts, batch_);
  std::vector<Verdict> remembered;
  contest_.Explain(cache, rows, remembered);
  std::vector<NodeRow> feasible;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!(remembered[i] == verdicts[i])) {
      return fmt::format("class {}: the verdict on node {} is out of date", id.index,
                         state_.nodes().name(rows[i]));
    }
    if (verdicts[i].code == Code::kSuccess) feasible.push_back(rows[i]);
  }
  const std::vector<NodeRow>& kept = contest_.Feasible(cache);
  if (kept != feasible) {
    return fmt::format("class {}: {} nodes fit, {} are kept", id.index, feasible.size(),
                       kept.size());
  }
  const bool domains = cache.prepared().has_domains();
  if (!domains && cache.feasible_count() != feasible.size()) {
    return fmt::format("class {}: {} nodes fit, {} are counted", id.index, feasible.size(),
                       cache.feasible_count());
  }
  const std::vector<std::int32_t> totals = TotalScores(fresh, feasible);
  const std::vector<std::int32_t>& contest = contest_.Totals(cache);
  for (std::size_t i = 0; i < feasible.size(); ++i) {
    const std::int32_t total = domains ? contest[i] : cache.total(feasible[i]);
    if (total != totals[i] || contest[i] != totals[i]) {
      return fmt::format("class {}: the score of node {} is {}, remembered as {}", id.index,
                         state_.nodes().name(feasible[i]), totals[i], total);
    }
  }
  if (!domains && BestOf(fresh, feasible) != cache.best()) {
    return fmt::format("class {}: another node is best than remembered", id.index);
  }
  return std::nullopt;
}

}  // namespace knx::engine
