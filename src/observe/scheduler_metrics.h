// The metrics of the scheduler: what its parts count, and what is read from the engine when
// somebody asks. Every method is cheap enough for the hot path. The names are in metric_table.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "engine/engine.h"
#include "engine/observer.h"
#include "framework/cluster_event.h"
#include "observe/metric_table.h"
#include "observe/metrics.h"

namespace knx::observe {

// What is written to an API server.
enum class ApiCall : std::uint8_t { kBinding, kStatusPatch, kPodDelete, kEvent, kVolume, kCount };

// Names for a label whose values others choose: the first come for themselves, all later ones
// together.
class BoundedNames {
 public:
  static constexpr std::size_t kMost = 100;
  static constexpr std::string_view kOther = "<other>";
  std::string_view Name(std::string_view name);

 private:
  std::set<std::string, std::less<>> known_;
};

class SchedulerMetrics {
 public:
  SchedulerMetrics();
  SchedulerMetrics(const SchedulerMetrics&) = delete;
  SchedulerMetrics& operator=(const SchedulerMetrics&) = delete;

  [[nodiscard]] MetricRegistry& registry() { return registry_; }
  [[nodiscard]] std::string Text() const { return registry_.Text(); }

  // ---- what the engine does ----
  // `took`: this attempt; `since_ready`: since the pod could first be taken.
  void AttemptEnded(std::string_view profile, const engine::EndedAttempt& attempt, Duration took,
                    Duration since_ready);
  void Decided(Duration took) { algorithm_duration_.Observe(took.seconds()); }
  void GangAttemptEnded(std::string_view profile, engine::GangResult result, Duration took);
  void GangDecided(Duration took) { gang_algorithm_duration_.Observe(took.seconds()); }
  void Queued(engine::QueuePlace place, framework::EventKind why);
  void EventHandled(framework::EventKind kind, Duration took);
  void PreemptionTried(std::size_t victims);
  void GangEnded(std::string_view namespace_, const engine::GangReport& report);
  void Backfilled(const engine::BackfillReport& report);
  void BoundByOthers() { foreign_binds_.Add(); }
  void Starved(cluster::PodId pod);
  void Overcommitted() { overcommits_.Add(); }

  // ---- what happens around it ----
  void CallBegan(ApiCall call);
  void CallEnded(ApiCall call, bool ok, Duration took);
  // Nobody waits for its answer any more.
  void CallGivenUp(ApiCall call);
  // One attempt of a request; `status` 0: there was no answer.
  void RequestAnswered(std::string_view method, std::string_view host, int status);
  void ObjectRefused(std::string_view kind) { refused_objects_.With({kind}).Add(); }
  // `everything`: all objects are told anew.
  void WatchOpened(std::string_view resource, bool everything);
  void WatchFailed(std::string_view resource) { watch_troubles_.With({resource}).Add(); }
  void EventDropped() { events_dropped_.Add(); }
  void LoopWasLate(Duration by) { loop_lag_.Observe(by.seconds()); }
  void Leads(std::string_view lease, bool leads) { leader_.With({lease}).Set(leads ? 1 : 0); }

  // ---- what is only looked up ----
  // nullptr: none from here on. The engine must be there as long as it is read from.
  void ReadFrom(const engine::Engine* engine) { engine_ = engine; }
  void SetBuild(std::string_view version);

 private:
  static constexpr std::size_t kKinds = static_cast<std::size_t>(framework::EventKind::kCount);
  static constexpr std::size_t kQueues = 3, kResults = 3;
  static constexpr std::size_t kMostAttempts = 15;  // more of them are one label
  static constexpr std::size_t kCalls = static_cast<std::size_t>(ApiCall::kCount);
  struct ProfileSeries {
    std::string profile;
    std::array<Counter*, kResults> attempts;
    std::array<Histogram*, kResults> durations;
  };
  struct CallSeries {
    Gauge* pending;
    std::array<Counter*, 2> ended;  // success, error
    std::array<Histogram*, 2> durations;
  };

  const ProfileSeries& SeriesOf(std::string_view profile);
  CallSeries& SeriesOf(ApiCall call);
  // Looked up in the engine, while there is one.
  void AddRead(const MetricSpec& spec,
               std::function<void(const engine::Engine&, const MetricRegistry::Report&)> read);

  const engine::Engine* engine_ = nullptr;
  MetricRegistry registry_;
  ValueFamily<Counter>& schedule_attempts_ = registry_.AddCounter(table::kScheduleAttempts);
  ValueFamily<Histogram>& attempt_duration_ = registry_.AddHistogram(table::kAttemptDuration);
  Histogram& algorithm_duration_ = registry_.AddHistogram(table::kAlgorithmDuration).With();
  ValueFamily<Histogram>& sli_duration_ = registry_.AddHistogram(table::kSliDuration);
  Histogram& pod_attempts_ = registry_.AddHistogram(table::kPodAttempts).With();
  Counter& after_flush_ = registry_.AddCounter(table::kAfterFlush).With();
  Counter& preemption_attempts_ = registry_.AddCounter(table::kPreemptionAttempts).With();
  Histogram& preemption_victims_ = registry_.AddHistogram(table::kPreemptionVictims).With();
  ValueFamily<Counter>& gang_attempts_ = registry_.AddCounter(table::kGangAttempts);
  ValueFamily<Histogram>& gang_attempt_duration_ =
      registry_.AddHistogram(table::kGangAttemptDuration);
  Histogram& gang_algorithm_duration_ =
      registry_.AddHistogram(table::kGangAlgorithmDuration).With();
  ValueFamily<Counter>& incoming_pods_ = registry_.AddCounter(table::kIncomingPods);
  ValueFamily<Histogram>& event_handling_ = registry_.AddHistogram(table::kEventHandling);
  ValueFamily<Counter>& api_calls_ = registry_.AddCounter(table::kApiCalls);
  ValueFamily<Histogram>& api_call_duration_ = registry_.AddHistogram(table::kApiCallDuration);
  ValueFamily<Gauge>& api_calls_pending_ = registry_.AddGauge(table::kApiCallsPending);
  ValueFamily<Gauge>& leader_ = registry_.AddGauge(table::kLeader);
  ValueFamily<Counter>& requests_ = registry_.AddCounter(table::kRequests);
  ValueFamily<Counter>& refused_objects_ = registry_.AddCounter(table::kRefusedObjects);
  ValueFamily<Counter>& watches_opened_ = registry_.AddCounter(table::kWatchesOpened);
  ValueFamily<Counter>& watch_troubles_ = registry_.AddCounter(table::kWatchTroubles);
  ValueFamily<Counter>& gang_decisions_ = registry_.AddCounter(table::kGangDecisions);
  ValueFamily<Histogram>& gang_size_ = registry_.AddHistogram(table::kGangSize);
  ValueFamily<Histogram>& gang_waiting_ = registry_.AddHistogram(table::kGangWaiting);
  ValueFamily<Histogram>& gang_completion_ = registry_.AddHistogram(table::kGangCompletion);
  ValueFamily<Counter>& backfill_decisions_ = registry_.AddCounter(table::kBackfillDecisions);
  ValueFamily<Histogram>& promise_error_ = registry_.AddHistogram(table::kPromiseError);
  Counter& overcommits_ = registry_.AddCounter(table::kOvercommits).With();
  Counter& foreign_binds_ = registry_.AddCounter(table::kForeignBinds).With();
  Counter& starved_ = registry_.AddCounter(table::kStarved).With();
  ValueFamily<Counter>& starved_gangs_ = registry_.AddCounter(table::kStarvedGangs);
  Counter& events_dropped_ = registry_.AddCounter(table::kEventsDropped).With();
  Histogram& loop_lag_ = registry_.AddHistogram(table::kLoopLag).With();
  ValueFamily<Gauge>& build_info_ = registry_.AddGauge(table::kBuildInfo);

  BoundedNames namespaces_;
  // Where the values are that are needed all the time; nullptr: not yet.
  std::vector<ProfileSeries> profiles_;
  std::array<std::array<Counter*, kKinds>, kQueues> incoming_{};
  std::array<Histogram*, kKinds> handling_{};
  std::array<Histogram*, kMostAttempts> sli_{};
  std::array<CallSeries, kCalls> calls_{};
};

}  // namespace knx::observe
