#include "sim/outcome_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "k8s/enum_names.h"
#include "k8s/names.h"
#include "k8s/owner.h"
#include "k8s/pod_requests.h"
#include "sim/amounts.h"

namespace knx::sim {
namespace {

std::optional<Duration> Since(const std::optional<Time>& time) {
  if (!time.has_value()) return std::nullopt;
  return *time - kBegin;
}

PodOutcome OutcomeOf(const k8s::Pod& pod) {
  PodOutcome out;
  out.namespace_ = pod.meta.namespace_;
  out.name = pod.meta.name;
  out.uid = pod.meta.uid;
  out.scheduler_name = pod.spec.scheduler_name;
  if (const auto maker = MakerOf(pod.meta)) {
    out.owner = fmt::format("{}/{}", maker->kind, maker->name);
  }
  out.priority = pod.spec.priority.value_or(0);
  out.node = pod.spec.node_name;
  out.phase = NameOf(pod.status.phase);
  out.terminating = pod.meta.deleted.has_value();
  for (const auto& [name, amount] : k8s::PodRequests(pod.spec)) {
    out.requests.emplace_back(name, amount.ToString());
  }
  out.created = Since(pod.meta.created).value_or(Duration{});
  out.started = Since(pod.status.start_time);
  if (const auto* scheduled = FindCondition(pod.status.conditions, k8s::names::kPodScheduled)) {
    out.condition_status = scheduled->status;
    out.reason = scheduled->reason;
    out.message = scheduled->message;
    if (scheduled->status == "True") out.placed = Since(scheduled->last_transition);
  }
  if (const auto* ready = FindCondition(pod.status.conditions, "Ready"); ready && IsFinished(pod)) {
    out.finished = Since(ready->last_transition);
  }
  return out;
}

// cpu and memory first, as people expect.
int ResourceRank(const std::string& name) {
  if (name == k8s::names::kCpu) return 0;
  return name == k8s::names::kMemory ? 1 : 2;
}

NodeUse UseOf(const Store& store, const k8s::Node& node) {
  NodeUse out;
  out.name = node.meta.name;
  const k8s::Condition* ready = FindCondition(node.conditions, "Ready");
  out.ready = ready == nullptr || ready->status == "True";
  out.unschedulable = node.unschedulable;
  for (const k8s::Taint& taint : node.taints) {
    const std::string value = taint.value.empty() ? "" : "=" + taint.value;
    out.taints.push_back(fmt::format("{}{}:{}", taint.key, value, NameOf(taint.effect)));
  }
  Amounts requested;
  for (const std::string& key : store.PodsOn(node.meta.name)) {
    const PodPtr pod = store.Find<k8s::Pod>(key);
    if (IsFinished(*pod)) continue;
    ++out.pods;
    Add(requested, RequestsOf(*pod));
  }
  requested[std::string(k8s::names::kPods)] = out.pods;
  const Amounts allocatable = ToAmounts(node.allocatable);
  Amounts names = allocatable;
  names.insert(requested.begin(), requested.end());
  for (const auto& [name, amount] : names) {
    out.resources.push_back({name, AmountOf(requested, name), AmountOf(allocatable, name)});
  }
  std::stable_sort(out.resources.begin(), out.resources.end(), [](const auto& a, const auto& b) {
    return ResourceRank(a.name) < ResourceRank(b.name);
  });
  return out;
}

std::string_view NameOf(engine::ReservationStage stage) {
  switch (stage) {
    case engine::ReservationStage::kPlanned:
      return "not started";
    case engine::ReservationStage::kWaiting:
      return "waits for room";
    case engine::ReservationStage::kMakingRoom:
      return "room is being made";
    case engine::ReservationStage::kHeld:
      return "held";
    case engine::ReservationStage::kUsed:
      return "used";
    case engine::ReservationStage::kExpired:
      return "expired";
  }
  return "";
}

ReservationOutcome::Amounts Written(const std::map<std::string, k8s::Quantity>& sums) {
  ReservationOutcome::Amounts out;
  for (const auto& [name, amount] : sums) out.emplace_back(name, amount.ToString());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return ResourceRank(a.first) < ResourceRank(b.first);
  });
  return out;
}

ReservationOutcome OutcomeOf(const engine::Reservation& reservation, const cluster::State& state) {
  ReservationOutcome out;
  out.namespace_ = reservation.object.meta.namespace_;
  out.name = reservation.object.meta.name;
  out.for_driver = reservation.object.meta.uid.empty();
  out.state = NameOf(reservation.stage());
  const bool waits = reservation.stage() == engine::ReservationStage::kWaiting ||
                     reservation.stage() == engine::ReservationStage::kMakingRoom;
  if (waits) out.why = reservation.why;
  out.places = std::ssize(reservation.places);
  out.begins = reservation.begins - kBegin;
  out.ends = reservation.ends - kBegin;
  std::map<std::string, k8s::Quantity> held, used;
  const auto add = [&](auto& sums, const cluster::ResourceVector& amounts) {
    for (const cluster::ResourceAmount& entry : amounts) {
      k8s::Quantity& sum = sums[state.resources().Name(entry.id)];
      sum = sum + (entry.id == cluster::kCpu ? k8s::Quantity::FromMilli(entry.amount)
                                             : k8s::Quantity::FromUnits(entry.amount));
    }
  };
  for (const engine::Reservation::Place& place : reservation.places) {
    if (place.hold.valid() && state.pod(place.hold).node.valid()) add(held, place.left);
  }
  for (const auto& [pod, user] : reservation.users()) {
    for (const engine::Reservation::Taken& taken : user.taken) add(used, taken.amounts);
  }
  out.held = Written(held);
  out.used = Written(used);
  return out;
}

// Those that the scheduler looks at, and of the others that they are there.
std::vector<ReservationOutcome> Reservations(const Store& store, const engine::Engine* engine) {
  std::map<std::string, ReservationOutcome> by_key;
  for (const auto& [key, object] : store.All<k8s::ResourceReservation>()) {
    ReservationOutcome& out = by_key[engine::KeyOf(*object)];
    out.namespace_ = object->meta.namespace_;
    out.name = object->meta.name;
    out.state = "without effect";
    out.places = std::ssize(object->places);
  }
  if (engine != nullptr) {
    for (const auto& [key, reservation] : engine->reservations().all()) {
      by_key[key] = OutcomeOf(reservation, engine->state());
    }
  }
  std::vector<ReservationOutcome> out;
  for (auto& [key, reservation] : by_key) out.push_back(std::move(reservation));
  return out;
}

}  // namespace

void Report(Cluster& cluster, SimulationResult& result) {
  const Store& store = cluster.store();
  const SchedulerDriver& scheduler = cluster.scheduler();
  result.ended = cluster.now();
  result.settled = cluster.Settled();
  for (const auto& [key, pod] : store.All<k8s::Pod>()) result.pods.push_back(OutcomeOf(*pod));
  std::sort(result.pods.begin(), result.pods.end(), [](const PodOutcome& a, const PodOutcome& b) {
    return std::tie(a.namespace_, a.name) < std::tie(b.namespace_, b.name);
  });
  for (const auto& [name, node] : store.All<k8s::Node>()) {
    result.nodes.push_back(UseOf(store, *node));
  }
  result.reservations = Reservations(store, cluster.scheduler().engine());
  const Tally& tally = cluster.tally();
  SimulationCounts& counts = result.counts;
  counts.pods_created = tally.created;
  counts.pods_placed = tally.placed;
  counts.pods_succeeded = tally.succeeded;
  counts.pods_failed = tally.failed;
  counts.pods_deleted = tally.deleted;
  counts.pods_waiting = tally.waiting;
  counts.pods_running = tally.running;
  counts.evictions = cluster.api().evictions();
  counts.bind_failures = scheduler.counts().bind_failures;
  counts.failed_attempts = scheduler.counts().failures;
  counts.faults = cluster.scheduler().faults().struck();
  counts.scheduler_restarts = scheduler.counts().restarts;
  counts.steps = scheduler.invariants_view().steps();
  counts.full_checks = scheduler.invariants_view().full_checks();
  result.violation = cluster.violation();
  result.log = scheduler.log().lines();
  result.log_lines = scheduler.log().count();
  result.hash = scheduler.log().hash();
}

}  // namespace knx::sim
