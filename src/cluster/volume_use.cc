// Which pods use which volumes where, and what is assumed about volumes.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "cluster/volumes.h"

namespace knx::cluster {
namespace {

bool HasRestrictedDisks(const k8s::PodSpec& spec) {
  return std::any_of(spec.volumes.begin(), spec.volumes.end(), IsRestrictedDisk);
}

}  // namespace

void Volumes::DropIfEmpty(std::string_view node) {
  const auto found = nodes_.find(node);
  if (found != nodes_.end() && found->second.empty()) nodes_.erase(found);
}

void Volumes::AddUse(const std::string& name, const k8s::CsiVolume& volume) {
  NodeVolumes& node = nodes_[name];
  NodeVolumes::Use& use = node.in_use[volume.driver + "/" + volume.handle];
  use.driver = volume.driver;
  if (use.pods + use.attachments == 0) ++node.by_driver[volume.driver];
  ++use.pods;
}

void Volumes::RemoveUse(const std::string& name, const k8s::CsiVolume& volume) {
  NodeVolumes& node = nodes_.at(name);
  const auto use = node.in_use.find(volume.driver + "/" + volume.handle);
  KNX_CHECK(use != node.in_use.end() && use->second.pods > 0, "a volume is given back twice");
  --use->second.pods;
  if (use->second.pods + use->second.attachments == 0) {
    const auto count = node.by_driver.find(use->second.driver);
    if (--count->second == 0) node.by_driver.erase(count);
    node.in_use.erase(use);
  }
  DropIfEmpty(name);
}

void Volumes::PodPlaced(PodId pod, NodeRow row, const std::string& node,
                        const PodClass& pod_class) {
  for (const ClaimUse& claim : pod_class.claims) {
    const auto [it, fresh] = used_.try_emplace(claim.key);
    UsedClaim& used = it->second;
    if (fresh) used.counted_as = AttachedAs(claim.key);
    used.users.push_back({pod, row, node, claim.ephemeral});
    if (used.counted_as) AddUse(node, *used.counted_as);
  }
  for (const k8s::Volume& volume : pod_class.spec.volumes) {
    if (const auto as = k8s::AttachedAs(volume)) AddUse(node, *as);
  }
  if (HasRestrictedDisks(pod_class.spec)) nodes_[node].with_disks.push_back(pod);
}

void Volumes::PodTaken(PodId pod, NodeRow row, const std::string& node, const PodClass& pod_class) {
  for (const ClaimUse& claim : pod_class.claims) {
    const auto it = used_.find(claim.key);
    KNX_CHECK(it != used_.end(), "a claim is given back that nobody used");
    std::vector<User>& users = it->second.users;
    const auto user = std::find(users.begin(), users.end(), User{pod, row, node, claim.ephemeral});
    KNX_CHECK(user != users.end(), "a claim is given back by a pod that did not use it");
    users.erase(user);
    if (it->second.counted_as) RemoveUse(node, *it->second.counted_as);
    if (users.empty()) used_.erase(it);
  }
  for (const k8s::Volume& volume : pod_class.spec.volumes) {
    if (const auto as = k8s::AttachedAs(volume)) RemoveUse(node, *as);
  }
  if (HasRestrictedDisks(pod_class.spec)) {
    std::erase(nodes_.at(node).with_disks, pod);
    DropIfEmpty(node);
  }
}

void Volumes::Recount(const std::string& claim) {
  const auto it = used_.find(claim);
  if (it == used_.end()) return;
  UsedClaim& used = it->second;
  std::optional<k8s::CsiVolume> as = AttachedAs(claim);
  if (as == used.counted_as) return;
  for (const User& user : used.users) {
    if (used.counted_as) RemoveUse(user.node, *used.counted_as);
    if (as) AddUse(user.node, *as);
    touched_.usage.push_back(user.node);
  }
  used.counted_as = std::move(as);
}

void Volumes::RecountAll(const TextMap<Names>& index, std::string_view key) {
  const auto found = index.find(key);
  if (found == index.end()) return;
  for (const std::string& claim : found->second) Recount(claim);
}

// ---- plans ----

const VolumePlan* Volumes::FindPlan(PodId pod) const {
  const auto found = plans_.find(pod);
  return found == plans_.end() ? nullptr : &found->second;
}

void Volumes::Reserve(PodId pod, VolumePlan&& plan) {
  for (const VolumePlan::Binding& binding : plan.bindings) {
    if (binding.written) continue;
    VolumeRecord& record = volumes_.at(binding.volume);
    KNX_CHECK(!record.assumed, "a volume is promised twice");
    SetAssumed(record, binding.to);
  }
  for (const VolumePlan::Provision& provision : plan.provisions) {
    if (provision.written) continue;
    claims_.at(provision.claim).assumed_node = plan.node;
    Changed(Kind::kClaim);
  }
  const bool fresh = plans_.emplace(pod, std::move(plan)).second;
  KNX_CHECK(fresh, "volumes are planned twice for a pod");
}

void Volumes::Forget(PodId pod) { plans_.erase(pod); }

std::optional<VolumePlan> Volumes::Release(PodId pod) {
  const auto found = plans_.find(pod);
  if (found == plans_.end()) return std::nullopt;
  VolumePlan plan = std::move(found->second);
  plans_.erase(found);
  for (const VolumePlan::Binding& binding : plan.bindings) {
    const auto record = volumes_.find(binding.volume);
    if (binding.written || record == volumes_.end() || record->second.assumed != binding.to)
      continue;
    SetAssumed(record->second, std::nullopt);
  }
  for (const VolumePlan::Provision& provision : plan.provisions) {
    const auto record = claims_.find(provision.claim);
    if (provision.written || record == claims_.end() || record->second.assumed_node != plan.node)
      continue;
    record->second.assumed_node.reset();
    Changed(Kind::kClaim);
  }
  return plan;
}

// ---- care ----

Volumes Volumes::WithoutPods() const {
  Volumes out;
  for (const auto& [name, storage_class] : classes_) out.Upsert(storage_class);
  for (const auto& [name, record] : volumes_) {
    out.Upsert(record.object);
    if (record.assumed) out.SetAssumed(out.volumes_.at(name), record.assumed);
  }
  for (const auto& [key, record] : claims_) out.Upsert(record.object);
  for (const auto& [name, driver] : drivers_) out.Upsert(driver);
  for (const auto& [name, record] : attachments_) out.Upsert(record.object);
  for (const auto& [name, node] : nodes_) {
    if (node.csi) out.Upsert(*node.csi);
  }
  for (const auto& [name, of_class] : capacities_) {
    for (const auto& [key, capacity] : of_class) out.Upsert(capacity);
  }
  return out;
}

std::optional<std::string> Volumes::Difference(const Volumes& recounted) const {
  const auto sorted = [](TextMap<UsedClaim> used) {
    for (auto& [key, claim] : used) {
      std::sort(claim.users.begin(), claim.users.end(),
                [](const User& a, const User& b) { return a.pod < b.pod; });
    }
    return used;
  };
  const auto in_order = [](TextMap<NodeVolumes> nodes) {
    for (auto& [name, node] : nodes) std::sort(node.with_disks.begin(), node.with_disks.end());
    return nodes;
  };
  if (sorted(used_) != sorted(recounted.used_)) return "claims in use differ from a recount";
  if (in_order(nodes_) != in_order(recounted.nodes_)) {
    return "volumes in use on nodes differ from a recount";
  }
  if (free_by_class_ != recounted.free_by_class_ ||
      volumes_by_claim_ != recounted.volumes_by_claim_) {
    return "free volumes differ from a recount";
  }
  if (capacities_ != recounted.capacities_) return "capacities by class differ from a recount";
  if (claims_by_volume_ != recounted.claims_by_volume_ ||
      claims_by_class_ != recounted.claims_by_class_ ||
      attachments_by_volume_ != recounted.attachments_by_volume_) {
    return "what refers to volumes and classes differs from a recount";
  }
  Names promised;
  for (const auto& [pod, plan] : plans_) {
    for (const VolumePlan::Binding& binding : plan.bindings) promised.insert(binding.volume);
    for (const VolumePlan::Provision& provision : plan.provisions) promised.insert(provision.claim);
  }
  for (const auto& [name, record] : volumes_) {
    if (record.assumed && !promised.contains(name)) {
      return fmt::format("volume {} is promised in no plan", name);
    }
  }
  for (const auto& [key, record] : claims_) {
    if (record.assumed_node && !promised.contains(key)) {
      return fmt::format("claim {} has a node chosen in no plan", key);
    }
  }
  return std::nullopt;
}

std::size_t Volumes::bytes() const {
  // A rough measure: what the texts of an object and its entries in the indexes take.
  constexpr std::size_t kTexts = 400;
  return claims_.capacity() * (sizeof(ClaimRecord) + kTexts) +
         volumes_.capacity() * (sizeof(VolumeRecord) + kTexts) +
         attachments_.capacity() * (sizeof(AttachmentRecord) + kTexts) +
         nodes_.capacity() * (sizeof(NodeVolumes) + kTexts) +
         used_.capacity() * (sizeof(UsedClaim) + kTexts) +
         capacity_class_.capacity() * (sizeof(k8s::CsiStorageCapacity) + kTexts) +
         plans_.capacity() * (sizeof(VolumePlan) + sizeof(PodId));
}

}  // namespace knx::cluster
