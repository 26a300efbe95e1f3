#include "k8s/csi_migration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "k8s/names.h"
#include "k8s/selector.h"

namespace knx::k8s {
namespace {

struct Migration {
  VolumeSource source;
  std::string_view plugin, driver;
  bool done;  // the driver has taken over everywhere
  std::string_view topology_key = {};
};
constexpr std::array<Migration, 7> kMigrations = {{
    {VolumeSource::kAwsEbs, "kubernetes.io/aws-ebs", "ebs.csi.aws.com", true,
     "topology.ebs.csi.aws.com/zone"},
    {VolumeSource::kGcePd, "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", true,
     "topology.gke.io/zone"},
    {VolumeSource::kCinder, "kubernetes.io/cinder", "cinder.csi.openstack.org", true,
     "topology.cinder.csi.openstack.org/zone"},
    {VolumeSource::kAzureDisk, "kubernetes.io/azure-disk", "disk.csi.azure.com", true},
    {VolumeSource::kPortworx, "kubernetes.io/portworx-volume", "pxd.portworx.com", true},
    {VolumeSource::kAzureFile, "kubernetes.io/azure-file", "file.csi.azure.com", false},
    {VolumeSource::kVsphere, "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", false},
}};

const Migration* Find(VolumeSource source) {
  const auto found = std::find_if(kMigrations.begin(), kMigrations.end(),
                                  [source](const auto& m) { return m.source == source; });
  return found == kMigrations.end() ? nullptr : &*found;
}

std::vector<std::string> Split(std::string_view text, std::string_view delimiter) {
  std::vector<std::string> out;
  for (std::size_t end = text.find(delimiter); end != std::string_view::npos;
       end = text.find(delimiter)) {
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end + delimiter.size());
  }
  out.emplace_back(text);
  return out;
}

// "aws://zone/vol-1" and "aws:///vol-1" are other ways to write "vol-1".
Result<std::string> EbsVolumeId(const std::string& id) {
  constexpr std::string_view kScheme = "aws://";
  if (!id.starts_with(kScheme)) return id;
  const std::size_t path = id.find('/', kScheme.size());
  std::string_view rest =
      path == std::string::npos ? std::string_view{} : std::string_view(id).substr(path);
  while (rest.starts_with('/')) rest.remove_prefix(1);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  if (!rest.starts_with("vol-") || rest.find('/') != std::string_view::npos) {
    return InvalidError(
        fmt::format("failed to translate Kubernetes ID to EBS Volume ID Invalid "
                    "format for AWS volume ({})",
                    id));
  }
  return std::string(rest);
}

Result<std::string> RegionOf(const std::vector<std::string>& zones) {
  std::set<std::string> regions;
  for (const std::string& zone : zones) {
    const std::vector<std::string> parts = Split(zone, "-");
    if (parts.size() != 3) {
      return InvalidError(
          fmt::format("failed to get region from zones: zone in unexpected format, expected: "
                      "{{locale}}-{{region}}-{{zone}}, got: {}",
                      zone));
    }
    regions.insert(fmt::format("{}-{}", parts[0], parts[1]));
  }
  if (regions.size() != 1) {
    return InvalidError(
        "failed to get region from zones: multiple or no regions gotten from "
        "zones");
  }
  return *regions.begin();
}

constexpr std::string_view kUnspecified = "UNSPECIFIED";

Result<std::string> GceHandle(const PersistentVolume& volume) {
  const std::string* label = FindValue(volume.meta.labels, names::kZoneBeta);
  if (label == nullptr || label->empty()) label = FindValue(volume.meta.labels, names::kZone);
  const std::vector<std::string> zones =
      Split(label == nullptr ? std::string_view{} : *label, names::kZoneDelimiter);
  if (zones.size() > 1) {
    KNX_TRY(const std::string region, RegionOf(zones));
    return fmt::format("projects/{}/regions/{}/disks/{}", kUnspecified, region, volume.id);
  }
  return fmt::format("projects/{}/zones/{}/disks/{}", kUnspecified,
                     zones.front().empty() ? kUnspecified : zones.front(), volume.id);
}

bool IsManagedDisk(const std::string& kind) {
  constexpr std::string_view kManaged = "managed";
  return kind.empty() ||
         std::equal(kind.begin(), kind.end(), kManaged.begin(), kManaged.end(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
         });
}

Result<std::string> HandleOf(const PersistentVolume& volume) {
  switch (volume.source) {
    case VolumeSource::kAwsEbs:
      return EbsVolumeId(volume.id);
    case VolumeSource::kGcePd:
      return GceHandle(volume);
    case VolumeSource::kAzureDisk:
      if (IsManagedDisk(volume.disk_kind)) return volume.id;
      return InvalidError(
          fmt::format("kind({}) is not supported in csi migration", volume.disk_kind));
    default:
      return volume.id;
  }
}

// ---- zones ----

bool NamesKey(const std::optional<NodeSelector>& affinity, std::string_view key) {
  if (!affinity) return false;
  return std::any_of(affinity->terms.begin(), affinity->terms.end(), [key](const auto& term) {
    return std::any_of(term.match_expressions.begin(), term.match_expressions.end(),
                       [key](const Requirement& r) { return r.key == key; });
  });
}

bool HasValues(const std::optional<NodeSelector>& affinity, std::string_view key) {
  if (!affinity) return false;
  return std::any_of(affinity->terms.begin(), affinity->terms.end(), [key](const auto& term) {
    return std::any_of(term.match_expressions.begin(), term.match_expressions.end(),
                       [key](const Requirement& r) { return r.key == key && !r.values.empty(); });
  });
}

void ReplaceKey(NodeSelector& affinity, std::string_view old_key, std::string_view new_key) {
  for (NodeSelectorTerm& term : affinity.terms) {
    for (Requirement& requirement : term.match_expressions) {
      if (requirement.key == old_key) requirement.key = new_key;
    }
  }
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// Every term gets a condition on the driver's zone.
void AddZones(std::optional<NodeSelector>& affinity, std::string_view key, std::string_view label) {
  std::set<std::string> zones;
  for (const std::string& zone : Split(label, names::kZoneDelimiter)) {
    if (const std::string_view trimmed = Trimmed(zone); !trimmed.empty()) zones.emplace(trimmed);
  }
  if (zones.empty()) return;
  if (!affinity) affinity.emplace();
  if (affinity->terms.empty()) affinity->terms.emplace_back();
  for (NodeSelectorTerm& term : affinity->terms) {
    term.match_expressions.push_back(
        {std::string(key), SelectorOperator::kIn, {zones.begin(), zones.end()}});
  }
}

// Whether the volume speaks of zones in the words used before Kubernetes 1.17.
bool SpeaksBeta(const PersistentVolume& volume) {
  if (NamesKey(volume.node_affinity, names::kZone)) return false;
  if (NamesKey(volume.node_affinity, names::kZoneBeta)) return true;
  if (FindValue(volume.meta.labels, names::kZone) != nullptr) return false;
  return FindValue(volume.meta.labels, names::kZoneBeta) != nullptr;
}

}  // namespace

bool IsMigratable(VolumeSource source) { return Find(source) != nullptr; }

bool IsMigratablePlugin(std::string_view plugin) {
  return std::any_of(kMigrations.begin(), kMigrations.end(),
                     [plugin](const Migration& m) { return m.plugin == plugin; });
}

std::string_view InTreePlugin(VolumeSource source) {
  const Migration* migration = Find(source);
  return migration == nullptr ? std::string_view{} : migration->plugin;
}

std::string_view MigratedDriver(std::string_view plugin) {
  for (const Migration& migration : kMigrations) {
    if (migration.plugin == plugin && migration.done) return migration.driver;
  }
  return {};
}

std::optional<CsiVolume> AttachedAs(const PersistentVolume& volume) {
  if (volume.source == VolumeSource::kCsi) return CsiVolume{volume.driver, volume.id};
  const Migration* migration = Find(volume.source);
  if (migration == nullptr || !migration->done) return std::nullopt;
  auto handle = HandleOf(volume);
  if (!handle.ok()) return std::nullopt;
  return CsiVolume{std::string(migration->driver), *std::move(handle)};
}

std::optional<CsiVolume> AttachedAs(const Volume& volume) {
  if (!IsMigratable(volume.source)) return std::nullopt;
  PersistentVolume same;
  same.source = volume.source;
  same.id = volume.id;
  same.disk_kind = volume.disk_kind;
  return AttachedAs(same);
}

Result<std::optional<NodeSelector>> MigratedAffinity(const PersistentVolume& volume) {
  KNX_TRY_DONE([&]() -> Status {
    KNX_TRY([[maybe_unused]] const std::string handle, HandleOf(volume));
    return Ok();
  }());
  std::optional<NodeSelector> out = volume.node_affinity;
  const Migration* migration = Find(volume.source);
  if (migration == nullptr || migration->topology_key.empty()) return out;
  const bool beta = SpeaksBeta(volume);
  const std::string_view zone = beta ? names::kZoneBeta : names::kZone;
  if (HasValues(out, zone)) {
    ReplaceKey(*out, zone, migration->topology_key);
  } else if (const std::string* label = FindValue(volume.meta.labels, zone)) {
    AddZones(out, migration->topology_key, *label);
  }
  if (beta && HasValues(out, names::kRegionBeta)) {
    ReplaceKey(*out, names::kRegionBeta, names::kRegion);
  }
  return out;
}

bool ListsPlugin(std::string_view annotation, std::string_view plugin) {
  const std::vector<std::string> listed = Split(annotation, ",");
  return std::find(listed.begin(), listed.end(), plugin) != listed.end();
}

}  // namespace knx::k8s
