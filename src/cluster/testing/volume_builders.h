// Claims, volumes and classes for tests, in one expression:
//
//   state.UpsertObject(ClaimBuilder("data").Class("fast").Asks("5Gi"));
//   state.UpsertObject(VolumeBuilder("pv").Class("fast").Size("10Gi").OnlyWhere("zone", {"a"}));
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "cluster/testing/builders.h"
#include "k8s/names.h"
#include "k8s/objects.h"

namespace knx::cluster::testing {

inline k8s::Quantity AmountOf(std::string_view text) {
  auto parsed = k8s::Quantity::Parse(text);
  KNX_CHECK(parsed.ok(), "a test gives an amount that is none");
  return *parsed;
}

class ClaimBuilder {
 public:
  explicit ClaimBuilder(std::string name) {
    claim_.meta.namespace_ = "default";
    claim_.meta.uid = "uid-" + name;
    claim_.meta.name = std::move(name);
    claim_.meta.resource_version = "1";
    claim_.access_modes = {k8s::AccessMode::kReadWriteOnce};
  }
  ClaimBuilder& Namespace(std::string name) {
    claim_.meta.namespace_ = std::move(name);
    return *this;
  }
  ClaimBuilder& Class(std::string name) {
    claim_.storage_class = std::move(name);
    return *this;
  }
  ClaimBuilder& Asks(std::string_view size) {
    claim_.request = AmountOf(size);
    return *this;
  }
  ClaimBuilder& Mode(k8s::AccessMode mode) {
    claim_.access_modes = {mode};
    return *this;
  }
  ClaimBuilder& Block() {
    claim_.block = true;
    return *this;
  }
  ClaimBuilder& Select(std::string_view key, std::string value) {
    if (!claim_.selector) claim_.selector.emplace();
    SetSorted(claim_.selector->match_labels, key, std::move(value));
    return *this;
  }
  ClaimBuilder& AttributesClass(std::string name) {
    claim_.attributes_class = std::move(name);
    return *this;
  }
  // Names its volume, without anybody having confirmed it.
  ClaimBuilder& Names(std::string volume) {
    claim_.volume_name = std::move(volume);
    return *this;
  }
  ClaimBuilder& BoundTo(std::string volume) {
    claim_.phase = k8s::ClaimPhase::kBound;
    return Names(std::move(volume)).Annotate(k8s::names::kBindCompleted, "yes");
  }
  ClaimBuilder& Annotate(std::string_view key, std::string value) {
    SetSorted(claim_.meta.annotations, key, std::move(value));
    return *this;
  }
  ClaimBuilder& SelectedNode(std::string node) {
    return Annotate(k8s::names::kSelectedNode, std::move(node));
  }
  ClaimBuilder& OwnedBy(std::string uid) {
    claim_.meta.owners.push_back({"Pod", "p", std::move(uid), true});
    return *this;
  }
  ClaimBuilder& Lost() {
    claim_.phase = k8s::ClaimPhase::kLost;
    return *this;
  }
  ClaimBuilder& Deleted() {
    claim_.meta.deleted = Time{};
    return *this;
  }
  ClaimBuilder& Version(std::string version) {
    claim_.meta.resource_version = std::move(version);
    return *this;
  }
  operator k8s::PersistentVolumeClaim() const { return claim_; }  // NOLINT
  operator k8s::Object() const { return claim_; }                 // NOLINT

 private:
  k8s::PersistentVolumeClaim claim_;
};

// Free, unless it says otherwise.
class VolumeBuilder {
 public:
  explicit VolumeBuilder(std::string name) {
    volume_.meta.name = std::move(name);
    volume_.meta.resource_version = "1";
    volume_.access_modes = {k8s::AccessMode::kReadWriteOnce};
    volume_.phase = k8s::VolumePhase::kAvailable;
  }
  VolumeBuilder& Class(std::string name) {
    volume_.storage_class = std::move(name);
    return *this;
  }
  VolumeBuilder& Size(std::string_view size) {
    volume_.capacity = AmountOf(size);
    return *this;
  }
  VolumeBuilder& Mode(k8s::AccessMode mode) {
    volume_.access_modes = {mode};
    return *this;
  }
  VolumeBuilder& Block() {
    volume_.block = true;
    return *this;
  }
  VolumeBuilder& AttributesClass(std::string name) {
    volume_.attributes_class = std::move(name);
    return *this;
  }
  VolumeBuilder& Label(std::string_view key, std::string value) {
    SetSorted(volume_.meta.labels, key, std::move(value));
    return *this;
  }
  // One more alternative: nodes with one of these values of a label.
  VolumeBuilder& OnlyWhere(std::string key, std::vector<std::string> values) {
    if (!volume_.node_affinity) volume_.node_affinity.emplace();
    volume_.node_affinity->terms.push_back(
        {{{std::move(key), k8s::SelectorOperator::kIn, std::move(values)}}, {}});
    return *this;
  }
  VolumeBuilder& For(std::string claim, std::string uid = "") {
    volume_.claim = k8s::ClaimReference{"default", std::move(claim), std::move(uid)};
    return *this;
  }
  VolumeBuilder& Phase(k8s::VolumePhase phase) {
    volume_.phase = phase;
    return *this;
  }
  VolumeBuilder& Csi(std::string driver, std::string handle) {
    volume_.driver = std::move(driver);
    return Disk(k8s::VolumeSource::kCsi, std::move(handle));
  }
  VolumeBuilder& Disk(k8s::VolumeSource source, std::string id) {
    volume_.source = source;
    volume_.id = std::move(id);
    return *this;
  }
  VolumeBuilder& Deleted() {
    volume_.meta.deleted = Time{};
    return *this;
  }
  VolumeBuilder& Version(std::string version) {
    volume_.meta.resource_version = std::move(version);
    return *this;
  }
  operator k8s::PersistentVolume() const { return volume_; }  // NOLINT
  operator k8s::Object() const { return volume_; }            // NOLINT

 private:
  k8s::PersistentVolume volume_;
};

inline k8s::StorageClass MakeClass(std::string name, std::string provisioner,
                                   std::vector<k8s::TopologyTerm> topologies = {}) {
  k8s::StorageClass out;
  out.meta.name = std::move(name);
  out.provisioner = std::move(provisioner);
  out.binding_mode = k8s::BindingMode::kWaitForFirstConsumer;
  out.allowed_topologies = std::move(topologies);
  return out;
}

inline k8s::StorageClass MakeImmediateClass(std::string name, std::string provisioner) {
  k8s::StorageClass out = MakeClass(std::move(name), std::move(provisioner));
  out.binding_mode = k8s::BindingMode::kImmediate;
  return out;
}

inline k8s::CsiNode MakeCsiNode(std::string node, std::vector<k8s::CsiNodeDriver> drivers,
                                std::string migrated = "") {
  k8s::CsiNode out;
  out.meta.name = std::move(node);
  out.drivers = std::move(drivers);
  if (!migrated.empty()) {
    SetSorted(out.meta.annotations, k8s::names::kMigratedPlugins, std::move(migrated));
  }
  return out;
}

inline k8s::CsiDriver MakeDriver(std::string name, bool storage_capacity) {
  k8s::CsiDriver out;
  out.meta.name = std::move(name);
  out.storage_capacity = storage_capacity;
  return out;
}

inline k8s::VolumeAttachment MakeAttachment(std::string name, std::string driver, std::string node,
                                            std::string volume) {
  k8s::VolumeAttachment out;
  out.meta.name = std::move(name);
  out.attacher = std::move(driver);
  out.node_name = std::move(node);
  out.volume_name = std::move(volume);
  return out;
}

// Room in a class for nodes with that label.
inline k8s::CsiStorageCapacity MakeCapacity(std::string name, std::string storage_class,
                                            std::string_view capacity, std::string_view key,
                                            std::string value) {
  k8s::CsiStorageCapacity out;
  out.meta.namespace_ = "kube-system";
  out.meta.name = std::move(name);
  out.storage_class = std::move(storage_class);
  out.capacity = AmountOf(capacity);
  SetSorted(out.node_topology.emplace().match_labels, key, std::move(value));
  return out;
}

}  // namespace knx::cluster::testing
