// The best of many rows, kept best while single rows change.
// A row's total is compared first, then its rank (the order of node names), so that equal nodes are
// always taken in the same order, whatever order they came in. A tree of winners with a fan-out of
// 16: a change touches one block a level, and finding the best costs nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cluster/node_table.h"

namespace knx::engine {

class WinnerTree {
 public:
  static constexpr std::int32_t kOut = -1;  // the total of a row that takes no part

  // All rows change: call before Build().
  void Resize(std::size_t rows) {
    totals_.resize(rows, kOut);
    levels_.clear();
    for (std::size_t n = rows; n > 1 || levels_.empty();) {
      n = (n + kFan - 1) / kFan;
      levels_.emplace_back(n, kNone);
    }
    dirty_.resize(levels_.size());
  }

  [[nodiscard]] std::int32_t total(cluster::NodeRow row) const { return totals_[row.index]; }
  [[nodiscard]] std::size_t rows() const { return totals_.size(); }

  // Changes a row; the tree is right again after Settle().
  void Set(cluster::NodeRow row, std::int32_t total) {
    totals_[row.index] = total;
    dirty_[0].push_back(row.index / kFan);
  }
  // The same for every row at once, followed by Rebuild().
  void SetUnsettled(cluster::NodeRow row, std::int32_t total) { totals_[row.index] = total; }

  void Settle(const cluster::NodeTable& nodes) {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      auto& blocks = dirty_[level];
      if (blocks.size() > 1) {
        std::sort(blocks.begin(), blocks.end());
        blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
      }
      for (const std::uint32_t block : blocks) {
        Contest(level, block, nodes);
        if (level + 1 < levels_.size()) dirty_[level + 1].push_back(block / kFan);
      }
      blocks.clear();
    }
  }

  void Rebuild(const cluster::NodeTable& nodes) {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      dirty_[level].clear();
      for (std::uint32_t block = 0; block < levels_[level].size(); ++block)
        Contest(level, block, nodes);
    }
  }

  // The best row, invalid if none takes part.
  [[nodiscard]] cluster::NodeRow best() const {
    const bool nobody = levels_.empty() || levels_.back().empty();
    return nobody ? cluster::NodeRow{} : cluster::NodeRow{levels_.back()[0]};
  }

  [[nodiscard]] std::size_t bytes() const {
    std::size_t total = totals_.capacity() * sizeof(std::int32_t);
    for (const auto& level : levels_) total += level.capacity() * sizeof(std::uint32_t);
    return total;
  }

 private:
  static constexpr std::uint32_t kFan = 16;
  static constexpr std::uint32_t kNone = cluster::NodeRow::kNone;

  void Contest(std::size_t level, std::uint32_t block, const cluster::NodeTable& nodes) {
    std::uint32_t winner = kNone;
    std::int32_t best = kOut;
    const auto consider = [&](std::uint32_t row) {
      const std::int32_t total = totals_[row];
      if (total < best || total == kOut) return;
      if (total > best ||
          nodes.rank(cluster::NodeRow{row}) < nodes.rank(cluster::NodeRow{winner})) {
        best = total;
        winner = row;
      }
    };
    const std::size_t begin = std::size_t{block} * kFan;
    if (level == 0) {
      const std::size_t end = std::min(begin + kFan, totals_.size());
      for (std::size_t i = begin; i < end; ++i) consider(static_cast<std::uint32_t>(i));
    } else {
      const auto& below = levels_[level - 1];
      const std::size_t end = std::min(begin + kFan, below.size());
      for (std::size_t i = begin; i < end; ++i) {
        if (below[i] != kNone) consider(below[i]);
      }
    }
    levels_[level][block] = winner;
  }

  std::vector<std::int32_t> totals_;
  std::vector<std::vector<std::uint32_t>>
      levels_;  // winners of blocks of rows, of blocks of those, ...
  std::vector<std::vector<std::uint32_t>> dirty_;
};

}  // namespace knx::engine
