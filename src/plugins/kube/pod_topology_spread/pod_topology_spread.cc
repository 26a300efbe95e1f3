#include "plugins/kube/pod_topology_spread/pod_topology_spread.h"

#include <algorithm>

#include "plugins/common/node_matcher.h"
#include "plugins/kube/pod_topology_spread/spread_filter.h"
#include "plugins/kube/pod_topology_spread/spread_scorer.h"

namespace knx::plugins {
namespace {

using cluster::ClassTerms;
using framework::EventKind;
using Spreads = std::vector<ClassTerms::Spread>;

bool HasAllLabels(const cluster::NodeFacts& node, const Spreads& constraints) {
  return std::all_of(constraints.begin(), constraints.end(), [&](const ClassTerms::Spread& c) {
    return c.topology_key.valid() && LabelOf(node, c.topology_key).valid();
  });
}

bool DomainDiffers(const cluster::NodeFacts& a, const cluster::NodeFacts& b,
                   const Spreads& constraints) {
  return std::any_of(constraints.begin(), constraints.end(), [&](const ClassTerms::Spread& c) {
    return LabelOf(a, c.topology_key) != LabelOf(b, c.topology_key);
  });
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> PodTopologySpread::Make(
    const framework::PluginArgs& args) {
  KNX_TRY(PodTopologySpreadArgs read, ReadPodTopologySpreadArgs(args));
  return std::unique_ptr<framework::Plugin>(std::make_unique<PodTopologySpread>(std::move(read)));
}

framework::EventSet PodTopologySpread::events() const {
  return {EventKind::kAssignedPodAdd,    EventKind::kAssignedPodLabel,
          EventKind::kAssignedPodDelete, EventKind::kUnassignedPodDelete,
          EventKind::kOwnLabel,          EventKind::kOwnTolerations,
          EventKind::kNodeAdd,           EventKind::kNodeDelete,
          EventKind::kNodeLabel,         EventKind::kNodeTaint};
}

SpreadConstraints PodTopologySpread::ConstraintsOf(const framework::PodView& pod,
                                                   cluster::PodSelectorId siblings,
                                                   bool hard) const {
  SpreadConstraints out{{}, true, WordLookup(pod.state.words())};
  if (!pod.pod_class.spec.topology_spread.empty()) {
    for (const ClassTerms::Spread& constraint : pod.pod_class.terms.spread) {
      if (constraint.hard == hard) out.list.push_back(constraint);
    }
    return out;
  }
  out.need_all_labels = !args_.system_defaults;
  if (!siblings.valid()) return out;
  for (const k8s::TopologySpreadConstraint& constraint : args_.default_constraints) {
    if ((constraint.when_unsatisfiable == k8s::WhenUnsatisfiable::kDoNotSchedule) != hard) continue;
    ClassTerms::Spread& made = out.list.emplace_back();
    made.selector = siblings;
    made.topology_key = out.words.Find(constraint.topology_key);
    made.max_skew = constraint.max_skew;
    made.min_domains = constraint.min_domains;
    made.hard = hard;
    made.honor_affinity = constraint.node_affinity_policy == k8s::NodeInclusionPolicy::kHonor;
    made.honor_taints = constraint.node_taints_policy == k8s::NodeInclusionPolicy::kHonor;
  }
  return out;
}

// ---- events ----

bool PodTopologySpread::MayHelp(const framework::ClusterEvent& event,
                                const framework::PodView& pod) const {
  switch (event.kind) {
    case EventKind::kNodeAdd:
    case EventKind::kNodeDelete:
    case EventKind::kNodeLabel:
    case EventKind::kNodeTaint:
      return NodeChangeHelps(event, pod);
    default:
      return PodChangeHelps(event, pod);
  }
}

bool PodTopologySpread::PodChangeHelps(const framework::ClusterEvent& event,
                                       const framework::PodView& pod) const {
  const cluster::Kinship& kinship = pod.state.kinship();
  const cluster::KinId own = pod.state.pod(pod.id).kin;
  const Spreads constraints = ConstraintsOf(pod, kinship.SiblingsOf(own), true).list;
  const auto any = [&](auto condition) {
    return std::any_of(constraints.begin(), constraints.end(), condition);
  };
  if (event.kind == EventKind::kOwnTolerations) {
    return any([](const ClassTerms::Spread& c) { return c.honor_taints; });
  }
  const framework::PodInEvent& other = event.pod_now;
  const bool is_own = event.pod.valid() && event.pod == pod.id;
  if (!is_own) {
    if (!other.node.valid() && !other.nominated.valid()) return false;
    if (kinship.NamespaceOf(other.kin) != kinship.NamespaceOf(own)) return false;
  }
  if (event.kind == EventKind::kOwnLabel || event.kind == EventKind::kAssignedPodLabel) {
    return any([&](const ClassTerms::Spread& c) {
      return kinship.Means(c.selector, event.pod_before.kin) !=
             kinship.Means(c.selector, event.pod_now.kin);
    });
  }
  return any([&](const ClassTerms::Spread& c) { return kinship.Means(c.selector, other.kin); });
}

bool PodTopologySpread::NodeChangeHelps(const framework::ClusterEvent& event,
                                        const framework::PodView& pod) const {
  const Spreads constraints =
      ConstraintsOf(pod, pod.state.kinship().SiblingsOf(pod.state.pod(pod.id).kin), true).list;
  if (event.kind == EventKind::kNodeDelete) {
    return event.node_before != nullptr && HasAllLabels(*event.node_before, constraints);
  }
  const cluster::NodeFacts& now = pod.state.nodes().facts(event.row);
  const bool fits_now = HasAllLabels(now, constraints);
  if (event.node_before == nullptr) return fits_now;
  if (fits_now != HasAllLabels(*event.node_before, constraints)) return true;
  return fits_now && (DomainDiffers(now, *event.node_before, constraints) ||
                      now.taints != event.node_before->taints);
}

// ---- nodes ----

framework::PreFilterResult PodTopologySpread::PreFilter(const framework::PodView& pod) const {
  framework::PreFilterResult result;
  result.scope = framework::Scope::kDomain;
  const std::string& error = pod.pod_class.terms.hard_spread_error;
  if (!error.empty()) {
    result.outcome = framework::Outcome::Failed(
        "get constraints from pod: obtaining pod's hard topology spread constraints: " + error);
    return result;
  }
  const cluster::PodSelectorId siblings = pod.state.kinship().Get(pod.relation).siblings;
  SpreadConstraints constraints = ConstraintsOf(pod, siblings, true);
  if (constraints.list.empty()) {
    result.outcome = framework::Outcome::Skip();
  } else {
    result.filter = std::make_unique<SpreadFilter>(pod, std::move(constraints));
  }
  return result;
}

framework::PreScoreResult PodTopologySpread::PreScore(const framework::PodView& pod) const {
  framework::PreScoreResult result;
  result.scope = framework::Scope::kDomain;
  const std::string& error = pod.pod_class.terms.soft_spread_error;
  if (!error.empty()) {
    result.outcome = framework::Outcome::Failed(
        "calculating preScoreState: obtaining pod's soft topology spread constraints: " + error);
    return result;
  }
  const cluster::PodSelectorId siblings = pod.state.kinship().Get(pod.relation).siblings;
  SpreadConstraints constraints = ConstraintsOf(pod, siblings, false);
  if (constraints.list.empty()) {
    result.outcome = framework::Outcome::Skip();
  } else {
    result.scorer = std::make_unique<SpreadScorer>(pod, std::move(constraints));
  }
  return result;
}

}  // namespace knx::plugins
