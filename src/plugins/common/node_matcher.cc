#include "plugins/common/node_matcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "k8s/selector.h"

namespace knx::plugins {
namespace {

bool IsEmpty(const k8s::NodeSelectorTerm& term) {
  return term.match_expressions.empty() && term.match_fields.empty();
}

}  // namespace

const std::optional<k8s::NodeSelector>& RequiredOf(const k8s::PodSpec& spec) {
  static const std::optional<k8s::NodeSelector> none;
  return spec.node_affinity ? spec.node_affinity->required : none;
}

Symbol LabelOf(const cluster::NodeFacts& node, Symbol key) {
  const auto it =
      std::lower_bound(node.labels.begin(), node.labels.end(), key,
                       [](const auto& label, Symbol wanted) { return label.first < wanted; });
  return it != node.labels.end() && it->first == key ? it->second : Symbol{};
}

std::optional<std::string> InvalidReason(const k8s::NodeSelectorTerm& term) {
  for (const auto& [list, name, field] :
       {std::tuple{&term.match_expressions, "matchExpressions", false},
        std::tuple{&term.match_fields, "matchFields", true}}) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (auto reason = k8s::InvalidReason((*list)[i], field)) {
        return fmt::format("{}[{}]: {}", name, i, *reason);
      }
    }
  }
  return std::nullopt;
}

NodeTermMatcher::NodeTermMatcher(const k8s::NodeSelectorTerm& term, WordLookup& words)
    : matches_nothing_(IsEmpty(term) || InvalidReason(term)) {
  if (matches_nothing_) return;
  for (const k8s::Requirement& requirement : term.match_expressions) {
    LabelCondition& condition = labels_.emplace_back();
    condition.key = words.Find(requirement.key);
    condition.op = requirement.op;
    if (requirement.op == k8s::SelectorOperator::kGt ||
        requirement.op == k8s::SelectorOperator::kLt) {
      condition.number = k8s::ParseInteger(requirement.values.front()).value_or(0);
      continue;
    }
    for (const std::string& text : requirement.values) {
      if (const Symbol value = words.Find(text); value.valid()) condition.values.push_back(value);
    }
  }
  for (const k8s::Requirement& requirement : term.match_fields) {
    names_.push_back({requirement.values.front(), requirement.op == k8s::SelectorOperator::kIn});
  }
}

bool NodeTermMatcher::Holds(const LabelCondition& condition, Symbol value,
                            const WordLookup& words) {
  const auto listed = [&] {
    return std::find(condition.values.begin(), condition.values.end(), value) !=
           condition.values.end();
  };
  switch (condition.op) {
    case k8s::SelectorOperator::kIn:
      return value.valid() && listed();
    case k8s::SelectorOperator::kNotIn:
      return !value.valid() || !listed();
    case k8s::SelectorOperator::kExists:
      return value.valid();
    case k8s::SelectorOperator::kDoesNotExist:
      return !value.valid();
    case k8s::SelectorOperator::kGt:
    case k8s::SelectorOperator::kLt:
      break;
    case k8s::SelectorOperator::kUnknown:
      return false;
  }
  if (!value.valid()) return false;
  const std::optional<std::int64_t> number = k8s::ParseInteger(words.Text(value));
  if (!number) return false;
  return condition.op == k8s::SelectorOperator::kGt ? *number > condition.number
                                                    : *number < condition.number;
}

bool NodeTermMatcher::Matches(const cluster::NodeFacts& node, std::string_view name,
                              const WordLookup& words) const {
  if (matches_nothing_) return false;
  for (const NameCondition& condition : names_) {
    if (!name.empty() && (condition.name == name) != condition.equal) return false;
  }
  return std::all_of(labels_.begin(), labels_.end(), [&](const LabelCondition& condition) {
    const Symbol value = condition.key.valid() ? LabelOf(node, condition.key) : Symbol{};
    return Holds(condition, value, words);
  });
}

NodeMatcher::NodeMatcher(const SymbolTable& words, const k8s::StringMap& node_selector,
                         const std::optional<k8s::NodeSelector>& required)
    : words_(words), any_term_(required.has_value()) {
  for (const auto& [key, value] : node_selector) {
    labels_.emplace_back(words_.Find(key), words_.Find(value));
  }
  if (!required) return;
  for (const k8s::NodeSelectorTerm& term : required->terms) terms_.emplace_back(term, words_);
}

NodeMatcher::NodeMatcher(const SymbolTable& words, const k8s::PodSpec& spec)
    : NodeMatcher(words, spec.node_selector, RequiredOf(spec)) {}

bool NodeMatcher::Matches(const cluster::NodeFacts& node, std::string_view name) const {
  for (const auto& [key, value] : labels_) {
    // An unknown word is on no node, and must not be taken for the label a node lacks.
    if (!key.valid() || !value.valid() || LabelOf(node, key) != value) return false;
  }
  return !any_term_ || std::any_of(terms_.begin(), terms_.end(), [&](const auto& term) {
    return term.Matches(node, name, words_);
  });
}

void NodePreference::Add(const std::vector<k8s::PreferredSchedulingTerm>& terms) {
  for (const k8s::PreferredSchedulingTerm& term : terms) {
    if (term.weight == 0 || IsEmpty(term.preference)) continue;
    terms_.push_back({term.weight, NodeTermMatcher(term.preference, words_)});
  }
}

std::int64_t NodePreference::Score(const cluster::NodeFacts& node, std::string_view name) const {
  std::int64_t score = 0;
  for (const Term& term : terms_) {
    if (term.matcher.Matches(node, name, words_)) score += term.weight;
  }
  return score;
}

}  // namespace knx::plugins
