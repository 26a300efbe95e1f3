#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/testing/builders.h"
#include "k8s/selector.h"
#include "plugins/common/node_matcher.h"

namespace knx::plugins {
namespace {

using cluster::testing::NodeBuilder;

// Few words, so that they meet; some of them are no label keys or no numbers.
rc::Gen<std::string> Word() {
  return rc::gen::element<std::string>("a", "b", "c", "7", "-3", "12", "", "not a label");
}

rc::Gen<k8s::Requirement> AnyRequirement(bool field) {
  using Op = k8s::SelectorOperator;
  return rc::gen::build<k8s::Requirement>(
      rc::gen::set(
          &k8s::Requirement::key,
          field ? rc::gen::element<std::string>("metadata.name", "spec.unschedulable") : Word()),
      rc::gen::set(&k8s::Requirement::op, rc::gen::element(Op::kIn, Op::kNotIn, Op::kExists,
                                                           Op::kDoesNotExist, Op::kGt, Op::kLt)),
      rc::gen::set(&k8s::Requirement::values,
                   rc::gen::resize(3, rc::gen::container<std::vector<std::string>>(Word()))));
}

rc::Gen<k8s::NodeSelectorTerm> AnyTerm() {
  const auto some = [](bool field, int size) {
    return rc::gen::resize(
        size, rc::gen::container<std::vector<k8s::Requirement>>(AnyRequirement(field)));
  };
  return rc::gen::build<k8s::NodeSelectorTerm>(
      rc::gen::set(&k8s::NodeSelectorTerm::match_expressions, some(false, 3)),
      rc::gen::set(&k8s::NodeSelectorTerm::match_fields, some(true, 2)));
}

k8s::Node AnyNode() {
  NodeBuilder node(*rc::gen::element<std::string>("a", "b", "7"));
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) node.Label(*Word(), *Word());
  return node;
}

bool MatchesByText(const k8s::StringMap& node_selector,
                   const std::optional<k8s::NodeSelector>& required, const k8s::Node& node) {
  for (const auto& [key, value] : node_selector) {
    const std::string* found = k8s::FindValue(node.meta.labels, key);
    if (found == nullptr || *found != value) return false;
  }
  return !required || k8s::Matches(*required, node.meta.labels, node.meta.name);
}

RC_GTEST_PROP(NodeMatcher, AnswersAsTheTextsDo, ()) {
  cluster::State state;
  k8s::StringMap node_selector;
  for (int i = *rc::gen::inRange(0, 2); i > 0; --i) {
    cluster::testing::SetSorted(node_selector, *Word(), *Word());
  }
  std::optional<k8s::NodeSelector> required;
  if (*rc::gen::arbitrary<bool>()) {
    required.emplace();
    for (int i = *rc::gen::inRange(0, 3); i > 0; --i) required->terms.push_back(*AnyTerm());
  }
  // Nodes come one by one; a matcher that says it is current must be right about all of them.
  std::optional<NodeMatcher> matcher;
  for (int step = 0; step < 4; ++step) {
    const k8s::Node node = AnyNode();
    const cluster::NodeRow row = cluster::testing::AddNode(state, node);
    if (!matcher || !matcher->Current()) matcher.emplace(state.words(), node_selector, required);
    RC_ASSERT(matcher->Current());
    RC_ASSERT(matcher->Matches(state.nodes().facts(row), node.meta.name) ==
              MatchesByText(node_selector, required, node));
  }
}

RC_GTEST_PROP(NodePreference, AddsTheWeightsOfTheTermsThatMatch, ()) {
  cluster::State state;
  std::vector<k8s::PreferredSchedulingTerm> terms;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    terms.push_back({*rc::gen::inRange(0, 101), *AnyTerm()});
  }
  const k8s::Node node = AnyNode();
  const cluster::NodeRow row = cluster::testing::AddNode(state, node);
  NodePreference preference(state.words());
  preference.Add(terms);
  std::int64_t want = 0;
  for (const k8s::PreferredSchedulingTerm& term : terms) {
    if (k8s::Matches(term.preference, node.meta.labels, node.meta.name)) want += term.weight;
  }
  RC_ASSERT(preference.Score(state.nodes().facts(row), node.meta.name) == want);
}

}  // namespace
}  // namespace knx::plugins
