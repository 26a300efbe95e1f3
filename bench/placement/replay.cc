#include "replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "engine/engine.h"
#include "framework/config.h"
#include "framework/profile_builder.h"
#include "k8s/names.h"
#include "plugins/registry.h"

namespace knx::bench {
namespace {

constexpr Time kBegin{1'700'000'000'000'000'000};

// Nodes that are fullest are filled first, so that whole ones stay free for whoever needs them.
std::string ConfigurationOf(const Machine& machine, const Policy& policy) {
  const std::string backfill = policy.args.empty() ? "" : ", {name: BackfillScoring}";
  const std::string args =
      policy.args.empty()
          ? ""
          : fmt::format("  - {{name: BackfillScoring, args: {{{}}}}}\n", policy.args);
  return fmt::format(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "profiles:\n"
      "- schedulerName: default-scheduler\n"
      "  plugins:\n"
      "    queueSort: {{disabled: [{{name: '*'}}], enabled: [{{name: Coscheduling}}]}}\n"
      "    postFilter: {{disabled: [{{name: '*'}}]}}\n"
      "    score: {{disabled: [{{name: '*'}}], enabled: [{{name: NodeResourcesFit}}{}]}}\n"
      "  pluginConfig:\n"
      "  - {{name: Coscheduling, args: {{starvationBoost: 0}}}}\n"
      "  - name: NodeResourcesFit\n"
      "    args: {{scoringStrategy: {{type: MostAllocated, resources: [{{name: {}, weight: "
      "1}}]}}}}\n{}",
      backfill, machine.resource, args);
}

k8s::Quantity Amount(std::int64_t amount) {
  const auto parsed = k8s::Quantity::Parse(fmt::format("{}", amount));
  KNX_CHECK(parsed.ok(), "a whole number is no amount");
  return *parsed;
}

k8s::Node MakeNode(const Machine& machine, std::int32_t i) {
  k8s::Node node;
  node.meta.name = fmt::format("node-{:04}", i);
  node.allocatable = {{machine.resource, Amount(machine.per_node)}, {"pods", Amount(1000)}};
  std::sort(node.allocatable.begin(), node.allocatable.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  node.capacity = node.allocatable;
  return node;
}

// As large as a node, and the last one as large as what is left.
std::vector<k8s::Pod> MakePods(const Job& job, std::size_t number, const Machine& machine) {
  const std::int32_t count = (job.size + machine.per_node - 1) / machine.per_node;
  std::vector<k8s::Pod> pods;
  for (std::int32_t i = 0; i < count; ++i) {
    k8s::Pod& pod = pods.emplace_back();
    pod.meta.namespace_ = "default";
    pod.meta.name = fmt::format("job-{}-{}", number, i);
    pod.meta.uid = pod.meta.name;
    pod.meta.annotations = {{std::string(k8s::names::kExpectedDuration),
                             fmt::format("{}ms", job.run.ns / Duration::Milliseconds(1).ns)}};
    if (count > 1) {
      pod.meta.labels = {
          {std::string(k8s::names::kGangMinAvailable), fmt::format("{}", count)},
          {std::string(k8s::names::kGangName), fmt::format("job-{}", number)},
      };
    }
    pod.spec.scheduler_name = k8s::names::kDefaultScheduler;
    const std::int32_t size = std::min(machine.per_node, job.size - i * machine.per_node);
    pod.spec.containers.emplace_back().resources.requests = {{machine.resource, Amount(size)}};
  }
  return pods;
}

class Run {
 public:
  Run(const Jobs& jobs, const Machine& machine, engine::EngineOptions options,
      std::vector<framework::Profile> profiles)
      : jobs_(jobs), machine_(machine), engine_(std::move(options), std::move(profiles)) {
    for (std::int32_t i = 0; i < machine.nodes; ++i) {
      engine_.Handle(engine::NodeUpserted{MakeNode(machine, i)}, kBegin);
    }
    outcome_.started.assign(jobs.size(), Duration::Nanoseconds(-1));
    unbound_.assign(jobs.size(), 0);
  }

  Result<Outcome> Play() {
    while (next_ < jobs_.size() || !running_.empty()) {
      Duration at = next_ < jobs_.size() ? jobs_[next_].submitted : running_.top().first;
      if (!running_.empty()) at = std::min(at, running_.top().first);
      now_ = at;
      EndJobs();
      SubmitJobs();
      engine_.Advance(kBegin + now_);
      while (engine_.ScheduleOne(kBegin + now_)) CarryOutAll();
    }
    outcome_.ended = now_;
    if (waiting_ > 0) return InvalidError(fmt::format("{} jobs were never started", waiting_));
    if (const auto difference = engine_.Verify()) return InvalidError(*difference);
    return std::move(outcome_);
  }

 private:
  using End = std::pair<Duration, std::size_t>;

  void EndJobs() {
    while (!running_.empty() && running_.top().first <= now_) {
      const std::size_t job = running_.top().second;
      running_.pop();
      for (k8s::Pod& pod : MakePods(jobs_[job], job, machine_)) {
        const std::string uid = pod.meta.uid;
        pod.status.phase = k8s::PodPhase::kSucceeded;
        engine_.Handle(engine::PodUpserted{std::move(pod)}, kBegin + now_);
        engine_.Handle(engine::PodDeleted{uid}, kBegin + now_);
      }
    }
  }

  void SubmitJobs() {
    for (; next_ < jobs_.size() && jobs_[next_].submitted <= now_; ++next_) {
      std::vector<k8s::Pod> pods = MakePods(jobs_[next_], next_, machine_);
      unbound_[next_] = pods.size();
      ++waiting_;
      for (k8s::Pod& pod : pods) {
        engine_.Handle(engine::PodUpserted{std::move(pod)}, kBegin + now_);
      }
    }
  }

  void CarryOutAll() {
    for (auto actions = engine_.TakeActions(); !actions.empty(); actions = engine_.TakeActions()) {
      for (const engine::Action& action : actions) {
        const auto* bind = std::get_if<engine::BindPod>(&action.what);
        if (bind != nullptr) NoteBound(bind->pod.name);
        if (bind != nullptr || std::holds_alternative<engine::PatchPodStatus>(action.what)) {
          engine_.Handle(engine::ActionFinished{action.id, std::nullopt}, kBegin + now_);
        }
      }
    }
  }

  // "job-12-0"
  void NoteBound(const std::string& pod) {
    const std::size_t job = std::stoull(pod.substr(pod.find('-') + 1));
    if (--unbound_[job] > 0) return;
    outcome_.started[job] = now_;
    running_.push({now_ + jobs_[job].run, job});
    --waiting_;
  }

  const Jobs& jobs_;
  const Machine& machine_;
  engine::Engine engine_;
  Outcome outcome_;
  std::vector<std::size_t> unbound_;  // pods, by job
  std::priority_queue<End, std::vector<End>, std::greater<>> running_;
  std::size_t next_ = 0, waiting_ = 0;
  Duration now_;
};

}  // namespace

Result<Outcome> Replay(const Jobs& jobs, const Machine& machine, const Policy& policy) {
  const auto too_large = std::find_if(jobs.begin(), jobs.end(),
                                      [&](const Job& job) { return job.size > machine.total(); });
  if (too_large != jobs.end()) {
    return InvalidError(fmt::format("a job wants {} of {}", too_large->size, machine.total()));
  }
  KNX_TRY(const auto config,
          framework::ReadConfiguration(ConfigurationOf(machine, policy), policy.name));
  KNX_TRY(auto profiles, framework::BuildProfiles(config, plugins::AllPlugins()));
  engine::EngineOptions options;
  options.queue.max_backoff = {};  // who failed is tried again whenever something has ended
  return Run(jobs, machine, std::move(options), std::move(profiles)).Play();
}

}  // namespace knx::bench
