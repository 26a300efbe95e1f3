#include "sim/unheeded.h"

#include <fmt/format.h>

#include <string_view>

namespace knx::sim {

using engine::Ignored;

namespace {

constexpr std::string_view kWhereToName = "(--config F, or config: in a scenario)";

std::string TextOf(Ignored what, const std::string& profile) {
  switch (what) {
    case Ignored::kGang:
      return fmt::format(
          "of a gang, but placed one by one, because the profile {:?} lacks Coscheduling; name it "
          "in the plugins of that profile {}",
          profile, kWhereToName);
    case Ignored::kDriver:
      return fmt::format(
          "drives its gang, but no room is kept for the pods that it makes, because no profile has "
          "ResourceReservation; name it in the plugins of one {}",
          kWhereToName);
    case Ignored::kRunTime:
      break;
  }
  return fmt::format(
      "says how long it runs, but no start is promised by that, because no profile has "
      "BackfillScoring; name it in the plugins of one {}",
      kWhereToName);
}

}  // namespace

void Unheeded::OnIgnored(const cluster::State& state, cluster::PodId id, Ignored what) {
  const cluster::Pod& pod = state.pod(id);
  // What no profile does is the same in all.
  const std::string profile =
      what == Ignored::kGang ? state.class_of(id).spec.scheduler_name : std::string();
  const auto [entry, is_new] = pods_.try_emplace({what, profile}, Pods{});
  if (!is_new) {
    ++entry->second.others;
    return;
  }
  entry->second.first = fmt::format("{}/{}", state.words().Text(pod.namespace_), pod.name);
}

std::vector<std::string> Unheeded::Texts() const {
  std::vector<std::string> out;
  for (const auto& [key, pods] : pods_) {
    const std::string more = pods.others == 0 ? "" : fmt::format(" and {} more", pods.others);
    out.push_back(
        fmt::format("pod {}{}: {}", pods.first, more, TextOf(key.first, key.second)));
  }
  return out;
}

std::string UnheededReservations() {
  return fmt::format(
      "ResourceReservations hold nothing, because no profile has ResourceReservation; name it in "
      "the plugins of one {}",
      kWhereToName);
}

}  // namespace knx::sim
