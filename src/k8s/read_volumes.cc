// Volumes: those of a pod, and the kinds of storage.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "k8s/json_fields.h"
#include "k8s/names.h"
#include "k8s/object_fields.h"
#include "k8s/proto_fields.h"
#include "k8s/yaml_reader.h"
#include "k8s/yaml_tree.h"

namespace knx::k8s {
namespace {

// The sources that a volume of a pod and a PersistentVolume have in common: where they stand, and
// which field says which disk.
struct DiskField {
  std::string_view field, id;
  VolumeSource source;
};
constexpr std::array<DiskField, 7> kDisks = {{
    {"awsElasticBlockStore", "volumeID", VolumeSource::kAwsEbs},
    {"gcePersistentDisk", "pdName", VolumeSource::kGcePd},
    {"azureDisk", "diskURI", VolumeSource::kAzureDisk},
    {"azureFile", "shareName", VolumeSource::kAzureFile},
    {"cinder", "volumeID", VolumeSource::kCinder},
    {"portworxVolume", "volumeID", VolumeSource::kPortworx},
    {"vsphereVolume", "volumePath", VolumeSource::kVsphere},
}};

// With what the API server fills in.
template <class Fields>
void ReadDiskKind(Fields& disk, VolumeSource source, std::string& out) {
  if (source != VolumeSource::kAzureDisk) return;
  out = "Shared";
  disk.Read("kind", out);
}

// `read_only` may be nullptr: not asked for.
template <class Fields, class Source>
void ReadDisks(Fields& fields, Source& out, bool* read_only) {
  for (const DiskField& disk : kDisks) {
    fields.Map(disk.field, [&](Fields& source) {
      out.source = disk.source;
      source.Read(disk.id, out.id);
      ReadDiskKind(source, out.source, out.disk_kind);
      if (read_only != nullptr) source.Read("readOnly", *read_only);
    });
  }
}

template <class Fields>
void ReadRbd(Fields& rbd, Volume& out) {
  out.source = VolumeSource::kRbd;
  rbd.Read("image", out.id);
  // What the API server fills in.
  out.pool = "rbd";
  rbd.Read("pool", out.pool);
  rbd.Read("monitors", out.monitors);
  rbd.Read("readOnly", out.read_only);
}

template <class Fields>
void ReadAccessModes(Fields& spec, std::vector<AccessMode>& out) {
  constexpr std::pair<std::string_view, AccessMode> kWords[] = {
      {"ReadWriteOnce", AccessMode::kReadWriteOnce},
      {"ReadOnlyMany", AccessMode::kReadOnlyMany},
      {"ReadWriteMany", AccessMode::kReadWriteMany},
      {"ReadWriteOncePod", AccessMode::kReadWriteOncePod}};
  std::vector<std::string> texts;
  spec.Read("accessModes", texts);
  for (const std::string& text : texts) {
    const std::size_t before = out.size();
    for (const auto& [word, mode] : kWords) {
      if (text == word) out.push_back(mode);
    }
    if (out.size() == before) {
      spec.Fail("accessModes",
                fmt::format("{} is not an access mode; allowed are ReadWriteOnce, ReadOnlyMany, "
                            "ReadWriteMany, ReadWriteOncePod",
                            Quoted(text)));
    }
  }
}

template <class Fields>
void ReadVolumeMode(Fields& spec, bool& block) {
  spec.ReadEnum("volumeMode", block, {{"", false}, {"Filesystem", false}, {"Block", true}});
}

// The amount of storage in a list of resources.
template <class Fields>
std::optional<Quantity> ReadStorage(Fields& fields, std::string_view key) {
  ResourceList list;
  ReadResourceList(fields, key, list);
  for (const auto& [name, amount] : list) {
    if (name == names::kStorage) return amount;
  }
  return std::nullopt;
}

template <class Fields>
void ReadVolumeSource(Fields& spec, PersistentVolume& out) {
  spec.Map("csi", [&](Fields& csi) {
    out.source = VolumeSource::kCsi;
    csi.Require("driver", out.driver);
    csi.Require("volumeHandle", out.id);
  });
  ReadDisks(spec, out, nullptr);
}

template <class Fields>
void ReadSpec(Fields& spec, PersistentVolume& out) {
  spec.Read("storageClassName", out.storage_class);
  out.capacity = ReadStorage(spec, "capacity").value_or(Quantity{});
  ReadAccessModes(spec, out.access_modes);
  ReadVolumeMode(spec, out.block);
  spec.Read("volumeAttributesClassName", out.attributes_class);
  spec.Map("claimRef", [&](Fields& claim) {
    ClaimReference& reference = out.claim.emplace();
    claim.Read("namespace", reference.namespace_);
    claim.Read("name", reference.name);
    claim.Read("uid", reference.uid);
  });
  spec.Map("nodeAffinity", [&](Fields& affinity) {
    affinity.Map("required", [&](Fields& required) {
      ReadNodeSelector(required, out.node_affinity.emplace());
    });
  });
  ReadVolumeSource(spec, out);
}

template <class Fields>
void ReadTopologyTerm(Fields& term, TopologyTerm& out) {
  term.ForEach("matchLabelExpressions", [&](Fields& expression) {
    TopologyRequirement& requirement = out.emplace_back();
    expression.Require("key", requirement.key);
    expression.Require("values", requirement.values);
  });
}

template <class Fields>
void ReadClaimSpec(Fields& object, PersistentVolumeClaim& out) {
  object.Map("spec", [&](Fields& spec) {
    spec.Read("storageClassName", out.storage_class);
    spec.Read("volumeName", out.volume_name);
    ReadAccessModes(spec, out.access_modes);
    ReadVolumeMode(spec, out.block);
    spec.Map("resources",
             [&](Fields& resources) { out.request = ReadStorage(resources, "requests"); });
    spec.Map("selector", [&](Fields& selector) { ReadSelector(selector, out.selector.emplace()); });
    spec.Read("volumeAttributesClassName", out.attributes_class);
  });
}

}  // namespace

template <class Fields>
void ReadPodVolume(Fields& fields, std::vector<Volume>& out) {
  // What nearly every volume is: a volume has one source, so no other need be looked for.
  for (const std::string_view common :
       {"projected", "configMap", "secret", "emptyDir", "hostPath"}) {
    if (fields.Has(common)) return;
  }
  Volume volume;
  fields.Read("name", volume.name);
  fields.Map("persistentVolumeClaim", [&](Fields& claim) {
    volume.source = VolumeSource::kClaim;
    claim.Require("claimName", volume.id);
  });
  fields.Map("ephemeral", [&](Fields& source) {
    volume.source = VolumeSource::kEphemeral;
    source.Map("volumeClaimTemplate", [&](Fields& fields_of_claim) {
      PersistentVolumeClaim& claim = volume.claim_template.emplace_back();
      ReadTemplateMeta(fields_of_claim, claim.meta);
      ReadClaimSpec(fields_of_claim, claim);
    });
  });
  fields.Map("csi", [&](Fields& csi) {
    volume.source = VolumeSource::kCsi;
    csi.Require("driver", volume.id);
  });
  fields.Map("rbd", [&](Fields& rbd) { ReadRbd(rbd, volume); });
  fields.Map("iscsi", [&](Fields& iscsi) {
    volume.source = VolumeSource::kIscsi;
    iscsi.Read("iqn", volume.id);
    iscsi.Read("readOnly", volume.read_only);
  });
  ReadDisks(fields, volume, &volume.read_only);
  // Only the claim of an ephemeral volume is called by the volume's name.
  if (volume.source != VolumeSource::kEphemeral) volume.name.clear();
  if (volume.source != VolumeSource::kOther) out.push_back(std::move(volume));
}

template <class Fields>
void ReadFields(Fields& object, PersistentVolumeClaim& out) {
  ReadMeta(object, Scope::kNamespaced, out.meta);
  ReadClaimSpec(object, out);
  object.Map("status", [&](Fields& status) {
    status.ReadEnum("phase", out.phase,
                    {{"", ClaimPhase::kPending},
                     {"Pending", ClaimPhase::kPending},
                     {"Bound", ClaimPhase::kBound},
                     {"Lost", ClaimPhase::kLost}});
  });
}

template <class Fields>
void ReadFields(Fields& object, PersistentVolume& out) {
  ReadMeta(object, Scope::kCluster, out.meta);
  object.Map("spec", [&](Fields& spec) { ReadSpec(spec, out); });
  object.Map("status", [&](Fields& status) {
    status.ReadEnum("phase", out.phase,
                    {{"", VolumePhase::kPending},
                     {"Pending", VolumePhase::kPending},
                     {"Available", VolumePhase::kAvailable},
                     {"Bound", VolumePhase::kBound},
                     {"Released", VolumePhase::kReleased},
                     {"Failed", VolumePhase::kFailed}});
  });
}

template <class Fields>
void ReadFields(Fields& object, StorageClass& out) {
  ReadMeta(object, Scope::kCluster, out.meta);
  object.Require("provisioner", out.provisioner);
  object.ReadEnum("volumeBindingMode", out.binding_mode,
                  {{"Immediate", BindingMode::kImmediate},
                   {"WaitForFirstConsumer", BindingMode::kWaitForFirstConsumer}});
  object.ReadEnum("reclaimPolicy", out.retain,
                  {{"Delete", false}, {"Recycle", false}, {"Retain", true}});
  object.ForEach("allowedTopologies", [&](Fields& term) {
    ReadTopologyTerm(term, out.allowed_topologies.emplace_back());
  });
}

template <class Fields>
void ReadFields(Fields& object, CsiNode& out) {
  ReadMeta(object, Scope::kCluster, out.meta);
  object.Map("spec", [&](Fields& spec) {
    spec.ForEach("drivers", [&](Fields& driver) {
      CsiNodeDriver& read = out.drivers.emplace_back();
      driver.Require("name", read.name);
      driver.Map("allocatable", [&](Fields& allocatable) {
        allocatable.Read("count", read.limit, IntegerLimits{.min = 0});
      });
    });
  });
}

template <class Fields>
void ReadFields(Fields& object, CsiDriver& out) {
  ReadMeta(object, Scope::kCluster, out.meta);
  object.Map("spec", [&](Fields& spec) { spec.Read("storageCapacity", out.storage_capacity); });
}

template <class Fields>
void ReadFields(Fields& object, CsiStorageCapacity& out) {
  ReadMeta(object, Scope::kNamespaced, out.meta);
  object.Require("storageClassName", out.storage_class);
  object.Map("nodeTopology",
             [&](Fields& selector) { ReadSelector(selector, out.node_topology.emplace()); });
  object.Read("capacity", out.capacity);
  object.Read("maximumVolumeSize", out.maximum_volume_size);
}

template <class Fields>
void ReadFields(Fields& object, VolumeAttachment& out) {
  ReadMeta(object, Scope::kCluster, out.meta);
  object.Map("spec", [&](Fields& spec) {
    spec.Read("attacher", out.attacher);
    spec.Read("nodeName", out.node_name);
    spec.Map("source",
             [&](Fields& source) { source.Read("persistentVolumeName", out.volume_name); });
  });
}

template void ReadPodVolume(FieldReader&, std::vector<Volume>&);
template void ReadPodVolume(JsonFields&, std::vector<Volume>&);
template void ReadPodVolume(ProtoFields&, std::vector<Volume>&);
template void ReadFields(FieldReader&, PersistentVolumeClaim&);
template void ReadFields(JsonFields&, PersistentVolumeClaim&);
template void ReadFields(ProtoFields&, PersistentVolumeClaim&);
template void ReadFields(FieldReader&, PersistentVolume&);
template void ReadFields(JsonFields&, PersistentVolume&);
template void ReadFields(ProtoFields&, PersistentVolume&);
template void ReadFields(FieldReader&, StorageClass&);
template void ReadFields(JsonFields&, StorageClass&);
template void ReadFields(ProtoFields&, StorageClass&);
template void ReadFields(FieldReader&, CsiNode&);
template void ReadFields(JsonFields&, CsiNode&);
template void ReadFields(ProtoFields&, CsiNode&);
template void ReadFields(FieldReader&, CsiDriver&);
template void ReadFields(JsonFields&, CsiDriver&);
template void ReadFields(ProtoFields&, CsiDriver&);
template void ReadFields(FieldReader&, CsiStorageCapacity&);
template void ReadFields(JsonFields&, CsiStorageCapacity&);
template void ReadFields(ProtoFields&, CsiStorageCapacity&);
template void ReadFields(FieldReader&, VolumeAttachment&);
template void ReadFields(JsonFields&, VolumeAttachment&);
template void ReadFields(ProtoFields&, VolumeAttachment&);

}  // namespace knx::k8s
