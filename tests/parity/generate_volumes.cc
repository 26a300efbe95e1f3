#include "generate_volumes.h"

#include <iterator>

#include "generate_selectors.h"
#include "json_text.h"

namespace knx::parity {
namespace {

constexpr const char* kDriver = "csi.example.com";
constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr std::int64_t kClaims = 8;  // in each namespace: claim-0 …

std::string Object(std::string_view version, std::string_view kind, const std::string& meta,
                   const std::string& rest) {
  return fmt::format(R"({{"apiVersion":"{}","kind":"{}","metadata":{},{}}})", version, kind, meta,
                     rest);
}

std::string Meta(std::string_view name) {
  return JsonObject().Text("name", name).Text("uid", fmt::format("uid-{}", name)).Done();
}

std::string Requirement(std::string_view key, const std::string& value) {
  return JsonObject()
      .Text("key", key)
      .Text("operator", "In")
      .Raw("values", JsonTexts({value}))
      .Done();
}

void AddClasses(Dice& dice, std::vector<std::string>& out) {
  const auto add = [&](std::string_view name, std::string_view provisioner, std::string_view mode,
                       const std::string& more) {
    out.push_back(Object(
        "storage.k8s.io/v1", "StorageClass", Meta(name),
        fmt::format(R"("provisioner":"{}","volumeBindingMode":"{}"{})", provisioner, mode, more)));
  };
  add("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer", "");
  add("now", kDriver, "Immediate", "");
  std::string topologies;
  if (dice.Feature("allowedTopologies", 30)) {
    topologies =
        R"(,"allowedTopologies":[{"matchLabelExpressions":[{"key":"topology.kubernetes.io/zone","values":["z0","z1"]}]}])";
  }
  add("fast", kDriver, "WaitForFirstConsumer", topologies);
}

std::string VolumeMeta(Dice& dice, const std::string& name) {
  JsonObject meta;
  meta.Text("name", name).Text("uid", "uid-" + name);
  if (dice.Feature("volume with zone label", 30)) {
    meta.Raw("labels", LabelsJson({{kZone, dice.Pick({"z0", "z1", "z0__z2"})}}));
  }
  return meta.Done();
}

struct Volume {
  std::string name, class_name, mode, capacity;
  std::string claim_namespace, claim;  // empty: available
};

void AddVolume(Dice& dice, const Volume& volume, std::int64_t nodes,
               std::vector<std::string>& out) {
  JsonObject spec;
  spec.Raw("capacity", JsonObject().Text("storage", volume.capacity).Done());
  spec.Raw("accessModes", JsonTexts({volume.mode})).Text("storageClassName", volume.class_name);
  spec.Text("volumeMode", "Filesystem");
  spec.Raw("csi", JsonObject().Text("driver", kDriver).Text("volumeHandle", volume.name).Done());
  if (!volume.claim.empty()) {
    spec.Raw("claimRef",
             JsonObject()
                 .Text("namespace", volume.claim_namespace)
                 .Text("name", volume.claim)
                 .Text("uid", fmt::format("uid-{}-{}", volume.claim_namespace, volume.claim))
                 .Done());
  }
  if (dice.Feature("volume with node affinity", 50)) {
    const std::string requirement =
        dice.Chance(50) ? Requirement(kZone, dice.Pick({"z0", "z1", "z2"}))
                        : Requirement("kubernetes.io/hostname",
                                      fmt::format("node-{}", dice.Between(0, nodes - 1)));
    spec.Raw("nodeAffinity",
             fmt::format(R"({{"required":{{"nodeSelectorTerms":[{{"matchExpressions":[{}]}}]}}}})",
                         requirement));
  }
  out.push_back(Object("v1", "PersistentVolume", VolumeMeta(dice, volume.name),
                       fmt::format(R"("spec":{},"status":{{"phase":"{}"}})", spec.Done(),
                                   volume.claim.empty() ? "Available" : "Bound")));
}

void AddClaim(Dice& dice, const std::string& namespace_, std::int64_t number, std::int64_t nodes,
              std::vector<std::string>& out) {
  const std::string name = fmt::format("claim-{}", number);
  const std::string mode = dice.Chance(25) ? "ReadWriteOncePod" : "ReadWriteOnce";
  const std::string class_name = dice.Pick({"local", "fast", "fast", "now", "missing"});
  const std::string size = dice.Pick({"1Gi", "5Gi", "20Gi"});
  JsonObject meta;
  meta.Text("name", name).Text("namespace", namespace_);
  meta.Text("uid", fmt::format("uid-{}-{}", namespace_, name));
  JsonObject spec;
  spec.Raw("accessModes", JsonTexts({mode})).Text("storageClassName", class_name);
  spec.Text("volumeMode", "Filesystem");
  spec.Raw("resources", fmt::format(R"({{"requests":{{"storage":"{}"}}}})", size));
  JsonObject annotations;
  const bool bound = dice.Chance(55);
  const std::string volume = fmt::format("pv-{}-{}", namespace_, name);
  if (bound) {
    spec.Text("volumeName", volume);
    if (!dice.Feature("claim not bound to the end", 4)) {
      annotations.Text("pv.kubernetes.io/bind-completed", "yes");
    }
    if (!dice.Feature("claim without its volume", 4)) {
      AddVolume(dice, {volume, class_name, mode, size, namespace_, name}, nodes, out);
    }
  } else if (dice.Feature("selected node", 10)) {
    annotations.Text("volume.kubernetes.io/selected-node",
                     fmt::format("node-{}", dice.Between(0, nodes - 1)));
  }
  if (!annotations.empty()) meta.Raw("annotations", annotations.Done());
  if (dice.Feature("claim being deleted", 3)) {
    meta.Text("deletionTimestamp", "2026-02-01T00:00:00Z");
  }
  const char* phase = bound ? "Bound" : dice.Feature("lost claim", 2) ? "Lost" : "Pending";
  out.push_back(Object("v1", "PersistentVolumeClaim", meta.Done(),
                       fmt::format(R"("spec":{},"status":{{"phase":"{}"}})", spec.Done(), phase)));
}

void AddDrivers(Dice& dice, std::int64_t nodes, std::vector<std::string>& out) {
  const bool capacity = dice.Feature("storage capacity", 40);
  out.push_back(Object("storage.k8s.io/v1", "CSIDriver", Meta(kDriver),
                       fmt::format(R"("spec":{{"storageCapacity":{}}})", capacity)));
  for (const char* zone : {"z0", "z1", "z2"}) {
    if (!dice.Chance(70)) continue;
    const std::string name = fmt::format("capacity-{}", zone);
    out.push_back(Object(
        "storage.k8s.io/v1", "CSIStorageCapacity",
        JsonObject().Text("name", name).Text("namespace", "default").Text("uid", name).Done(),
        fmt::format(
            R"("storageClassName":"fast","capacity":"{}","nodeTopology":{{"matchLabels":{}}})",
            dice.Pick({"2Gi", "10Gi", "100Gi"}), LabelsJson({{kZone, zone}}))));
  }
  for (std::int64_t i = 0; i < nodes; ++i) {
    if (!dice.Chance(60)) continue;
    out.push_back(Object(
        "storage.k8s.io/v1", "CSINode", Meta(fmt::format("node-{}", i)),
        fmt::format(
            R"("spec":{{"drivers":[{{"name":"{}","nodeID":"n{}","allocatable":{{"count":{}}}}}]}})",
            kDriver, i, dice.Between(0, 3))));
  }
}

void AddAttachments(Dice& dice, std::int64_t nodes, std::vector<std::string>& out) {
  for (std::int64_t i = dice.Between(0, 6); i > 0; --i) {
    const std::string volume =
        fmt::format("pv-{}-claim-{}", dice.Pick(Namespaces()), dice.Between(0, kClaims - 1));
    out.push_back(Object(
        "storage.k8s.io/v1", "VolumeAttachment", Meta(fmt::format("attachment-{}", i)),
        fmt::format(
            R"("spec":{{"attacher":"{}","nodeName":"node-{}","source":{{"persistentVolumeName":"{}"}}}},"status":{{"attached":true}})",
            kDriver, dice.Between(0, nodes - 1), volume)));
  }
}

}  // namespace

std::vector<std::string> StorageJson(Dice& dice, std::int64_t nodes) {
  std::vector<std::string> out;
  AddClasses(dice, out);
  AddDrivers(dice, nodes, out);
  for (std::int64_t i = dice.Between(0, 10); i > 0; --i) {
    AddVolume(
        dice,
        {fmt::format("pv-free-{}", i), "local", dice.Pick({"ReadWriteOnce", "ReadWriteOncePod"}),
         dice.Pick({"2Gi", "5Gi", "50Gi"}), "", ""},
        nodes, out);
  }
  for (const std::string& name : Namespaces()) {
    for (std::int64_t i = 0; i < kClaims; ++i) {
      if (dice.Chance(92)) AddClaim(dice, name, i, nodes, out);
    }
  }
  AddAttachments(dice, nodes, out);
  return out;
}

std::string VolumesJson(Dice& dice) {
  std::vector<std::string> volumes;
  for (std::int64_t i = dice.Between(1, 2); i > 0; --i) {
    const std::string name = fmt::format("v{}", i);
    if (dice.Feature("disk in the pod", 15)) {
      volumes.push_back(
          fmt::format(R"({{"name":"{}","gcePersistentDisk":{{"pdName":"disk-{}","readOnly":{}}}}})",
                      name, dice.Between(0, 3), dice.Chance(40)));
      continue;
    }
    volumes.push_back(
        fmt::format(R"({{"name":"{}","persistentVolumeClaim":{{"claimName":"claim-{}"}}}})", name,
                    dice.Between(0, kClaims - 1)));
  }
  return JsonList(volumes);
}

}  // namespace knx::parity
