#include "engine/class_cache.h"

#include <algorithm>

namespace knx::engine {

using cluster::NodeRow;
using framework::Code;
using framework::Scope;
using framework::Verdict;

namespace {

// Rows a thread judges in one go: large enough to pay for the hand-over, small enough to stay in
// the cache.
constexpr std::size_t kChunkRows = 1024;

}  // namespace

ClassCache::ClassCache(const framework::Profile& profile, const cluster::State& state,
                       cluster::ClassId id, cluster::RelationId relation)
    : profile_(profile), state_(state), id_(id), relation_(relation) {
  Prepare();
}

void ClassCache::Prepare() {
  prepared_ = std::make_unique<PreparedClass>(profile_, state_, id_, relation_, cluster::PodId{});
  first_usage_order_ = kNoOrder;
  for (const PreparedFilter& filter : prepared_->filters()) {
    if (filter.scope == Scope::kUsage)
      first_usage_order_ = std::min(first_usage_order_, filter.order);
  }
  plain_scorers_.clear();
  columns_.clear();
  for (std::size_t i = 0; i < prepared_->scorers().size(); ++i) {
    const PreparedScorer& scorer = prepared_->scorers()[i];
    if (scorer.scope != Scope::kFacts && scorer.scope != Scope::kUsage) continue;
    if (scorer.scorer->normalizes()) {
      RawColumn& column = columns_.emplace_back();
      column.scorer = i;
      column.flat_score =
          scorer.weight * static_cast<std::int32_t>(scorer.scorer->Normalize(0, {}));
    } else {
      plain_scorers_.push_back(i);
    }
  }
  all_rows_ = true;
}

void ClassCache::Refresh(const ParallelFor& parallel_for) {
  if (!prepared_->Current()) Prepare();
  if (!remembers()) return;
  if (!CollectChanges()) return;
  AnswerAll(parallel_for);
  TakeOver();
}

// False: nothing changed.
bool ClassCache::CollectChanges() {
  const cluster::ChangeLog& facts = state_.fact_changes();
  const cluster::ChangeLog& usage = state_.usage_changes();
  const std::size_t row_count = state_.nodes().row_count();
  if (!facts.Reaches(facts_position_) || !usage.Reaches(usage_position_)) all_rows_ = true;
  if (!all_rows_ && facts_position_ == facts.end() && usage_position_ == usage.end()) return false;
  std::vector<NodeRow>& rows = answers_.rows;
  rows.clear();
  if (all_rows_) {
    kinds_.assign(kFirstRejection, {});
    facts_.assign(row_count, kAbsent);
    verdict_.assign(row_count, kAbsent);
    kinds_[kAbsent].count = static_cast<std::uint32_t>(row_count);
    plain_.assign(row_count, 0);
    tree_ = {};
    tree_.Resize(row_count);
    for (std::uint32_t i = 0; i < row_count; ++i) {
      if (state_.nodes().has_node(NodeRow{i})) rows.push_back(NodeRow{i});
    }
    answers_.fact_rows = rows.size();
  } else {
    facts.ChangedSince(facts_position_, rows);
    answers_.fact_rows = rows.size();
    if (tree_.rows() < row_count) Grow(row_count);
    usage.ChangedSince(usage_position_, rows);
    DropRowsWithoutNews();
  }
  facts_position_ = facts.end();
  usage_position_ = usage.end();
  return true;
}

void ClassCache::Grow(std::size_t row_count) {
  kinds_[kAbsent].count += static_cast<std::uint32_t>(row_count - tree_.rows());
  facts_.resize(row_count, kAbsent);
  verdict_.resize(row_count, kAbsent);
  plain_.resize(row_count, 0);
  for (RawColumn& column : columns_) {
    if (!column.flat) column.raw.resize(row_count, 0);
  }
  tree_.Resize(row_count);
  tree_.Rebuild(state_.nodes());
}

// Leaves out what needs no plugin to answer: rows that lost their Node, rows listed twice, and rows
// whose pods changed but whose Node was already rejected by a plugin that comes first.
void ClassCache::DropRowsWithoutNews() {
  std::vector<NodeRow>& rows = answers_.rows;
  std::size_t kept = 0;
  std::size_t kept_facts = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const NodeRow row = rows[i];
    const bool of_facts = i < answers_.fact_rows;
    if (!state_.nodes().has_node(row)) {
      SetAbsent(row);
      continue;
    }
    if (!of_facts) {
      if (state_.fact_changes().ChangedSince(facts_position_, row)) continue;
      const KindId facts = facts_[row.index];
      if (facts != kAccepted && kinds_[facts].order < first_usage_order_) continue;
    }
    rows[kept++] = row;
    kept_facts += of_facts ? 1 : 0;
  }
  rows.resize(kept);
  answers_.fact_rows = kept_facts;
}

void ClassCache::SetAbsent(NodeRow row) {
  facts_[row.index] = kAbsent;
  for (RawColumn& column : columns_) {
    ChangeRaw(column, row, verdict_[row.index] == kAccepted, false, 0);
  }
  SetVerdict(row, kAbsent);
  tree_.Set(row, WinnerTree::kOut);
}

void ClassCache::SetVerdict(NodeRow row, KindId next) {
  --kinds_[verdict_[row.index]].count;
  ++kinds_[next].count;
  verdict_[row.index] = next;
}

void ClassCache::AnswerAll(const ParallelFor& parallel_for) {
  const std::size_t n = answers_.rows.size();
  answers_.facts.resize(answers_.fact_rows);
  answers_.usage.resize(n);
  answers_.plain.resize(n);
  answers_.raws.resize(columns_.size());
  for (auto& raws : answers_.raws) raws.resize(n);
  const std::size_t chunks = (n + kChunkRows - 1) / kChunkRows;
  if (chunks <= 1 || !parallel_for) {
    for (std::size_t begin = 0; begin < n; begin += kChunkRows) {
      Answer(begin, std::min(begin + kChunkRows, n), scratch_);
    }
    return;
  }
  std::vector<Scratch> scratches(chunks);
  parallel_for(chunks, [&](std::size_t chunk) {
    Answer(chunk * kChunkRows, std::min((chunk + 1) * kChunkRows, n), scratches[chunk]);
  });
}

// Judges rows [begin, end) of the answers. Rows of which only the pods changed keep their verdict
// on the facts.
void ClassCache::Answer(std::size_t begin, std::size_t end, Scratch& scratch) {
  const auto rows = std::span(answers_.rows);
  const std::size_t facts_end = std::min(end, std::max(begin, answers_.fact_rows));
  if (begin < facts_end) {
    prepared_->Judge(kFactsOnly, rows.subspan(begin, facts_end - begin),
                     std::span(answers_.facts).subspan(begin, facts_end - begin), scratch.batch);
  }
  prepared_->Judge(kUsageOnly, rows.subspan(begin, end - begin),
                   std::span(answers_.usage).subspan(begin, end - begin), scratch.batch);
  ScorePlain(begin, end, scratch);
  ScoreRaw(begin, end);
}

void ClassCache::ScorePlain(std::size_t begin, std::size_t end, Scratch& scratch) {
  scratch.accepted.clear();
  scratch.positions.clear();
  for (std::size_t i = begin; i < end; ++i) {
    answers_.plain[i] = 0;
    if (answers_.usage[i].code != Code::kSuccess) continue;
    scratch.accepted.push_back(answers_.rows[i]);
    scratch.positions.push_back(static_cast<std::uint32_t>(i));
  }
  scratch.scores.resize(scratch.accepted.size());
  for (const std::size_t s : plain_scorers_) {
    const PreparedScorer& scorer = prepared_->scorers()[s];
    scorer.scorer->Score(scratch.accepted, scratch.scores);
    for (std::size_t i = 0; i < scratch.accepted.size(); ++i) {
      answers_.plain[scratch.positions[i]] +=
          scorer.weight * static_cast<std::int32_t>(scratch.scores[i]);
    }
  }
}

void ClassCache::ScoreRaw(std::size_t begin, std::size_t end) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const PreparedScorer& scorer = prepared_->scorers()[columns_[c].scorer];
    const auto ask = [&](std::size_t from, std::size_t to) {
      if (from >= to) return;
      scorer.scorer->Score(std::span(answers_.rows).subspan(from, to - from),
                           std::span(answers_.raws[c]).subspan(from, to - from));
    };
    const std::size_t facts_end = std::min(end, std::max(begin, answers_.fact_rows));
    if (scorer.scope == Scope::kFacts) {
      ask(begin, facts_end);
      for (std::size_t i = facts_end; i < end; ++i) {
        const RawColumn& column = columns_[c];
        answers_.raws[c][i] = column.flat ? 0 : column.raw[answers_.rows[i].index];
      }
    } else {
      ask(begin, end);
    }
  }
}

void ClassCache::TakeOver() {
  for (std::size_t i = 0; i < answers_.rows.size(); ++i) TakeOverRow(i);
  RestoreBounds();
  if (all_rows_) {
    tree_.Rebuild(state_.nodes());
  } else {
    tree_.Settle(state_.nodes());
  }
  all_rows_ = false;
  // A large refresh is rare; its room is worth more than its speed.
  if (answers_.rows.capacity() > kChunkRows) answers_ = {};
}

void ClassCache::TakeOverRow(std::size_t i) {
  const NodeRow row = answers_.rows[i];
  if (i < answers_.fact_rows) facts_[row.index] = KindOf(answers_.facts[i]);
  const KindId facts = facts_[row.index];
  KindId next = facts;
  if (answers_.usage[i].code != Code::kSuccess &&
      (facts == kAccepted || OrderOf(answers_.usage[i]) < kinds_[facts].order)) {
    next = KindOf(answers_.usage[i]);
  }
  const bool fitted = verdict_[row.index] == kAccepted;
  SetVerdict(row, next);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    ChangeRaw(columns_[c], row, fitted, next == kAccepted, answers_.raws[c][i]);
  }
  plain_[row.index] = answers_.plain[i];
  const std::int32_t total = next == kAccepted ? TotalOf(row) : WinnerTree::kOut;
  if (all_rows_) {
    tree_.SetUnsettled(row, total);
  } else {
    tree_.Set(row, total);
  }
}

ClassCache::KindId ClassCache::KindOf(const Verdict& verdict) {
  if (verdict.code == Code::kSuccess) return kAccepted;
  for (std::size_t kind = kFirstRejection; kind < kinds_.size(); ++kind) {
    if (kinds_[kind].verdict == verdict) return static_cast<KindId>(kind);
  }
  if (kinds_.size() < kMaxKinds) kinds_.push_back({verdict, OrderOf(verdict), 0});
  return static_cast<KindId>(kinds_.size() - 1);
}

std::uint16_t ClassCache::OrderOf(const Verdict& verdict) const {
  return prepared_->OrderOf(verdict.plugin);
}

void ClassCache::ChangeRaw(RawColumn& column, NodeRow row, bool fitted, bool fits,
                           std::int64_t raw) {
  if (column.flat) {
    // Rows that fit all have 0, whether they come or go: the bounds stay at 0.
    if (raw == 0) return;
    column.flat = false;
    column.raw.assign(tree_.rows(), 0);
    column.bounds_lost = true;
  }
  const std::int64_t before = column.raw[row.index];
  column.raw[row.index] = raw;
  if (column.bounds_lost) return;
  if (fitted && before != framework::kIgnored) {
    if (before == column.bounds.min) --column.at_min;
    if (before == column.bounds.max) --column.at_max;
  }
  if (fits && raw != framework::kIgnored) {
    if (raw < column.bounds.min || raw > column.bounds.max) column.bounds_lost = true;
    if (raw == column.bounds.min) ++column.at_min;
    if (raw == column.bounds.max) ++column.at_max;
  }
  if (column.at_min == 0 || column.at_max == 0) column.bounds_lost = true;
}

void ClassCache::RestoreBounds() {
  bool changed = false;
  for (RawColumn& column : columns_) {
    if (!column.bounds_lost) continue;
    column.bounds_lost = false;
    framework::ScoreBounds bounds{INT64_MAX, INT64_MIN};
    column.at_min = column.at_max = 0;
    for (std::size_t i = 0; i < verdict_.size(); ++i) {
      const std::int64_t raw = column.raw[i];
      if (verdict_[i] != kAccepted || raw == framework::kIgnored) continue;
      if (raw < bounds.min) column.at_min = 0;
      if (raw > bounds.max) column.at_max = 0;
      bounds = {std::min(bounds.min, raw), std::max(bounds.max, raw)};
      column.at_min += raw == bounds.min ? 1 : 0;
      column.at_max += raw == bounds.max ? 1 : 0;
    }
    if (column.at_min == 0) bounds = {};
    // Nothing fits: the next row that does must look again.
    column.bounds_lost = column.at_min == 0;
    changed = changed || bounds != column.bounds;
    column.bounds = bounds;
  }
  if (changed || (all_rows_ && !columns_.empty())) RecomputeTotals();
}

void ClassCache::RecomputeTotals() {
  for (std::uint32_t i = 0; i < verdict_.size(); ++i) {
    if (verdict_[i] == kAccepted) tree_.SetUnsettled(NodeRow{i}, TotalOf(NodeRow{i}));
  }
  tree_.Rebuild(state_.nodes());
}

std::int32_t ClassCache::TotalOf(NodeRow row) const {
  std::int32_t total = plain_[row.index];
  for (const RawColumn& column : columns_) {
    if (column.flat) {
      total += column.flat_score;
      continue;
    }
    const PreparedScorer& scorer = prepared_->scorers()[column.scorer];
    const std::int64_t raw = column.raw[row.index];
    if (raw == framework::kIgnored) continue;
    total +=
        scorer.weight * static_cast<std::int32_t>(scorer.scorer->Normalize(raw, column.bounds));
  }
  return total;
}

void ClassCache::CollectFeasible(std::vector<NodeRow>& rows) const {
  // Every row is written and only those that fit are stepped over: without a branch to mispredict.
  rows.resize(std::size_t{feasible_count()} + 1);
  std::size_t kept = 0;
  for (std::uint32_t i = 0; i < verdict_.size(); ++i) {
    rows[kept] = NodeRow{i};
    kept += verdict_[i] == kAccepted ? 1 : 0;
  }
  rows.pop_back();
}

void ClassCache::Totals(std::span<const NodeRow> rows, std::span<std::int32_t> totals) const {
  std::int32_t flat = 0;
  for (const RawColumn& column : columns_) flat += column.flat ? column.flat_score : 0;
  for (std::size_t i = 0; i < rows.size(); ++i) totals[i] = plain_[rows[i].index] + flat;
  std::vector<std::int64_t> raw;
  for (const RawColumn& column : columns_) {
    if (column.flat) continue;
    raw.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) raw[i] = column.raw[rows[i].index];
    AddNormalized(prepared_->scorers()[column.scorer], raw, totals);
  }
}

std::size_t ClassCache::bytes() const {
  std::size_t total = sizeof(*this) + tree_.bytes() + kinds_.capacity() * sizeof(Kind) +
                      (facts_.capacity() + verdict_.capacity()) * sizeof(KindId) +
                      plain_.capacity() * sizeof(std::int32_t);
  for (const RawColumn& column : columns_) total += column.raw.capacity() * sizeof(std::int64_t);
  return total;
}

}  // namespace knx::engine
