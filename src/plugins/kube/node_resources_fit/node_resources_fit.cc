#include "plugins/kube/node_resources_fit/node_resources_fit.h"

#include <algorithm>
#include <span>

#include "k8s/names.h"
#include "k8s/pod_requests.h"
#include "plugins/kube/node_resources_fit/fit_filter.h"
#include "plugins/kube/node_resources_fit/fit_scorer.h"

namespace knx::plugins {
namespace {

using Amounts = std::span<const cluster::ResourceAmount>;

bool IsExtended(std::string_view resource) {
  return resource.find('/') != std::string_view::npos &&
         resource.find("kubernetes.io/") == std::string_view::npos;
}

bool Contains(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// What the scorer takes a pod for: what its containers ask for, with assumptions for those that do
// not say. It does not look at the resources of the pod as a whole; see AssumedContainerUsage.
k8s::ResourceList ScoredRequestsOf(const k8s::PodSpec& spec) {
  k8s::PodSpec without = spec;
  without.resources.reset();
  k8s::ResourceList out = k8s::PodRequests(without);
  const k8s::AssumedUsage assumed = k8s::AssumedContainerUsage(spec);
  std::erase_if(out, [](const auto& entry) {
    return entry.first == k8s::names::kCpu || entry.first == k8s::names::kMemory;
  });
  out.emplace_back(k8s::names::kCpu, k8s::Quantity::FromMilli(assumed.milli_cpu));
  out.emplace_back(k8s::names::kMemory, k8s::Quantity::FromUnits(assumed.memory));
  return out;
}

bool TakesLess(Amounts wanted, Amounts now, Amounts before) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const cluster::ResourceAmount& request) {
    return cluster::AmountOf(now, request.id) < cluster::AmountOf(before, request.id);
  });
}

}  // namespace

NodeResourcesFit::NodeResourcesFit(NodeResourcesFitArgs args) : args_(std::move(args)) {
  if (!args_.shape.empty()) score_by_use_ = ScoresOfShape(args_.shape);
}

Result<std::unique_ptr<framework::Plugin>> NodeResourcesFit::Make(
    const framework::PluginArgs& args) {
  KNX_TRY(NodeResourcesFitArgs read, ReadNodeResourcesFitArgs(args));
  return std::unique_ptr<framework::Plugin>(std::make_unique<NodeResourcesFit>(std::move(read)));
}

bool NodeResourcesFit::IsIgnored(std::string_view resource) const {
  return IsExtended(resource) &&
         (Contains(args_.ignored_resources, resource) ||
          Contains(args_.ignored_resource_groups, resource.substr(0, resource.find('/'))));
}

framework::EventSet NodeResourcesFit::events() const {
  // A quirk of kube-scheduler: who waits for new nodes is also woken whenever taints of a node
  // change.
  return {framework::EventKind::kNodeAdd,
          framework::EventKind::kNodeAllocatable,
          framework::EventKind::kNodeTaint,
          framework::EventKind::kAssignedPodDelete,
          framework::EventKind::kUnassignedPodDelete,
          framework::EventKind::kAssignedPodScaleDown,
          framework::EventKind::kOwnScaleDown};
}

bool NodeResourcesFit::MayHelp(const framework::ClusterEvent& event,
                               const framework::PodView& pod) const {
  const Amounts wanted = pod.pod_class.requests;
  switch (event.kind) {
    case framework::EventKind::kAssignedPodDelete:
    case framework::EventKind::kUnassignedPodDelete:
      // A pod that waited took no room, unless some was kept for it.
      return event.pod_now.node.valid() || event.pod_now.nominated.valid();
    case framework::EventKind::kAssignedPodScaleDown:
      return TakesLess(wanted, event.pod_now.requests, event.pod_before.requests);
    case framework::EventKind::kNodeAdd:
    case framework::EventKind::kNodeAllocatable:
      break;
    default:
      return true;
  }
  const Amounts now = pod.state.nodes().facts(event.row).allocatable;
  if (cluster::AmountOf(now, cluster::kPods) < 1) return false;
  for (const cluster::ResourceAmount& request : wanted) {
    if (request.id == cluster::kPods || request.amount <= cluster::AmountOf(now, request.id)) {
      continue;
    }
    // kube-scheduler forgets here which resources it was told to ignore, and such pods wait on.
    if (!IsIgnored(pod.state.resources().Name(request.id))) return false;
  }
  if (event.node_before == nullptr) return true;
  const Amounts before = event.node_before->allocatable;
  return cluster::AmountOf(before, cluster::kPods) < cluster::AmountOf(now, cluster::kPods) ||
         TakesLess(wanted, before, now);
}

framework::PreFilterResult NodeResourcesFit::PreFilter(const framework::PodView& pod) const {
  std::vector<FitFilter::Request> requests;
  for (const cluster::ResourceAmount& request : pod.pod_class.requests) {
    const std::string& resource = pod.state.resources().Name(request.id);
    if (request.amount <= 0 || request.id == cluster::kPods || IsIgnored(resource)) continue;
    requests.push_back({request.id, request.amount, resource});
  }
  // The fixed resources in the order of their ids, then the others by name: their ids depend on who
  // came first.
  std::sort(requests.begin(), requests.end(), [](const auto& a, const auto& b) {
    const bool both_others =
        a.id.index >= cluster::kFirstScalar && b.id.index >= cluster::kFirstScalar;
    return both_others ? a.name < b.name : a.id < b.id;
  });
  framework::PreFilterResult result;
  result.scope = framework::Scope::kUsage;
  result.filter = std::make_unique<FitFilter>(pod.state.nodes(), std::move(requests));
  return result;
}

framework::PreScoreResult NodeResourcesFit::PreScore(const framework::PodView& pod) const {
  framework::PreScoreResult result;
  result.scope = framework::Scope::kUsage;
  result.scorer = std::make_unique<FitScorer>(
      pod.state.nodes(),
      RequestsToScore(args_.resources, ScoredRequestsOf(pod.pod_class.spec), pod.state.resources()),
      args_.strategy, score_by_use_);
  return result;
}

}  // namespace knx::plugins
