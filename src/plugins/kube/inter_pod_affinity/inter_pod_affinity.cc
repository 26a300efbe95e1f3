#include "plugins/kube/inter_pod_affinity/inter_pod_affinity.h"

#include <algorithm>

#include "plugins/common/args.h"
#include "plugins/common/node_matcher.h"
#include "plugins/kube/inter_pod_affinity/affinity_filter.h"
#include "plugins/kube/inter_pod_affinity/affinity_scorer.h"

namespace knx::plugins {
namespace {

using cluster::KinId;
using cluster::PodSelectorId;
using framework::EventKind;

constexpr std::int64_t kMaxHardWeight = 100;

bool AnyMeans(const cluster::Kinship& kinship, const std::vector<PodSelectorId>& selectors,
              KinId kin) {
  return std::any_of(selectors.begin(), selectors.end(),
                     [&](PodSelectorId id) { return kinship.Means(id, kin); });
}

// Another pod came, changed its labels or went: did one appear that the pod wants near, or
// disappear that it wants apart or that wants to be apart from it? When one goes that it wants
// near, it may be the first of its group, if it is one of the group.
bool PodChangeHelps(const framework::ClusterEvent& event, const framework::PodView& pod) {
  const cluster::Kinship& kinship = pod.state.kinship();
  const cluster::ClassTerms& terms = pod.pod_class.terms;
  const auto wanted = [&](KinId kin) {
    return terms.near_all.valid() && kinship.Means(terms.near_all, kin);
  };
  if (event.kind == EventKind::kAssignedPodAdd) return wanted(event.pod_now.kin);
  const KinId own_kin = pod.state.pod(pod.id).kin;
  const bool of_its_group = wanted(event.pod_before.kin) && wanted(own_kin);
  if (event.kind == EventKind::kAssignedPodLabel) {
    const bool is_wanted = wanted(event.pod_now.kin);
    if (is_wanted ? !wanted(event.pod_before.kin) : of_its_group) return true;
    return std::any_of(terms.apart.begin(), terms.apart.end(), [&](PodSelectorId id) {
      return kinship.Means(id, event.pod_before.kin) && !kinship.Means(id, event.pod_now.kin);
    });
  }
  if (!event.pod_before.node.valid() && !event.pod_before.nominated.valid()) return false;
  return of_its_group || AnyMeans(kinship, terms.apart, event.pod_before.kin) ||
         AnyMeans(kinship, event.pod_before.pod_class->terms.apart, own_kin);
}

// A node came, or its labels changed: is it in a domain that it was not in before, or in none?
bool NodeChangeHelps(const framework::ClusterEvent& event, const framework::PodView& pod) {
  const cluster::Kinship& kinship = pod.state.kinship();
  const cluster::NodeFacts& now = pod.state.nodes().facts(event.row);
  const auto value = [&](PodSelectorId id) { return LabelOf(now, kinship.Get(id).topology_key); };
  const auto value_before = [&](PodSelectorId id) {
    return event.node_before == nullptr ? Symbol{}
                                        : LabelOf(*event.node_before, kinship.Get(id).topology_key);
  };
  const cluster::ClassTerms& terms = pod.pod_class.terms;
  const auto joins = [&](PodSelectorId id) {
    return value(id).valid() && value(id) != value_before(id);
  };
  if (std::any_of(terms.near.begin(), terms.near.end(), joins)) return true;
  const auto leaves = [&](PodSelectorId id) {
    return event.node_before == nullptr ||
           (value_before(id).valid() && value(id) != value_before(id));
  };
  if (std::any_of(terms.apart.begin(), terms.apart.end(), leaves)) return true;
  // Placed pods may want to be apart from this one in that domain, or in a place of that domain.
  const auto meant_by = kinship.MeaningOf(pod.state.pod(pod.id).kin);
  return std::any_of(meant_by.begin(), meant_by.end(), [&](PodSelectorId id) {
    return kinship.Get(id).topology_key.valid() && leaves(id);
  });
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> InterPodAffinity::Make(
    const framework::PluginArgs& args) {
  InterPodAffinityArgs read;
  KNX_TRY_DONE(ReadArgs(args, "InterPodAffinityArgs", [&](k8s::FieldReader& fields) {
    fields.Read("hardPodAffinityWeight", read.hard_pod_affinity_weight,
                {.min = 0, .max = kMaxHardWeight});
    fields.Read("ignorePreferredTermsOfExistingPods", read.ignore_preferred_terms_of_existing_pods);
  }));
  return std::unique_ptr<framework::Plugin>(std::make_unique<InterPodAffinity>(read));
}

framework::EventSet InterPodAffinity::events() const {
  // A quirk of kube-scheduler: who waits for new nodes is also woken whenever taints of a node
  // change.
  return {EventKind::kAssignedPodAdd,      EventKind::kAssignedPodLabel,
          EventKind::kAssignedPodDelete,   EventKind::kOwnLabel,
          EventKind::kUnassignedPodDelete, EventKind::kNodeAdd,
          EventKind::kNodeLabel,           EventKind::kNodeTaint};
}

bool InterPodAffinity::MayHelp(const framework::ClusterEvent& event,
                               const framework::PodView& pod) const {
  switch (event.kind) {
    case EventKind::kOwnLabel:
    case EventKind::kNodeTaint:
      return true;
    case EventKind::kNodeAdd:
    case EventKind::kNodeLabel:
      return NodeChangeHelps(event, pod);
    default:
      return PodChangeHelps(event, pod);
  }
}

framework::PreFilterResult InterPodAffinity::PreFilter(const framework::PodView& pod) const {
  framework::PreFilterResult result;
  result.scope = framework::Scope::kDomain;
  const std::string& error = pod.pod_class.terms.affinity_error;
  if (!error.empty()) {
    result.scope = framework::Scope::kFacts;
    result.outcome = framework::Outcome::Unresolvable("parsing pod: " + error);
    return result;
  }
  auto filter = std::make_unique<PodAffinityFilter>(pod);
  if (filter->empty()) {
    result.outcome = framework::Outcome::Skip();
  } else {
    result.filter = std::move(filter);
  }
  return result;
}

framework::PreScoreResult InterPodAffinity::PreScore(const framework::PodView& pod) const {
  framework::PreScoreResult result;
  result.scope = framework::Scope::kDomain;
  const cluster::ClassTerms& terms = pod.pod_class.terms;
  if (!terms.affinity_error.empty()) {
    result.outcome = framework::Outcome::Failed("failed to parse pod: " + terms.affinity_error);
    return result;
  }
  if (args_.ignore_preferred_terms_of_existing_pods && terms.preferred.empty()) {
    result.outcome = framework::Outcome::Skip();
    return result;
  }
  auto scorer = std::make_unique<PodAffinityScorer>(pod, args_);
  if (scorer->empty()) {
    result.outcome = framework::Outcome::Skip();
  } else {
    result.scorer = std::move(scorer);
  }
  return result;
}

}  // namespace knx::plugins
