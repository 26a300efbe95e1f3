#include "plugins/kube/node_name/node_name.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace knx::plugins {
namespace {

class OneNodeFilter final : public framework::NodeFilter {
 public:
  OneNodeFilter(const cluster::NodeTable& nodes, std::string wanted)
      : nodes_(nodes), wanted_(std::move(wanted)) {}

  void Filter(framework::NodeRows nodes, framework::Verdicts& out) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes_.name(nodes[i]) != wanted_) out.Reject(i, framework::Code::kUnresolvable);
    }
  }
  void Explain(const framework::Verdict& /*verdict*/,
               std::vector<std::string>& reasons) const override {
    reasons.emplace_back("node(s) didn't match the requested node name");
  }

 private:
  const cluster::NodeTable& nodes_;
  std::string wanted_;
};

}  // namespace

framework::EventSet NodeName::events() const {
  // A quirk of kube-scheduler: who waits for new nodes is also woken whenever taints of a node
  // change.
  return {framework::EventKind::kNodeAdd, framework::EventKind::kNodeTaint};
}

framework::PreFilterResult NodeName::PreFilter(const framework::PodView& pod) const {
  const std::string& wanted = pod.pod_class.spec.node_name;
  framework::PreFilterResult result;
  result.scope = framework::Scope::kFacts;
  if (wanted.empty()) {
    result.outcome = framework::Outcome::Skip();
  } else {
    result.filter = std::make_unique<OneNodeFilter>(pod.state.nodes(), wanted);
  }
  return result;
}

}  // namespace knx::plugins
