// Numbers by row of the node table, most of them zero, and how they changed.
// Readers keep sums of their own (by topology domain, by row) and follow the log, so that a pod
// that is placed costs them one step and not a recount. Who stayed away for too long is told so.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/ids.h"

namespace knx::cluster {

template <class Number, std::size_t kMeasures>
class RowCounter {
 public:
  using Numbers = std::array<Number, kMeasures>;
  struct Change {
    NodeRow row;
    Numbers delta;
  };

  void Add(NodeRow row, const Numbers& delta) {
    const auto at = rows_.try_emplace(row, Numbers{}).first;
    for (std::size_t i = 0; i < kMeasures; ++i) at->second[i] += delta[i];
    if (at->second == Numbers{}) rows_.erase(at);
    log_.push_back({row, delta});
    if (log_.size() > kMinKept && log_.size() > 4 * rows_.size()) DropOldHalf();
  }

  // Rows with a number that is not zero, in no order.
  [[nodiscard]] const absl::flat_hash_map<NodeRow, Numbers>& rows() const { return rows_; }
  [[nodiscard]] Numbers At(NodeRow row) const {
    const auto at = rows_.find(row);
    return at == rows_.end() ? Numbers{} : at->second;
  }

  // ---- the log ----
  [[nodiscard]] std::uint64_t end() const { return base_ + log_.size(); }
  // False: changes between `position` and now are gone.
  [[nodiscard]] bool Reaches(std::uint64_t position) const { return position >= base_; }
  [[nodiscard]] std::span<const Change> Since(std::uint64_t position) const {
    return std::span(log_).subspan(static_cast<std::size_t>(position - base_));
  }

  [[nodiscard]] std::size_t bytes() const {
    return rows_.capacity() * (sizeof(std::pair<NodeRow, Numbers>) + 1) +
           log_.capacity() * sizeof(Change);
  }

 private:
  // Below this a log is too small to be worth trimming.
  static constexpr std::size_t kMinKept = 64;

  void DropOldHalf() {
    const std::size_t dropped = log_.size() / 2;
    log_.erase(log_.begin(), log_.begin() + static_cast<std::ptrdiff_t>(dropped));
    base_ += dropped;
  }

  absl::flat_hash_map<NodeRow, Numbers> rows_;
  std::vector<Change> log_;
  std::uint64_t base_ = 0;
};

}  // namespace knx::cluster
