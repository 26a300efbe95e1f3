#include "k8s/owner.h"

#include "k8s/names.h"
#include "k8s/selector.h"

namespace knx::k8s {

const OwnerReference* ControllerOf(const ObjectMeta& meta) {
  for (const OwnerReference& owner : meta.owners) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

std::optional<Maker> MakerOf(const ObjectMeta& meta) {
  const OwnerReference* controller = ControllerOf(meta);
  if (controller == nullptr) return std::nullopt;
  const Maker itself{controller->kind, controller->name};
  // A Deployment names its ReplicaSet after itself and a hash, which it puts on the pods as a
  // label. So nobody need look the ReplicaSet up, which may be gone already.
  const std::string* hash = FindValue(meta.labels, names::kPodTemplateHash);
  if (itself.kind != "ReplicaSet" || hash == nullptr) return itself;
  std::string_view name = itself.name;
  if (hash->empty() || !name.ends_with(*hash)) return itself;
  name.remove_suffix(hash->size());
  if (name.size() < 2 || name.back() != '-') return itself;
  name.remove_suffix(1);
  return Maker{"Deployment", name};
}

}  // namespace knx::k8s
