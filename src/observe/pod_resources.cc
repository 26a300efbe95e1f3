#include "observe/pod_resources.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

#include "cluster/reservation_hold.h"
#include "k8s/names.h"
#include "k8s/pod_requests.h"
#include "observe/exposition.h"
#include "observe/metric_table.h"

namespace knx::observe {
namespace {

namespace names = k8s::names;

std::string_view UnitOf(std::string_view resource) {
  if (resource == names::kCpu) return "cores";
  if (resource == names::kMemory || resource == names::kEphemeralStorage ||
      resource.starts_with("hugepages-")) {
    return "bytes";
  }
  return resource.starts_with("attachable-volumes-") ? "integer" : "";
}

// All samples of one of the two metrics. `amounts_of` gives what a pod has of each resource.
template <class AmountsOf>
void WritePods(const cluster::State& state, const cluster::ResourceNames& resources,
               const MetricSpec& spec, AmountsOf amounts_of, std::string& text) {
  ExpositionWriter writer(text);
  bool first = true;
  constexpr std::size_t kResource = 5, kUnit = 6;
  std::array<std::string, 7> labels;
  for (std::uint32_t i = 0; i < state.pods().id_limit(); ++i) {
    const cluster::PodId id{i};
    if (!state.pods().Contains(id) || cluster::IsHold(state.pod(id))) continue;
    const cluster::Pod& pod = state.pod(id);
    const std::span<const cluster::ResourceAmount> amounts = amounts_of(id);
    if (amounts.empty()) continue;
    const bool bound = pod.node.valid() && !pod.assumed;
    labels = {std::string(state.words().Text(pod.namespace_)),
              pod.name,
              bound ? state.nodes().name(pod.node) : "",
              state.class_of(id).spec.scheduler_name,
              fmt::format("{}", pod.priority),
              "",
              ""};
    for (const cluster::ResourceAmount& entry : amounts) {
      if (std::exchange(first, false)) writer.Head(spec);
      labels[kResource] = resources.Name(entry.id);
      labels[kUnit] = UnitOf(labels[kResource]);
      const auto amount = static_cast<double>(entry.amount);
      writer.Sample(spec, labels, entry.id == cluster::kCpu ? amount / 1000 : amount);
    }
  }
}

}  // namespace

std::string PodResourcesText(const cluster::State& state) {
  std::string text;
  // The limits of a class, as its spec has them, for as long as the page is made.
  absl::flat_hash_map<cluster::ClassId, cluster::ResourceVector> limits;
  cluster::ResourceNames resources = state.resources();  // and those of which there are only limits
  const auto limits_of = [&](cluster::PodId id) -> std::span<const cluster::ResourceAmount> {
    const cluster::Pod& pod = state.pod(id);
    if (pod.limits != nullptr) return *pod.limits;
    const auto [entry, fresh] = limits.try_emplace(pod.pod_class);
    if (fresh) {
      entry->second = ToResourceVector(k8s::PodLimits(state.class_of(id).spec), resources);
    }
    return entry->second;
  };
  WritePods(state, resources, table::kPodLimit, limits_of, text);
  WritePods(
      state, resources, table::kPodRequest,
      [&](cluster::PodId id) -> std::span<const cluster::ResourceAmount> {
        return state.class_of(id).requests;
      },
      text);
  return text;
}

}  // namespace knx::observe
