#include "measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "engine/engine.h"
#include "framework/config.h"
#include "framework/profile_builder.h"
#include "plugins/registry.h"

namespace knx::bench {
namespace {

using Clock = std::chrono::steady_clock;

double MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double ResidentMegabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

// Drives the engine as a live scheduler would, with an API server that answers at once.
class Run {
 public:
  explicit Run(const Workload& workload, std::vector<framework::Profile> profiles)
      : workload_(workload), engine_({}, std::move(profiles)) {}

  void Prepare() {
    for (std::int32_t i = 0; i < workload_.nodes; ++i) {
      engine_.Handle(engine::NodeUpserted{MakeNode(workload_, i)}, now_);
    }
    for (std::int32_t i = 0; i < workload_.present; ++i) {
      engine_.Handle(engine::PodUpserted{MakePresentPod(workload_, i)}, now_);
    }
    for (std::int32_t i = 0; i < workload_.waiting; ++i) {
      engine_.Handle(engine::PodUpserted{MakeWaitingPod(workload_, i)}, now_);
    }
    DecideAll();
    bound_ = 0;
    latencies_.clear();
    latencies_.reserve(static_cast<std::size_t>(workload_.pods));
    if (workload_.decode_as_they_come) return;
    for (std::int32_t i = 0; i < workload_.pods; ++i) {
      events_.emplace_back(engine::PodUpserted{MakePod(workload_, i)});
    }
  }

  // Pods come one by one; those of a gang together, or all that there are.
  void DecideEveryPod() {
    const std::int32_t together =
        workload_.at_once ? workload_.pods : std::max<std::int32_t>(workload_.gang, 1);
    for (std::int32_t i = 0; i < workload_.pods; i += together) {
      now_ = now_ + Duration::Nanoseconds(1000);
      const Clock::time_point start = Clock::now();
      for (std::int32_t j = i; j < std::min(i + together, workload_.pods); ++j) HandOver(j);
      // What a gang costs is all of it, from its first pod on.
      together == 1 ? DecideAll() : DecideAll(start);
    }
  }

  [[nodiscard]] std::int64_t bound() const { return bound_; }
  [[nodiscard]] std::vector<double>& latencies() { return latencies_; }
  [[nodiscard]] engine::Engine& engine() { return engine_; }
  void DropEvents() { events_ = {}; }

 private:
  void HandOver(std::int32_t i) {
    if (workload_.decode_as_they_come) {
      engine_.Handle(engine::PodUpserted{MakePod(workload_, i)}, now_);
    } else {
      engine_.Handle(events_[static_cast<std::size_t>(i)], now_);
    }
  }

  void DecideAll(Clock::time_point start = Clock::now()) {
    while (engine_.ScheduleOne(now_)) CarryOutAll();
    latencies_.push_back(MicrosecondsSince(start));
  }

  void CarryOutAll() {
    for (auto actions = engine_.TakeActions(); !actions.empty(); actions = engine_.TakeActions()) {
      for (const engine::Action& action : actions) CarryOut(action);
    }
  }

  void CarryOut(const engine::Action& action) {
    if (std::holds_alternative<engine::BindPod>(action.what)) {
      ++bound_;
    } else if (const auto* evict = std::get_if<engine::EvictPod>(&action.what)) {
      engine_.Handle(engine::PodDeleted{evict->pod.uid}, now_);
    } else if (workload_.priority == 0 ||
               !std::holds_alternative<engine::PatchPodStatus>(action.what)) {
      return;
    }
    engine_.Handle(engine::ActionFinished{action.id, std::nullopt}, now_);
  }

  const Workload& workload_;
  engine::Engine engine_;
  std::vector<engine::Event> events_;
  std::vector<double> latencies_;
  std::int64_t bound_ = 0;
  Time now_{1'700'000'000'000'000'000};
};

double Percentile(std::vector<double>& values, double share) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

Result<std::vector<framework::Profile>> ProfilesFor(const Workload& workload) {
  if (workload.shape != Shape::kGang) {
    return framework::BuildProfiles(framework::DefaultConfiguration(), plugins::AllPlugins());
  }
  KNX_TRY(const auto config,
          framework::ReadConfiguration(
              "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
              "profiles: [{plugins: {multiPoint: {enabled: [{name: Coscheduling}, "
              "{name: GangPreemption}]}}}]\n",
              "gangs"));
  return framework::BuildProfiles(config, plugins::AllPlugins());
}

Status CheckRefusals(const Workload& workload, const engine::Engine& engine) {
  if (workload.refusal.empty()) return Ok();
  for (std::int32_t i = 0; i < workload.pods; ++i) {
    const std::string why = engine.WhyWaiting(MakePod(workload, i).meta.uid);
    if (why.find(workload.refusal) == std::string::npos) {
      return InvalidError(fmt::format("{}: a pod says {:?}", workload.name, why));
    }
  }
  return Ok();
}

}  // namespace

Result<Measurement> Measure(const Workload& workload) {
  KNX_TRY(auto profiles, ProfilesFor(workload));
  Run run(workload, std::move(profiles));
  run.Prepare();
  const Clock::time_point start = Clock::now();
  run.DecideEveryPod();
  const double total_us = MicrosecondsSince(start);

  const std::int32_t expected = workload.refusal.empty() ? workload.pods : 0;
  if (run.bound() != expected) {
    return InvalidError(
        fmt::format("{}: {} of {} pods were bound", workload.name, run.bound(), expected));
  }
  KNX_TRY_DONE(CheckRefusals(workload, run.engine()));
  if (const auto difference = run.engine().Verify()) {
    return InvalidError(fmt::format("{}: {}", workload.name, *difference));
  }
  run.DropEvents();
  Measurement out;
  out.total_ms = total_us / 1000;
  out.per_second = workload.pods / (total_us / 1e6);
  out.p50_us = Percentile(run.latencies(), 0.50);
  out.p99_us = Percentile(run.latencies(), 0.99);
  out.rss_mb = ResidentMegabytes();
  const engine::Engine::Bytes bytes = run.engine().bytes();
  out.counted_mb = static_cast<double>(bytes.total()) / (1 << 20);
  out.bytes_per_pod =
      static_cast<double>(bytes.state.pods + bytes.state.labels + bytes.state.classes) /
      static_cast<double>(workload.pods + workload.present + workload.waiting);
  return out;
}

}  // namespace knx::bench
