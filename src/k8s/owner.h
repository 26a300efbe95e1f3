// What an object belongs to.
#pragma once

#include <optional>
#include <string_view>

#include "k8s/objects.h"

namespace knx::k8s {

// The owner that acts for it; nullptr if there is none.
const OwnerReference* ControllerOf(const ObjectMeta& meta);

// What made it, as its author knows it: for a pod of a Deployment the Deployment, whose ReplicaSet
// nobody wrote. Points into `meta`; nullopt if nothing did.
struct Maker {
  std::string_view kind, name;
  friend bool operator==(const Maker&, const Maker&) = default;
};
std::optional<Maker> MakerOf(const ObjectMeta& meta);

}  // namespace knx::k8s
