#include "engine/node_copies.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/reservation_hold.h"
#include "k8s/names.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;
using cluster::ResourceAmount;

bool BelongsToItsNode(const k8s::PodSpec& spec) {
  if (!spec.node_affinity || !spec.node_affinity->required) return false;
  const auto& terms = spec.node_affinity->required->terms;
  return std::any_of(terms.begin(), terms.end(),
                     [](const auto& term) { return !term.match_fields.empty(); });
}

NodeCopies::NodeCopies(cluster::State& state, NodeRow like, std::size_t count,
                       std::span<const ResourceAmount> at_least)
    : state_(state) {
  const k8s::Node described = Describe(like, at_least);
  // The same names every time: words stay known for good.
  for (std::size_t i = 1; rows_.size() < count; ++i) {
    const std::string name = fmt::format("node-that-would-help-{}", i);
    if (!state_.nodes().Find(name).valid()) Add(name, described, like);
  }
  state_.RefreshRanks();
}

NodeCopies::~NodeCopies() {
  for (const PodId pod : pods_) state_.RemovePod(pod);
  for (const NodeRow row : rows_) {
    const std::string name = state_.nodes().name(row);
    if (const k8s::CsiNode* const csi = state_.volumes().FindCsiNode(name)) {
      state_.RemoveObject(k8s::CsiNode(*csi));
    }
    state_.RemoveNode(row);
  }
}

k8s::Node NodeCopies::Describe(NodeRow like, std::span<const ResourceAmount> at_least) const {
  const cluster::NodeFacts& facts = state_.nodes().facts(like);
  k8s::Node node;
  for (const auto& [key, value] : facts.labels) {
    node.meta.labels.emplace_back(state_.words().Text(key), state_.words().Text(value));
  }
  std::sort(node.meta.labels.begin(), node.meta.labels.end());
  node.taints = state_.taint_sets().Get(facts.taints);
  node.unschedulable = facts.unschedulable;
  for (const Symbol feature : facts.declared_features) {
    node.declared_features.emplace_back(state_.words().Text(feature));
  }
  cluster::ResourceVector has = facts.allocatable;
  for (const ResourceAmount& entry : at_least) {
    const auto known = std::find_if(has.begin(), has.end(),
                                    [&](const ResourceAmount& one) { return one.id == entry.id; });
    if (known == has.end()) {
      has.push_back(entry);
    } else {
      known->amount = std::max(known->amount, entry.amount);
    }
  }
  node.allocatable = cluster::ToResourceList(has, state_.resources());
  return node;
}

void NodeCopies::Add(const std::string& name, const k8s::Node& described, NodeRow like) {
  k8s::Node node = described;
  node.meta.name = name;
  for (auto& [key, value] : node.meta.labels) {
    if (key == k8s::names::kHostname) value = name;
  }
  state_.UpsertNode(node);
  rows_.push_back(state_.nodes().Find(name));
  if (const k8s::CsiNode* const csi = state_.volumes().FindCsiNode(state_.nodes().name(like))) {
    k8s::CsiNode copy = *csi;
    copy.meta.name = name;
    state_.UpsertObject(copy);
  }
  AddPods(name, like);
}

void NodeCopies::AddPods(const std::string& name, NodeRow like) {
  const std::vector<PodId> there(state_.nodes().pods(like).begin(),
                                 state_.nodes().pods(like).end());
  for (const PodId id : there) {
    const cluster::Pod& original = state_.pod(id);
    if (!BelongsToItsNode(state_.class_of(id).spec) || original.terminating) continue;
    // What is kept on this node for somebody is not kept on another, too.
    if (cluster::IsHold(original) || original.gang != nullptr) continue;
    k8s::Pod pod;
    pod.meta.name = fmt::format("{}-{}", original.name, name);
    pod.meta.namespace_ = state_.words().Text(original.namespace_);
    pod.meta.uid = fmt::format("{}/{}", name, original.uid);
    pod.meta.labels = state_.label_sets().Get(original.labels);
    pod.spec = state_.class_of(id).spec;
    pod.spec.priority = original.priority;
    pod.spec.node_name = name;
    // It has others of its own.
    pod.spec.volumes.clear();
    pods_.push_back(state_.AddPod(pod));
  }
}

}  // namespace knx::engine
