#include "cluster/pod_query.h"

#include <algorithm>

#include "cluster/key_writer.h"
#include "k8s/selector.h"

namespace knx::cluster {
namespace {

bool Meant(const PodCondition& condition, std::string_view pod_namespace,
           const k8s::StringMap& namespace_labels, const k8s::StringMap& labels) {
  const bool listed = std::binary_search(condition.namespaces.begin(), condition.namespaces.end(),
                                         pod_namespace, std::less<>());
  if (!listed && (!condition.namespace_selector ||
                  !k8s::MatchesWellFormed(*condition.namespace_selector, namespace_labels))) {
    return false;
  }
  return condition.labels && k8s::MatchesWellFormed(*condition.labels, labels);
}

}  // namespace

void PodQuery::DropMalformed() {
  for (PodCondition& condition : conditions) {
    for (auto* selector : {&condition.namespace_selector, &condition.labels}) {
      if (*selector && k8s::InvalidReason(**selector)) selector->reset();
    }
  }
}

bool PodQuery::Matches(std::string_view pod_namespace, const k8s::StringMap& namespace_labels,
                       const k8s::StringMap& labels) const {
  return !conditions.empty() &&
         std::all_of(conditions.begin(), conditions.end(), [&](const PodCondition& condition) {
           return Meant(condition, pod_namespace, namespace_labels, labels);
         });
}

bool PodQuery::asks_about_namespaces() const {
  return std::any_of(conditions.begin(), conditions.end(), [](const PodCondition& condition) {
    return condition.namespace_selector.has_value();
  });
}

std::optional<std::pair<std::string_view, std::string_view>> PodQuery::RequiredLabel() const {
  using Label = std::pair<std::string_view, std::string_view>;
  for (const PodCondition& condition : conditions) {
    if (!condition.labels) continue;
    for (const auto& [key, value] : condition.labels->match_labels) return Label(key, value);
    for (const k8s::Requirement& requirement : condition.labels->match_expressions) {
      if (requirement.op == k8s::SelectorOperator::kIn && requirement.values.size() == 1) {
        return Label(requirement.key, requirement.values.front());
      }
    }
  }
  return std::nullopt;
}

const std::vector<std::string>* PodQuery::Namespaces() const {
  for (const PodCondition& condition : conditions) {
    if (!condition.namespace_selector) return &condition.namespaces;
  }
  return nullptr;
}

std::string PodQuery::Key() const {
  std::string out;
  KeyWriter key(out);
  for (const PodCondition& condition : conditions) {
    key.Put(condition.namespaces);
    key.Put(condition.namespace_selector);
    key.Put(condition.labels);
  }
  return out;
}

}  // namespace knx::cluster
