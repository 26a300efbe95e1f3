#include "plugins/kube/node_unschedulable/node_unschedulable.h"

#include <memory>
#include <string>
#include <vector>

#include "k8s/names.h"
#include "k8s/selector.h"

namespace knx::plugins {
namespace {

class SchedulableFilter final : public framework::NodeFilter {
 public:
  explicit SchedulableFilter(const cluster::NodeTable& nodes) : nodes_(nodes) {}

  void Filter(framework::NodeRows nodes, framework::Verdicts& out) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes_.facts(nodes[i]).unschedulable) out.Reject(i, framework::Code::kUnresolvable);
    }
  }
  void Explain(const framework::Verdict& /*verdict*/,
               std::vector<std::string>& reasons) const override {
    reasons.emplace_back("node(s) were unschedulable");
  }

 private:
  const cluster::NodeTable& nodes_;
};

// Who tolerates the taint that such nodes get tolerates the mark itself.
bool ToleratesUnschedulable(const cluster::PodClass& pod_class) {
  const k8s::Taint taint{std::string(k8s::names::kTaintUnschedulable), "",
                         k8s::TaintEffect::kNoSchedule};
  return k8s::Tolerates(pod_class.spec.tolerations, taint);
}

}  // namespace

framework::EventSet NodeUnschedulable::events() const {
  return {framework::EventKind::kNodeAdd, framework::EventKind::kNodeTaint,
          framework::EventKind::kOwnTolerations};
}

bool NodeUnschedulable::MayHelp(const framework::ClusterEvent& event,
                                const framework::PodView& pod) const {
  if (event.kind == framework::EventKind::kOwnTolerations) {
    return ToleratesUnschedulable(pod.pod_class);
  }
  const bool was_schedulable = event.node_before != nullptr && !event.node_before->unschedulable;
  return !was_schedulable && !pod.state.nodes().facts(event.row).unschedulable;
}

framework::PreFilterResult NodeUnschedulable::PreFilter(const framework::PodView& pod) const {
  framework::PreFilterResult result;
  result.scope = framework::Scope::kFacts;
  if (ToleratesUnschedulable(pod.pod_class)) {
    result.outcome = framework::Outcome::Skip();
  } else {
    result.filter = std::make_unique<SchedulableFilter>(pod.state.nodes());
  }
  return result;
}

}  // namespace knx::plugins
