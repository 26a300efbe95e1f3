// Nodes and pods for tests, in one expression:
//
//   AddNode(state, NodeBuilder("n1").Has("cpu", "4").Has("pods", "110").Label("zone", "a"));
//   AddPod(state, PodBuilder("p1").Asks("cpu", "500m").On("n1"));
//
// They make the plain objects of k8s/; what is wrong in a test (an amount that does not parse)
// fails a check.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "cluster/state.h"
#include "k8s/objects.h"

namespace knx::cluster::testing {

// Puts a value into a map that is a sorted vector.
template <class Value>
void SetSorted(std::vector<std::pair<std::string, Value>>& map, std::string_view key, Value value) {
  const auto it = std::lower_bound(
      map.begin(), map.end(), key,
      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  if (it != map.end() && it->first == key) {
    it->second = std::move(value);
  } else {
    map.emplace(it, key, std::move(value));
  }
}

// When pods that leave have left, unless a test says otherwise.
inline constexpr Time kLongAfter{4'000'000'000'000'000'000};

inline void SetAmount(k8s::ResourceList& list, std::string_view name, std::string_view amount) {
  auto parsed = k8s::Quantity::Parse(amount);
  KNX_CHECK(parsed.ok(), "a test gives an amount that is none");
  SetSorted(list, name, *parsed);
}

class NodeBuilder {
 public:
  explicit NodeBuilder(std::string name) { node_.meta.name = std::move(name); }

  // Allocatable, and as much capacity.
  NodeBuilder& Has(std::string_view resource, std::string_view amount) {
    SetAmount(node_.allocatable, resource, amount);
    SetAmount(node_.capacity, resource, amount);
    return *this;
  }
  NodeBuilder& Label(std::string_view key, std::string value) {
    SetSorted(node_.meta.labels, key, std::move(value));
    return *this;
  }
  NodeBuilder& Taint(std::string key, std::string value, k8s::TaintEffect effect) {
    node_.taints.push_back({std::move(key), std::move(value), effect});
    return *this;
  }
  NodeBuilder& Unschedulable(bool value = true) {
    node_.unschedulable = value;
    return *this;
  }
  NodeBuilder& Declares(std::string feature) {
    node_.declared_features.push_back(std::move(feature));
    return *this;
  }
  NodeBuilder& Image(std::string name, std::int64_t size_bytes) {
    node_.images.push_back({{std::move(name)}, size_bytes});
    return *this;
  }

  operator k8s::Node() const { return node_; }  // NOLINT(google-explicit-constructor)

 private:
  k8s::Node node_;
};

// A pod with one container, which is what Asks, Port and Image speak of until there is a further
// one.
class PodBuilder {
 public:
  explicit PodBuilder(std::string name) {
    pod_.meta.namespace_ = "default";
    pod_.meta.uid = "uid-" + name;
    pod_.meta.name = std::move(name);
    Container();
  }

  PodBuilder& Container() { return Begin(pod_.spec.containers, false); }
  PodBuilder& InitContainer() { return Begin(pod_.spec.init_containers, false); }
  PodBuilder& Sidecar() { return Begin(pod_.spec.init_containers, true); }
  PodBuilder& Asks(std::string_view resource, std::string_view amount) {
    SetAmount(Current().resources.requests, resource, amount);
    return *this;
  }
  PodBuilder& Port(std::int32_t host_port, std::string protocol = "TCP", std::string ip = "") {
    Current().ports.push_back({std::move(ip), std::move(protocol), host_port});
    return *this;
  }
  PodBuilder& Image(std::string name) {
    Current().image = std::move(name);
    return *this;
  }

  PodBuilder& ImageVolume(std::string reference) {
    pod_.spec.image_volumes.push_back(std::move(reference));
    return *this;
  }
  PodBuilder& Namespace(std::string name) {
    pod_.meta.namespace_ = std::move(name);
    return *this;
  }
  PodBuilder& Claim(std::string name) { return Disk(k8s::VolumeSource::kClaim, std::move(name)); }
  // The claim that is made for the volume is called "<pod>-<volume>".
  PodBuilder& Ephemeral(std::string volume) {
    Disk(k8s::VolumeSource::kEphemeral, {});
    pod_.spec.volumes.back().name = std::move(volume);
    return *this;
  }
  PodBuilder& Disk(k8s::VolumeSource source, std::string id, bool read_only = false) {
    k8s::Volume& volume = pod_.spec.volumes.emplace_back();
    volume.source = source;
    volume.id = std::move(id);
    volume.read_only = read_only;
    return *this;
  }
  PodBuilder& Rbd(std::string pool, std::string image, std::vector<std::string> monitors,
                  bool read_only = false) {
    Disk(k8s::VolumeSource::kRbd, std::move(image), read_only);
    pod_.spec.volumes.back().pool = std::move(pool);
    pod_.spec.volumes.back().monitors = std::move(monitors);
    return *this;
  }
  PodBuilder& Overhead(std::string_view resource, std::string_view amount) {
    SetAmount(pod_.spec.overhead, resource, amount);
    return *this;
  }
  PodBuilder& AsksAsAWhole(std::string_view resource, std::string_view amount) {
    if (!pod_.spec.resources) pod_.spec.resources.emplace();
    SetAmount(pod_.spec.resources->requests, resource, amount);
    return *this;
  }
  PodBuilder& Label(std::string_view key, std::string value) {
    SetSorted(pod_.meta.labels, key, std::move(value));
    return *this;
  }
  PodBuilder& NodeSelector(std::string_view key, std::string value) {
    SetSorted(pod_.spec.node_selector, key, std::move(value));
    return *this;
  }
  // One more term of the required affinity; the pod needs any of them.
  PodBuilder& Requires(k8s::NodeSelectorTerm term) {
    if (!Affinity().required) Affinity().required.emplace();
    Affinity().required->terms.push_back(std::move(term));
    return *this;
  }
  PodBuilder& Prefers(std::int32_t weight, k8s::NodeSelectorTerm term) {
    Affinity().preferred.push_back({weight, std::move(term)});
    return *this;
  }
  // Terms about other pods: near them, apart from them, and as a wish with a weight.
  PodBuilder& Near(k8s::PodAffinityTerm term) {
    pod_.spec.pod_affinity.required.push_back(std::move(term));
    return *this;
  }
  PodBuilder& Apart(k8s::PodAffinityTerm term) {
    pod_.spec.pod_anti_affinity.required.push_back(std::move(term));
    return *this;
  }
  PodBuilder& PrefersNear(std::int32_t weight, k8s::PodAffinityTerm term) {
    pod_.spec.pod_affinity.preferred.push_back({weight, std::move(term)});
    return *this;
  }
  PodBuilder& PrefersApart(std::int32_t weight, k8s::PodAffinityTerm term) {
    pod_.spec.pod_anti_affinity.preferred.push_back({weight, std::move(term)});
    return *this;
  }
  PodBuilder& Spread(k8s::TopologySpreadConstraint constraint) {
    pod_.spec.topology_spread.push_back(std::move(constraint));
    return *this;
  }
  PodBuilder& ControlledBy(std::string kind, const std::string& name,
                           std::string api_version = "apps/v1") {
    pod_.meta.owners.push_back({std::move(kind), name, name, true, std::move(api_version)});
    return *this;
  }
  PodBuilder& BeingDeleted(bool value = true) {
    pod_.meta.deleted.reset();
    if (value) pod_.meta.deleted = kLongAfter;
    return *this;
  }
  PodBuilder& Tolerates(k8s::Toleration toleration) {
    pod_.spec.tolerations.push_back(std::move(toleration));
    return *this;
  }
  PodBuilder& Gate(std::string name) {
    pod_.spec.scheduling_gates.push_back(std::move(name));
    return *this;
  }
  PodBuilder& Annotation(std::string_view key, std::string value) {
    SetSorted(pod_.meta.annotations, key, std::move(value));
    return *this;
  }
  PodBuilder& Priority(std::int32_t priority) {
    pod_.spec.priority = priority;
    return *this;
  }
  PodBuilder& On(std::string node) {
    pod_.spec.node_name = std::move(node);
    return *this;
  }
  PodBuilder& NeverPreempts() {
    pod_.spec.preemption_policy = k8s::PreemptionPolicy::kNever;
    return *this;
  }
  PodBuilder& Created(Time when) {
    pod_.meta.created = when;
    return *this;
  }
  PodBuilder& Started(Time when) {
    pod_.status.start_time = when;
    return *this;
  }
  // Has to leave because a scheduler made room for another pod.
  PodBuilder& Preempted() {
    pod_.meta.deleted = kLongAfter;
    k8s::Condition& condition = pod_.status.conditions.emplace_back();
    condition.type = "DisruptionTarget";
    condition.status = "True";
    condition.reason = "PreemptionByScheduler";
    return *this;
  }
  PodBuilder& Terminating() {
    pod_.meta.deleted = kLongAfter;
    return *this;
  }
  PodBuilder& Nominated(std::string node) {
    pod_.status.nominated_node_name = std::move(node);
    return *this;
  }

  operator k8s::Pod() const { return pod_; }  // NOLINT(google-explicit-constructor)

 private:
  PodBuilder& Begin(std::vector<k8s::Container>& list, bool sidecar) {
    current_ = &list == &pod_.spec.containers ? kContainers : kInitContainers;
    k8s::Container& container = list.emplace_back();
    container.name = "c" + std::to_string(++containers_);
    container.restart_always = sidecar;
    return *this;
  }
  k8s::Container& Current() {
    return (current_ == kContainers ? pod_.spec.containers : pod_.spec.init_containers).back();
  }
  k8s::NodeAffinity& Affinity() {
    if (!pod_.spec.node_affinity) pod_.spec.node_affinity.emplace();
    return *pod_.spec.node_affinity;
  }

  enum { kContainers, kInitContainers } current_ = kContainers;
  int containers_ = 0;
  k8s::Pod pod_;
};

// One requirement on a label.
inline k8s::Requirement Label(std::string key, k8s::SelectorOperator op,
                              std::vector<std::string> values = {}) {
  return {std::move(key), op, std::move(values)};
}

// A selector that wants these labels.
inline k8s::LabelSelector Labelled(k8s::StringMap labels) { return {std::move(labels), {}}; }

// A term about the pods with these labels, in the pod's own namespace unless more is said.
inline k8s::PodAffinityTerm Pods(std::string topology_key,
                                 std::optional<k8s::LabelSelector> selector,
                                 std::vector<std::string> namespaces = {},
                                 std::optional<k8s::LabelSelector> namespace_selector = {}) {
  k8s::PodAffinityTerm term;
  term.topology_key = std::move(topology_key);
  term.selector = std::move(selector);
  term.namespaces = std::move(namespaces);
  term.namespace_selector = std::move(namespace_selector);
  return term;
}

inline k8s::TopologySpreadConstraint Evenly(
    std::string topology_key, std::optional<k8s::LabelSelector> selector, std::int32_t max_skew = 1,
    k8s::WhenUnsatisfiable action = k8s::WhenUnsatisfiable::kDoNotSchedule) {
  k8s::TopologySpreadConstraint constraint;
  constraint.topology_key = std::move(topology_key);
  constraint.selector = std::move(selector);
  constraint.max_skew = max_skew;
  constraint.when_unsatisfiable = action;
  return constraint;
}

inline k8s::Namespace NamespaceWith(std::string name, k8s::StringMap labels) {
  k8s::Namespace out;
  out.meta.name = std::move(name);
  out.meta.labels = std::move(labels);
  return out;
}

inline NodeRow AddNode(State& state, const k8s::Node& node) {
  state.UpsertNode(node);
  state.RefreshRanks();
  return state.nodes().Find(node.meta.name);
}

inline PodId AddPod(State& state, const k8s::Pod& pod) { return state.AddPod(pod); }

}  // namespace knx::cluster::testing
