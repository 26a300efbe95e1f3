// Disks that Kubernetes once attached itself and leaves to CSI drivers now: under which driver and
// handle they count, and which nodes they can be used on there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "k8s/objects.h"

namespace knx::k8s {

struct CsiVolume {
  std::string driver, handle;
  friend bool operator==(const CsiVolume&, const CsiVolume&) = default;
};

// There is a CSI driver that could take over from the plugin built into Kubernetes.
bool IsMigratable(VolumeSource source);
// The same for a plugin by name, as storage classes have it: "kubernetes.io/aws-ebs".
bool IsMigratablePlugin(std::string_view plugin);

// The plugin that such a disk belonged to; empty for what is not migratable.
std::string_view InTreePlugin(VolumeSource source);
// The driver that has taken over from a plugin; empty if none has (and for other names).
std::string_view MigratedDriver(std::string_view plugin);

// What a driver attaches for the volume. Nothing for what no driver attaches, and for a disk whose
// id it could not make sense of.
std::optional<CsiVolume> AttachedAs(const PersistentVolume& volume);
std::optional<CsiVolume> AttachedAs(const Volume& volume);

// Which nodes the volume can be used on once its driver has taken over: zones become the driver's
// own topology. An error in the words of Kubernetes if the volume cannot be taken over.
Result<std::optional<NodeSelector>> MigratedAffinity(const PersistentVolume& volume);

// Of an annotation storage.alpha.kubernetes.io/migrated-plugins.
bool ListsPlugin(std::string_view annotation, std::string_view plugin);

}  // namespace knx::k8s
