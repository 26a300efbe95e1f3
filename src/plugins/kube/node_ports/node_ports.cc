#include "plugins/kube/node_ports/node_ports.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/host_ports.h"

namespace knx::plugins {
namespace {

using Ports = std::vector<cluster::HostPort>;

class FreePortsFilter final : public framework::NodeFilter {
 public:
  FreePortsFilter(const cluster::NodeTable& nodes, Ports wanted)
      : nodes_(nodes), wanted_(std::move(wanted)) {}

  void Filter(framework::NodeRows nodes, framework::Verdicts& out) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes_.ports(nodes[i]).ConflictsWith(wanted_)) {
        out.Reject(i, framework::Code::kUnschedulable);
      }
    }
  }
  void Explain(const framework::Verdict& /*verdict*/,
               std::vector<std::string>& reasons) const override {
    reasons.emplace_back("node(s) didn't have free ports for the requested pod ports");
  }

 private:
  const cluster::NodeTable& nodes_;
  Ports wanted_;
};

bool Conflict(const Ports& a, const Ports& b) {
  return std::any_of(a.begin(), a.end(), [&](const cluster::HostPort& port) {
    return std::any_of(b.begin(), b.end(), [&](const cluster::HostPort& other) {
      return cluster::Conflicts(port, other);
    });
  });
}

}  // namespace

framework::EventSet NodePorts::events() const {
  // A quirk of kube-scheduler: who waits for new nodes is also woken whenever taints of a node
  // change.
  return {framework::EventKind::kNodeAdd, framework::EventKind::kNodeTaint,
          framework::EventKind::kAssignedPodDelete, framework::EventKind::kUnassignedPodDelete};
}

bool NodePorts::MayHelp(const framework::ClusterEvent& event, const framework::PodView& pod) const {
  switch (event.kind) {
    case framework::EventKind::kAssignedPodDelete:
    case framework::EventKind::kUnassignedPodDelete: {
      const framework::PodInEvent& gone = event.pod_now;
      // A pod that waited held no port, unless room was kept for it.
      if (!gone.node.valid() && !gone.nominated.valid()) return false;
      return gone.pod_class != nullptr && Conflict(gone.pod_class->ports, pod.pod_class.ports);
    }
    default:
      return true;
  }
}

framework::PreFilterResult NodePorts::PreFilter(const framework::PodView& pod) const {
  framework::PreFilterResult result;
  result.scope = framework::Scope::kUsage;
  if (pod.pod_class.ports.empty()) {
    result.outcome = framework::Outcome::Skip();
  } else {
    result.filter = std::make_unique<FreePortsFilter>(pod.state.nodes(), pod.pod_class.ports);
  }
  return result;
}

}  // namespace knx::plugins
