// Many rows in blocks, so that one rule after the other is applied to a block while what is known
// of its rows is at hand.
#pragma once

#include <algorithm>
#include <cstddef>

#include "framework/plugin.h"

namespace knx::plugins {

inline constexpr std::size_t kRowsInBlock = 256;

// judge(position of the first row of the block, rows of the block)
template <class Judge>
void ForEachBlock(framework::NodeRows rows, Judge judge) {
  for (std::size_t begin = 0; begin < rows.size(); begin += kRowsInBlock) {
    judge(begin, rows.subspan(begin, std::min(kRowsInBlock, rows.size() - begin)));
  }
}

}  // namespace knx::plugins
