// Annotations with which a pod tells the fake kubelet what its containers will do, and a storage
// class what its provisioner will. Real ones do not know them.
#pragma once

#include <string_view>

namespace knx::scenario {

// How long the pod runs before it ends, as "30s". Without it the pod runs until it is deleted.
inline constexpr std::string_view kRunFor = "sim.kubenexus.io/run-for";
// "Failed" if it ends by failing.
inline constexpr std::string_view kEndsAs = "sim.kubenexus.io/ends-as";
// What becomes of a resize in place: "Done" as without it, "Deferred", "Infeasible".
inline constexpr std::string_view kResize = "sim.kubenexus.io/resize";

// Of a storage class: how long it takes to make a volume, as "30s". Without it no time at all.
inline constexpr std::string_view kProvisionAfter = "sim.kubenexus.io/provision-after";
// A node for which no volume can be made; the scheduler is told to choose another.
inline constexpr std::string_view kFailsOn = "sim.kubenexus.io/fails-on";

}  // namespace knx::scenario
