#include "cluster/class_terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "k8s/selector.h"
#include "k8s/selector_complaint.h"

namespace knx::cluster {
namespace {

// Registers the terms of one spec.
class Registrar {
 public:
  Registrar(const k8s::ObjectMeta& meta, SymbolTable& words, Kinship& kinship)
      : meta_(meta), words_(words), kinship_(kinship) {}

  [[nodiscard]] PodCondition ConditionOf(const k8s::PodAffinityTerm& term) const {
    PodCondition out{term.namespaces, term.namespace_selector, term.selector};
    if (out.namespaces.empty() && !out.namespace_selector) out.namespaces = {meta_.namespace_};
    std::sort(out.namespaces.begin(), out.namespaces.end());
    out.namespaces.erase(std::unique(out.namespaces.begin(), out.namespaces.end()),
                         out.namespaces.end());
    return out;
  }

  PodSelectorId Add(const k8s::PodAffinityTerm& term) {
    return kinship_.Acquire({{ConditionOf(term)}}, words_.Intern(term.topology_key));
  }

  // Pods that meet all of them.
  PodSelectorId AddTogether(const std::vector<k8s::PodAffinityTerm>& terms) {
    PodQuery query;
    for (const k8s::PodAffinityTerm& term : terms) query.conditions.push_back(ConditionOf(term));
    return kinship_.Acquire(query, Symbol{});
  }

  ClassTerms::Spread Add(const k8s::TopologySpreadConstraint& constraint) {
    std::optional<k8s::LabelSelector> selector = constraint.selector;
    for (const std::string& key : constraint.match_label_keys) {
      const std::string* value = k8s::FindValue(meta_.labels, key);
      if (!selector || value == nullptr) continue;
      k8s::Requirement same{key, k8s::SelectorOperator::kIn, {*value}};
      auto& all = selector->match_expressions;
      if (std::find(all.begin(), all.end(), same) == all.end()) all.push_back(std::move(same));
    }
    ClassTerms::Spread out;
    out.counts =
        !selector || !selector->match_labels.empty() || !selector->match_expressions.empty();
    out.selector =
        kinship_.Acquire({{{{meta_.namespace_}, std::nullopt, std::move(selector)}}}, Symbol{});
    out.topology_key = words_.Intern(constraint.topology_key);
    out.max_skew = constraint.max_skew;
    out.min_domains = constraint.min_domains;
    out.hard = constraint.when_unsatisfiable == k8s::WhenUnsatisfiable::kDoNotSchedule;
    out.honor_affinity = constraint.node_affinity_policy == k8s::NodeInclusionPolicy::kHonor;
    out.honor_taints = constraint.node_taints_policy == k8s::NodeInclusionPolicy::kHonor;
    return out;
  }

 private:
  const k8s::ObjectMeta& meta_;
  SymbolTable& words_;
  Kinship& kinship_;
};

std::optional<std::string> WrongWith(const k8s::PodAffinityTerm& term) {
  for (const auto* selector : {&term.selector, &term.namespace_selector}) {
    if (!*selector) continue;
    if (auto complaint = k8s::ComplaintAbout(**selector); !complaint.empty()) return complaint;
  }
  return std::nullopt;
}
std::optional<std::string> WrongWith(const k8s::WeightedPodAffinityTerm& weighted) {
  return WrongWith(weighted.term);
}

// A list with a term that makes no sense counts for nothing as a whole, as in kube-scheduler.
template <class Term>
bool AllRight(const std::vector<Term>& terms, std::string_view name,
              std::vector<std::string>& errors) {
  for (const Term& term : terms) {
    if (const auto reason = WrongWith(term)) {
      errors.push_back(fmt::format("{}: {}", name, *reason));
      return false;
    }
  }
  return true;
}

void AddAffinity(const k8s::PodSpec& spec, Registrar& registrar, ClassTerms& out) {
  std::vector<std::string> errors;
  const auto& near = spec.pod_affinity.required;
  if (AllRight(near, "requiredAffinityTerms", errors) && !near.empty()) {
    for (const k8s::PodAffinityTerm& term : near) out.near.push_back(registrar.Add(term));
    out.near_all = registrar.AddTogether(near);
  }
  const auto& apart = spec.pod_anti_affinity.required;
  if (AllRight(apart, "requiredAntiAffinityTerms", errors)) {
    for (const k8s::PodAffinityTerm& term : apart) out.apart.push_back(registrar.Add(term));
  }
  const auto prefer = [&](const std::vector<k8s::WeightedPodAffinityTerm>& terms,
                          std::string_view name, std::int64_t sign) {
    if (!AllRight(terms, name, errors)) return;
    for (const k8s::WeightedPodAffinityTerm& weighted : terms) {
      out.preferred.push_back({registrar.Add(weighted.term), sign * weighted.weight});
    }
  };
  prefer(spec.pod_affinity.preferred, "preferredAffinityTerms", 1);
  prefer(spec.pod_anti_affinity.preferred, "preferredAntiAffinityTerms", -1);
  if (errors.size() == 1) out.affinity_error = errors.front();
  if (errors.size() > 1) out.affinity_error = fmt::format("[{}]", fmt::join(errors, ", "));
}

}  // namespace

ClassTerms AcquireTerms(const k8s::PodSpec& spec, const k8s::ObjectMeta& meta, SymbolTable& words,
                        Kinship& kinship) {
  ClassTerms out;
  Registrar registrar(meta, words, kinship);
  AddAffinity(spec, registrar, out);
  for (const k8s::TopologySpreadConstraint& constraint : spec.topology_spread) {
    const bool hard = constraint.when_unsatisfiable == k8s::WhenUnsatisfiable::kDoNotSchedule;
    if (constraint.selector) {
      if (auto complaint = k8s::ComplaintAbout(*constraint.selector); !complaint.empty()) {
        std::string& error = hard ? out.hard_spread_error : out.soft_spread_error;
        if (error.empty()) error = std::move(complaint);
        continue;
      }
    }
    out.spread.push_back(registrar.Add(constraint));
  }
  return out;
}

void ReleaseTerms(const ClassTerms& terms, Kinship& kinship) {
  if (terms.near_all.valid()) kinship.Release(terms.near_all);
  for (const PodSelectorId id : terms.near) kinship.Release(id);
  for (const PodSelectorId id : terms.apart) kinship.Release(id);
  for (const ClassTerms::Preferred& term : terms.preferred) kinship.Release(term.selector);
  for (const ClassTerms::Spread& spread : terms.spread) kinship.Release(spread.selector);
}

void CarryTerms(const ClassTerms& terms, NodeRow row, int sign, Kinship& kinship) {
  for (const PodSelectorId id : terms.apart) kinship.Carry(id, row, {sign, 0, 0});
  for (const PodSelectorId id : terms.near) kinship.Carry(id, row, {0, sign, 0});
  for (const ClassTerms::Preferred& term : terms.preferred) {
    kinship.Carry(term.selector, row, {0, 0, sign * term.weight});
  }
}

}  // namespace knx::cluster
