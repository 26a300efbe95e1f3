// Everything but pods and nodes: what makes pods, and what is said about them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "k8s/json_fields.h"
#include "k8s/object_fields.h"
#include "k8s/pod_defaults.h"
#include "k8s/proto_fields.h"
#include "k8s/selector.h"
#include "k8s/yaml_reader.h"
#include "k8s/yaml_tree.h"

namespace knx::k8s {
namespace {

constexpr IntegerLimits kNotNegative{.min = 0};

template <class Fields>
void ReadTemplate(Fields& spec, PodTemplate& out) {
  spec.RequireMap("template", [&](Fields& fields) {
    ReadTemplateMeta(fields, out.meta);
    fields.RequireMap("spec", [&](Fields& pod_spec) { ReadPodSpec(pod_spec, out.spec); });
  });
}

// Its own pods would not be its own. The API server refuses that.
template <class Fields>
void CheckSelector(Fields& spec, const Workload& workload) {
  if (!spec.ok() || !workload.selector) return;
  if (const auto reason = InvalidReason(*workload.selector)) return spec.Fail("selector", *reason);
  const StringMap& labels = workload.pod_template.meta.labels;
  if (Matches(*workload.selector, labels)) return;
  std::vector<std::string> texts;
  for (const auto& [key, value] : labels) texts.push_back(fmt::format("{}={}", key, value));
  spec.Fail("selector",
            fmt::format("does not match the labels of the template, which are {}",
                        texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "))));
}

std::optional<std::int32_t> ParsePercent(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > 100 ||
      text.front() == '-') {
    return std::nullopt;
  }
  return value;
}

template <class Fields>
void ReadIntOrPercent(Fields& fields, std::string_view key, std::optional<IntOrPercent>& out) {
  if (fields.HasNumber(key)) {
    IntOrPercent number;
    if (fields.Read(key, number.value, kNotNegative)) out = number;
    return;
  }
  std::string text;
  if (!fields.Read(key, text)) return;
  if (const std::optional<std::int32_t> percent = ParsePercent(text)) {
    out = IntOrPercent{.value = *percent, .percent = true};
  } else {
    fields.Fail(key, fmt::format("{} is neither a whole number nor a percentage from 0% to 100%",
                                 Quoted(text)));
  }
}

template <class Fields>
void ReadJobStatus(Fields& status, JobStatus& out) {
  status.Read("succeeded", out.succeeded, kNotNegative);
  status.Read("failed", out.failed, kNotNegative);
  status.Read("completedIndexes", out.completed_indexes);
  std::vector<Condition> conditions;
  ReadConditions(status, conditions);
  out.over = std::any_of(conditions.begin(), conditions.end(), [](const Condition& condition) {
    return condition.status == "True" &&
           (condition.type == "Complete" || condition.type == "Failed");
  });
}

}  // namespace

template <class Fields>
void ReadFields(Fields& object, Namespace& out) {
  ReadMeta(object, Scope::kCluster, out.meta);
  LabelWithName(out);
}

template <class Fields>
void ReadFields(Fields& object, PriorityClass& out) {
  ReadMeta(object, Scope::kCluster, out.meta);
  object.Read("value", out.value);
  object.Read("globalDefault", out.global_default);
  ReadPreemptionPolicy(object, out.preemption_policy);
}

template <class Fields>
void ReadFields(Fields& object, PodDisruptionBudget& out) {
  ReadMeta(object, Scope::kNamespaced, out.meta);
  object.Map("spec", [&](Fields& spec) {
    spec.Map("selector", [&](Fields& selector) { ReadSelector(selector, out.selector.emplace()); });
    ReadIntOrPercent(spec, "minAvailable", out.min_available);
    ReadIntOrPercent(spec, "maxUnavailable", out.max_unavailable);
    if (spec.ok() && out.min_available && out.max_unavailable) {
      spec.Fail("maxUnavailable", "must not be given together with minAvailable");
    }
  });
  object.Map("status", [&](Fields& status) {
    status.Read("disruptionsAllowed", out.disruptions_allowed, kNotNegative);
    status.ForEachEntry("disruptedPods", [&](std::string_view name, Fields& /*since*/) {
      out.disrupted_pods.emplace_back(name);
    });
    std::sort(out.disrupted_pods.begin(), out.disrupted_pods.end());
  });
}

template <class Fields>
void ReadFields(Fields& object, Service& out) {
  ReadMeta(object, Scope::kNamespaced, out.meta);
  object.Map("spec", [&](Fields& spec) { spec.Read("selector", out.selector); });
}

template <class Fields>
void ReadFields(Fields& object, Workload& out) {
  const bool controller_of_old = out.kind == WorkloadKind::kReplicationController;
  ReadMeta(object, Scope::kNamespaced, out.meta);
  object.RequireMap("spec", [&](Fields& spec) {
    spec.Read("replicas", out.replicas, kNotNegative);
    ReadTemplate(spec, out.pod_template);
    if (controller_of_old) {
      spec.Read("selector", out.selector.emplace().match_labels);
      if (out.selector->match_labels.empty()) out.selector.reset();
    } else {
      spec.Map("selector",
               [&](Fields& selector) { ReadSelector(selector, out.selector.emplace()); });
    }
    CheckSelector(spec, out);
    if (out.kind == WorkloadKind::kStatefulSet) {
      spec.ForEach("volumeClaimTemplates",
                   [&](Fields& claim) { ReadFields(claim, out.claim_templates.emplace_back()); });
    }
  });
  const StringMap& labels = out.pod_template.meta.labels;
  if (!out.selector) out.selector = LabelSelector{.match_labels = labels, .match_expressions = {}};
  if (controller_of_old && out.meta.labels.empty()) out.meta.labels = labels;
}

template <class Fields>
void ReadFields(Fields& object, Job& out) {
  ReadMeta(object, Scope::kNamespaced, out.meta);
  object.RequireMap("spec", [&](Fields& spec) {
    const bool parallel = spec.Read("parallelism", out.parallelism, kNotNegative);
    // Without both it is one pod; with parallelism alone the pods say when the work is done.
    if (!spec.Read("completions", out.completions, kNotNegative) && !parallel) out.completions = 1;
    spec.ReadEnum("completionMode", out.indexed, {{"NonIndexed", false}, {"Indexed", true}});
    spec.Read("suspend", out.suspend);
    spec.Read("backoffLimit", out.backoff_limit, kNotNegative);
    spec.Read("activeDeadlineSeconds", out.active_deadline_seconds, kNotNegative);
    ReadTemplate(spec, out.pod_template);
  });
  object.Map("status", [&](Fields& status) { ReadJobStatus(status, out.status); });
  if (out.meta.labels.empty()) out.meta.labels = out.pod_template.meta.labels;
}

template void ReadFields(FieldReader&, Namespace&);
template void ReadFields(JsonFields&, Namespace&);
template void ReadFields(ProtoFields&, Namespace&);
template void ReadFields(FieldReader&, PriorityClass&);
template void ReadFields(JsonFields&, PriorityClass&);
template void ReadFields(ProtoFields&, PriorityClass&);
template void ReadFields(FieldReader&, PodDisruptionBudget&);
template void ReadFields(JsonFields&, PodDisruptionBudget&);
template void ReadFields(ProtoFields&, PodDisruptionBudget&);
template void ReadFields(FieldReader&, Service&);
template void ReadFields(JsonFields&, Service&);
template void ReadFields(ProtoFields&, Service&);
template void ReadFields(FieldReader&, Workload&);
template void ReadFields(JsonFields&, Workload&);
template void ReadFields(ProtoFields&, Workload&);
template void ReadFields(FieldReader&, Job&);
template void ReadFields(JsonFields&, Job&);
template void ReadFields(ProtoFields&, Job&);

}  // namespace knx::k8s
