// What volumes are about: the volumes a pod names, the claims and volumes behind them, and what
// storage drivers say about nodes. Included by objects.h; only the fields that we read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "k8s/object_meta.h"
#include "k8s/quantity.h"

namespace knx::k8s {

// ---- claims and volumes ----

// Where a volume is kept, as far as a scheduler can tell volumes apart: of everything else there is
// nothing to decide.
enum class VolumeSource : std::uint8_t {
  kOther,
  kClaim,      // persistentVolumeClaim
  kEphemeral,  // a claim that is made for the pod, called "<pod>-<volume>"
  kCsi,
  kAwsEbs,
  kGcePd,
  kAzureDisk,
  kAzureFile,
  kCinder,
  kPortworx,
  kVsphere,
  kRbd,
  kIscsi,
};

enum class AccessMode : std::uint8_t {
  kReadWriteOnce,
  kReadOnlyMany,
  kReadWriteMany,
  kReadWriteOncePod,
};

enum class ClaimPhase : std::uint8_t { kPending, kBound, kLost };

struct PersistentVolumeClaim {
  ObjectMeta meta;
  std::optional<std::string> storage_class;
  std::string volume_name;
  std::vector<AccessMode> access_modes;
  bool block = false;               // volumeMode: Block
  std::optional<Quantity> request;  // resources.requests.storage
  std::optional<LabelSelector> selector;
  std::string attributes_class;
  ClaimPhase phase = ClaimPhase::kPending;
  friend bool operator==(const PersistentVolumeClaim&, const PersistentVolumeClaim&) = default;
};

struct ClaimReference {
  std::string namespace_, name, uid;
  friend bool operator==(const ClaimReference&, const ClaimReference&) = default;
};

enum class VolumePhase : std::uint8_t { kPending, kAvailable, kBound, kReleased, kFailed };

struct PersistentVolume {
  ObjectMeta meta;
  std::string storage_class;
  Quantity capacity;  // capacity.storage
  std::vector<AccessMode> access_modes;
  bool block = false;
  std::string attributes_class;
  std::optional<ClaimReference> claim;
  std::optional<NodeSelector> node_affinity;  // nodeAffinity.required
  VolumeSource source = VolumeSource::kOther;
  std::string driver;     // of a CSI volume
  std::string id;         // of a CSI volume its handle, of others the disk's id
  std::string disk_kind;  // of an Azure disk; empty: not said
  VolumePhase phase = VolumePhase::kPending;
  friend bool operator==(const PersistentVolume&, const PersistentVolume&) = default;
};

// ---- volumes of a pod ----

// A volume of a pod that some decision depends on; others are not kept.
struct Volume {
  std::string name;
  VolumeSource source = VolumeSource::kOther;
  // Which one: the claim's name, the disk's id, the image, the IQN, the CSI driver.
  std::string id;
  std::string pool;                   // of an RBD image
  std::vector<std::string> monitors;  // of an RBD image
  std::string disk_kind;              // of an Azure disk; empty: not said
  bool read_only = false;
  std::vector<PersistentVolumeClaim> claim_template;  // one, of an ephemeral volume
  friend bool operator==(const Volume&, const Volume&) = default;
};

// ---- what drivers say ----

// A condition on a label of a node: one of these values.
struct TopologyRequirement {
  std::string key;
  std::vector<std::string> values;
  friend bool operator==(const TopologyRequirement&, const TopologyRequirement&) = default;
};
using TopologyTerm = std::vector<TopologyRequirement>;  // all of them

enum class BindingMode : std::uint8_t { kImmediate, kWaitForFirstConsumer };

struct StorageClass {
  ObjectMeta meta;
  std::string provisioner;
  BindingMode binding_mode = BindingMode::kImmediate;
  std::vector<TopologyTerm> allowed_topologies;  // any of them; empty: everywhere
  bool retain = false;                           // volumes outlive their claims
  friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

struct CsiNodeDriver {
  std::string name;
  std::optional<std::int32_t> limit;  // allocatable.count
  friend bool operator==(const CsiNodeDriver&, const CsiNodeDriver&) = default;
};

// Of the node with the same name.
struct CsiNode {
  ObjectMeta meta;
  std::vector<CsiNodeDriver> drivers;
  friend bool operator==(const CsiNode&, const CsiNode&) = default;
};

struct CsiDriver {
  ObjectMeta meta;
  bool storage_capacity = false;
  friend bool operator==(const CsiDriver&, const CsiDriver&) = default;
};

struct CsiStorageCapacity {
  ObjectMeta meta;
  std::string storage_class;
  std::optional<LabelSelector> node_topology;  // unset: no node has access
  std::optional<Quantity> capacity, maximum_volume_size;
  friend bool operator==(const CsiStorageCapacity&, const CsiStorageCapacity&) = default;
};

struct VolumeAttachment {
  ObjectMeta meta;
  std::string attacher, node_name;
  std::string volume_name;  // source.persistentVolumeName; empty: not one of a claim
  friend bool operator==(const VolumeAttachment&, const VolumeAttachment&) = default;
};

}  // namespace knx::k8s
