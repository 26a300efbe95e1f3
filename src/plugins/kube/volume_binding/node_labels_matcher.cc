#include "plugins/kube/volume_binding/node_labels_matcher.h"

namespace knx::plugins {

NodeLabelsMatcher MatcherOf(const std::optional<k8s::NodeSelector>& affinity, WordLookup& words) {
  return affinity ? NodeLabelsMatcher(affinity->terms, words) : NodeLabelsMatcher();
}

NodeLabelsMatcher MatcherOf(const std::vector<k8s::TopologyTerm>& topologies, WordLookup& words) {
  if (topologies.empty()) return {};
  std::vector<k8s::NodeSelectorTerm> terms;
  for (const k8s::TopologyTerm& topology : topologies) {
    k8s::NodeSelectorTerm& term = terms.emplace_back();
    for (const k8s::TopologyRequirement& requirement : topology) {
      term.match_expressions.push_back(
          {requirement.key, k8s::SelectorOperator::kIn, requirement.values});
    }
  }
  return {terms, words};
}

NodeLabelsMatcher MatcherOf(const k8s::LabelSelector& selector, WordLookup& words) {
  k8s::NodeSelectorTerm term;
  for (const auto& [key, value] : selector.match_labels) {
    term.match_expressions.push_back({key, k8s::SelectorOperator::kIn, {value}});
  }
  term.match_expressions.insert(term.match_expressions.end(), selector.match_expressions.begin(),
                                selector.match_expressions.end());
  if (term.match_expressions.empty()) return {};
  return {{term}, words};
}

}  // namespace knx::plugins
