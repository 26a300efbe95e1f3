// Bytes that are equal for two values exactly if the values are equal, to find them by.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "k8s/objects.h"

namespace knx::cluster {

// Every piece is written with its length, so that no two different specs give the same bytes.
class KeyWriter {
 public:
  explicit KeyWriter(std::string& out) : out_(out) {}

  template <class Number>
  void Put(Number number) {
    char bytes[sizeof(Number)];
    std::memcpy(bytes, &number, sizeof(Number));
    out_.append(bytes, sizeof(Number));
  }
  void Put(std::string_view text) {
    Put(static_cast<std::uint32_t>(text.size()));
    out_.append(text);
  }
  void Put(const std::string& text) { Put(std::string_view(text)); }
  void Put(const k8s::Quantity& quantity) {
    // A quantity of the same value has the same bits.
    Put(quantity.bits());
  }

  template <class A, class B>
  void Put(const std::pair<A, B>& pair) {
    Put(pair.first);
    Put(pair.second);
  }
  template <class T>
  void Put(const std::vector<T>& list) {
    Put(static_cast<std::uint32_t>(list.size()));
    for (const T& item : list) Put(item);
  }
  template <class T>
  void Put(const std::optional<T>& maybe) {
    Put(static_cast<std::uint8_t>(maybe.has_value()));
    if (maybe) Put(*maybe);
  }

  void Put(const k8s::Requirement& requirement) {
    Put(requirement.key);
    Put(requirement.op);
    if (requirement.op == k8s::SelectorOperator::kUnknown) Put(requirement.unknown_op);
    Put(requirement.values);
  }
  void Put(const k8s::NodeSelectorTerm& term) {
    Put(term.match_expressions);
    Put(term.match_fields);
  }
  void Put(const k8s::NodeSelector& selector) { Put(selector.terms); }
  void Put(const k8s::PreferredSchedulingTerm& term) {
    Put(term.weight);
    Put(term.preference);
  }
  void Put(const k8s::NodeAffinity& affinity) {
    Put(affinity.required);
    Put(affinity.preferred);
  }
  void Put(const k8s::LabelSelector& selector) {
    Put(selector.match_labels);
    Put(selector.match_expressions);
  }
  // Without the keys of labels, which are part of the selector by now.
  void Put(const k8s::PodAffinityTerm& term) {
    Put(term.topology_key);
    Put(term.selector);
    Put(term.namespaces);
    Put(term.namespace_selector);
  }
  void Put(const k8s::WeightedPodAffinityTerm& weighted) {
    Put(weighted.weight);
    Put(weighted.term);
  }
  void Put(const k8s::PodAffinity& affinity) {
    Put(affinity.required);
    Put(affinity.preferred);
  }
  void Put(const k8s::TopologySpreadConstraint& constraint) {
    Put(constraint.max_skew);
    Put(constraint.topology_key);
    Put(constraint.when_unsatisfiable);
    Put(constraint.selector);
    Put(constraint.min_domains);
    Put(constraint.node_affinity_policy);
    Put(constraint.node_taints_policy);
    Put(constraint.match_label_keys);
  }
  void Put(const k8s::Toleration& toleration) {
    Put(toleration.key);
    Put(toleration.value);
    Put(toleration.op);
    Put(toleration.effect);
  }
  void Put(const k8s::ResourceRequirements& resources) {
    Put(resources.requests);
    Put(resources.limits);
  }
  void Put(const k8s::ContainerPort& port) {
    Put(port.host_ip);
    Put(port.protocol);
    Put(port.host_port);
  }
  void Put(const k8s::Container& container) {
    Put(container.image);
    Put(container.resources.requests);
    Put(container.ports);
    Put(static_cast<std::uint8_t>(container.restart_always));
    Put(static_cast<std::uint8_t>(container.may_restart_all));
  }

  void Put(const k8s::Volume& volume) {
    Put(volume.name);
    Put(volume.source);
    Put(volume.id);
    Put(volume.pool);
    Put(volume.monitors);
    Put(volume.disk_kind);
    Put(static_cast<std::uint8_t>(volume.read_only));
  }

 private:
  std::string& out_;
};

}  // namespace knx::cluster
