// Parts that several kinds share: metadata, selectors, resource lists, conditions.
#include <fmt/format.h>

#include "k8s/enum_names.h"
#include "k8s/json_fields.h"
#include "k8s/object_fields.h"
#include "k8s/proto_fields.h"
#include "k8s/yaml_reader.h"
#include "k8s/yaml_tree.h"

namespace knx::k8s {
namespace {

constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789.-";
constexpr std::string_view kLabelCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxLabelName = 63;
constexpr std::size_t kMaxLabelValue = 63;

bool ConsistsOf(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && ConsistsOf(text, kNameCharacters);
}

bool IsLetterOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Every part between dots begins and ends with a letter or digit.
bool HasGoodEnds(std::string_view name) {
  while (true) {
    const std::string_view part = name.substr(0, name.find('.'));
    if (part.empty() || !IsLetterOrDigit(part.front()) || !IsLetterOrDigit(part.back())) {
      return false;
    }
    if (part.size() == name.size()) return true;
    name.remove_prefix(part.size() + 1);
  }
}

// "name" or "prefix/name".
bool LooksLikeLabelKey(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash != std::string_view::npos) {
    if (!IsName(key.substr(0, slash))) return false;
    key.remove_prefix(slash + 1);
  }
  return !key.empty() && key.size() <= kMaxLabelName && ConsistsOf(key, kLabelCharacters);
}

// `ends`: what stands at its ends and before and after its dots matters too.
template <class Fields>
void CheckName(Fields& fields, std::string_view key, const std::string& name, bool ends = true) {
  if (!IsName(name)) {
    fields.Fail(key,
                fmt::format("{} is not a name: allowed are a to z, 0 to 9, - and ., at least one "
                            "and at most {} of them",
                            Quoted(name), kMaxName));
  } else if (ends && !HasGoodEnds(name)) {
    fields.Fail(key, fmt::format("{} is not a name: it must begin and end with a letter or digit, "
                                 "as must every part between dots",
                                 Quoted(name)));
  }
}

template <class Fields>
void ReadLabels(Fields& meta, StringMap& out) {
  if (!meta.Read("labels", out)) return;
  meta.Map("labels", [&](Fields& labels) {
    for (const auto& [key, value] : out) {
      if (!LooksLikeLabelKey(key)) {
        labels.Fail(key, fmt::format("{} is not a label key: allowed are letters, digits, -, _ and "
                                     ". (at most {}), with a domain and / before it or without",
                                     Quoted(key), kMaxLabelName));
      }
      if (value.size() > kMaxLabelValue || !ConsistsOf(value, kLabelCharacters)) {
        labels.Fail(key, fmt::format("{} is not a label value: allowed are letters, digits, -, _ "
                                     "and ., at most {} of them",
                                     Quoted(value), kMaxLabelValue));
      }
    }
  });
}

template <class Fields>
void ReadCommonMeta(Fields& fields, ObjectMeta& meta) {
  if (fields.Read("generateName", meta.name)) {
    CheckName(fields, "generateName", meta.name, false);
  }
  if (fields.Read("name", meta.name)) CheckName(fields, "name", meta.name);
  if (fields.Read("namespace", meta.namespace_)) CheckName(fields, "namespace", meta.namespace_);
  fields.Read("uid", meta.uid);
  fields.Read("resourceVersion", meta.resource_version);
  fields.Read("generation", meta.generation);
  ReadLabels(fields, meta.labels);
  fields.Read("annotations", meta.annotations);
  fields.Read("creationTimestamp", meta.created);
  fields.Read("deletionTimestamp", meta.deleted);
  fields.Read("finalizers", meta.finalizers);
  fields.ForEach("ownerReferences", [&](Fields& owner) {
    OwnerReference& out = meta.owners.emplace_back();
    owner.Read("apiVersion", out.api_version);
    owner.Require("kind", out.kind);
    owner.Require("name", out.name);
    owner.Read("uid", out.uid);
    owner.Read("controller", out.controller);
  });
}

template <class Fields>
void ReadRequirements(Fields& fields, std::string_view key,
                      typename Fields::template Words<SelectorOperator> operators,
                      std::vector<Requirement>& out) {
  fields.ForEach(key, [&](Fields& requirement) {
    Requirement& read = out.emplace_back();
    requirement.Require("key", read.key);
    std::string op;
    requirement.Require("operator", op);
    requirement.ReadOpenEnum("operator", read.op, operators);
    if (read.op == SelectorOperator::kUnknown) read.unknown_op = std::move(op);
    requirement.Read("values", read.values);
  });
}

template <class Fields>
void ReadNodeTerm(Fields& term, NodeSelectorTerm& out) {
  const typename Fields::template Words<SelectorOperator> operators = {
      Named(SelectorOperator::kIn),     Named(SelectorOperator::kNotIn),
      Named(SelectorOperator::kExists), Named(SelectorOperator::kDoesNotExist),
      Named(SelectorOperator::kGt),     Named(SelectorOperator::kLt)};
  ReadRequirements(term, "matchExpressions", operators, out.match_expressions);
  ReadRequirements(term, "matchFields", operators, out.match_fields);
}

}  // namespace

template <class Fields>
void ReadMeta(Fields& object, Scope scope, ObjectMeta& meta) {
  object.RequireMap("metadata", [&](Fields& fields) {
    ReadCommonMeta(fields, meta);
    if (!fields.ok()) return;
    if (meta.name.empty()) fields.Fail("name", "missing, but required");
    if (scope == Scope::kCluster) {
      meta.namespace_.clear();
    } else if (meta.namespace_.empty()) {
      meta.namespace_ = "default";
    }
  });
}

template <class Fields>
void ReadTemplateMeta(Fields& object, ObjectMeta& meta) {
  object.Map("metadata", [&](Fields& fields) { ReadCommonMeta(fields, meta); });
}

template <class Fields>
void ReadSelector(Fields& selector, LabelSelector& out) {
  selector.Read("matchLabels", out.match_labels);
  ReadRequirements(selector, "matchExpressions",
                   {Named(SelectorOperator::kIn), Named(SelectorOperator::kNotIn),
                    Named(SelectorOperator::kExists), Named(SelectorOperator::kDoesNotExist)},
                   out.match_expressions);
}

template <class Fields>
void ReadNodeSelector(Fields& selector, NodeSelector& out) {
  selector.ForEach("nodeSelectorTerms",
                   [&](Fields& term) { ReadNodeTerm(term, out.terms.emplace_back()); });
}

template <class Fields>
void ReadNodeAffinity(Fields& affinity, NodeAffinity& out) {
  affinity.Map("requiredDuringSchedulingIgnoredDuringExecution",
               [&](Fields& required) { ReadNodeSelector(required, out.required.emplace()); });
  affinity.ForEach("preferredDuringSchedulingIgnoredDuringExecution", [&](Fields& preferred) {
    PreferredSchedulingTerm& term = out.preferred.emplace_back();
    preferred.Require("weight", term.weight, IntegerLimits{.min = 1, .max = 100});
    preferred.RequireMap("preference",
                         [&](Fields& preference) { ReadNodeTerm(preference, term.preference); });
  });
}

template <class Fields>
bool ReadResourceList(Fields& fields, std::string_view key, ResourceList& out) {
  if (!fields.Read(key, out)) return false;
  for (auto& [name, amount] : out) {
    // An amount too large to count in thousandths has no smaller part to round.
    amount = std::max(amount, Quantity::FromMilli(amount.MilliValue()));
  }
  return true;
}

template <class Fields>
bool ReadTaintEffect(Fields& fields, TaintEffect& out) {
  return fields.ReadOpenEnum(
      "effect", out,
      {Named(TaintEffect::kNone), Named(TaintEffect::kNoSchedule),
       Named(TaintEffect::kPreferNoSchedule), Named(TaintEffect::kNoExecute)});
}

template <class Fields>
void ReadConditions(Fields& status, std::vector<Condition>& out) {
  status.ForEach("conditions", [&](Fields& condition) {
    Condition& read = out.emplace_back();
    condition.Require("type", read.type);
    condition.Require("status", read.status);
    condition.Read("reason", read.reason);
    condition.Read("message", read.message);
    condition.Read("lastTransitionTime", read.last_transition);
  });
}

template <class Fields>
void ReadPreemptionPolicy(Fields& fields, PreemptionPolicy& out) {
  fields.ReadEnum("preemptionPolicy", out,
                  {{"PreemptLowerPriority", PreemptionPolicy::kLowerPriority},
                   {"Never", PreemptionPolicy::kNever}});
}

template void ReadMeta(FieldReader&, Scope, ObjectMeta&);
template void ReadMeta(JsonFields&, Scope, ObjectMeta&);
template void ReadMeta(ProtoFields&, Scope, ObjectMeta&);
template void ReadTemplateMeta(FieldReader&, ObjectMeta&);
template void ReadTemplateMeta(JsonFields&, ObjectMeta&);
template void ReadTemplateMeta(ProtoFields&, ObjectMeta&);
template void ReadSelector(FieldReader&, LabelSelector&);
template void ReadSelector(JsonFields&, LabelSelector&);
template void ReadSelector(ProtoFields&, LabelSelector&);
template void ReadNodeSelector(FieldReader&, NodeSelector&);
template void ReadNodeSelector(JsonFields&, NodeSelector&);
template void ReadNodeSelector(ProtoFields&, NodeSelector&);
template void ReadNodeAffinity(FieldReader&, NodeAffinity&);
template void ReadNodeAffinity(JsonFields&, NodeAffinity&);
template void ReadNodeAffinity(ProtoFields&, NodeAffinity&);
template bool ReadResourceList(FieldReader&, std::string_view, ResourceList&);
template bool ReadResourceList(JsonFields&, std::string_view, ResourceList&);
template bool ReadResourceList(ProtoFields&, std::string_view, ResourceList&);
template bool ReadTaintEffect(FieldReader&, TaintEffect&);
template bool ReadTaintEffect(JsonFields&, TaintEffect&);
template bool ReadTaintEffect(ProtoFields&, TaintEffect&);
template void ReadConditions(FieldReader&, std::vector<Condition>&);
template void ReadConditions(JsonFields&, std::vector<Condition>&);
template void ReadConditions(ProtoFields&, std::vector<Condition>&);
template void ReadPreemptionPolicy(FieldReader&, PreemptionPolicy&);
template void ReadPreemptionPolicy(JsonFields&, PreemptionPolicy&);
template void ReadPreemptionPolicy(ProtoFields&, PreemptionPolicy&);

}  // namespace knx::k8s
