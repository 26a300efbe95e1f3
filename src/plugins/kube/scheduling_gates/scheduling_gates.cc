#include "plugins/kube/scheduling_gates/scheduling_gates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace knx::plugins {

framework::Outcome SchedulingGates::PreEnqueue(const framework::PodView& pod) const {
  // Gates are the pod's own: its class is the same with and without them.
  if (!pod.id.valid() || pod.state.pod(pod.id).gates.empty()) return framework::Outcome::Success();
  return framework::Outcome::Unresolvable(fmt::format("waiting for scheduling gates: [{}]",
                                                      fmt::join(pod.state.pod(pod.id).gates, " ")));
}

}  // namespace knx::plugins
