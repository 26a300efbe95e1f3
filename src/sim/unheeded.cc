#include "sim/unheeded.h"

#include <fmt/format.h>

namespace knx::sim {

void Unheeded::OnGangIgnored(const cluster::State& state, cluster::PodId id) {
  const cluster::Pod& pod = state.pod(id);
  const auto [entry, is_new] =
      of_gangs_.try_emplace(state.class_of(id).spec.scheduler_name, Pods{});
  if (!is_new) {
    ++entry->second.others;
    return;
  }
  entry->second.first = fmt::format("{}/{}", state.words().Text(pod.namespace_), pod.name);
}

std::vector<std::string> Unheeded::Texts() const {
  std::vector<std::string> out;
  for (const auto& [profile, pods] : of_gangs_) {
    const std::string more = pods.others == 0 ? "" : fmt::format(" and {} more", pods.others);
    out.push_back(
        fmt::format("pod {}{}: of a gang, but placed one by one, because the profile {:?} lacks "
                    "Coscheduling; name it in the plugins of that profile (--config F, or config: "
                    "in a scenario)",
                    pods.first, more, profile));
  }
  return out;
}

std::string UnheededReservations() {
  return "ResourceReservations hold nothing, because no profile has ResourceReservation; name it "
         "in "
         "the plugins of one (--config F, or config: in a scenario)";
}

}  // namespace knx::sim
