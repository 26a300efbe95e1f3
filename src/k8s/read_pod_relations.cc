// What a pod says about other pods: near which it wants to be, and how it is to be spread.
#include "k8s/json_fields.h"
#include "k8s/object_fields.h"
#include "k8s/proto_fields.h"
#include "k8s/yaml_reader.h"

namespace knx::k8s {
namespace {

constexpr std::int64_t kMaxWeight = 100;
constexpr std::int64_t kMaxSkew = std::numeric_limits<std::int32_t>::max();

template <class Fields>
void ReadOptionalSelector(Fields& fields, std::string_view key, std::optional<LabelSelector>& out) {
  fields.Map(key, [&](Fields& selector) { ReadSelector(selector, out.emplace()); });
}

template <class Fields>
void ReadTerm(Fields& term, PodAffinityTerm& out) {
  term.Require("topologyKey", out.topology_key);
  ReadOptionalSelector(term, "labelSelector", out.selector);
  term.Read("namespaces", out.namespaces);
  ReadOptionalSelector(term, "namespaceSelector", out.namespace_selector);
  term.Read("matchLabelKeys", out.match_label_keys);
  term.Read("mismatchLabelKeys", out.mismatch_label_keys);
}

template <class Fields>
void ReadPolicy(Fields& fields, std::string_view key, NodeInclusionPolicy& out) {
  fields.ReadEnum(
      key, out, {{"Honor", NodeInclusionPolicy::kHonor}, {"Ignore", NodeInclusionPolicy::kIgnore}});
}

}  // namespace

template <class Fields>
void ReadPodAffinity(Fields& affinity, PodAffinity& out) {
  affinity.ForEach("requiredDuringSchedulingIgnoredDuringExecution",
                   [&](Fields& term) { ReadTerm(term, out.required.emplace_back()); });
  affinity.ForEach("preferredDuringSchedulingIgnoredDuringExecution", [&](Fields& preferred) {
    WeightedPodAffinityTerm& weighted = out.preferred.emplace_back();
    preferred.Require("weight", weighted.weight, IntegerLimits{.min = 1, .max = kMaxWeight});
    preferred.RequireMap("podAffinityTerm", [&](Fields& term) { ReadTerm(term, weighted.term); });
  });
}

template <class Fields>
void ReadSpreadConstraint(Fields& constraint, TopologySpreadConstraint& out) {
  constraint.Require("maxSkew", out.max_skew, IntegerLimits{.min = 1, .max = kMaxSkew});
  constraint.Require("topologyKey", out.topology_key);
  std::string action;
  constraint.Require("whenUnsatisfiable", action);
  constraint.ReadEnum("whenUnsatisfiable", out.when_unsatisfiable,
                      {{"DoNotSchedule", WhenUnsatisfiable::kDoNotSchedule},
                       {"ScheduleAnyway", WhenUnsatisfiable::kScheduleAnyway}});
  ReadOptionalSelector(constraint, "labelSelector", out.selector);
  constraint.Read("minDomains", out.min_domains, IntegerLimits{.min = 1, .max = kMaxSkew});
  ReadPolicy(constraint, "nodeAffinityPolicy", out.node_affinity_policy);
  ReadPolicy(constraint, "nodeTaintsPolicy", out.node_taints_policy);
  constraint.Read("matchLabelKeys", out.match_label_keys);
}

template void ReadPodAffinity(FieldReader&, PodAffinity&);
template void ReadPodAffinity(JsonFields&, PodAffinity&);
template void ReadPodAffinity(ProtoFields&, PodAffinity&);
template void ReadSpreadConstraint(FieldReader&, TopologySpreadConstraint&);
template void ReadSpreadConstraint(JsonFields&, TopologySpreadConstraint&);
template void ReadSpreadConstraint(ProtoFields&, TopologySpreadConstraint&);

}  // namespace knx::k8s
