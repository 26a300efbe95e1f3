// How a pod stands to others: who means it, and who its siblings are.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "cluster/key_writer.h"
#include "cluster/kinship.h"
#include "k8s/selector.h"

namespace knx::cluster {
namespace {

using k8s::WorkloadKind;

// Adds conditions to those of `out`, so that both hold.
void Require(const k8s::LabelSelector& selector, k8s::LabelSelector& out) {
  for (const auto& label : selector.match_labels) {
    const auto at = std::lower_bound(
        out.match_labels.begin(), out.match_labels.end(), label.first,
        [](const auto& entry, const std::string& key) { return entry.first < key; });
    if (at == out.match_labels.end() || at->first != label.first) {
      out.match_labels.insert(at, label);
    } else if (at->second != label.second) {
      out.match_expressions.push_back({label.first, k8s::SelectorOperator::kIn, {label.second}});
    }
  }
  out.match_expressions.insert(out.match_expressions.end(), selector.match_expressions.begin(),
                               selector.match_expressions.end());
}

}  // namespace

Controller ControllerOf(const k8s::ObjectMeta& meta) {
  for (const k8s::OwnerReference& owner : meta.owners) {
    if (!owner.controller) continue;
    const bool apps = owner.api_version == "apps/v1";
    if (apps && owner.kind == "ReplicaSet") return {WorkloadKind::kReplicaSet, owner.name};
    if (apps && owner.kind == "StatefulSet") return {WorkloadKind::kStatefulSet, owner.name};
    if (owner.api_version == "v1" && owner.kind == "ReplicationController") {
      return {WorkloadKind::kReplicationController, owner.name};
    }
    return {};
  }
  return {};
}

// The selectors of the services that the pods belong to, and that of their controller, as
// kube-scheduler puts them together.
PodQuery Kinship::SiblingsQuery(const Kin& kin) const {
  const std::string name(words_.Text(kin.pod_namespace));
  const k8s::StringMap& labels = label_sets_.Get(kin.labels);
  k8s::LabelSelector selector;
  const auto& services = bystanders_.services().by_name;
  for (auto it = services.lower_bound({name, ""}); it != services.end() && it->first.first == name;
       ++it) {
    const k8s::LabelSelector of_service{it->second.selector, {}};
    const bool meant = std::all_of(of_service.match_labels.begin(), of_service.match_labels.end(),
                                   [&](const auto& label) {
                                     const std::string* value = k8s::FindValue(labels, label.first);
                                     return value != nullptr && *value == label.second;
                                   });
    if (meant) Require(of_service, selector);
  }
  if (kin.controller.kind) {
    const auto& workloads = bystanders_.workloads(*kin.controller.kind).by_name;
    const auto it = workloads.find({name, kin.controller.name});
    if (it != workloads.end() && it->second.selector && !k8s::InvalidReason(*it->second.selector)) {
      Require(*it->second.selector, selector);
    }
  }
  PodQuery query;
  if (selector.match_labels.empty() && selector.match_expressions.empty()) return query;
  query.conditions.push_back({{name}, std::nullopt, std::move(selector)});
  return query;
}

void Kinship::RefreshSiblings(Kin& kin) {
  std::uint64_t as_of = 1 + bystanders_.services().generation;
  if (kin.controller.kind) as_of += bystanders_.workloads(*kin.controller.kind).generation;
  if (kin.siblings_as_of == as_of) return;
  kin.siblings_as_of = as_of;
  const PodQuery query = SiblingsQuery(kin);
  const PodSelectorId before = kin.siblings;
  kin.siblings = query.conditions.empty() ? PodSelectorId{} : Acquire(query, Symbol{});
  if (kin.siblings != before) DropRelation(kin);
  if (before.valid()) Release(before);
}

// ---- relations ----

RelationId Kinship::RelationOf(KinId id) {
  Kin& kin = kins_[id.index];
  RefreshSiblings(kin);
  if (kin.relation.valid()) return kin.relation;
  if (kin.meant_by.empty() && !kin.siblings.valid()) return kin.relation = kUnrelated;
  std::string text;
  KeyWriter key(text);
  key.Put(kin.siblings.index);
  for (const PodSelectorId selector : kin.meant_by) key.Put(selector.index);
  const auto known = relation_index_.find(text);
  if (known != relation_index_.end()) {
    ++relations_.at(known->second).kins;
    return kin.relation = known->second;
  }
  const RelationId made{next_relation_++};
  relation_index_.emplace(text, made);
  relations_.emplace(made, RelationEntry{{kin.meant_by, kin.siblings}, 1, std::move(text)});
  return kin.relation = made;
}

void Kinship::DropRelation(Kin& kin) {
  const RelationId relation = std::exchange(kin.relation, RelationId{});
  if (!relation.valid() || relation == kUnrelated) return;
  const auto it = relations_.find(relation);
  if (--it->second.kins > 0) return;
  relation_index_.erase(it->second.text);
  relations_.erase(it);
}

bool Kinship::Exists(RelationId id) const { return id == kUnrelated || relations_.contains(id); }

const Relation& Kinship::Get(RelationId id) const {
  static const Relation unrelated;
  if (id == kUnrelated) return unrelated;
  const auto it = relations_.find(id);
  KNX_CHECK(it != relations_.end(), "a relation is asked about that no pod is in");
  return it->second.relation;
}

// ---- care ----

std::optional<std::string> Kinship::Verify() const {
  std::vector<std::uint32_t> pods_of_kin(kins_.size(), 0);
  for (std::uint32_t i = 0; i < pods_.id_limit(); ++i) {
    if (pods_.Contains(PodId{i})) ++pods_of_kin[pods_.Get(PodId{i}).kin.index];
  }
  for (std::uint32_t i = 0; i < kins_.size(); ++i) {
    const Kin& kin = kins_[i];
    if (kin.users != pods_of_kin[i]) {
      return fmt::format("kin {}: has {} pods, counts {}", i, pods_of_kin[i], kin.users);
    }
    if (kin.users == 0) continue;
    std::vector<PodSelectorId> meant_by;
    for (std::uint32_t s = 0; s < selectors_.size(); ++s) {
      if (selectors_[s].users > 0 && Evaluate(selectors_[s].query, kin)) meant_by.push_back({s});
    }
    if (meant_by != kin.meant_by) {
      return fmt::format("kin {}: meant by {} selectors, lists {}", i, meant_by.size(),
                         kin.meant_by.size());
    }
  }
  std::vector<absl::flat_hash_map<NodeRow, MatchCounter::Numbers>> counts(selectors_.size());
  for (std::uint32_t i = 0; i < pods_.id_limit(); ++i) {
    if (!pods_.Contains(PodId{i}) || !pods_.Get(PodId{i}).node.valid()) continue;
    const Pod& pod = pods_.Get(PodId{i});
    for (const PodSelectorId selector : kins_[pod.kin.index].meant_by) {
      MatchCounter::Numbers& numbers = counts[selector.index][pod.node];
      ++numbers[kAllPods];
      if (!pod.terminating) ++numbers[kStayingPods];
    }
  }
  for (std::uint32_t s = 0; s < selectors_.size(); ++s) {
    if (counts[s] != selectors_[s].matching.rows()) {
      return fmt::format("selector {}: its pods by node differ from a recount", s);
    }
  }
  return std::nullopt;
}

std::size_t Kinship::bytes() const {
  std::size_t total = selectors_.size() * sizeof(PodSelector) + kins_.capacity() * sizeof(Kin) +
                      links_.capacity() * sizeof(Link) +
                      kin_index_.capacity() * (sizeof(std::uint64_t) + sizeof(KinId) + 1) +
                      relations_.capacity() * (sizeof(RelationEntry) + sizeof(RelationId) + 1) +
                      (kins_with_label_.capacity() + selectors_with_label_.capacity()) *
                          (sizeof(std::uint64_t) + sizeof(std::vector<KinId>) + 1);
  for (const PodSelector& selector : selectors_) {
    // The query holds about what the text does, in separate pieces.
    total += selector.matching.bytes() + selector.carried.bytes() + 4 * selector.text.capacity();
  }
  for (const Kin& kin : kins_) {
    total += kin.meant_by.capacity() * sizeof(PodSelectorId) + kin.controller.name.capacity();
  }
  for (const auto& [hash, list] : kins_with_label_) total += list.capacity() * sizeof(KinId);
  return total;
}

}  // namespace knx::cluster
