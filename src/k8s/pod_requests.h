// How much a pod asks for, as kube-scheduler adds it up: containers, sidecars, the peak of the init
// containers, resources of the pod as a whole, overhead, and a resize that is under way.
#pragma once

#include <cstdint>

#include "k8s/objects.h"

namespace knx::k8s {

// What a pod that is not running yet asks for.
ResourceList PodRequests(const PodSpec& spec);

// What a pod that is on a node takes there: while a resize is under way the larger of what it asks
// for and what its status says it has, container by container; the status alone if the node refused
// the resize for good.
ResourceList PodRequestsInPlace(const Pod& pod);
// What a pod may use at most, added up in the same way; overhead counts where there is a limit.
ResourceList PodLimits(const PodSpec& spec);
// Of two pods with the same containers.
bool HaveSameLimits(const PodSpec& a, const PodSpec& b);
// False for almost every pod: its status adds nothing to what the spec says.
bool HasResizeStatus(const Pod& pod);

// What scoring assumes a pod uses: as its requests, but a container that does not mention cpu
// (memory) counts with 100m (200 MiB). An explicit zero stays zero.
inline constexpr std::int64_t kAssumedMilliCpu = 100;
inline constexpr std::int64_t kAssumedMemoryBytes = std::int64_t{200} * 1024 * 1024;
struct AssumedUsage {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;
  friend bool operator==(const AssumedUsage&, const AssumedUsage&) = default;
};
AssumedUsage AssumedPodUsage(const PodSpec& spec);
AssumedUsage AssumedPodUsageInPlace(const Pod& pod);
// The same without the resources of the pod as a whole: the scorer of NodeResourcesFit does not
// look at them for the pod it places, although it does for the pods that are there already.
AssumedUsage AssumedContainerUsage(const PodSpec& spec);

}  // namespace knx::k8s
