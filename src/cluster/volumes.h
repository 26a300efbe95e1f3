// Claims, volumes and what storage drivers say about nodes, with the indexes that decisions need:
// volumes of a class by size, claims by the pods that use them, volumes in use by node.
// The state owns it, tells it of objects and of pods that come and go, and takes back what a plan
// assumed.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text_map.h"
#include "cluster/ids.h"
#include "cluster/pod_class.h"
#include "k8s/csi_migration.h"
#include "k8s/objects.h"

namespace knx::cluster {

// What has to be written before a pod can use its volumes on a node: claims get a volume that is
// there, or a node for which one is to be made. Objects are held to the version that was decided
// upon.
struct VolumePlan {
  struct Binding {
    std::string volume, volume_version;
    std::string claim;  // "namespace/name"
    k8s::ClaimReference to;
    bool chosen_by_us = false;  // nobody had set the volume aside for the claim
    bool written = false;       // the volume says all of it already
    friend bool operator==(const Binding&, const Binding&) = default;
  };
  struct Provision {
    std::string claim, claim_version;
    bool written = false;  // the claim has that node already
    friend bool operator==(const Provision&, const Provision&) = default;
  };
  std::vector<Binding> bindings;
  std::vector<Provision> provisions;
  std::string node;
  friend bool operator==(const VolumePlan&, const VolumePlan&) = default;
};

// The volumes of one node.
struct NodeVolumes {
  // One volume that is, or has to be, attached to the node.
  struct Use {
    std::string driver;
    std::uint32_t pods = 0, attachments = 0;
    friend bool operator==(const Use&, const Use&) = default;
  };
  std::optional<k8s::CsiNode> csi;
  std::map<std::string, Use, std::less<>> in_use;               // by "driver/handle"
  std::map<std::string, std::uint32_t, std::less<>> by_driver;  // volumes in use
  std::vector<PodId> with_disks;  // pods with disks that only one may use, ascending

  [[nodiscard]] bool empty() const { return !csi && in_use.empty() && with_disks.empty(); }
  friend bool operator==(const NodeVolumes&, const NodeVolumes&) = default;
};

class Volumes {
 public:
  // Made and destroyed out of line, so that those who only read need not compile all that is in it.
  Volumes();
  Volumes(Volumes&&) noexcept;
  ~Volumes();

  // ---- objects, as the API server has them; nullptr if they are not there ----
  [[nodiscard]] const k8s::PersistentVolumeClaim* FindClaim(std::string_view key) const;
  [[nodiscard]] const k8s::PersistentVolume* FindVolume(std::string_view name) const;
  [[nodiscard]] const k8s::StorageClass* FindClass(std::string_view name) const;
  [[nodiscard]] const k8s::CsiDriver* FindDriver(std::string_view name) const;
  [[nodiscard]] const k8s::CsiNode* FindCsiNode(std::string_view node) const;
  using Capacities = std::map<std::string, k8s::CsiStorageCapacity>;
  [[nodiscard]] const Capacities& CapacitiesOf(std::string_view storage_class) const;
  [[nodiscard]] const NodeVolumes& OnNode(std::string_view node) const;

  // ---- with what is assumed: decided, and not yet seen to be written ----
  // Volumes of a class that no claim has, the smallest first, then by name.
  using BySize = std::set<std::pair<k8s::Quantity, std::string>>;
  [[nodiscard]] const BySize& FreeVolumes(std::string_view storage_class) const;
  using Names = std::set<std::string>;
  // Volumes that name the claim, by whatever uid.
  [[nodiscard]] const Names& VolumesFor(std::string_view claim) const;
  [[nodiscard]] const std::optional<k8s::ClaimReference>& ClaimOf(std::string_view volume) const;
  // The node for which a volume is being made; nullptr: none was chosen.
  [[nodiscard]] const std::string* SelectedNode(std::string_view claim) const;
  [[nodiscard]] bool IsAssumed(std::string_view volume) const;
  [[nodiscard]] bool IsSelectionAssumed(std::string_view claim) const;

  // ---- use ----
  // Pods on nodes that name the claim. A pod that names it twice is there twice.
  struct User {
    PodId pod;
    NodeRow row;
    std::string node;
    bool ephemeral = false;  // the claim was made for the pod
    friend bool operator==(const User&, const User&) = default;
  };
  [[nodiscard]] const std::vector<User>& UsersOf(std::string_view claim) const;
  // A pod on some node names the claim itself.
  [[nodiscard]] bool InUse(std::string_view claim) const;
  // How a volume of the claim counts on a node. Nothing for what no driver attaches.
  [[nodiscard]] std::optional<k8s::CsiVolume> AttachedAs(std::string_view claim) const;

  // Grows with every change of such objects, assumptions included. What was prepared from them must
  // then be prepared again.
  enum class Kind : std::uint8_t { kClaim, kVolume, kClass, kDriver, kCapacity, kCount };
  [[nodiscard]] std::uint64_t generation(Kind kind) const {
    return generations_[static_cast<std::size_t>(kind)];
  }

  // ---- plans ----
  [[nodiscard]] const VolumePlan* FindPlan(PodId pod) const;

  // ---- for the state ----
  void Upsert(const k8s::PersistentVolumeClaim& claim);
  void Upsert(const k8s::PersistentVolume& volume);
  void Upsert(const k8s::StorageClass& storage_class);
  void Upsert(const k8s::CsiNode& node);
  void Upsert(const k8s::CsiDriver& driver);
  void Upsert(const k8s::CsiStorageCapacity& capacity);
  void Upsert(const k8s::VolumeAttachment& attachment);
  void Remove(const k8s::PersistentVolumeClaim& claim);
  void Remove(const k8s::PersistentVolume& volume);
  void Remove(const k8s::StorageClass& storage_class);
  void Remove(const k8s::CsiNode& node);
  void Remove(const k8s::CsiDriver& driver);
  void Remove(const k8s::CsiStorageCapacity& capacity);
  void Remove(const k8s::VolumeAttachment& attachment);
  // What is known by the name of such an object; nothing for other kinds.
  [[nodiscard]] std::optional<k8s::Object> Find(const k8s::Object& object) const;

  // Only for pods that have volumes.
  void PodPlaced(PodId pod, NodeRow row, const std::string& node, const PodClass& pod_class);
  void PodTaken(PodId pod, NodeRow row, const std::string& node, const PodClass& pod_class);
  // The pod must have no plan yet.
  void Reserve(PodId pod, VolumePlan&& plan);
  // Takes back what the plan assumed, as far as nothing newer is known. Gives the plan.
  std::optional<VolumePlan> Release(PodId pod);
  // What was planned has happened: there is nothing to take back any more.
  void Settle(PodId pod) {
    if (!plans_.empty()) Forget(pod);
  }
  // Nodes of which drivers say something else since the last call, and nodes with other volumes in
  // use although no pod came or went.
  struct Touched {
    std::vector<std::string> facts, usage;
  };
  [[nodiscard]] Touched TakeTouched() { return std::exchange(touched_, {}); }

  // The same objects with no pods: for a recount.
  [[nodiscard]] Volumes WithoutPods() const;
  // The first difference in what is counted and indexed, and the first assumption without a plan.
  [[nodiscard]] std::optional<std::string> Difference(const Volumes& recounted) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct ClaimRecord {
    k8s::PersistentVolumeClaim object;
    std::optional<std::string> assumed_node;
  };
  struct VolumeRecord {
    k8s::PersistentVolume object;
    std::optional<k8s::ClaimReference> assumed;
  };
  struct AttachmentRecord {
    k8s::VolumeAttachment object;
    std::optional<k8s::CsiVolume> counted_as;
  };
  // A claim that pods on nodes name, whether it is there or not.
  struct UsedClaim {
    std::vector<User> users;  // ascending
    std::optional<k8s::CsiVolume> counted_as;
    friend bool operator==(const UsedClaim&, const UsedClaim&) = default;
  };

  void Forget(PodId pod);
  void Changed(Kind kind) { ++generations_[static_cast<std::size_t>(kind)]; }
  void AddUse(const std::string& node, const k8s::CsiVolume& volume);
  void RemoveUse(const std::string& node, const k8s::CsiVolume& volume);
  // A claim, or what it refers to, changed: its volume may count as another one.
  void Recount(const std::string& claim);
  void RecountAll(const TextMap<Names>& index, std::string_view key);
  void CountAttachment(AttachmentRecord& record);
  void UncountAttachment(AttachmentRecord& record);
  void RecountAttachments(std::string_view volume);
  void DropIfEmpty(std::string_view node);
  [[nodiscard]] std::optional<k8s::CsiVolume> AttachedByClass(
      const k8s::PersistentVolumeClaim& claim) const;
  void Unindex(const ClaimRecord& record);
  void Index(const VolumeRecord& record);
  void Unindex(const VolumeRecord& record);
  void SetAssumed(VolumeRecord& record, std::optional<k8s::ClaimReference> claim);

  TextMap<ClaimRecord> claims_;    // by "namespace/name"
  TextMap<VolumeRecord> volumes_;  // by name
  TextMap<k8s::StorageClass> classes_;
  TextMap<k8s::CsiDriver> drivers_;
  TextMap<AttachmentRecord> attachments_;
  TextMap<std::string> capacity_class_;  // of a capacity, by "namespace/name"
  TextMap<BySize> free_by_class_;
  TextMap<Capacities> capacities_;
  TextMap<Names> volumes_by_claim_, claims_by_volume_, claims_by_class_, attachments_by_volume_;
  TextMap<UsedClaim> used_;
  TextMap<NodeVolumes> nodes_;
  absl::flat_hash_map<PodId, VolumePlan> plans_;
  std::array<std::uint64_t, static_cast<std::size_t>(Kind::kCount)> generations_{};
  Touched touched_;
};

// "namespace/name"
std::string ClaimKey(std::string_view namespace_, std::string_view name);
// With the annotation that came before the field.
std::string_view ClassOf(const k8s::PersistentVolumeClaim& claim);
std::string_view ClassOf(const k8s::PersistentVolume& volume);
// The claim has its volume and both sides have said so.
bool IsFullyBound(const k8s::PersistentVolumeClaim& claim);
// Disks that a node can give to one pod only, or to several that only read.
bool IsRestrictedDisk(const k8s::Volume& volume);

}  // namespace knx::cluster
