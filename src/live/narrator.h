// Says what the scheduler does: hears it from the engine and from the driver, counts it, and writes
// log lines about it. What is written at which verbosity follows kube-scheduler: 0 is for what
// somebody should see, 2 for what became of every pod. Of writes that we have no right to nothing
// is said here: that is one matter, not one of every pod, and client::ApiClient names the right.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "engine/actions.h"
#include "engine/observer.h"
#include "k8s/read_proto.h"
#include "live/steady_clock.h"
#include "observe/log.h"
#include "observe/scheduler_metrics.h"

namespace knx::live {

class Narrator final : public engine::Observer {
 public:
  Narrator(const SteadyClock& clock, observe::SchedulerMetrics& metrics, observe::Log& log)
      : clock_(clock), metrics_(metrics), log_(log) {}
  // Calls without an answer are given up.
  ~Narrator() override;
  Narrator(const Narrator&) = delete;
  Narrator& operator=(const Narrator&) = delete;

  // ---- around calls of the engine ----
  void Handled(Time began);
  void Decided(Time began);

  // ---- writes ----
  using Done = std::function<void(const Status& outcome)>;
  // Counts the call from now to its answer.
  Done Timed(observe::ApiCall call, Done done);
  void StatusWritten(const engine::PodRef& pod, const Status& outcome);
  void GroupStatusWritten(const engine::PatchPodGroup& patch, const Status& outcome);
  void EvictionsPlanned(const engine::PlanEvictions& plan);
  void Evicted(const engine::EvictPod& evict, const Status& outcome);
  void EventWritten(const Status& outcome);
  void EventDropped();

  // ---- watches ----
  void WatchOpened(std::string_view path, bool everything);
  void WatchFailed(std::string_view path);
  // Why; less often than it fails.
  void WatchTrouble(std::string_view path, const Error& error);
  // Counted always, and said if it is news.
  void ObjectRefused(const k8s::RefusedObject& object, bool news);
  void Synced(std::size_t nodes, std::size_t pods);

  // ---- engine::Observer ----
  void OnAttempt(const cluster::State& state, const engine::EndedAttempt& attempt) override;
  void OnQueued(engine::QueuePlace place, framework::EventKind why) override {
    metrics_.Queued(place, why);
  }
  void OnStarved(cluster::PodId pod) override { metrics_.Starved(pod); }
  void OnEvent(framework::EventKind kind) override {
    if (!event_) event_ = kind;
  }
  void OnPreemption(std::size_t victims) override { metrics_.PreemptionTried(victims); }
  void OnGang(const cluster::State& state, const engine::GangReport& report) override;
  void OnGangAttempt(const cluster::State& state, const engine::GangAttempt& attempt) override;
  // Once for every profile.
  void OnIgnored(const cluster::State& state, cluster::PodId pod, engine::Ignored what) override;
  void OnBackfill(const cluster::State& state, const engine::BackfillReport& report) override;
  void OnForeignBind(const cluster::State& state, cluster::PodId pod) override;
  void OnOvercommit(const cluster::State& state, cluster::PodId pod) override;

 private:
  const SteadyClock& clock_;
  observe::SchedulerMetrics& metrics_;
  observe::Log& log_;
  std::set<std::pair<engine::Ignored, std::string>> ignored_;  // by which profile, as was said
  std::array<std::size_t, static_cast<std::size_t>(observe::ApiCall::kCount)> unanswered_{};
  bool forbidden_ = false;  // an answer is being told that says so
  // The first that the present call of the engine brought about: what it is counted for.
  std::optional<framework::EventKind> event_;
  bool gang_ = false;  // the present call of the engine decided about one
};

}  // namespace knx::live
