#include "cluster/kinship.h"

#include <absl/hash/hash.h>

#include <algorithm>

#include "base/check.h"
#include "cluster/key_writer.h"

namespace knx::cluster {
namespace {

const k8s::StringMap kNoLabels;

std::uint64_t LabelHash(std::string_view pod_namespace, std::string_view key,
                        std::string_view value) {
  return absl::HashOf(pod_namespace, key, value);
}

template <class T>
void InsertSorted(std::vector<T>& list, T item) {
  list.insert(std::lower_bound(list.begin(), list.end(), item), item);
}

template <class T>
void EraseSorted(std::vector<T>& list, T item) {
  const auto at = std::lower_bound(list.begin(), list.end(), item);
  KNX_CHECK(at != list.end() && *at == item, "a list lacks what is taken from it");
  list.erase(at);
}

}  // namespace

bool Relation::MeantBy(PodSelectorId id) const {
  return std::binary_search(meant_by.begin(), meant_by.end(), id);
}

bool Kinship::Means(PodSelectorId selector, KinId id) const {
  const auto& list = kins_[id.index].meant_by;
  return std::binary_search(list.begin(), list.end(), selector);
}

Kinship::Kinship(const PodTable& pods, LabelSets& label_sets, const SymbolTable& words,
                 const Bystanders& bystanders)
    : pods_(pods), label_sets_(label_sets), words_(words), bystanders_(bystanders) {}

Kinship::~Kinship() = default;

// ---- selectors ----

PodSelectorId Kinship::Acquire(const PodQuery& query, Symbol topology_key) {
  std::string text = query.Key();
  KeyWriter(text).Put(topology_key.index);
  if (const auto it = selector_index_.find(text); it != selector_index_.end()) {
    ++selectors_[it->second.index].users;
    return it->second;
  }
  if (!tracking_) StartTracking();
  PodSelectorId id{static_cast<std::uint32_t>(selectors_.size())};
  if (free_selectors_.empty()) {
    selectors_.emplace_back();
  } else {
    id = free_selectors_.back();
    free_selectors_.pop_back();
  }
  PodSelector& made = selectors_[id.index];
  made.query = query;
  made.query.DropMalformed();
  made.topology_key = topology_key;
  made.users = 1;
  made.text = text;
  selector_index_.emplace(std::move(text), id);
  IndexSelector(id, true);
  ForEachCandidate(made.query, [&](Kin& kin) {
    if (Evaluate(made.query, kin)) BeginToMean(id, kin);
  });
  return id;
}

void Kinship::Release(PodSelectorId id) {
  PodSelector& selector = selectors_[id.index];
  KNX_CHECK(selector.users > 0, "a selector lost more users than it had");
  if (--selector.users > 0) return;
  ForEachCandidate(selector.query, [&](Kin& kin) {
    const auto& list = kin.meant_by;
    if (!std::binary_search(list.begin(), list.end(), id)) return;
    EraseSorted(kin.meant_by, id);
    DropRelation(kin);
  });
  IndexSelector(id, false);
  selector_index_.erase(selector.text);
  selector = {};
  free_selectors_.push_back(id);
}

void Kinship::Carry(PodSelectorId id, NodeRow row, const CarryCounter::Numbers& delta) {
  selectors_[id.index].carried.Add(row, delta);
}

bool Kinship::Evaluate(const PodQuery& query, const Kin& kin) const {
  const std::string_view name = words_.Text(kin.pod_namespace);
  const k8s::Namespace* found =
      query.asks_about_namespaces() ? bystanders_.FindNamespace(name) : nullptr;
  return query.Matches(name, found == nullptr ? kNoLabels : found->meta.labels,
                       label_sets_.Get(kin.labels));
}

void Kinship::BeginToMean(PodSelectorId id, Kin& kin) {
  InsertSorted(kin.meant_by, id);
  DropRelation(kin);
  MatchCounter& counter = selectors_[id.index].matching;
  for (PodId pod = kin.first; pod.valid(); pod = links_[pod.index].after) {
    const Pod& record = pods_.Get(pod);
    counter.Add(record.node, {1, record.terminating ? 0 : 1});
  }
}

void Kinship::CeaseToMean(PodSelectorId id, Kin& kin) {
  EraseSorted(kin.meant_by, id);
  DropRelation(kin);
  MatchCounter& counter = selectors_[id.index].matching;
  for (PodId pod = kin.first; pod.valid(); pod = links_[pod.index].after) {
    const Pod& record = pods_.Get(pod);
    counter.Add(record.node, {-1, record.terminating ? 0 : -1});
  }
}

// ---- finding each other ----

template <class Visit>
void Kinship::ForEachCandidate(const PodQuery& query, Visit visit) {
  const auto* namespaces = query.Namespaces();
  const auto label = query.RequiredLabel();
  if (namespaces == nullptr || !label) {
    for (Kin& kin : kins_) {
      if (kin.users > 0) visit(kin);
    }
    return;
  }
  for (const std::string& name : *namespaces) {
    const auto it = kins_with_label_.find(LabelHash(name, label->first, label->second));
    if (it == kins_with_label_.end()) continue;
    for (const KinId id : it->second) visit(kins_[id.index]);
  }
}

void Kinship::IndexKin(KinId id, bool add) {
  const Kin& kin = kins_[id.index];
  const std::string_view name = words_.Text(kin.pod_namespace);
  for (const auto& [key, value] : label_sets_.Get(kin.labels)) {
    const std::uint64_t hash = LabelHash(name, key, value);
    std::vector<KinId>& list = kins_with_label_[hash];
    if (add) {
      // Two labels of one kin with one hash would list it twice.
      if (list.empty() || list.back() != id) list.push_back(id);
      continue;
    }
    if (const auto at = std::find(list.begin(), list.end(), id); at != list.end()) {
      *at = list.back();
      list.pop_back();
    }
    if (list.empty()) kins_with_label_.erase(hash);
  }
}

void Kinship::IndexSelector(PodSelectorId id, bool add) {
  const PodQuery& query = selectors_[id.index].query;
  const auto change = [&](std::vector<PodSelectorId>& list) {
    if (add) {
      list.push_back(id);
    } else {
      std::erase(list, id);
    }
  };
  if (query.asks_about_namespaces()) change(namespace_selectors_);
  const auto label = query.RequiredLabel();
  if (!label) return change(selectors_without_label_);
  const auto* namespaces = query.Namespaces();
  static const std::vector<std::string> any_namespace{""};
  for (const std::string& name : namespaces == nullptr ? any_namespace : *namespaces) {
    const std::uint64_t hash = LabelHash(name, label->first, label->second);
    change(selectors_with_label_[hash]);
    if (selectors_with_label_[hash].empty()) selectors_with_label_.erase(hash);
  }
}

void Kinship::StartTracking() {
  tracking_ = true;
  for (std::uint32_t i = 0; i < kins_.size(); ++i) {
    if (kins_[i].users > 0) IndexKin(KinId{i}, true);
  }
  for (std::uint32_t i = 0; i < pods_.id_limit(); ++i) {
    const PodId id{i};
    if (pods_.Contains(id) && pods_.Get(id).node.valid())
      LinkPod(id, kins_[pods_.Get(id).kin.index]);
  }
}

// ---- kin ----

KinId Kinship::AcquireKin(Symbol pod_namespace, LabelSetId labels, const Controller& controller) {
  std::uint64_t hash = std::uint64_t{pod_namespace.index} << 32 | labels.index;
  if (controller.kind) hash = absl::HashOf(hash, *controller.kind, controller.name);
  const auto known = kin_index_.find(hash);
  if (known != kin_index_.end()) {
    Kin& kin = kins_[known->second.index];
    if (kin.pod_namespace == pod_namespace && kin.labels == labels &&
        kin.controller == controller) {
      ++kin.users;
      return known->second;
    }
  }
  KinId id{static_cast<std::uint32_t>(kins_.size())};
  if (free_kins_.empty()) {
    kins_.emplace_back();
  } else {
    id = free_kins_.back();
    free_kins_.pop_back();
  }
  if (known == kin_index_.end()) kin_index_.emplace(hash, id);
  label_sets_.AcquireAgain(labels);
  Kin& kin = kins_[id.index];
  kin.pod_namespace = pod_namespace;
  kin.labels = labels;
  kin.controller = controller;
  kin.hash = hash;
  kin.users = 1;
  if (tracking_) {
    IndexKin(id, true);
    FindMeaning(kin);
  }
  return id;
}

void Kinship::FindMeaning(Kin& kin) {
  const auto consider = [&](const std::vector<PodSelectorId>& list) {
    for (const PodSelectorId id : list) {
      if (Evaluate(selectors_[id.index].query, kin)) kin.meant_by.push_back(id);
    }
  };
  consider(selectors_without_label_);
  const std::string_view name = words_.Text(kin.pod_namespace);
  for (const auto& [key, value] : label_sets_.Get(kin.labels)) {
    for (const std::string_view where : {name, std::string_view()}) {
      const auto it = selectors_with_label_.find(LabelHash(where, key, value));
      if (it != selectors_with_label_.end()) consider(it->second);
    }
  }
  std::sort(kin.meant_by.begin(), kin.meant_by.end());
  kin.meant_by.erase(std::unique(kin.meant_by.begin(), kin.meant_by.end()), kin.meant_by.end());
}

void Kinship::ReleaseKin(KinId id) {
  Kin& kin = kins_[id.index];
  KNX_CHECK(kin.users > 0, "kin lost more pods than it had");
  if (--kin.users > 0) return;
  KNX_CHECK(!kin.first.valid(), "kin without pods has placed pods");
  if (tracking_) IndexKin(id, false);
  DropRelation(kin);
  const PodSelectorId siblings = kin.siblings;
  const auto known = kin_index_.find(kin.hash);
  if (known != kin_index_.end() && known->second == id) kin_index_.erase(known);
  label_sets_.Release(kin.labels);
  kin = {};
  free_kins_.push_back(id);
  if (siblings.valid()) Release(siblings);
}

// ---- what happens ----

void Kinship::LinkPod(PodId id, Kin& kin) {
  if (id.index >= links_.size())
    links_.resize(std::max<std::size_t>(id.index + 1, pods_.id_limit()));
  links_[id.index] = {PodId{}, kin.first};
  if (kin.first.valid()) links_[kin.first.index].before = id;
  kin.first = id;
}

void Kinship::UnlinkPod(PodId id, Kin& kin) {
  const Link link = links_[id.index];
  if (link.before.valid()) {
    links_[link.before.index].after = link.after;
  } else {
    kin.first = link.after;
  }
  if (link.after.valid()) links_[link.after.index].before = link.before;
}

void Kinship::Count(PodId id, int sign) {
  if (!tracking_) return;
  const Pod& pod = pods_.Get(id);
  Kin& kin = kins_[pod.kin.index];
  if (sign > 0) {
    LinkPod(id, kin);
  } else {
    UnlinkPod(id, kin);
  }
  for (const PodSelectorId selector : kin.meant_by) {
    selectors_[selector.index].matching.Add(pod.node, {sign, pod.terminating ? 0 : sign});
  }
}

void Kinship::NamespaceChanged(std::string_view name) {
  const Symbol symbol = words_.Find(name);
  if (namespace_selectors_.empty() || !symbol.valid()) return;
  for (std::uint32_t i = 0; i < kins_.size(); ++i) {
    Kin& kin = kins_[i];
    if (kin.users == 0 || kin.pod_namespace != symbol) continue;
    for (const PodSelectorId id : namespace_selectors_) {
      const bool meant = Means(id, KinId{i});
      const bool now = Evaluate(selectors_[id.index].query, kin);
      if (now && !meant) BeginToMean(id, kin);
      if (!now && meant) CeaseToMean(id, kin);
    }
  }
}

}  // namespace knx::cluster
