#include "plugins/kube/volume_binding/free_volumes.h"

#include <algorithm>

#include "k8s/selector.h"

namespace knx::plugins {
namespace {

using Claim = k8s::PersistentVolumeClaim;
using Volume = k8s::PersistentVolume;

// Holds for every volume that the claim may get, set aside for it or not.
bool Fits(const Volume& volume, const Claim& claim) {
  return volume.capacity >= claim.request.value_or(k8s::Quantity{}) &&
         volume.block == claim.block && volume.attributes_class == claim.attributes_class &&
         !volume.meta.deleted;
}

bool HasModes(const Volume& volume, const Claim& claim) {
  return std::all_of(claim.access_modes.begin(), claim.access_modes.end(), [&](k8s::AccessMode m) {
    return std::find(volume.access_modes.begin(), volume.access_modes.end(), m) !=
           volume.access_modes.end();
  });
}

bool MayBeGiven(const Volume& volume, const Claim& claim) {
  return volume.phase == k8s::VolumePhase::kAvailable &&
         (!claim.selector || k8s::Matches(*claim.selector, volume.meta.labels)) &&
         HasModes(volume, claim);
}

bool IsSetAsideFor(const k8s::ClaimReference& reference, const Claim& claim) {
  return reference.uid.empty() || reference.uid == claim.meta.uid;
}

// The condition that a term can be looked up by.
const k8s::Requirement* LookupBy(const k8s::NodeSelectorTerm& term) {
  for (const k8s::Requirement& requirement : term.match_expressions) {
    if (requirement.op == k8s::SelectorOperator::kIn) return &requirement;
  }
  return nullptr;
}

bool IsTaken(const std::string& name, const std::vector<const std::string*>& taken) {
  return std::any_of(taken.begin(), taken.end(),
                     [&](const std::string* other) { return *other == name; });
}

}  // namespace

FreeVolumes::FreeVolumes(const cluster::Volumes& volumes, const Claim& claim, WordLookup& words) {
  const std::string_view storage_class = cluster::ClassOf(claim);
  const std::string key = cluster::ClaimKey(claim.meta.namespace_, claim.meta.name);
  for (const std::string& name : volumes.VolumesFor(key)) {
    const Volume& volume = *volumes.FindVolume(name);
    if (cluster::ClassOf(volume) != storage_class) continue;
    if (!IsSetAsideFor(*volumes.ClaimOf(name), claim) || !Fits(volume, claim)) continue;
    set_aside_ = Candidate{name, MatcherOf(volume.node_affinity, words)};
    return;
  }
  const auto& free = volumes.FreeVolumes(storage_class);
  const k8s::Quantity least = claim.request.value_or(k8s::Quantity{});
  for (auto it = free.lower_bound({least, std::string()}); it != free.end(); ++it) {
    const Volume& volume = *volumes.FindVolume(it->second);
    if (Fits(volume, claim) && MayBeGiven(volume, claim)) Add(volume, words);
  }
}

void FreeVolumes::Add(const Volume& volume, WordLookup& words) {
  const auto order = static_cast<Order>(candidates_.size());
  candidates_.push_back({volume.meta.name, MatcherOf(volume.node_affinity, words)});
  const bool by_label =
      volume.node_affinity &&
      std::all_of(volume.node_affinity->terms.begin(), volume.node_affinity->terms.end(),
                  [](const auto& term) { return LookupBy(term) != nullptr; });
  if (!by_label) {
    anywhere_.push_back(order);
    return;
  }
  for (const k8s::NodeSelectorTerm& term : volume.node_affinity->terms) {
    const k8s::Requirement& requirement = *LookupBy(term);
    const Symbol key = words.Find(requirement.key);
    if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) keys_.push_back(key);
    for (const std::string& text : requirement.values) {
      std::vector<Order>& list = by_label_[{key, words.Find(text)}];
      if (list.empty() || list.back() != order) list.push_back(order);
    }
  }
}

bool FreeVolumes::Usable(Order candidate, const cluster::NodeFacts& node,
                         const std::vector<const std::string*>& taken,
                         const WordLookup& words) const {
  const Candidate& volume = candidates_[candidate];
  return volume.nodes.Matches(node, words) && !IsTaken(volume.name, taken);
}

void FreeVolumes::Improve(const std::vector<Order>& list, const cluster::NodeFacts& node,
                          const std::vector<const std::string*>& taken, const WordLookup& words,
                          std::optional<Order>& best) const {
  for (const Order candidate : list) {
    if (best && candidate >= *best) return;
    if (!Usable(candidate, node, taken, words)) continue;
    best = candidate;
    return;
  }
}

const std::string* FreeVolumes::Find(const cluster::NodeFacts& node,
                                     const std::vector<const std::string*>& taken,
                                     const WordLookup& words) const {
  if (set_aside_ && !IsTaken(set_aside_->name, taken)) {
    return set_aside_->nodes.Matches(node, words) ? &set_aside_->name : nullptr;
  }
  std::optional<Order> best;
  Improve(anywhere_, node, taken, words, best);
  for (const Symbol key : keys_) {
    const Symbol value = LabelOf(node, key);
    if (!value.valid()) continue;
    const auto list = by_label_.find({key, value});
    if (list != by_label_.end()) Improve(list->second, node, taken, words, best);
  }
  return best ? &candidates_[*best].name : nullptr;
}

}  // namespace knx::plugins
