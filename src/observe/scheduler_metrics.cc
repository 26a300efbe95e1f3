#include "observe/scheduler_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cluster/overcommit.h"
#include "cluster/reservation_hold.h"

namespace knx::observe {
namespace {

using engine::AttemptResult;
using engine::QueuePlace;
using framework::EventKind;

constexpr std::string_view kResultNames[] = {"scheduled", "unschedulable", "error"};
constexpr std::string_view kCallResultNames[] = {"success", "error"};
constexpr std::string_view kCallNames[] = {"pod_binding", "pod_status_patch", "pod_delete",
                                           "event_create", "volume_update"};
constexpr std::string_view kQueueNames[] = {"active", "backoff", "unschedulable"};

// Into kQueueNames. Gated pods come to the unschedulable ones, as in kube-scheduler's queue.
std::size_t QueueOf(QueuePlace place) {
  if (place == QueuePlace::kActive) return 0;
  return place == QueuePlace::kBackoff || place == QueuePlace::kErrorBackoff ? 1 : 2;
}

using Report = MetricRegistry::Report;

void ReportPending(const engine::Engine& engine, const Report& report) {
  const auto count = [&](QueuePlace place) {
    return static_cast<double>(engine.queue().Count(place));
  };
  report({"active"}, count(QueuePlace::kActive));
  report({"backoff"}, count(QueuePlace::kBackoff) + count(QueuePlace::kErrorBackoff));
  report({"gated"}, count(QueuePlace::kGated));
  report({"unschedulable"}, count(QueuePlace::kUnschedulable));
}

void ReportRejected(const engine::Engine& engine, const Report& report) {
  for (const engine::RejectedPods& rejected : engine.queue().CountRejected()) {
    const framework::Profile& profile = engine.profiles()[rejected.profile];
    report({profile.plugins[rejected.plugin]->name(), profile.scheduler_name},
           static_cast<double>(rejected.pods));
  }
}

void ReportCache(const engine::Engine& engine, const Report& report) {
  const cluster::State& state = engine.state();
  std::size_t placed = 0, assumed = 0;
  for (std::uint32_t i = 0; i < state.pods().id_limit(); ++i) {
    const cluster::PodId id{i};
    if (!state.pods().Contains(id) || !state.pod(id).node.valid()) continue;
    if (cluster::IsHold(state.pod(id))) continue;
    ++placed;
    if (state.pod(id).assumed) ++assumed;
  }
  report({"assumed_pods"}, static_cast<double>(assumed));
  report({"nodes"}, static_cast<double>(state.nodes().node_count()));
  report({"pods"}, static_cast<double>(placed));
}

void ReportOvercommitted(const engine::Engine& engine, const Report& report) {
  const cluster::State& state = engine.state();
  std::size_t nodes = 0;
  for (std::uint32_t i = 0; i < state.nodes().row_count(); ++i) {
    if (cluster::IsOvercommitted(state, cluster::NodeRow{i})) ++nodes;
  }
  report({}, static_cast<double>(nodes));
}

void ReportWaitingMembers(const engine::Engine& engine, BoundedNames& names, const Report& report) {
  const cluster::State& state = engine.state();
  std::map<std::string_view, std::size_t> waiting;
  for (std::uint32_t i = 0; i < state.gangs().id_limit(); ++i) {
    if (!state.gangs().Contains(cluster::GangId{i})) continue;
    const cluster::Gang& gang = state.gangs().Get(cluster::GangId{i});
    const auto waits =
        std::count_if(gang.members.begin(), gang.members.end(),
                      [&](cluster::PodId member) { return !state.pod(member).node.valid(); });
    if (waits == 0) continue;
    waiting[names.Name(state.words().Text(gang.namespace_))] += static_cast<std::size_t>(waits);
  }
  for (const auto& [where, pods] : waiting) report({where}, static_cast<double>(pods));
}

void ReportReservations(const engine::Engine& engine, BoundedNames& names, const Report& report) {
  std::map<std::string_view, std::size_t> held;
  for (const auto& [key, reservation] : engine.reservations().all()) {
    if (reservation.stage() != engine::ReservationStage::kHeld) continue;
    ++held[names.Name(reservation.object.meta.namespace_)];
  }
  for (const auto& [where, count] : held) report({where}, static_cast<double>(count));
}

void ReportNextPromise(const engine::Engine& engine, const Report& report) {
  const Time next = engine.NextPromisedStart();
  report({}, next == kNever ? 0 : static_cast<double>(next.ns) / 1e9);
}

std::string_view OutcomeName(engine::GangOutcome outcome) {
  switch (outcome) {
    case engine::GangOutcome::kMembersMissing:
      return "insufficient_pods";
    case engine::GangOutcome::kNoRoom:
      return "insufficient_resources";
    case engine::GangOutcome::kIncomplete:
      return "timeout";
    default:
      return "success";
  }
}

std::string_view SizeName(std::size_t pods) {
  if (pods <= 8) return "1-8";
  if (pods <= 64) return "9-64";
  return pods <= 512 ? "65-512" : "513+";
}

void ReportBytes(const engine::Engine& engine, const Report& report) {
  const engine::Engine::Bytes bytes = engine.bytes();
  const std::pair<std::string_view, std::size_t> parts[] = {
      {"bystanders", bytes.state.bystanders},
      {"caches", bytes.caches},
      {"changes", bytes.state.changes},
      {"classes", bytes.state.classes},
      {"kinship", bytes.state.kinship},
      {"labels", bytes.state.labels},
      {"nodes", bytes.state.nodes},
      {"pods", bytes.state.pods},
      {"queue", bytes.queue},
      {"volumes", bytes.state.volumes},
      {"words", bytes.state.words},
  };
  for (const auto& [part, size] : parts) report({part}, static_cast<double>(size));
}

}  // namespace

// ---- what the engine does ----

void SchedulerMetrics::AttemptEnded(std::string_view profile, const engine::EndedAttempt& attempt,
                                    Duration took, Duration since_ready) {
  const ProfileSeries& series = SeriesOf(profile);
  const auto result = static_cast<std::size_t>(attempt.result);
  series.attempts[result]->Add();
  series.durations[result]->Observe(took.seconds());
  if (attempt.result != AttemptResult::kScheduled) return;
  pod_attempts_.Observe(attempt.number);
  if (attempt.flushed) after_flush_.Add();
  const std::size_t slot = std::min<std::size_t>(attempt.number, kMostAttempts) % kMostAttempts;
  if (sli_[slot] == nullptr) {
    sli_[slot] = &sli_duration_.With(
        {slot == 0 ? fmt::format("{}+", kMostAttempts) : fmt::format("{}", slot)});
  }
  sli_[slot]->Observe(since_ready.seconds());
}

const SchedulerMetrics::ProfileSeries& SchedulerMetrics::SeriesOf(std::string_view profile) {
  for (const ProfileSeries& known : profiles_) {
    if (known.profile == profile) return known;
  }
  ProfileSeries series{.profile = std::string(profile), .attempts = {}, .durations = {}};
  for (std::size_t i = 0; i < kResults; ++i) {
    series.attempts[i] = &schedule_attempts_.With({kResultNames[i], profile});
    series.durations[i] = &attempt_duration_.With({kResultNames[i], profile});
  }
  return profiles_.emplace_back(std::move(series));
}

void SchedulerMetrics::Queued(QueuePlace place, EventKind why) {
  const std::size_t queue = QueueOf(place);
  Counter*& counter = incoming_[queue][static_cast<std::size_t>(why)];
  if (counter == nullptr) {
    counter = &incoming_pods_.With({kQueueNames[queue], framework::EventName(why)});
  }
  counter->Add();
}

void SchedulerMetrics::EventHandled(EventKind kind, Duration took) {
  Histogram*& histogram = handling_[static_cast<std::size_t>(kind)];
  if (histogram == nullptr) histogram = &event_handling_.With({framework::EventName(kind)});
  histogram->Observe(took.seconds());
}

void SchedulerMetrics::PreemptionTried(std::size_t victims) {
  preemption_attempts_.Add();
  if (victims > 0) preemption_victims_.Observe(static_cast<double>(victims));
}

std::string_view BoundedNames::Name(std::string_view name) {
  if (known_.contains(name)) return name;
  if (known_.size() == kMost) return kOther;
  known_.emplace(name);
  return name;
}

void SchedulerMetrics::GangEnded(std::string_view namespace_, const engine::GangReport& report) {
  const std::string_view where = namespaces_.Name(namespace_);
  if (report.outcome == engine::GangOutcome::kBound) {
    return gang_completion_.With({where, SizeName(report.pods)}).Observe(report.waited.seconds());
  }
  gang_decisions_.With({OutcomeName(report.outcome), where}).Add();
  if (report.outcome != engine::GangOutcome::kPlaced) return;
  gang_size_.With({where}).Observe(static_cast<double>(report.pods));
  gang_waiting_.With({where}).Observe(report.waited.seconds());
}

void SchedulerMetrics::GangAttemptEnded(std::string_view profile, engine::GangResult result,
                                        Duration took) {
  constexpr std::string_view kNames[] = {"scheduled", "unschedulable", "waiting_on_preemption",
                                         "error"};
  const std::string_view name = kNames[static_cast<std::size_t>(result)];
  gang_attempts_.With({name, profile}).Add();
  gang_attempt_duration_.With({name, profile}).Observe(took.seconds());
}

void SchedulerMetrics::Starved(cluster::PodId pod) {
  starved_.Add();
  if (engine_ == nullptr) return;
  const cluster::State& state = engine_->state();
  if (!state.gang_of(pod).valid()) return;
  starved_gangs_.With({namespaces_.Name(state.words().Text(state.pod(pod).namespace_))}).Add();
}

void SchedulerMetrics::Backfilled(const engine::BackfillReport& report) {
  constexpr std::string_view kOutcomes[] = {"promised", "started", "passed", "held"};
  backfill_decisions_.With({kOutcomes[static_cast<std::size_t>(report.outcome)]}).Add();
  if (!report.late) return;
  const bool late = *report.late >= Duration{};
  promise_error_.With({late ? "late" : "early"}).Observe(std::abs(report.late->seconds()));
}

// ---- what happens around it ----

SchedulerMetrics::CallSeries& SchedulerMetrics::SeriesOf(ApiCall call) {
  const auto index = static_cast<std::size_t>(call);
  CallSeries& series = calls_[index];
  if (series.pending != nullptr) return series;
  series.pending = &api_calls_pending_.With({kCallNames[index]});
  for (std::size_t i = 0; i < series.ended.size(); ++i) {
    series.ended[i] = &api_calls_.With({kCallNames[index], kCallResultNames[i]});
    series.durations[i] = &api_call_duration_.With({kCallNames[index], kCallResultNames[i]});
  }
  return series;
}

void SchedulerMetrics::CallBegan(ApiCall call) { SeriesOf(call).pending->Add(1); }

void SchedulerMetrics::CallEnded(ApiCall call, bool ok, Duration took) {
  CallSeries& series = SeriesOf(call);
  const std::size_t result = ok ? 0 : 1;
  series.pending->Add(-1);
  series.ended[result]->Add();
  series.durations[result]->Observe(took.seconds());
}

void SchedulerMetrics::CallGivenUp(ApiCall call) { SeriesOf(call).pending->Add(-1); }

void SchedulerMetrics::RequestAnswered(std::string_view method, std::string_view host, int status) {
  const std::string code = status == 0 ? "<error>" : fmt::format("{}", status);
  requests_.With({code, method, host}).Add();
}

void SchedulerMetrics::WatchOpened(std::string_view resource, bool everything) {
  watches_opened_.With({resource, everything ? "list" : "resume"}).Add();
}

// ---- what is only looked up ----

void SchedulerMetrics::AddRead(
    const MetricSpec& spec,
    std::function<void(const engine::Engine&, const MetricRegistry::Report&)> read) {
  registry_.AddCollected(spec,
                         [this, read = std::move(read)](const MetricRegistry::Report& report) {
                           if (engine_ != nullptr) read(*engine_, report);
                         });
}

SchedulerMetrics::SchedulerMetrics() {
  AddRead(table::kPendingPods, ReportPending);
  AddRead(table::kUnschedulablePods, ReportRejected);
  AddRead(table::kCacheSize, ReportCache);
  AddRead(table::kOvercommittedNodes, ReportOvercommitted);
  AddRead(table::kEngineBytes, ReportBytes);
  // Of all the times that the page is read there are no more names than of one.
  AddRead(table::kWaitingMembers, [this](const engine::Engine& engine, const Report& report) {
    ReportWaitingMembers(engine, namespaces_, report);
  });
  AddRead(table::kReservations, [this](const engine::Engine& engine, const Report& report) {
    ReportReservations(engine, namespaces_, report);
  });
  AddRead(table::kNextPromise, ReportNextPromise);
}

void SchedulerMetrics::SetBuild(std::string_view version) {
#if defined(__x86_64__)
  constexpr std::string_view kPlatform = "linux/amd64";
#elif defined(__aarch64__)
  constexpr std::string_view kPlatform = "linux/arm64";
#else
  constexpr std::string_view kPlatform = "linux";
#endif
  build_info_.With({version, __VERSION__, kPlatform}).Set(1);
}

}  // namespace knx::observe
