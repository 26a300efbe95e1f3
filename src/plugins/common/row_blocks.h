// Tight loops over many rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "framework/plugin.h"

namespace knx::plugins {

// Rows in blocks, so that one rule after the other is applied to a block while what is known of its
// rows is at hand.
inline constexpr std::size_t kRowsInBlock = 256;

// judge(position of the first row of the block, rows of the block)
template <class Judge>
void ForEachBlock(framework::NodeRows rows, Judge judge) {
  for (std::size_t begin = 0; begin < rows.size(); begin += kRowsInBlock) {
    judge(begin, rows.subspan(begin, std::min(kRowsInBlock, rows.size() - begin)));
  }
}

// Leaves the rows for which `keep` is true. Every row is written and only those that stay are
// stepped over: which ones do is hard to predict, and a branch would have to be.
template <class Keep>
void KeepRows(std::vector<cluster::NodeRow>& rows, Keep keep) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const cluster::NodeRow row = rows[i];
    rows[kept] = row;
    kept += keep(row) ? 1 : 0;
  }
  rows.resize(kept);
}

}  // namespace knx::plugins
