// Selectors over nodes with their words looked up once, so that a node is judged by comparing
// numbers. The answers are those of k8s::Matches; what is malformed matches nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/symbol.h"
#include "cluster/node_table.h"
#include "k8s/objects.h"
#include "plugins/common/word_lookup.h"

namespace knx::plugins {

// One term: all of its conditions.
class NodeTermMatcher {
 public:
  NodeTermMatcher(const k8s::NodeSelectorTerm& term, WordLookup& words);
  // `words` must be what the term was made with. Without a name, conditions on it are left out, as
  // kube-scheduler does for volumes.
  [[nodiscard]] bool Matches(const cluster::NodeFacts& node, std::string_view name,
                             const WordLookup& words) const;

 private:
  struct LabelCondition {
    Symbol key;
    k8s::SelectorOperator op;
    std::vector<Symbol> values;  // those that are known
    std::int64_t number = 0;     // for Gt and Lt
  };
  struct NameCondition {
    std::string name;
    bool equal;
  };
  static bool Holds(const LabelCondition& condition, Symbol value, const WordLookup& words);

  bool matches_nothing_ = false;
  std::vector<LabelCondition> labels_;
  std::vector<NameCondition> names_;
};

// What a pod requires of a node: its nodeSelector, and any of the terms of its required affinity.
class NodeMatcher {
 public:
  NodeMatcher(const SymbolTable& words, const k8s::StringMap& node_selector,
              const std::optional<k8s::NodeSelector>& required);
  NodeMatcher(const SymbolTable& words, const k8s::PodSpec& spec);

  [[nodiscard]] bool Matches(const cluster::NodeFacts& node, std::string_view name) const;
  [[nodiscard]] bool Current() const { return words_.Current(); }

 private:
  WordLookup words_;
  std::vector<std::pair<Symbol, Symbol>> labels_;
  bool any_term_ = false;  // one of the terms must match
  std::vector<NodeTermMatcher> terms_;
};

// What a pod prefers: the sum of the weights of the terms that match.
class NodePreference {
 public:
  explicit NodePreference(const SymbolTable& words) : words_(words) {}
  // Weight zero and empty terms count for nothing.
  void Add(const std::vector<k8s::PreferredSchedulingTerm>& terms);

  [[nodiscard]] std::int64_t Score(const cluster::NodeFacts& node, std::string_view name) const;
  [[nodiscard]] bool Current() const { return words_.Current(); }

 private:
  struct Term {
    std::int64_t weight;
    NodeTermMatcher matcher;
  };
  WordLookup words_;
  std::vector<Term> terms_;
};

// The terms of a pod's required affinity to nodes, if it has one.
const std::optional<k8s::NodeSelector>& RequiredOf(const k8s::PodSpec& spec);

// The value of a label, invalid if the node does not have it.
Symbol LabelOf(const cluster::NodeFacts& node, Symbol key);

// Where and why a term can never be evaluated; nullopt if it is well formed.
std::optional<std::string> InvalidReason(const k8s::NodeSelectorTerm& term);

}  // namespace knx::plugins
