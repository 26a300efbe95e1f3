#include "engine/prepared_class.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <set>

namespace knx::engine {

using framework::Code;
using framework::Outcome;
using framework::Scope;

namespace {

// Positions in the order in which the plugins are prepared.
template <class Entry>
std::vector<std::uint16_t> ByRank(const std::vector<Entry>& entries) {
  std::vector<std::uint16_t> positions(entries.size());
  std::iota(positions.begin(), positions.end(), std::uint16_t{0});
  std::stable_sort(positions.begin(), positions.end(), [&](std::uint16_t a, std::uint16_t b) {
    return entries[a].rank < entries[b].rank;
  });
  return positions;
}

bool IsOfNode(Scope scope) { return scope == Scope::kFacts || scope == Scope::kUsage; }

}  // namespace

PreparedClass::PreparedClass(const framework::Profile& profile, const cluster::State& state,
                             cluster::ClassId id, cluster::RelationId relation, cluster::PodId pod)
    : profile_(profile), facts_seen_(state.fact_changes().end()), state_(state) {
  const framework::PodView view{state, state.classes().Get(id), pod, relation};
  AskFilters(profile, view);
  if (outcome_.ok()) AskScorers(profile, view);
}

void PreparedClass::NoteScope(Scope scope) {
  if (scope == Scope::kDomain) has_domains_ = true;
  if (scope == Scope::kCluster) asks_anew_ = true;
}

void PreparedClass::Refresh() {
  if (!has_domains_) return;
  for (PreparedFilter& filter : filters_) {
    if (filter.scope == Scope::kDomain) filter.filter->Refresh();
  }
  for (PreparedScorer& scorer : scorers_) {
    if (scorer.scope == Scope::kDomain) scorer.scorer->Refresh();
  }
}

void PreparedClass::AskFilters(const framework::Profile& profile, const framework::PodView& view) {
  std::optional<std::vector<std::string>> names;
  for (const std::uint16_t position : ByRank(profile.filters)) {
    const framework::Profile::FilterEntry& entry = profile.filters[position];
    framework::PreFilterResult result = entry.plugin->PreFilter(view);
    if (entry.pre_filter) {
      asked_.Add(entry.index);
      if (!result.outcome.ok() && !IsOfNode(result.scope)) asks_anew_ = true;
      if (result.outcome.code == Code::kError) {
        outcome_ = Outcome::Failed(fmt::format("running PreFilter plugin \"{}\": {}",
                                               profile.plugins[entry.index]->name(),
                                               result.outcome.reason));
        rejected_by_ = entry.index;
        return;
      }
      if (result.outcome.rejected()) {
        outcome_ = std::move(result.outcome);
        rejected_by_ = entry.index;
        return;
      }
      Narrow(result, entry.index, names);
      if (!outcome_.ok()) return;
    }
    if (!entry.filter || result.outcome.code == Code::kSkip || result.filter == nullptr) continue;
    NoteScope(result.scope);
    filters_.push_back({entry.index, position, result.scope, std::move(result.filter)});
  }
  std::sort(filters_.begin(), filters_.end(),
            [](const PreparedFilter& a, const PreparedFilter& b) { return a.order < b.order; });
  if (!names) return;
  only_rows_.emplace();
  for (const std::string& name : *names) {
    const cluster::NodeRow row = state_.nodes().Find(name);
    if (row.valid() && state_.nodes().has_node(row)) only_rows_->push_back(row);
  }
}

void PreparedClass::Narrow(const framework::PreFilterResult& result, std::uint8_t plugin,
                           std::optional<std::vector<std::string>>& names) {
  if (!result.only_nodes) return;
  narrowed_by_.push_back(plugin);
  if (!names) {
    names = result.only_nodes;
  } else {
    std::vector<std::string> both;
    std::set_intersection(names->begin(), names->end(), result.only_nodes->begin(),
                          result.only_nodes->end(), std::back_inserter(both));
    names = std::move(both);
  }
  if (!names->empty()) return;
  std::vector<std::string_view> plugins;
  for (const std::uint8_t index : narrowed_by_) plugins.push_back(profile_.plugins[index]->name());
  std::sort(plugins.begin(), plugins.end());
  outcome_ = Outcome::Unresolvable(
      plugins.size() == 1 ? fmt::format("node(s) didn't satisfy plugin {}", plugins[0])
                          : fmt::format("node(s) didn't satisfy plugin(s) [{}] simultaneously",
                                        fmt::join(plugins, " ")));
  rejected_by_ = plugin;
  none_left_ = true;
}

std::string PreparedClass::LeftOutReason(const framework::Verdict& on_nominated) const {
  std::set<std::string_view> plugins;
  for (const std::uint8_t index : narrowed_by_) plugins.insert(profile_.plugins[index]->name());
  if (on_nominated.code != Code::kSuccess) {
    plugins.insert(profile_.plugins[on_nominated.plugin]->name());
  }
  return fmt::format("node(s) didn't satisfy plugin(s) [{}]", fmt::join(plugins, " "));
}

void PreparedClass::AskScorers(const framework::Profile& profile, const framework::PodView& view) {
  for (const std::uint16_t position : ByRank(profile.scores)) {
    const framework::Profile::ScoreEntry& entry = profile.scores[position];
    framework::PreScoreResult result = entry.plugin->PreScore(view);
    if (!result.outcome.ok()) {
      score_outcome_ =
          Outcome::Failed(fmt::format("running PreScore plugin \"{}\": {}",
                                      profile.plugins[entry.index]->name(), result.outcome.reason));
      scorers_.clear();
      return;
    }
    if (!entry.score || result.outcome.code == Code::kSkip || result.scorer == nullptr) continue;
    NoteScope(result.scope);
    scorers_.push_back({entry.index, static_cast<std::int32_t>(entry.weight), result.scope,
                        std::move(result.scorer)});
  }
}

bool PreparedClass::Current() const {
  // A node named by the pod may have come or gone.
  if (!narrowed_by_.empty() && facts_seen_ != state_.fact_changes().end()) return false;
  for (const PreparedFilter& filter : filters_) {
    if (!filter.filter->Current()) return false;
  }
  for (const PreparedScorer& scorer : scorers_) {
    if (!scorer.scorer->Current()) return false;
  }
  return true;
}

const framework::NodeFilter* PreparedClass::FilterOf(std::uint8_t plugin) const {
  for (const PreparedFilter& filter : filters_) {
    if (filter.plugin == plugin) return filter.filter.get();
  }
  return nullptr;
}

std::uint16_t PreparedClass::OrderOf(std::uint8_t plugin) const {
  for (const PreparedFilter& filter : filters_) {
    if (filter.plugin == plugin) return filter.order;
  }
  return kNoOrder;
}

void PreparedClass::PodAdded(cluster::PodId pod, cluster::NodeRow row) {
  for (PreparedFilter& filter : filters_) filter.filter->OnPodAdded(pod, row);
}

void PreparedClass::PodRemoved(cluster::PodId pod, cluster::NodeRow row) {
  for (PreparedFilter& filter : filters_) filter.filter->OnPodRemoved(pod, row);
}

void PreparedClass::Judge(ScopeMask wanted, framework::NodeRows rows,
                          std::span<framework::Verdict> out, Batch& batch) const {
  batch.rows.assign(rows.begin(), rows.end());
  batch.positions.resize(rows.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) batch.positions[i] = i;
  std::fill(out.begin(), out.end(), framework::Verdict{});
  for (const PreparedFilter& filter : filters_) {
    if ((wanted & MaskOf(filter.scope)) == 0 || batch.rows.empty()) continue;
    batch.found.assign(batch.rows.size(), framework::Verdict{});
    framework::Verdicts verdicts(batch.found, filter.plugin);
    filter.filter->Filter(batch.rows, verdicts);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
      if (batch.found[i].code != Code::kSuccess) {
        out[batch.positions[i]] = batch.found[i];
        continue;
      }
      batch.rows[kept] = batch.rows[i];
      batch.positions[kept] = batch.positions[i];
      ++kept;
    }
    batch.rows.resize(kept);
    batch.positions.resize(kept);
  }
}

namespace {

// Normalising divides, and rows have few different raw scores: those met last are kept.
class NormalizedScores {
 public:
  NormalizedScores(const PreparedScorer& scorer, framework::ScoreBounds bounds)
      : scorer_(scorer), bounds_(bounds), normalizes_(scorer.scorer->normalizes()) {}

  [[nodiscard]] std::int32_t Of(std::int64_t raw) {
    Known& known = known_[static_cast<std::uint64_t>(raw) % known_.size()];
    if (known.raw != raw) known = {raw, Weighted(raw)};
    return known.weighted;
  }

 private:
  struct Known {
    std::int64_t raw = framework::kIgnored;
    std::int32_t weighted = 0;
  };
  [[nodiscard]] std::int32_t Weighted(std::int64_t raw) const {
    if (raw == framework::kIgnored) return 0;
    const std::int64_t score = normalizes_ ? scorer_.scorer->Normalize(raw, bounds_) : raw;
    return scorer_.weight * static_cast<std::int32_t>(score);
  }

  const PreparedScorer& scorer_;
  framework::ScoreBounds bounds_;
  bool normalizes_;
  std::array<Known, 32> known_;
};

}  // namespace

void AddNormalized(const PreparedScorer& scorer, std::span<const std::int64_t> raw,
                   std::span<std::int32_t> totals) {
  framework::ScoreBounds bounds{INT64_MAX, INT64_MIN};
  bool some_ignored = false;
  for (const std::int64_t value : raw) {
    const bool ignored = value == framework::kIgnored;
    some_ignored |= ignored;
    bounds.min = std::min(bounds.min, ignored ? INT64_MAX : value);
    bounds.max = std::max(bounds.max, value);
  }
  if (bounds.min > bounds.max) return;
  NormalizedScores scores(scorer, bounds);
  if (bounds.min == bounds.max && !some_ignored) {
    const std::int32_t everywhere = scores.Of(bounds.min);
    for (std::int32_t& total : totals) total += everywhere;
    return;
  }
  for (std::size_t i = 0; i < raw.size(); ++i) totals[i] += scores.Of(raw[i]);
}

}  // namespace knx::engine
