#include "sim/full_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/reservation_hold.h"
#include "cluster/state.h"
#include "k8s/names.h"

namespace knx::sim {
namespace {

using cluster::NodeRow;
using cluster::PodId;
using cluster::ResourceId;
using engine::PodStanding;
using engine::QueuePlace;

// What is said of a gang for which no places were found, and there may be some.
constexpr std::string_view kNotFound = "No way was found within";

// What a hold takes: nobody told of it, so that it has to be believed.
Amounts AmountsOf(const cluster::State& state, PodId hold) {
  Amounts out;
  for (const cluster::ResourceAmount& entry : state.usage_of(hold).requests) {
    out.emplace(state.resources().Name(entry.id), entry.amount);
  }
  return out;
}

std::size_t CountHolds(const engine::Engine& engine) {
  std::size_t holds = 0;
  for (const auto& [key, reservation] : engine.reservations().all()) {
    for (const auto& place : reservation.places) holds += place.hold.valid() ? 1 : 0;
  }
  return holds;
}

// The pods that take room on a node: as told and decided, and those which the scheduler has a place
// for but still holds back. `requested` is what they ask for.
std::optional<std::string> ComparePods(const engine::Engine& engine, const ToldView& told,
                                       NodeRow row, const std::string& name, Amounts& requested) {
  const cluster::State& state = engine.state();
  const std::set<std::string>& wanted = told.PodsOn(name);
  std::size_t held_back = 0;
  const auto pods = state.nodes().pods(row);
  for (const PodId id : pods) {
    if (cluster::IsHold(state.pod(id))) {
      Add(requested, AmountsOf(state, id));
      ++held_back;
      continue;
    }
    const std::string& uid = state.pod(id).uid;
    if (!wanted.contains(uid)) {
      if (engine.Standing(uid) != PodStanding::kPaused || told.FindPod(uid) == nullptr) {
        return fmt::format("node {}: pod {} is counted there and should not be", name,
                           state.pod(id).name);
      }
      ++held_back;
    }
    Add(requested, told.FindPod(uid)->requests);
  }
  if (pods.size() == wanted.size() + held_back) return std::nullopt;
  return fmt::format("node {}: {} pods are counted, there are {}", name, pods.size(),
                     wanted.size());
}

std::optional<std::string> CompareSums(const cluster::State& state, const ToldView& told,
                                       NodeRow row, const std::string& name,
                                       const Amounts& requested) {
  const NodePtr node = told.FindNode(name);
  const Amounts allocatable = node == nullptr ? Amounts{} : ToAmounts(node->allocatable);
  for (std::uint32_t i = 0; i < state.resources().size(); ++i) {
    const ResourceId id{i};
    const std::string& resource = state.resources().Name(id);
    const std::int64_t sum = state.nodes().requested(id)[row];
    if (resource != k8s::names::kPods && sum != AmountOf(requested, resource)) {
      return fmt::format("node {}: {} {} requested, its pods ask for {}", name, sum, resource,
                         AmountOf(requested, resource));
    }
    const std::int64_t room = state.nodes().allocatable(id)[row];
    if (room != AmountOf(allocatable, resource)) {
      return fmt::format("node {}: {} {} allocatable, the node says {}", name, room, resource,
                         AmountOf(allocatable, resource));
    }
  }
  return std::nullopt;
}

std::optional<std::string> CompareNode(const engine::Engine& engine, const ToldView& told,
                                       const std::string& name) {
  const cluster::State& state = engine.state();
  const NodeRow row = state.nodes().Find(name);
  const NodePtr node = told.FindNode(name);
  if (!row.valid()) return fmt::format("node {}: not known", name);
  if (state.nodes().has_node(row) != (node != nullptr)) {
    return fmt::format("node {}: {}", name, node == nullptr ? "is gone" : "is not there");
  }
  if (node != nullptr && state.nodes().facts(row).unschedulable != node->unschedulable) {
    return fmt::format("node {}: unschedulable is wrong", name);
  }
  Amounts requested;
  if (auto difference = ComparePods(engine, told, row, name, requested)) return difference;
  return CompareSums(state, told, row, name, requested);
}

std::string_view StandingName(PodStanding standing) {
  switch (standing) {
    case PodStanding::kUnknown:
      return "unknown";
    case PodStanding::kNotOurs:
      return "not ours";
    case PodStanding::kWaiting:
      return "waiting";
    case PodStanding::kPaused:
      return "paused";
    case PodStanding::kBinding:
      return "binding";
    case PodStanding::kBound:
      return "bound";
  }
  return "";
}

bool StandsRight(PodStanding standing, const ToldView& told, const k8s::Pod& pod,
                 const Rules& rules) {
  if (!pod.spec.node_name.empty()) {
    return standing == PodStanding::kBound || standing == PodStanding::kBinding;
  }
  if (const auto* decision = told.FindDecision(pod.meta.uid)) {
    return standing == (decision->answered ? PodStanding::kBound : PodStanding::kBinding);
  }
  if (!rules.contains(pod.spec.scheduler_name)) return standing == PodStanding::kNotOurs;
  return standing == PodStanding::kWaiting || standing == PodStanding::kPaused;
}

std::optional<std::string> CheckQueued(const engine::Engine& engine, const k8s::Pod& pod) {
  const PodId id = engine.state().pods().Find(pod.meta.uid);
  const QueuePlace place = engine.queue().Get(id).place;
  if (place == QueuePlace::kNone) return "waits and is in no queue";
  const bool was_tried = place == QueuePlace::kUnschedulable || place == QueuePlace::kGated;
  if (was_tried && engine.WhyWaiting(pod.meta.uid).empty()) {
    return "waits without a reason";
  }
  return std::nullopt;
}

// Room that is kept on a node, as guests of it.
struct HeldRoom {
  k8s::Pod nobody;
  std::vector<Amounts> amounts;
};
HeldRoom HeldOn(const cluster::State& state, const std::string& node) {
  HeldRoom out;
  const NodeRow row = state.nodes().Find(node);
  if (!row.valid()) return out;
  for (const PodId id : state.nodes().pods(row)) {
    if (cluster::IsHold(state.pod(id))) out.amounts.push_back(AmountsOf(state, id));
  }
  return out;
}

std::vector<Guest> GuestsOn(const ToldView& told, const std::string& node) {
  std::vector<Guest> out;
  for (const std::string& uid : told.PodsOn(node)) {
    const ToldView::Told* guest = told.FindPod(uid);
    out.push_back({guest->pod.get(), &guest->requests});
  }
  return out;
}

}  // namespace

std::optional<std::string> CompareView(const engine::Engine& engine, const ToldView& told) {
  const cluster::State& state = engine.state();
  const std::size_t known = state.pods().size() - CountHolds(engine);
  if (known != told.pods().size()) {
    return fmt::format("{} pods are known, {} were told of", known, told.pods().size());
  }
  if (state.nodes().node_count() != told.nodes().size()) {
    return fmt::format("{} nodes are known, {} were told of", state.nodes().node_count(),
                       told.nodes().size());
  }
  for (const auto& [name, node] : told.nodes()) {
    if (auto difference = CompareNode(engine, told, name)) return difference;
  }
  for (const auto& [name, pods] : told.occupied()) {
    if (told.FindNode(name) != nullptr) continue;
    if (auto difference = CompareNode(engine, told, name)) return difference;
  }
  return std::nullopt;
}

std::optional<std::string> CheckStandings(const engine::Engine& engine, const ToldView& told,
                                          const Rules& rules) {
  for (const auto& [uid, entry] : told.pods()) {
    const k8s::Pod& pod = *entry.pod;
    const PodStanding standing = engine.Standing(uid);
    const auto problem = [&](std::string_view what) {
      return fmt::format("pod {}/{}: {}", pod.meta.namespace_, pod.meta.name, what);
    };
    if (!StandsRight(standing, told, pod, rules)) {
      return problem(fmt::format("is {}, which it should not be", StandingName(standing)));
    }
    if (standing != PodStanding::kWaiting || pod.meta.deleted.has_value()) continue;
    if (const auto wrong = CheckQueued(engine, pod)) return problem(*wrong);
  }
  return std::nullopt;
}

std::optional<std::string> CompareTruth(const Store& store, const ToldView& told) {
  std::size_t unfinished = 0;
  for (const auto& [key, pod] : store.All<k8s::Pod>()) {
    if (IsFinished(*pod)) continue;
    ++unfinished;
    const ToldView::Told* entry = told.FindPod(pod->meta.uid);
    if (entry == nullptr || entry->pod != pod) {
      return fmt::format("pod {}: the scheduler was not told how it is", key);
    }
  }
  if (unfinished != told.pods().size()) {
    return fmt::format("{} pods are there, {} were told of", unfinished, told.pods().size());
  }
  for (const auto& [name, node] : store.All<k8s::Node>()) {
    if (told.FindNode(name) != node) {
      return fmt::format("node {}: the scheduler was not told how it is", name);
    }
  }
  if (store.All<k8s::Node>().size() != told.nodes().size())
    return "nodes were told of that are gone";
  return std::nullopt;
}

std::optional<std::string> CheckWaitingGangs(engine::Engine& engine, const Rules& rules) {
  if (!engine.state().nominations().empty()) return std::nullopt;
  for (const PodId id : engine.queue().List(QueuePlace::kUnschedulable)) {
    const auto rule = rules.find(engine.state().class_of(id).spec.scheduler_name);
    const bool waits = rule != rules.end() && rule->second.gangs && rule->second.complete;
    if (!waits || !engine.state().gang_of(id).valid()) continue;
    const std::string uid = engine.state().pod(id).uid;
    // What takes room may make another place the best one, by which a way is found that nobody had
    // searched for. That wakes nobody.
    const bool not_found = engine.WhyWaiting(uid).find(kNotFound) != std::string::npos;
    if (not_found && !rule->second.searches) continue;
    const auto inquiry = engine.InquireGang(uid, engine::GangQuestion::kWhether);
    const bool placed = inquiry && inquiry->complete &&
                        inquiry->answer == engine::GangAnswer::kPlaced && inquiry->fitting > 0;
    if (!placed) continue;
    return fmt::format("pod group {} waits ({}) although there is room for {} of it", inquiry->name,
                       engine.WhyWaiting(uid), inquiry->fitting);
  }
  return std::nullopt;
}

std::optional<std::string> CheckWaiting(const engine::Engine& engine, const ToldView& told,
                                        const Rules& rules) {
  if (!engine.state().nominations().empty()) return std::nullopt;
  const bool some_keep_away = std::any_of(
      told.pods().begin(), told.pods().end(),
      [](const auto& entry) { return !entry.second.pod->spec.pod_anti_affinity.required.empty(); });
  for (const PodId id : engine.queue().List(QueuePlace::kUnschedulable)) {
    const ToldView::Told* waiting = told.FindPod(engine.state().pod(id).uid);
    if (waiting == nullptr)
      return fmt::format("pod {}: queued and gone", engine.state().pod(id).name);
    const auto rule = rules.find(waiting->pod->spec.scheduler_name);
    if (rule == rules.end() || !rule->second.complete) continue;
    if (rule->second.gangs && engine.state().gang_of(id).valid()) continue;
    if (rule->second.volumes && !waiting->pod->spec.volumes.empty()) continue;
    if (rule->second.devices && !waiting->pod->spec.resource_claims.empty()) continue;
    if (rule->second.pods && (some_keep_away || cluster::SpeaksOfPods(waiting->pod->spec))) {
      continue;
    }
    for (const auto& [name, node] : told.nodes()) {
      if (Forbids(rule->second, *waiting->pod, *node)) continue;
      const Guest guest{waiting->pod.get(), &waiting->requests};
      const HeldRoom held = HeldOn(engine.state(), name);
      std::vector<Guest> others = GuestsOn(told, name);
      for (const Amounts& amounts : held.amounts) others.push_back({&held.nobody, &amounts});
      if (Overfills(rule->second, guest, *node, others)) continue;
      return fmt::format("pod {} waits ({}) although node {} has room for it", KeyOf(*waiting->pod),
                         engine.WhyWaiting(waiting->pod->meta.uid), name);
    }
  }
  return std::nullopt;
}

}  // namespace knx::sim
