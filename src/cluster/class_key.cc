#include <algorithm>

#include "cluster/key_writer.h"
#include "cluster/pod_class.h"
#include "k8s/selector.h"

namespace knx::cluster {
namespace {

// What a pod says about others is meant in its own namespace, and may be about labels it shares
// with them.
void PutRelations(const k8s::PodSpec& spec, const k8s::ObjectMeta& meta, KeyWriter& key) {
  key.Put('R');
  key.Put(meta.namespace_);
  key.Put(spec.pod_affinity);
  key.Put(spec.pod_anti_affinity);
  key.Put(spec.topology_spread);
  for (const k8s::TopologySpreadConstraint& constraint : spec.topology_spread) {
    for (const std::string& label : constraint.match_label_keys) {
      const std::string* value = k8s::FindValue(meta.labels, label);
      key.Put(static_cast<std::uint8_t>(value != nullptr));
      if (value != nullptr) key.Put(*value);
    }
  }
}

bool HasSource(const k8s::PodSpec& spec, k8s::VolumeSource source) {
  return std::any_of(spec.volumes.begin(), spec.volumes.end(),
                     [source](const k8s::Volume& volume) { return volume.source == source; });
}

void PutVolumes(const k8s::PodSpec& spec, const k8s::ObjectMeta& meta, KeyWriter& key) {
  key.Put('V');
  key.Put(spec.volumes);
  // A claim is another one in another namespace; one that is made for a pod belongs to it alone.
  const bool ephemeral = HasSource(spec, k8s::VolumeSource::kEphemeral);
  if (ephemeral || HasSource(spec, k8s::VolumeSource::kClaim)) key.Put(meta.namespace_);
  if (!ephemeral) return;
  key.Put(meta.name);
  key.Put(meta.uid);
}

}  // namespace

bool SpeaksOfPods(const k8s::PodSpec& spec) {
  return !spec.pod_affinity.empty() || !spec.pod_anti_affinity.empty() ||
         !spec.topology_spread.empty();
}

void AppendClassKey(const k8s::PodSpec& spec, const k8s::ObjectMeta& meta, std::string& out) {
  KeyWriter key(out);
  key.Put(spec.scheduler_name);
  key.Put(spec.preemption_policy);
  key.Put(spec.node_selector);
  key.Put(spec.node_affinity);
  key.Put(spec.tolerations);
  key.Put(spec.containers);
  key.Put(spec.init_containers);
  key.Put(spec.image_volumes);
  key.Put(spec.overhead);
  key.Put(spec.resources);
  key.Put(static_cast<std::uint8_t>(spec.host_network && !spec.host_users));
  // From here on only what some pods have, each with a letter in front.
  if (!spec.volumes.empty()) PutVolumes(spec, meta, key);
  if (SpeaksOfPods(spec)) PutRelations(spec, meta, key);
}

}  // namespace knx::cluster
