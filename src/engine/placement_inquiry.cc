// A decision taken apart, for who wants to see all of it.
#include <fmt/format.h>

#include <algorithm>

#include "engine/placement.h"
#include "k8s/names.h"

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

// Which part of what it asks for is too much, of the resource that it is the greatest of.
double ShareOf(const PodInquiry::Less& less) {
  double share = 0;
  for (const PodInquiry::Less::Amount& amount : less.amounts) {
    share =
        std::max(share, 1 - static_cast<double>(amount.left) / static_cast<double>(amount.asked));
  }
  return share;
}

}  // namespace

Inquiry Placer::Inquire(const framework::Profile& profile, PodId pod) {
  Inquiry inquiry;
  const framework::PodView view{state_, state_.class_of(pod), pod};
  for (const auto& entry : profile.pre_enqueue) {
    const framework::Outcome outcome = entry.plugin->PreEnqueue(view);
    if (outcome.ok()) continue;
    inquiry.kept_out = {
        "", std::string(profile.plugins[entry.index]->name()), outcome.code, {outcome.reason}};
    return inquiry;
  }
  const Placement placement = Place(profile, pod);
  if (placement.node.valid()) inquiry.chosen = state_.nodes().name(placement.node);
  inquiry.message = placement.message;
  inquiry.error = placement.attempt.error;
  if (placement.nominated.valid()) {
    inquiry.nomination = state_.nodes().name(placement.nominated);
  } else if (!placement.keep_nomination) {
    inquiry.nomination = "";
  }
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
    if (!prepared.none_left()) {
      inquiry.rejected_by = profile.plugins[prepared.rejected_by()]->name();
    }
    if (!prepared.outcome().rejected()) return inquiry;
    for (const NodeRow row : state_.nodes().by_name()) {
      if (!state_.nodes().has_node(row)) continue;
      inquiry.rejections.push_back({state_.nodes().name(row),
                                    inquiry.rejected_by,
                                    inquiry.outcome.code,
                                    {inquiry.outcome.reason}});
    }
    return inquiry;
  }
  Judged judged;
  ListNodes(profile, prepared, pod, judged, inquiry);
  if (!placement.node.valid()) ListPreemption(profile, prepared, pod, judged, inquiry);
  return inquiry;
}

// Nodes one by one, and the scores of those that fit. `judged` gets those that do not.
void Placer::ListNodes(const framework::Profile& profile, PreparedClass& prepared, PodId pod,
                       Judged& judged, Inquiry& inquiry) {
  const auto& only = prepared.only_rows();
  if (only) {
    inquiry.only_nodes.emplace();
    for (const NodeRow row : *only) inquiry.only_nodes->push_back(state_.nodes().name(row));
    std::sort(inquiry.only_nodes->begin(), inquiry.only_nodes->end());
  }
  const NodeRow own = state_.pod(pod).nominated;
  Verdict on_nominated;
  if (own.valid() && state_.nodes().has_node(own)) {
    on_nominated = JudgeWithNominated(prepared, pod, own);
  }
  std::vector<NodeRow> feasible;
  for (const NodeRow row : state_.nodes().by_name()) {
    if (!state_.nodes().has_node(row)) continue;
    const bool left_out = only && std::find(only->begin(), only->end(), row) == only->end();
    const Verdict verdict = row == own ? on_nominated
                            : left_out ? Verdict{}
                                       : JudgeWithNominated(prepared, pod, row);
    const std::string& name = state_.nodes().name(row);
    if (verdict.code != Code::kSuccess) {
      Inquiry::Rejection rejection{
          name, std::string(profile.plugins[verdict.plugin]->name()), verdict.code, {}};
      prepared.FilterOf(verdict.plugin)->Explain(verdict, rejection.reasons);
      inquiry.rejections.push_back(std::move(rejection));
      judged.rows.push_back(row);
      judged.verdicts.push_back(verdict);
    } else if (left_out) {
      inquiry.rejections.push_back(
          {name, "", Code::kUnresolvable, {prepared.LeftOutReason(on_nominated)}});
    } else {
      feasible.push_back(row);
      inquiry.feasible.push_back(name);
    }
  }
  if (!prepared.score_outcome().ok()) return;
  for (const PreparedScorer& scorer : prepared.scorers()) {
    if (feasible.empty()) break;
    inquiry.scores.push_back(
        {std::string(profile.plugins[scorer.plugin]->name()), ScoresOf(scorer, feasible)});
  }
  inquiry.totals = TotalScores(prepared, feasible);
}

void Placer::ListPreemption(const framework::Profile& profile, PreparedClass& prepared, PodId pod,
                            const Judged& judged, Inquiry& inquiry) {
  const framework::PodView view{state_, state_.class_of(pod), pod};
  const framework::Rejections rejections{judged.rows, judged.verdicts};
  for (const auto& entry : profile.post_filter) {
    const auto wanted = entry.plugin->PostFilter(view, rejections).preempt;
    if (!wanted) continue;
    for (const auto& found : preemptor_.ListCandidates({pod, prepared, rejections, *wanted})) {
      Inquiry::Candidate candidate{state_.nodes().name(found.node), {}, found.violations};
      for (const PodId victim : found.victims) {
        candidate.victims.push_back(fmt::format(
            "{}/{}", state_.words().Text(state_.pod(victim).namespace_), state_.pod(victim).name));
      }
      std::sort(candidate.victims.begin(), candidate.victims.end());
      inquiry.candidates.push_back(std::move(candidate));
    }
  }
}

// ---- what keeps it from a node ----

void Placer::ListObstacles(const framework::Profile& profile, PodId pod,
                           std::span<const NodeRow> without, PodInquiry& inquiry) {
  PreparedClass prepared(profile, state_, state_.pod(pod).pod_class, state_.RelationOf(pod), pod);
  prepared.Refresh();
  if (!prepared.outcome().ok()) return;
  state_.RefreshRanks();
  const auto& only = prepared.only_rows();
  std::vector<NodeRow> rows;
  for (const NodeRow row : state_.nodes().by_name()) {
    const bool left_out = (only && std::find(only->begin(), only->end(), row) == only->end()) ||
                          std::binary_search(without.begin(), without.end(), row);
    if (state_.nodes().has_node(row) && !left_out && !HasRivals(pod, row)) rows.push_back(row);
  }
  std::vector<std::vector<Verdict>> refusals(rows.size());
  for (const PreparedFilter& filter : prepared.filters()) {
    std::vector<Verdict> found(rows.size());
    framework::Verdicts out(found, filter.plugin);
    filter.filter->Filter(rows, out);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (found[i].code != Code::kSuccess) refusals[i].push_back(found[i]);
    }
  }
  double least = 1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto takes = [&](const Verdict& verdict) {
      return prepared.FilterOf(verdict.plugin)->limits().takes;
    };
    if (refusals[i].size() == 1 && !takes(refusals[i][0]).empty()) {
      auto less = LessFor(rows[i], takes(refusals[i][0]));
      if (!less || ShareOf(*less) >= least) continue;
      least = ShareOf(*less);
      inquiry.less = std::move(less);
      continue;
    }
    // One cause may be refused by two; more changes at once than that nobody makes.
    constexpr std::size_t kMostRefusals = 2;
    const bool has_all =
        std::all_of(refusals[i].begin(), refusals[i].end(),
                    [&](const Verdict& verdict) { return takes(verdict).empty(); });
    if (!has_all || refusals[i].empty() || refusals[i].size() > kMostRefusals) continue;
    PodInquiry::Obstacle& obstacle = inquiry.obstacles.emplace_back();
    obstacle.node = state_.nodes().name(rows[i]);
    for (const Verdict& verdict : refusals[i]) {
      auto& refusal = obstacle.by.emplace_back();
      refusal.plugin = profile.plugins[verdict.plugin]->name();
      prepared.FilterOf(verdict.plugin)->Explain(verdict, refusal.reasons);
    }
  }
}

// nullopt: nothing that is asked for could be less.
std::optional<PodInquiry::Less> Placer::LessFor(
    NodeRow row, std::span<const cluster::ResourceAmount> takes) const {
  PodInquiry::Less less{state_.nodes().name(row), {}};
  for (const cluster::ResourceAmount& entry : takes) {
    const std::int64_t left = FreeOn(state_, row, entry.id);
    if (entry.amount <= left) continue;
    if (entry.id == cluster::kPods || left == 0) return std::nullopt;
    less.amounts.push_back({state_.resources().Name(entry.id), entry.amount, left});
  }
  return less.amounts.empty() ? std::nullopt : std::optional(std::move(less));
}

}  // namespace knx::engine
