// Conditions on the labels of a node, of which any must hold, with their words looked up once.
#pragma once

#include <string_view>
#include <vector>

#include "plugins/common/node_matcher.h"

namespace knx::plugins {

class NodeLabelsMatcher {
 public:
  // Matches every node.
  NodeLabelsMatcher() = default;
  // What is malformed or empty matches nothing.
  NodeLabelsMatcher(const std::vector<k8s::NodeSelectorTerm>& terms, WordLookup& words)
      : everything_(false) {
    for (const k8s::NodeSelectorTerm& term : terms) terms_.emplace_back(term, words);
  }

  // The name of the node is no matter: volumes know nodes by their labels.
  [[nodiscard]] bool Matches(const cluster::NodeFacts& node, const WordLookup& words) const {
    if (everything_) return true;
    for (const NodeTermMatcher& term : terms_) {
      if (term.Matches(node, std::string_view{}, words)) return true;
    }
    return false;
  }

 private:
  bool everything_ = true;
  std::vector<NodeTermMatcher> terms_;
};

// Of a volume, of a storage class, of a capacity.
NodeLabelsMatcher MatcherOf(const std::optional<k8s::NodeSelector>& affinity, WordLookup& words);
NodeLabelsMatcher MatcherOf(const std::vector<k8s::TopologyTerm>& topologies, WordLookup& words);
NodeLabelsMatcher MatcherOf(const k8s::LabelSelector& selector, WordLookup& words);

}  // namespace knx::plugins
