// What is known about every node for the pods of one class: fits or why not, and how good.
// Kept up to date row by row: only nodes that changed since the last time are judged again, and of
// those only by the plugins whose answer can have changed. Equal to asking every plugin about every
// node, and checked to be.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cluster/state.h"
#include "engine/parallel_for.h"
#include "engine/prepared_class.h"
#include "engine/winner_tree.h"
#include "framework/profile.h"

namespace knx::engine {

class ClassCache {
 public:
  ClassCache(const framework::Profile& profile, const cluster::State& state, cluster::ClassId id,
             cluster::RelationId relation);

  // Brings everything up to date with the state. Needs fresh ranks.
  void Refresh(const ParallelFor& parallel_for);

  [[nodiscard]] PreparedClass& prepared() { return *prepared_; }
  [[nodiscard]] const PreparedClass& prepared() const { return *prepared_; }
  // False: the pod is rejected as a whole, names its nodes itself, or some answer can depend on
  // anything. Then nothing is remembered and only the prepared plugins are of use.
  [[nodiscard]] bool remembers() const {
    return prepared_->outcome().ok() && prepared_->score_outcome().ok() &&
           !prepared_->only_rows() && !prepared_->asks_anew();
  }
  // ---- valid after Refresh, if it remembers ----
  // What follows speaks of the plugins whose answers depend on the node alone; with
  // prepared().has_domains() the others have to be asked as well (domain_contest.h).
  // The best node, invalid if none fits.
  [[nodiscard]] cluster::NodeRow best() const { return tree_.best(); }
  [[nodiscard]] std::uint32_t feasible_count() const { return kinds_[kAccepted].count; }
  [[nodiscard]] bool feasible(cluster::NodeRow row) const {
    return verdict_[row.index] == kAccepted;
  }
  [[nodiscard]] std::int32_t total(cluster::NodeRow row) const { return tree_.total(row); }
  [[nodiscard]] const framework::Verdict& verdict(cluster::NodeRow row) const {
    return kinds_[verdict_[row.index]].verdict;
  }
  // Position in the profile of the filter that rejected the row; of an accepted one: after all.
  [[nodiscard]] std::uint16_t rejection_order(cluster::NodeRow row) const {
    return feasible(row) ? kNoOrder : kinds_[verdict_[row.index]].order;
  }
  void CollectFeasible(std::vector<cluster::NodeRow>& rows) const;
  // What the plugins give rows that fit, if no others do.
  void Totals(std::span<const cluster::NodeRow> rows, std::span<std::int32_t> totals) const;
  // Takes a row out of the contest for best(), or puts it back. Undone by the next change of the
  // row.
  void Exclude(cluster::NodeRow row) { tree_.Set(row, WinnerTree::kOut); }
  void Include(cluster::NodeRow row) {
    tree_.Set(row, feasible(row) ? TotalOf(row) : WinnerTree::kOut);
  }
  void Settle() { tree_.Settle(state_.nodes()); }

  [[nodiscard]] std::size_t bytes() const;

 private:
  // A kind of verdict; what rows hold is its number. There are few: one for each combination of
  // reasons.
  struct Kind {
    framework::Verdict verdict;
    std::uint16_t order = 0;  // of the plugin among the filters
    std::uint32_t count = 0;  // rows of that kind
  };
  using KindId = std::uint16_t;
  static constexpr KindId kAccepted = 0;
  static constexpr KindId kAbsent = 1;  // no node in this row
  static constexpr KindId kFirstRejection = 2;
  // Beyond this many combinations of reasons, further ones are counted under the last.
  static constexpr std::size_t kMaxKinds = 0xFFFF;

  // The raw scores of a plugin that normalises, and their bounds over the rows that fit.
  struct RawColumn {
    std::size_t scorer = 0;
    bool flat = true;               // zero everywhere so far: no room taken
    std::int32_t flat_score = 0;    // what every row gets then
    std::vector<std::int64_t> raw;  // by row
    framework::ScoreBounds bounds;
    std::uint32_t at_min = 0, at_max = 0;  // rows that fit with just that score
    bool bounds_lost = false;
  };

  // Answers about a list of rows, before they are taken over.
  struct Answers {
    std::vector<cluster::NodeRow> rows;
    std::size_t fact_rows =
        0;  // the first so many changed in their Node object, the rest in their pods only
    std::vector<framework::Verdict> facts, usage;
    std::vector<std::int32_t> plain;
    std::vector<std::vector<std::int64_t>> raws;  // by column
  };
  struct Scratch {
    PreparedClass::Batch batch;
    std::vector<cluster::NodeRow> accepted;
    std::vector<std::uint32_t> positions;
    std::vector<std::int64_t> scores;
  };

  void Prepare();
  bool CollectChanges();
  void AnswerAll(const ParallelFor& parallel_for);
  void Answer(std::size_t begin, std::size_t end, Scratch& scratch);
  void ScorePlain(std::size_t begin, std::size_t end, Scratch& scratch);
  void ScoreRaw(std::size_t begin, std::size_t end);
  void TakeOver();
  void TakeOverRow(std::size_t i);
  void SetVerdict(cluster::NodeRow row, KindId next);
  void Grow(std::size_t row_count);
  void DropRowsWithoutNews();
  void SetAbsent(cluster::NodeRow row);
  KindId KindOf(const framework::Verdict& verdict);
  [[nodiscard]] std::uint16_t OrderOf(const framework::Verdict& verdict) const;
  void ChangeRaw(RawColumn& column, cluster::NodeRow row, bool fitted, bool fits, std::int64_t raw);
  void RestoreBounds();
  void RecomputeTotals();
  [[nodiscard]] std::int32_t TotalOf(cluster::NodeRow row) const;

  const framework::Profile& profile_;
  const cluster::State& state_;
  cluster::ClassId id_;
  cluster::RelationId relation_;
  std::unique_ptr<PreparedClass> prepared_;
  std::uint16_t first_usage_order_ = kNoOrder;
  std::vector<std::size_t> plain_scorers_;
  std::vector<RawColumn> columns_;

  std::uint64_t facts_position_ = 0, usage_position_ = 0;
  bool all_rows_ = true;  // nothing is known yet
  std::vector<Kind> kinds_;
  std::vector<KindId> facts_;    // by row: the verdict on the Node object alone
  std::vector<KindId> verdict_;  // by row: the verdict
  std::vector<std::int32_t>
      plain_;  // by row: what plugins that do not normalise give; the rest comes from columns_
  WinnerTree tree_;
  Answers answers_;
  Scratch scratch_;
};

}  // namespace knx::engine
