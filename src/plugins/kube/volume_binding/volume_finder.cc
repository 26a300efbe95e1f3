#include "plugins/kube/volume_binding/volume_finder.h"

#include <algorithm>
#include <utility>

#include "k8s/csi_migration.h"
#include "k8s/names.h"
#include "k8s/selector.h"

namespace knx::plugins {
namespace {

using cluster::NodeRow;
using cluster::Volumes;

bool IsMigrated(const Volumes& volumes, std::string_view node, std::string_view plugin) {
  if (k8s::MigratedDriver(plugin).empty()) return false;
  const k8s::CsiNode* csi = volumes.FindCsiNode(node);
  if (csi == nullptr) return false;
  const std::string* list = k8s::FindValue(csi->meta.annotations, k8s::names::kMigratedPlugins);
  return list != nullptr && k8s::ListsPlugin(*list, plugin);
}

}  // namespace

const std::optional<k8s::Quantity>& LargestVolume(const k8s::CsiStorageCapacity& capacity) {
  return capacity.maximum_volume_size ? capacity.maximum_volume_size : capacity.capacity;
}

VolumeFinder::VolumeFinder(const cluster::State& state, const PodClaims& claims)
    : state_(state), words_(state.words()) {
  for (std::size_t kind = 0; kind < seen_.size(); ++kind) {
    seen_[kind] = state.volumes().generation(static_cast<Volumes::Kind>(kind));
  }
  for (const std::string& claim : claims.bound) PrepareBound(claim);
  for (const std::string& claim : claims.delayed) PrepareDelayed(claim);
  std::stable_sort(unbound_.begin(), unbound_.end(),
                   [](const auto& a, const auto& b) { return a.size < b.size; });
}

bool VolumeFinder::Current() const {
  for (std::size_t kind = 0; kind < seen_.size(); ++kind) {
    if (seen_[kind] != state_.volumes().generation(static_cast<Volumes::Kind>(kind))) return false;
  }
  return words_.Current();
}

// ---- preparing ----

void VolumeFinder::PrepareBound(const std::string& key) {
  BoundVolume& bound = bound_.emplace_back();
  const Volumes& volumes = state_.volumes();
  const k8s::PersistentVolume* volume = volumes.FindVolume(volumes.FindClaim(key)->volume_name);
  if (volume == nullptr) return;
  bound.exists = true;
  bound.nodes = MatcherOf(volume->node_affinity, words_);
  bound.in_tree_plugin = k8s::InTreePlugin(volume->source);
  if (bound.in_tree_plugin.empty()) return;
  const auto migrated = k8s::MigratedAffinity(*volume);
  // What its driver cannot take over can be used nowhere that it did.
  bound.migrated_nodes =
      migrated.ok() ? MatcherOf(*migrated, words_) : MatcherOf(k8s::NodeSelector{}, words_);
}

void VolumeFinder::PrepareDelayed(const std::string& key) {
  const Volumes& volumes = state_.volumes();
  const k8s::PersistentVolumeClaim& claim = *volumes.FindClaim(key);
  UnboundClaim unbound{key, claim.request.value_or(k8s::Quantity{}),
                       FreeVolumes(volumes, claim, words_), PrepareProvisioning(claim)};
  if (const std::string* node = volumes.SelectedNode(key)) {
    selected_.push_back(*node);
    provisioned_.push_back(std::move(unbound));
  } else {
    unbound_.push_back(std::move(unbound));
  }
}

VolumeFinder::Provisioning VolumeFinder::PrepareProvisioning(
    const k8s::PersistentVolumeClaim& claim) {
  const Volumes& volumes = state_.volumes();
  Provisioning out;
  const k8s::StorageClass* storage_class = volumes.FindClass(cluster::ClassOf(claim));
  if (storage_class == nullptr || storage_class->provisioner.empty() ||
      storage_class->provisioner == k8s::names::kNoProvisioner) {
    return out;
  }
  out.possible = true;
  out.nodes = MatcherOf(storage_class->allowed_topologies, words_);
  const k8s::CsiDriver* driver = volumes.FindDriver(storage_class->provisioner);
  out.needs_capacity = claim.request && driver != nullptr && driver->storage_capacity;
  if (!out.needs_capacity) return out;
  for (const auto& [key, capacity] : volumes.CapacitiesOf(storage_class->meta.name)) {
    const std::optional<k8s::Quantity>& limit = LargestVolume(capacity);
    if (!limit || limit->Value() < claim.request->Value() || !capacity.node_topology) continue;
    out.with_capacity.push_back(MatcherOf(*capacity.node_topology, words_));
  }
  return out;
}

// ---- judging ----

std::uint8_t VolumeFinder::Judge(NodeRow row, cluster::VolumePlan* plan) const {
  const std::uint8_t bound = JudgeBound(row);
  return static_cast<std::uint8_t>(bound | JudgeDelayed(row, plan));
}

std::uint8_t VolumeFinder::JudgeBound(NodeRow row) const {
  const cluster::NodeFacts& node = state_.nodes().facts(row);
  for (const BoundVolume& volume : bound_) {
    if (!volume.exists) return kVolumeGone;
    const bool migrated =
        !volume.in_tree_plugin.empty() &&
        IsMigrated(state_.volumes(), state_.nodes().name(row), volume.in_tree_plugin);
    const NodeLabelsMatcher& nodes = migrated ? volume.migrated_nodes : volume.nodes;
    if (!nodes.Matches(node, words_)) return kNodeConflict;
  }
  return 0;
}

std::uint8_t VolumeFinder::JudgeDelayed(NodeRow row, cluster::VolumePlan* plan) const {
  const cluster::NodeFacts& node = state_.nodes().facts(row);
  const std::string& name = state_.nodes().name(row);
  if (std::any_of(selected_.begin(), selected_.end(),
                  [&](const std::string& selected) { return selected != name; })) {
    return kNoVolume;
  }
  std::vector<const UnboundClaim*> to_provision;
  for (const UnboundClaim& claim : provisioned_) to_provision.push_back(&claim);
  std::vector<const std::string*> taken;
  for (const UnboundClaim& claim : unbound_) {
    const std::string* volume = claim.volumes.Find(node, taken, words_);
    if (volume == nullptr) {
      to_provision.push_back(&claim);
      continue;
    }
    taken.push_back(volume);
    if (plan != nullptr) Plan(claim, volume, *plan);
  }
  for (const UnboundClaim* claim : to_provision) {
    if (const std::uint8_t reason = JudgeProvisioning(claim->provisioning, node)) return reason;
    if (plan != nullptr) Plan(*claim, nullptr, *plan);
  }
  return 0;
}

std::uint8_t VolumeFinder::JudgeProvisioning(const Provisioning& provisioning,
                                             const cluster::NodeFacts& node) const {
  if (!provisioning.possible || !provisioning.nodes.Matches(node, words_)) return kNoVolume;
  if (!provisioning.needs_capacity) return 0;
  const bool room =
      std::any_of(provisioning.with_capacity.begin(), provisioning.with_capacity.end(),
                  [&](const auto& nodes) { return nodes.Matches(node, words_); });
  return room ? 0 : kNoSpace;
}

void VolumeFinder::Plan(const UnboundClaim& unbound, const std::string* name,
                        cluster::VolumePlan& plan) const {
  const Volumes& volumes = state_.volumes();
  const k8s::PersistentVolumeClaim& claim = *volumes.FindClaim(unbound.key);
  if (name == nullptr) {
    plan.provisions.push_back(
        {unbound.key, claim.meta.resource_version, volumes.SelectedNode(unbound.key) != nullptr});
    return;
  }
  const k8s::PersistentVolume& volume = *volumes.FindVolume(*name);
  const std::optional<k8s::ClaimReference>& has = volumes.ClaimOf(*name);
  cluster::VolumePlan::Binding binding;
  binding.volume = *name;
  binding.volume_version = volume.meta.resource_version;
  binding.claim = unbound.key;
  binding.to = {claim.meta.namespace_, claim.meta.name, claim.meta.uid};
  binding.chosen_by_us = !has;
  binding.written = has == binding.to;
  plan.bindings.push_back(std::move(binding));
}

bool CanUse(const cluster::State& state, NodeRow row, const k8s::PersistentVolume& volume) {
  WordLookup words(state.words());
  const bool migrated =
      IsMigrated(state.volumes(), state.nodes().name(row), k8s::InTreePlugin(volume.source));
  if (!migrated) {
    return MatcherOf(volume.node_affinity, words).Matches(state.nodes().facts(row), words);
  }
  const auto affinity = k8s::MigratedAffinity(volume);
  return affinity.ok() && MatcherOf(*affinity, words).Matches(state.nodes().facts(row), words);
}

}  // namespace knx::plugins
