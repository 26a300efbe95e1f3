#include <cstring>

#include "cluster/pod_class.h"

namespace knx::cluster {
namespace {

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

 private:
  std::string& out_;
};

}  // namespace

void AppendClassKey(const k8s::PodSpec& spec, std::string& out) {
  KeyWriter key(out);
  key.Put(spec.node_name);
  key.Put(spec.scheduler_name);
  key.Put(spec.preemption_policy);
  key.Put(spec.node_selector);
  key.Put(spec.node_affinity);
  key.Put(spec.tolerations);
  key.Put(spec.containers);
  key.Put(spec.init_containers);
  key.Put(spec.image_volumes);
  key.Put(spec.overhead);
  key.Put(spec.resources);
  key.Put(static_cast<std::uint8_t>(spec.host_network && !spec.host_users));
}

}  // namespace knx::cluster
