// Which rows changed, in order, so that a reader that comes back looks only at what changed since.
// Positions only grow. A reader that stayed away for too long is told so and starts over.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/ids.h"

namespace knx::cluster {

class ChangeLog {
 public:
  void Append(NodeRow row) {
    rows_.push_back(row);
    if (row.index >= latest_.size()) latest_.resize(row.index + 1, 0);
    latest_[row.index] = end();
    if (rows_.size() > kMinKept && rows_.size() > 4 * latest_.size()) DropOldHalf();
  }

  // The position after the newest entry.
  [[nodiscard]] std::uint64_t end() const { return base_ + rows_.size(); }
  // False: entries between `position` and now are gone, everything may have changed.
  [[nodiscard]] bool Reaches(std::uint64_t position) const { return position >= base_; }

  // Adds to `out` every row changed since `position`, once each, in order of their latest change.
  void ChangedSince(std::uint64_t position, std::vector<NodeRow>& out) const {
    for (std::uint64_t i = position; i < end(); ++i) {
      const NodeRow row = rows_[i - base_];
      if (latest_[row.index] == i + 1) out.push_back(row);
    }
  }

  [[nodiscard]] bool ChangedSince(std::uint64_t position, NodeRow row) const {
    return row.index < latest_.size() && latest_[row.index] > position;
  }

  [[nodiscard]] std::size_t bytes() const {
    return rows_.capacity() * sizeof(NodeRow) + latest_.capacity() * sizeof(std::uint64_t);
  }

 private:
  // Below this a log is too small to be worth trimming.
  static constexpr std::size_t kMinKept = 4096;

  void DropOldHalf() {
    const std::size_t dropped = rows_.size() / 2;
    rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(dropped));
    base_ += dropped;
  }

  std::vector<NodeRow> rows_;
  std::vector<std::uint64_t> latest_;  // by row: the position after its latest entry
  std::uint64_t base_ = 0;
};

}  // namespace knx::cluster
