// Annotations with which a pod tells the fake kubelet what its containers will do. Real kubelets
// do not know them.
#pragma once

#include <string_view>

namespace knx::scenario {

// How long the pod runs before it ends, as "30s". Without it the pod runs until it is deleted.
inline constexpr std::string_view kRunFor = "sim.kubenexus.io/run-for";
// "Failed" if it ends by failing.
inline constexpr std::string_view kEndsAs = "sim.kubenexus.io/ends-as";

}  // namespace knx::scenario
