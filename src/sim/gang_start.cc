#include "sim/gang_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include "k8s/drivers.h"

namespace knx::sim {

using cluster::GangId;
using cluster::PodId;

namespace {

// A driver starts before the pods that it makes.
bool IsOfDriver(const cluster::State& state, const ToldView& told, const cluster::Gang& gang) {
  return std::any_of(gang.members.begin(), gang.members.end(), [&](PodId member) {
    const ToldView::Told* const pod = told.FindPod(state.pod(member).uid);
    return pod != nullptr && k8s::IsDriver(pod->pod->meta.labels);
  });
}

bool HasBegun(const cluster::State& state, const ToldView& told, const cluster::Gang& gang,
              const std::set<std::string>& bound) {
  if (gang.finished > 0) return true;
  return std::any_of(gang.members.begin(), gang.members.end(), [&](PodId member) {
    const std::string& uid = state.pod(member).uid;
    return !bound.contains(uid) && !told.NodeOf(uid).empty();
  });
}

}  // namespace

std::optional<std::string> CheckGangStart(const engine::Engine& engine, const ToldView& told,
                                          const Rules& rules,
                                          std::span<const engine::Action> actions) {
  const cluster::State& state = engine.state();
  std::map<GangId, std::set<std::string>> bound;
  for (const engine::Action& action : actions) {
    const auto* const bind = std::get_if<engine::BindPod>(&action.what);
    const PodId id = bind == nullptr ? PodId() : state.pods().Find(bind->pod.uid);
    const GangId gang = id.valid() ? state.gang_of(id) : GangId();
    if (!gang.valid()) continue;
    const auto rule = rules.find(state.class_of(id).spec.scheduler_name);
    if (rule != rules.end() && rule->second.gangs) bound[gang].insert(bind->pod.uid);
  }
  for (const auto& [id, pods] : bound) {
    const cluster::Gang& gang = state.gangs().Get(id);
    const auto minimum = static_cast<std::size_t>(std::max(gang.minimum, 1));
    if (pods.size() >= minimum || HasBegun(state, told, gang, pods)) continue;
    if (IsOfDriver(state, told, gang)) continue;
    return fmt::format("{} of pod group {}/{} are bound, {} have to start together", pods.size(),
                       state.words().Text(gang.namespace_), gang.name, minimum);
  }
  return std::nullopt;
}

}  // namespace knx::sim
