#include "sim/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "k8s/enum_names.h"
#include "k8s/names.h"
#include "k8s/pod_defaults.h"
#include "k8s/selector.h"
#include "scenario/pod_script.h"

namespace knx::sim {
namespace {

constexpr std::int32_t kHighestUserPriority = 1'000'000'000;
constexpr std::int64_t kDefaultTolerationSeconds = 300;
constexpr std::int64_t kDefaultPodsPerNode = 110;
constexpr std::string_view kIsDefaultClass = "storageclass.kubernetes.io/is-default-class";

Error Forbidden(std::string_view resource, std::string_view name, std::string_view why) {
  return InvalidError(fmt::format("{} \"{}\" is forbidden: {}", resource, name, why));
}

// Of several defaults the lowest, as the API server takes it.
Ptr<k8s::PriorityClass> DefaultPriorityClass(const Store& store) {
  Ptr<k8s::PriorityClass> found;
  for (const auto& [name, priority_class] : store.All<k8s::PriorityClass>()) {
    if (!priority_class->global_default) continue;
    if (found == nullptr || priority_class->value < found->value) found = priority_class;
  }
  return found;
}

// Whether the manifest is of a pod that went through all this before, in its own cluster, whose
// classes need not be among the manifests.
bool HasItsPriority(const Store& store, const k8s::Pod& pod) {
  if (!pod.spec.priority.has_value()) return false;
  const std::string& name = pod.spec.priority_class_name;
  return !pod.meta.uid.empty() ||
         (!name.empty() && store.Find<k8s::PriorityClass>(name) == nullptr);
}

Status AdmitPriority(const Store& store, k8s::Pod& pod) {
  if (HasItsPriority(store, pod)) return Ok();
  Ptr<k8s::PriorityClass> priority_class;
  if (pod.spec.priority_class_name.empty()) {
    priority_class = DefaultPriorityClass(store);
    if (priority_class != nullptr) pod.spec.priority_class_name = priority_class->meta.name;
  } else {
    priority_class = store.Find<k8s::PriorityClass>(pod.spec.priority_class_name);
    if (priority_class == nullptr) {
      return Forbidden(
          "pods", pod.meta.name,
          fmt::format("no PriorityClass with name {} was found", pod.spec.priority_class_name));
    }
  }
  const std::int32_t computed = priority_class == nullptr ? 0 : priority_class->value;
  if (pod.spec.priority.has_value() && *pod.spec.priority != computed) {
    return Forbidden("pods", pod.meta.name,
                     fmt::format("the integer value of priority ({}) must not be provided in pod "
                                 "spec; priority admission controller computed {} from the given "
                                 "PriorityClass name",
                                 *pod.spec.priority, computed));
  }
  pod.spec.priority = computed;
  if (priority_class != nullptr) pod.spec.preemption_policy = priority_class->preemption_policy;
  return Ok();
}

// Pods stay on a node that is in trouble for five minutes unless they say otherwise.
void AddDefaultTolerations(k8s::PodSpec& spec) {
  for (const std::string_view key : {k8s::names::kTaintNotReady, k8s::names::kTaintUnreachable}) {
    const auto covers = [key](const k8s::Toleration& t) {
      return (t.key == key || t.key.empty()) &&
             (t.effect == k8s::TaintEffect::kNoExecute || t.effect == k8s::TaintEffect::kNone);
    };
    if (std::any_of(spec.tolerations.begin(), spec.tolerations.end(), covers)) continue;
    spec.tolerations.push_back({.key = std::string(key),
                                .value = {},
                                .op = k8s::TolerationOperator::kExists,
                                .effect = k8s::TaintEffect::kNoExecute,
                                .seconds = kDefaultTolerationSeconds});
  }
}

// Keys of labels that other pods must share with this one, or must not.
void MergeLabelKeys(const k8s::StringMap& labels, const std::vector<std::string>& keys,
                    k8s::SelectorOperator op, std::optional<k8s::LabelSelector>& selector) {
  if (!selector) return;
  for (const std::string& key : keys) {
    const std::string* value = k8s::FindValue(labels, key);
    if (value != nullptr) selector->match_expressions.push_back({key, op, {*value}});
  }
}

void MergeLabelKeys(k8s::Pod& pod) {
  const auto merge = [&](k8s::PodAffinityTerm& term) {
    MergeLabelKeys(pod.meta.labels, term.match_label_keys, k8s::SelectorOperator::kIn,
                   term.selector);
    MergeLabelKeys(pod.meta.labels, term.mismatch_label_keys, k8s::SelectorOperator::kNotIn,
                   term.selector);
  };
  for (k8s::PodAffinity* affinity : {&pod.spec.pod_affinity, &pod.spec.pod_anti_affinity}) {
    for (k8s::PodAffinityTerm& term : affinity->required) merge(term);
    for (k8s::WeightedPodAffinityTerm& weighted : affinity->preferred) merge(weighted.term);
  }
  for (k8s::TopologySpreadConstraint& constraint : pod.spec.topology_spread) {
    MergeLabelKeys(pod.meta.labels, constraint.match_label_keys, k8s::SelectorOperator::kIn,
                   constraint.selector);
  }
}

// The API server gives a new pod a new status. But a manifest may be of a pod that was there before
// the run began, and tell what its scheduler and its kubelet have said of it. That stays, but for
// times, which begin anew.
void AdmitStatus(k8s::Pod& pod, Time now) {
  k8s::PodStatus& status = pod.status;
  status.start_time.reset();
  if (pod.spec.node_name.empty() && !IsFinished(pod)) {
    status.phase = k8s::PodPhase::kPending;
    std::erase_if(status.conditions, [](const k8s::Condition& condition) {
      return condition.type == k8s::names::kPodScheduled && condition.status == "True";
    });
  }
  for (k8s::Condition& condition : status.conditions) condition.last_transition = now;
}

}  // namespace

Status AdmitPod(const Store& store, k8s::Pod& pod) {
  if (auto script = scenario::ScriptOf(pod.meta); !script.ok()) {
    return std::move(script).error().Within(fmt::format("pods \"{}\"", pod.meta.name));
  }
  if (!pod.spec.scheduling_gates.empty() && !pod.spec.node_name.empty()) {
    return InvalidError(
        fmt::format("Pod \"{}\" is invalid: spec.nodeName: Forbidden: cannot be "
                    "set until all schedulingGates have been cleared",
                    pod.meta.name));
  }
  KNX_TRY_DONE(AdmitPriority(store, pod));
  k8s::DefaultRequests(pod.spec);
  AddDefaultTolerations(pod.spec);
  MergeLabelKeys(pod);
  AdmitStatus(pod, store.now());
  pod.meta.deleted.reset();
  // The job controller here keeps account without it, so it would never take it away.
  std::erase(pod.meta.finalizers, k8s::names::kFinalizerJobTracking);
  pod.meta.generation = 1;
  if (!pod.spec.scheduling_gates.empty()) {
    SetCondition(pod.status.conditions,
                 {.type = std::string(k8s::names::kPodScheduled),
                  .status = "False",
                  .reason = std::string(k8s::names::kReasonSchedulingGated),
                  .message = "Scheduling is blocked due to non-empty scheduling gates",
                  .last_transition = {}},
                 store.now());
  }
  return Ok();
}

Status AdmitPodUpdate(const k8s::Pod& before, const k8s::Pod& after) {
  const k8s::StringMap& had = before.spec.node_selector;
  const k8s::StringMap& has = after.spec.node_selector;
  if (had == has) return Ok();
  const auto refuse = [&](std::string_view why) {
    return InvalidError(fmt::format("Pod \"{}\" is invalid: {}", before.meta.name, why));
  };
  if (before.spec.scheduling_gates.empty()) {
    return refuse(
        "spec: Forbidden: pod updates may not change fields other than "
        "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
        "`spec.tolerations` (only additions to existing tolerations),"
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
        "negative)");
  }
  if (!std::includes(has.begin(), has.end(), had.begin(), had.end())) {
    return refuse(
        "spec.nodeSelector: only additions to spec.nodeSelector are allowed (no mutations or "
        "deletions)");
  }
  return Ok();
}

Status AdmitPriorityClass(const Store& store, k8s::PriorityClass& priority_class) {
  const std::string& name = priority_class.meta.name;
  if (priority_class.global_default) {
    if (const auto other = DefaultPriorityClass(store)) {
      return Forbidden("priorityclasses.scheduling.k8s.io", name,
                       fmt::format("PriorityClass {} is already marked as default. Only one "
                                   "default can exist",
                                   other->meta.name));
    }
  }
  if (priority_class.value > kHighestUserPriority && !name.starts_with("system-")) {
    return InvalidError(
        fmt::format("PriorityClass \"{}\" is invalid: value: maximum allowed value "
                    "of a user defined priority is {}",
                    name, kHighestUserPriority));
  }
  return Ok();
}

void AdmitClaim(const Store& store, k8s::PersistentVolumeClaim& claim) {
  const bool named =
      claim.storage_class.has_value() ||
      k8s::FindValue(claim.meta.annotations, k8s::names::kStorageClassBeta) != nullptr;
  if (named) return;
  // Of several the newest, and of those the first by name.
  Ptr<k8s::StorageClass> found;
  for (const auto& [name, storage_class] : store.All<k8s::StorageClass>()) {
    const std::string* is_default =
        k8s::FindValue(storage_class->meta.annotations, kIsDefaultClass);
    if (is_default == nullptr || *is_default != "true") continue;
    if (found == nullptr || storage_class->meta.created > found->meta.created) {
      found = storage_class;
    }
  }
  if (found != nullptr) claim.storage_class = found->meta.name;
}

void AdmitNode(k8s::Node& node, Time now) {
  node.meta.deleted.reset();
  auto& labels = node.meta.labels;
  if (k8s::FindValue(labels, k8s::names::kHostname) == nullptr) {
    labels.emplace_back(k8s::names::kHostname, node.meta.name);
    std::sort(labels.begin(), labels.end());
  }
  const auto has_pods = [](const auto& entry) { return entry.first == k8s::names::kPods; };
  if (std::none_of(node.allocatable.begin(), node.allocatable.end(), has_pods)) {
    node.allocatable.emplace_back(k8s::names::kPods, k8s::Quantity::FromUnits(kDefaultPodsPerNode));
    std::sort(node.allocatable.begin(), node.allocatable.end());
  }
  if (node.capacity.empty()) node.capacity = node.allocatable;
  const auto cordons = [](const k8s::Taint& t) { return t.key == k8s::names::kTaintUnschedulable; };
  if (node.unschedulable && std::none_of(node.taints.begin(), node.taints.end(), cordons)) {
    node.taints.push_back({.key = std::string(k8s::names::kTaintUnschedulable),
                           .value = {},
                           .effect = k8s::TaintEffect::kNoSchedule});
  }
  if (FindCondition(node.conditions, "Ready") == nullptr) {
    SetCondition(node.conditions,
                 {.type = "Ready",
                  .status = "True",
                  .reason = "KubeletReady",
                  .message = "kubelet is posting ready status",
                  .last_transition = {}},
                 now);
  }
  TaintByConditions(node);
}

void TaintByConditions(k8s::Node& node) {
  struct Rule {
    std::string_view condition, status, key;
    bool evicts;
  };
  constexpr std::array<Rule, 6> kRules = {{
      {"Ready", "False", k8s::names::kTaintNotReady, true},
      {"Ready", "Unknown", k8s::names::kTaintUnreachable, true},
      {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure", false},
      {"DiskPressure", "True", "node.kubernetes.io/disk-pressure", false},
      {"PIDPressure", "True", "node.kubernetes.io/pid-pressure", false},
      {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable", false},
  }};
  const auto add = [&node](std::string_view key, k8s::TaintEffect effect) {
    const auto same = [&](const k8s::Taint& t) { return t.key == key && t.effect == effect; };
    if (std::any_of(node.taints.begin(), node.taints.end(), same)) return;
    node.taints.push_back({.key = std::string(key), .value = {}, .effect = effect});
  };
  for (const Rule& rule : kRules) {
    const k8s::Condition* condition = FindCondition(node.conditions, rule.condition);
    if (condition == nullptr || condition->status != rule.status) continue;
    add(rule.key, k8s::TaintEffect::kNoSchedule);
    if (rule.evicts) add(rule.key, k8s::TaintEffect::kNoExecute);
  }
}

}  // namespace knx::sim
