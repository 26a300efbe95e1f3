#include "engine/gang_shortage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "engine/kind_room.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;
using cluster::ResourceId;

namespace {

// Also where the members that are there may not be: others of the gang, which are made later, may.
std::int64_t FreeInAll(const cluster::State& state, ResourceId resource) {
  std::int64_t free = 0;
  state.nodes().present().ForEach([&](std::uint32_t row) {
    if (!state.TakesPods(state.nodes().facts(NodeRow{row}))) return;
    free = cluster::SaturatingAdd(free, FreeOn(state, NodeRow{row}, resource));
  });
  return free;
}

std::int64_t UsedBy(const cluster::State& state, const cluster::Gang& gang, ResourceId resource) {
  std::int64_t used = 0;
  for (const PodId member : gang.members) {
    const cluster::Pod& pod = state.pod(member);
    if (!pod.node.valid() || pod.leaves()) continue;
    const bool of_pods = resource == cluster::kPods;
    used = cluster::SaturatingAdd(
        used, of_pods ? 1 : cluster::AmountOf(state.usage_of(member).requests, resource));
  }
  return used;
}

}  // namespace

std::vector<GangShortage> FindShortages(const cluster::State& state, cluster::GangId id) {
  const cluster::Gang& gang = state.gangs().Get(id);
  const bool started = gang.finished > 0 || gang.placed >= static_cast<std::uint32_t>(gang.minimum);
  if (gang.resources.empty() || started) return {};
  std::vector<GangShortage> shortages;
  for (const auto& [resource, wanted] : gang.resources) {
    const GangShortage found{resource, wanted, FreeInAll(state, resource),
                             UsedBy(state, gang, resource)};
    if (cluster::SaturatingAdd(found.free, found.own) < wanted) shortages.push_back(found);
  }
  return shortages;
}

std::string Describe(const cluster::State& state, const std::vector<GangShortage>& shortages) {
  std::vector<std::string> texts;
  for (const GangShortage& shortage : shortages) {
    const std::string& name = state.resources().Name(shortage.resource);
    const auto amount = [&](std::int64_t value) { return cluster::FormatAmount(name, value); };
    std::string text =
        fmt::format("{} {}{}, {} are free", amount(shortage.wanted), name,
                    texts.empty() ? " in all (minResources)" : "", amount(shortage.free));
    if (shortage.own > 0) text += fmt::format(" and {} its own", amount(shortage.own));
    texts.push_back(std::move(text));
  }
  return fmt::format("needs {}", fmt::join(texts, "; "));
}

}  // namespace knx::engine
