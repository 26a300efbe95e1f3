#include "cluster/reservation_hold.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace knx::cluster {
namespace {

constexpr std::string_view kNameField = "metadata.name";

}  // namespace

k8s::ResourceList ToResourceList(const ResourceVector& amounts, const ResourceNames& names) {
  k8s::ResourceList list;
  for (const ResourceAmount& entry : amounts) {
    list.emplace_back(names.Name(entry.id), entry.id == kCpu
                                                ? k8s::Quantity::FromMilli(entry.amount)
                                                : k8s::Quantity::FromUnits(entry.amount));
  }
  std::sort(list.begin(), list.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return list;
}

k8s::Pod MakeHold(const HoldShape& shape, const ResourceVector& amounts,
                  const ResourceNames& names) {
  k8s::Pod pod;
  pod.meta.name = shape.name;
  pod.meta.uid = fmt::format("{}{}", kHoldUid, shape.id);
  pod.spec.scheduler_name.clear();  // of no profile: it is never queued
  pod.spec.priority = std::numeric_limits<std::int32_t>::max();
  pod.spec.preemption_policy = k8s::PreemptionPolicy::kNever;
  pod.spec.node_selector = shape.like.node_selector;
  pod.spec.node_affinity = shape.like.node_affinity;
  pod.spec.tolerations = shape.like.tolerations;
  if (!shape.node.empty()) {
    // Whoever names a node means it, whatever its taints.
    k8s::NodeSelector only;
    only.terms.emplace_back().match_fields.push_back(
        {std::string(kNameField), k8s::SelectorOperator::kIn, {shape.node}});
    pod.spec.node_affinity = k8s::NodeAffinity{std::move(only), {}};
    pod.spec.node_selector.clear();
    k8s::Toleration all;
    all.op = k8s::TolerationOperator::kExists;
    pod.spec.tolerations = {all};
  }
  k8s::Container& container = pod.spec.containers.emplace_back();
  container.name = "hold";
  container.resources.requests = ToResourceList(amounts, names);
  return pod;
}

}  // namespace knx::cluster
