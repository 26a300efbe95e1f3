#include "k8s/owner.h"

namespace knx::k8s {

const OwnerReference* ControllerOf(const ObjectMeta& meta) {
  for (const OwnerReference& owner : meta.owners) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

}  // namespace knx::k8s
