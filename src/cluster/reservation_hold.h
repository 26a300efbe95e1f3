// Room that is kept for pods which have yet to come, as a pod of the state. It takes the room as
// any pod does, so that whoever counts what is used counts it, too; no API server knows it.
#pragma once

#include <string>
#include <string_view>

#include "cluster/pod_table.h"
#include "cluster/resources.h"
#include "k8s/objects.h"

namespace knx::cluster {

inline constexpr std::string_view kHoldUid = "reservation/";

[[nodiscard]] inline bool IsHold(const Pod& pod) { return pod.uid.starts_with(kHoldUid); }

// What a place is like.
struct HoldShape {
  std::string name;        // of the place, for people
  std::string id;          // unique among all places
  std::string node;        // empty: any
  k8s::PodSpec like = {};  // where such pods may go; what they ask for does not count
};

// Amounts as objects write them.
[[nodiscard]] k8s::ResourceList ToResourceList(const ResourceVector& amounts,
                                               const ResourceNames& names);

// A pod that asks for `amounts`. It is in no namespace and has no labels, so that nobody who speaks
// of pods means it, and is more important than any pod, so that it is nobody's victim.
[[nodiscard]] k8s::Pod MakeHold(const HoldShape& shape, const ResourceVector& amounts,
                                const ResourceNames& names);

}  // namespace knx::cluster
