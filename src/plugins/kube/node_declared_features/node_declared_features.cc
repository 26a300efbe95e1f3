#include "plugins/kube/node_declared_features/node_declared_features.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "k8s/names.h"
#include "plugins/common/word_lookup.h"

namespace knx::plugins {
namespace {

using framework::EventKind;

// What nodes must declare, read off the spec: there is no field that names it.
std::vector<std::string_view> NeededFeatures(const k8s::PodSpec& spec) {
  std::vector<std::string_view> out;
  const auto restarts_all = [](const k8s::Container& container) {
    return container.may_restart_all;
  };
  if (std::any_of(spec.containers.begin(), spec.containers.end(), restarts_all) ||
      std::any_of(spec.init_containers.begin(), spec.init_containers.end(), restarts_all)) {
    out.push_back(k8s::names::kFeatureRestartAll);
  }
  if (spec.host_network && !spec.host_users) {
    out.push_back(k8s::names::kFeatureHostNetworkUsers);
  }
  return out;
}

class FeatureFilter final : public framework::NodeFilter {
 public:
  FeatureFilter(const cluster::State& state, const std::vector<std::string_view>& needed)
      : nodes_(state.nodes()), words_(state.words()) {
    for (const std::string_view feature : needed) needed_.push_back(words_.Find(feature));
    std::sort(needed_.begin(), needed_.end());
  }

  void Filter(framework::NodeRows nodes, framework::Verdicts& out) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::vector<Symbol>& declared = nodes_.facts(nodes[i]).declared_features;
      if (!std::includes(declared.begin(), declared.end(), needed_.begin(), needed_.end())) {
        out.Reject(i, framework::Code::kUnresolvable);
      }
    }
  }
  void Explain(const framework::Verdict& /*verdict*/,
               std::vector<std::string>& reasons) const override {
    reasons.emplace_back("node(s) didn't match Pod's required features");
  }
  [[nodiscard]] bool Current() const override { return words_.Current(); }

 private:
  const cluster::NodeTable& nodes_;
  WordLookup words_;
  std::vector<Symbol> needed_;  // sorted; an invalid one is declared by nobody
};

}  // namespace

framework::EventSet NodeDeclaredFeatures::events() const {
  // A quirk of kube-scheduler: who waits for new nodes is also woken whenever taints of a node
  // change.
  return {EventKind::kNodeAdd,         EventKind::kNodeTaint,    EventKind::kNodeDeclaredFeature,
          EventKind::kOwnLabel,        EventKind::kOwnScaleDown, EventKind::kOwnTolerations,
          EventKind::kOwnGatesRemoved, EventKind::kOwnOther};
}

bool NodeDeclaredFeatures::MayHelp(const framework::ClusterEvent& event,
                                   const framework::PodView& pod) const {
  (void)pod;
  if (event.kind == EventKind::kNodeAdd || event.kind == EventKind::kNodeTaint ||
      event.kind == EventKind::kNodeDeclaredFeature) {
    return true;
  }
  return event.pod_before.pod_class == nullptr || event.pod_now.pod_class == nullptr ||
         NeededFeatures(event.pod_before.pod_class->spec) !=
             NeededFeatures(event.pod_now.pod_class->spec);
}

framework::PreFilterResult NodeDeclaredFeatures::PreFilter(const framework::PodView& pod) const {
  framework::PreFilterResult result;
  result.scope = framework::Scope::kFacts;
  const std::vector<std::string_view> needed = NeededFeatures(pod.pod_class.spec);
  if (needed.empty()) {
    result.outcome = framework::Outcome::Skip();
  } else {
    result.filter = std::make_unique<FeatureFilter>(pod.state, needed);
  }
  return result;
}

}  // namespace knx::plugins
