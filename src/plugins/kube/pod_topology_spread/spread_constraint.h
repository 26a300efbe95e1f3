// A constraint as it holds for the pods of one class and relation.
#pragma once

#include <cstdint>
#include <vector>

#include "base/symbol.h"
#include "cluster/class_terms.h"
#include "plugins/common/word_lookup.h"

namespace knx::plugins {

struct SpreadConstraints {
  std::vector<cluster::ClassTerms::Spread> list;
  // Nodes that lack one of the labels take no part.
  bool need_all_labels = true;
  WordLookup words;  // that were looked up for it
};

}  // namespace knx::plugins
