#include "cluster/volumes.h"

#include <algorithm>

#include "base/check.h"
#include "k8s/names.h"
#include "k8s/selector.h"

namespace knx::cluster {
namespace {

template <class Map>
auto* Lookup(Map& map, std::string_view key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

template <class Map>
const auto& LookupOrEmpty(const Map& map, std::string_view key) {
  static const typename Map::mapped_type empty{};
  const auto found = map.find(key);
  return found == map.end() ? empty : found->second;
}

void Add(TextMap<std::set<std::string>>& index, std::string_view key, const std::string& name) {
  if (!key.empty()) index[key].insert(name);
}

void Erase(TextMap<std::set<std::string>>& index, std::string_view key, const std::string& name) {
  const auto found = index.find(key);
  if (found == index.end()) return;
  found->second.erase(name);
  if (found->second.empty()) index.erase(found);
}

std::string UniqueName(const k8s::CsiVolume& volume) { return volume.driver + "/" + volume.handle; }

}  // namespace

Volumes::Volumes() = default;
Volumes::Volumes(Volumes&&) noexcept = default;
Volumes::~Volumes() = default;

std::string ClaimKey(std::string_view namespace_, std::string_view name) {
  std::string key(namespace_);
  key += '/';
  key += name;
  return key;
}

std::string_view ClassOf(const k8s::PersistentVolumeClaim& claim) {
  const std::string* old = k8s::FindValue(claim.meta.annotations, k8s::names::kStorageClassBeta);
  if (old != nullptr) return *old;
  return claim.storage_class ? std::string_view(*claim.storage_class) : std::string_view{};
}

std::string_view ClassOf(const k8s::PersistentVolume& volume) {
  const std::string* old = k8s::FindValue(volume.meta.annotations, k8s::names::kStorageClassBeta);
  return old != nullptr ? *old : volume.storage_class;
}

bool IsFullyBound(const k8s::PersistentVolumeClaim& claim) {
  return !claim.volume_name.empty() &&
         k8s::FindValue(claim.meta.annotations, k8s::names::kBindCompleted) != nullptr;
}

bool IsRestrictedDisk(const k8s::Volume& volume) {
  return volume.source == k8s::VolumeSource::kGcePd ||
         volume.source == k8s::VolumeSource::kAwsEbs || volume.source == k8s::VolumeSource::kRbd ||
         volume.source == k8s::VolumeSource::kIscsi;
}

// ---- looking things up ----

const k8s::PersistentVolumeClaim* Volumes::FindClaim(std::string_view key) const {
  const ClaimRecord* record = Lookup(claims_, key);
  return record == nullptr ? nullptr : &record->object;
}

const k8s::PersistentVolume* Volumes::FindVolume(std::string_view name) const {
  const VolumeRecord* record = Lookup(volumes_, name);
  return record == nullptr ? nullptr : &record->object;
}

const k8s::StorageClass* Volumes::FindClass(std::string_view name) const {
  return Lookup(classes_, name);
}

const k8s::CsiDriver* Volumes::FindDriver(std::string_view name) const {
  return Lookup(drivers_, name);
}

const k8s::CsiNode* Volumes::FindCsiNode(std::string_view node) const {
  const NodeVolumes* volumes = Lookup(nodes_, node);
  return volumes == nullptr || !volumes->csi ? nullptr : &*volumes->csi;
}

const Volumes::BySize& Volumes::FreeVolumes(std::string_view storage_class) const {
  return LookupOrEmpty(free_by_class_, storage_class);
}

const Volumes::Names& Volumes::VolumesFor(std::string_view claim) const {
  return LookupOrEmpty(volumes_by_claim_, claim);
}

const Volumes::Capacities& Volumes::CapacitiesOf(std::string_view storage_class) const {
  return LookupOrEmpty(capacities_, storage_class);
}

const NodeVolumes& Volumes::OnNode(std::string_view node) const {
  return LookupOrEmpty(nodes_, node);
}

const std::optional<k8s::ClaimReference>& Volumes::ClaimOf(std::string_view volume) const {
  static const std::optional<k8s::ClaimReference> none;
  const VolumeRecord* record = Lookup(volumes_, volume);
  if (record == nullptr) return none;
  return record->assumed ? record->assumed : record->object.claim;
}

const std::string* Volumes::SelectedNode(std::string_view claim) const {
  const ClaimRecord* record = Lookup(claims_, claim);
  if (record == nullptr) return nullptr;
  if (record->assumed_node) return &*record->assumed_node;
  return k8s::FindValue(record->object.meta.annotations, k8s::names::kSelectedNode);
}

bool Volumes::IsAssumed(std::string_view volume) const {
  const VolumeRecord* record = Lookup(volumes_, volume);
  return record != nullptr && record->assumed.has_value();
}

bool Volumes::IsSelectionAssumed(std::string_view claim) const {
  const ClaimRecord* record = Lookup(claims_, claim);
  return record != nullptr && record->assumed_node.has_value();
}

const std::vector<Volumes::User>& Volumes::UsersOf(std::string_view claim) const {
  return LookupOrEmpty(used_, claim).users;
}

bool Volumes::InUse(std::string_view claim) const {
  const std::vector<User>& users = UsersOf(claim);
  return std::any_of(users.begin(), users.end(), [](const User& user) { return !user.ephemeral; });
}

std::optional<k8s::CsiVolume> Volumes::AttachedAs(std::string_view key) const {
  const k8s::PersistentVolumeClaim* claim = FindClaim(key);
  if (claim == nullptr) return std::nullopt;
  const k8s::PersistentVolume* volume =
      claim->volume_name.empty() ? nullptr : FindVolume(claim->volume_name);
  std::optional<k8s::CsiVolume> as =
      volume == nullptr ? AttachedByClass(*claim) : k8s::AttachedAs(*volume);
  if (as && (as->driver.empty() || as->handle.empty())) as.reset();
  return as;
}

// A volume that is still to be made counts already, for the driver that will make it.
std::optional<k8s::CsiVolume> Volumes::AttachedByClass(
    const k8s::PersistentVolumeClaim& claim) const {
  const k8s::StorageClass* storage_class = FindClass(ClassOf(claim));
  if (storage_class == nullptr) return std::nullopt;
  const std::string& provisioner = storage_class->provisioner;
  const std::string driver(k8s::IsMigratablePlugin(provisioner) ? k8s::MigratedDriver(provisioner)
                                                                : provisioner);
  // No handle of a driver begins like this.
  std::string handle(1, '\0');
  handle += ClaimKey(claim.meta.namespace_, claim.meta.name);
  return k8s::CsiVolume{driver, std::move(handle)};
}

std::optional<k8s::Object> Volumes::Find(const k8s::Object& object) const {
  const auto copy = [](const auto* found) -> std::optional<k8s::Object> {
    if (found == nullptr) return std::nullopt;
    return k8s::Object(*found);
  };
  if (const auto* claim = std::get_if<k8s::PersistentVolumeClaim>(&object)) {
    return copy(FindClaim(ClaimKey(claim->meta.namespace_, claim->meta.name)));
  }
  if (const auto* volume = std::get_if<k8s::PersistentVolume>(&object)) {
    return copy(FindVolume(volume->meta.name));
  }
  if (const auto* storage_class = std::get_if<k8s::StorageClass>(&object)) {
    return copy(FindClass(storage_class->meta.name));
  }
  if (const auto* driver = std::get_if<k8s::CsiDriver>(&object)) {
    return copy(FindDriver(driver->meta.name));
  }
  if (const auto* node = std::get_if<k8s::CsiNode>(&object)) {
    return copy(FindCsiNode(node->meta.name));
  }
  if (const auto* capacity = std::get_if<k8s::CsiStorageCapacity>(&object)) {
    const std::string key = ClaimKey(capacity->meta.namespace_, capacity->meta.name);
    const std::string* storage_class = Lookup(capacity_class_, key);
    if (storage_class == nullptr) return std::nullopt;
    return copy(&capacities_.at(*storage_class).at(key));
  }
  if (const auto* attachment = std::get_if<k8s::VolumeAttachment>(&object)) {
    const AttachmentRecord* record = Lookup(attachments_, attachment->meta.name);
    return copy(record == nullptr ? nullptr : &record->object);
  }
  return std::nullopt;
}

// ---- objects ----

void Volumes::Unindex(const ClaimRecord& record) {
  const std::string key = ClaimKey(record.object.meta.namespace_, record.object.meta.name);
  Erase(claims_by_volume_, record.object.volume_name, key);
  Erase(claims_by_class_, ClassOf(record.object), key);
}

void Volumes::Upsert(const k8s::PersistentVolumeClaim& claim) {
  const std::string key = ClaimKey(claim.meta.namespace_, claim.meta.name);
  const auto [it, fresh] = claims_.try_emplace(key);
  ClaimRecord& record = it->second;
  if (!fresh && record.object == claim) return;
  if (!fresh) Unindex(record);
  // Something newer than what was assumed is known.
  if (record.object.meta.resource_version != claim.meta.resource_version) {
    record.assumed_node.reset();
  }
  record.object = claim;
  Add(claims_by_volume_, claim.volume_name, key);
  Add(claims_by_class_, ClassOf(claim), key);
  Changed(Kind::kClaim);
  Recount(key);
}

void Volumes::Remove(const k8s::PersistentVolumeClaim& claim) {
  const std::string key = ClaimKey(claim.meta.namespace_, claim.meta.name);
  const auto it = claims_.find(key);
  if (it == claims_.end()) return;
  Unindex(it->second);
  claims_.erase(it);
  Changed(Kind::kClaim);
  Recount(key);
}

void Volumes::Index(const VolumeRecord& record) {
  const k8s::PersistentVolume& volume = record.object;
  const auto& claim = record.assumed ? record.assumed : volume.claim;
  if (claim) {
    Add(volumes_by_claim_, ClaimKey(claim->namespace_, claim->name), volume.meta.name);
  } else {
    free_by_class_[ClassOf(volume)].insert({volume.capacity, volume.meta.name});
  }
}

void Volumes::Unindex(const VolumeRecord& record) {
  const k8s::PersistentVolume& volume = record.object;
  const auto& claim = record.assumed ? record.assumed : volume.claim;
  if (claim) {
    Erase(volumes_by_claim_, ClaimKey(claim->namespace_, claim->name), volume.meta.name);
    return;
  }
  const auto found = free_by_class_.find(ClassOf(volume));
  found->second.erase({volume.capacity, volume.meta.name});
  if (found->second.empty()) free_by_class_.erase(found);
}

void Volumes::SetAssumed(VolumeRecord& record, std::optional<k8s::ClaimReference> claim) {
  Unindex(record);
  record.assumed = std::move(claim);
  Index(record);
  Changed(Kind::kVolume);
}

void Volumes::Upsert(const k8s::PersistentVolume& volume) {
  const auto [it, fresh] = volumes_.try_emplace(volume.meta.name);
  VolumeRecord& record = it->second;
  if (!fresh && record.object == volume) return;
  if (!fresh) Unindex(record);
  if (record.object.meta.resource_version != volume.meta.resource_version) record.assumed.reset();
  record.object = volume;
  Index(record);
  Changed(Kind::kVolume);
  RecountAll(claims_by_volume_, volume.meta.name);
  RecountAttachments(volume.meta.name);
}

void Volumes::Remove(const k8s::PersistentVolume& volume) {
  const auto it = volumes_.find(volume.meta.name);
  if (it == volumes_.end()) return;
  Unindex(it->second);
  volumes_.erase(it);
  Changed(Kind::kVolume);
  RecountAll(claims_by_volume_, volume.meta.name);
  RecountAttachments(volume.meta.name);
}

void Volumes::Upsert(const k8s::StorageClass& storage_class) {
  const auto [it, fresh] = classes_.try_emplace(storage_class.meta.name);
  if (!fresh && it->second == storage_class) return;
  it->second = storage_class;
  Changed(Kind::kClass);
  RecountAll(claims_by_class_, storage_class.meta.name);
}

void Volumes::Remove(const k8s::StorageClass& storage_class) {
  if (classes_.erase(storage_class.meta.name) == 0) return;
  Changed(Kind::kClass);
  RecountAll(claims_by_class_, storage_class.meta.name);
}

void Volumes::Upsert(const k8s::CsiNode& node) {
  std::optional<k8s::CsiNode>& slot = nodes_[node.meta.name].csi;
  if (slot == node) return;
  slot = node;
  touched_.facts.push_back(node.meta.name);
}

void Volumes::Remove(const k8s::CsiNode& node) {
  NodeVolumes* volumes = Lookup(nodes_, node.meta.name);
  if (volumes == nullptr || !volumes->csi) return;
  volumes->csi.reset();
  DropIfEmpty(node.meta.name);
  touched_.facts.push_back(node.meta.name);
}

void Volumes::Upsert(const k8s::CsiDriver& driver) {
  const auto [it, fresh] = drivers_.try_emplace(driver.meta.name);
  if (!fresh && it->second == driver) return;
  it->second = driver;
  Changed(Kind::kDriver);
}

void Volumes::Remove(const k8s::CsiDriver& driver) {
  if (drivers_.erase(driver.meta.name) > 0) Changed(Kind::kDriver);
}

void Volumes::Upsert(const k8s::CsiStorageCapacity& capacity) {
  const std::string key = ClaimKey(capacity.meta.namespace_, capacity.meta.name);
  if (const auto known = capacity_class_.find(key); known != capacity_class_.end()) {
    const k8s::CsiStorageCapacity& before = capacities_.at(known->second).at(key);
    if (before == capacity) return;
    Remove(k8s::CsiStorageCapacity(before));
  }
  capacity_class_[key] = capacity.storage_class;
  capacities_[capacity.storage_class][key] = capacity;
  Changed(Kind::kCapacity);
}

void Volumes::Remove(const k8s::CsiStorageCapacity& capacity) {
  const std::string key = ClaimKey(capacity.meta.namespace_, capacity.meta.name);
  const auto known = capacity_class_.find(key);
  if (known == capacity_class_.end()) return;
  const auto of_class = capacities_.find(known->second);
  of_class->second.erase(key);
  if (of_class->second.empty()) capacities_.erase(of_class);
  capacity_class_.erase(known);
  Changed(Kind::kCapacity);
}

// ---- attachments ----

void Volumes::CountAttachment(AttachmentRecord& record) {
  const k8s::PersistentVolume* volume = FindVolume(record.object.volume_name);
  if (record.object.attacher.empty() || volume == nullptr ||
      volume->source != k8s::VolumeSource::kCsi) {
    return;
  }
  record.counted_as = k8s::CsiVolume{record.object.attacher, volume->id};
  NodeVolumes& node = nodes_[record.object.node_name];
  NodeVolumes::Use& use = node.in_use[UniqueName(*record.counted_as)];
  use.driver = record.counted_as->driver;
  if (use.pods + use.attachments == 0) ++node.by_driver[use.driver];
  ++use.attachments;
  touched_.usage.push_back(record.object.node_name);
}

void Volumes::UncountAttachment(AttachmentRecord& record) {
  if (!record.counted_as) return;
  NodeVolumes& node = nodes_.at(record.object.node_name);
  const auto use = node.in_use.find(UniqueName(*record.counted_as));
  --use->second.attachments;
  if (use->second.pods + use->second.attachments == 0) {
    const auto count = node.by_driver.find(use->second.driver);
    if (--count->second == 0) node.by_driver.erase(count);
    node.in_use.erase(use);
  }
  record.counted_as.reset();
  DropIfEmpty(record.object.node_name);
  touched_.usage.push_back(record.object.node_name);
}

void Volumes::RecountAttachments(std::string_view volume) {
  const Names* names = Lookup(attachments_by_volume_, volume);
  if (names == nullptr) return;
  for (const std::string& name : *names) {
    AttachmentRecord& record = attachments_.at(name);
    UncountAttachment(record);
    CountAttachment(record);
  }
}

void Volumes::Upsert(const k8s::VolumeAttachment& attachment) {
  const auto [it, fresh] = attachments_.try_emplace(attachment.meta.name);
  AttachmentRecord& record = it->second;
  if (!fresh && record.object == attachment) return;
  UncountAttachment(record);
  Erase(attachments_by_volume_, record.object.volume_name, attachment.meta.name);
  record.object = attachment;
  Add(attachments_by_volume_, attachment.volume_name, attachment.meta.name);
  CountAttachment(record);
}

void Volumes::Remove(const k8s::VolumeAttachment& attachment) {
  const auto it = attachments_.find(attachment.meta.name);
  if (it == attachments_.end()) return;
  UncountAttachment(it->second);
  Erase(attachments_by_volume_, it->second.object.volume_name, attachment.meta.name);
  attachments_.erase(it);
}

}  // namespace knx::cluster
