// Random work that runs as long as it says, or ends earlier, on nodes that take a moment to start
// it: nobody starts later than it was promised, but for these moments, and all come to their start,
// at once where nobody runs any more.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

struct PromisedJob {
  int cpu = 1, members = 1;
  Duration said, run;  // `run`: what it really takes, which may be less
  Duration latency;    // from being placed to running
  Duration unheard;    // from its end until that is known
  bool may_pass = true;
  std::optional<Time> promised, placed;
};

class PromiseWorld {
 public:
  PromiseWorld()
      : harness_(EngineOptions{},
                 testing::ProfilesWith(
                     {"Coscheduling", "BackfillScoring"},
                     fmt::format("{{name: BackfillScoring, args: {{mode: {}, "
                                 "order: {}, shareNodes: {}}}}}",
                                 *rc::gen::element("easy", "conservative", "conservative"),
                                 *rc::gen::element("fcfs", "sjf", "best"),
                                 *rc::gen::arbitrary<bool>()))) {
    const int nodes = *rc::gen::inRange(1, 5);
    for (int i = 0; i < nodes; ++i) {
      const int cpus = *rc::gen::element(1, 2, 4);
      largest_ = std::max(largest_, cpus);
      all_ += cpus;
      harness_.Node(cluster::testing::NodeBuilder(fmt::format("node-{}", i))
                        .Has("cpu", std::to_string(cpus))
                        .Has("memory", "64Gi")
                        .Has("pods", "110"));
    }
  }

  void Add(int number) {
    PromisedJob job;
    const bool gang = *rc::gen::inRange(0, 3) == 0;
    job.members = gang ? std::min(*rc::gen::inRange(2, 5), all_) : 1;
    job.cpu = job.members > 1 ? 1 : std::min(*rc::gen::element(1, 1, 2, 4), largest_);
    job.said = job.run = Duration::Seconds(*rc::gen::element(10, 20, 30, 60, 100));
    if (*rc::gen::inRange(0, 4) == 0) job.said = job.run * *rc::gen::element(2, 10, 100);
    job.latency = Duration::Milliseconds(*rc::gen::element(0, 0, 5, 300, 1000, 2000));
    job.unheard = Duration::Milliseconds(*rc::gen::element(0, 3, 10));
    job.may_pass = *rc::gen::inRange(0, 7) > 0;
    lateness_ = lateness_ + job.latency + job.unheard;
    const std::string name = fmt::format("job-{}", number);
    jobs_[name] = job;
    for (int i = 0; i < job.members; ++i) harness_.Pod(Object(name, i));
    Decide();
  }

  void RunFor(Duration time) {
    const Time until = harness_.now() + time;
    for (;;) {
      const Time next = events_.empty() ? kNever : events_.begin()->first;
      const Time moment = std::min({until, next, harness_.engine().NextWake()});
      harness_.Pass(std::max(moment - harness_.now(), Duration{}));
      Decide();
      while (!events_.empty() && events_.begin()->first <= harness_.now()) {
        const Event event = events_.begin()->second;
        events_.erase(events_.begin());
        Tell(event);
        Decide();
      }
      if (moment == until) return;
    }
  }

  void Finish() {
    const auto waits = [&] {
      return std::any_of(jobs_.begin(), jobs_.end(),
                         [](const auto& entry) { return !entry.second.placed; });
    };
    for (int i = 0; i < 200 && waits(); ++i) {
      const bool idle = events_.empty();
      RunFor(Duration::Seconds(10));
      if (idle && events_.empty()) RC_FAIL("nobody runs, and nobody of those who wait starts");
    }
    for (const auto& [name, job] : jobs_) {
      if (!job.placed) RC_FAIL(name + " never starts: " + harness_.Why(name + "-0"));
    }
    RC_ASSERT(harness_.engine().Verify().value_or("equal") == "equal");
  }

 private:
  struct Event {
    std::string job;
    bool ends = false;
  };

  k8s::Pod Object(const std::string& name, int member) {
    const PromisedJob& job = jobs_.at(name);
    cluster::testing::PodBuilder builder(fmt::format("{}-{}", name, member));
    builder.Asks("cpu", std::to_string(job.cpu));
    if (job.members > 1) {
      builder.Label("pod-group.scheduling.kubenexus.io/name", name);
      builder.Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(job.members));
    }
    k8s::Pod pod = builder;
    const auto seconds = job.said.ns / Duration::Seconds(1).ns;
    pod.meta.annotations = {
        {"backfill.scheduling.kubenexus.io/eligible", job.may_pass ? "true" : "false"},
        {"scheduling.kubenexus.io/expected-duration", fmt::format("{}s", seconds)}};
    pod.spec.node_name = harness_.NodeOf(pod.meta.name);
    return pod;
  }

  void Tell(const Event& event) {
    const PromisedJob& job = jobs_.at(event.job);
    for (int i = 0; i < job.members; ++i) {
      k8s::Pod pod = Object(event.job, i);
      pod.status.start_time = *job.placed + job.latency;
      pod.status.phase = event.ends ? k8s::PodPhase::kSucceeded : k8s::PodPhase::kRunning;
      harness_.Pod(pod);
      if (event.ends) harness_.PodGone(pod.meta.name);
    }
  }

  // Notes who has started, and what the others are promised.
  void Decide() {
    harness_.ScheduleAndBind();
    const Time now = harness_.now();
    for (auto& [name, job] : jobs_) {
      if (job.placed) continue;
      const std::string first = name + "-0";
      if (harness_.NodeOf(first).empty()) {
        NotePromise(job, harness_.Why(first));
        continue;
      }
      job.placed = now;
      events_.emplace(now + job.latency, Event{name});
      events_.emplace(now + job.latency + job.run + job.unheard, Event{name, true});
      // To the second it is said.
      if (job.promised && now > *job.promised + lateness_ + Duration::Seconds(1)) {
        RC_FAIL(fmt::format("{} was promised {} and starts at {}", name, FormatTime(*job.promised),
                            FormatTime(now)));
      }
    }
  }

  static void NotePromise(PromisedJob& job, const std::string& why) {
    constexpr std::string_view kSaid = "It is promised to start by ";
    const std::size_t at = why.find(kSaid);
    if (job.promised || at == std::string::npos) return;
    const std::string text = why.substr(at + kSaid.size());
    const auto read = ParseTime(text.substr(0, text.find('Z') + 1));
    RC_ASSERT(read.ok());
    job.promised = *read;
  }

  testing::Harness harness_;
  int largest_ = 0, all_ = 0;
  std::map<std::string, PromisedJob> jobs_;
  std::multimap<Time, Event> events_;
  Duration lateness_;  // of all that have come, together
};

RC_GTEST_PROP(BackfillProperty, NobodyStartsLaterThanPromisedButForWhatStartsTake, ()) {
  PromiseWorld world;
  const int jobs = *rc::gen::inRange(4, 14);
  for (int i = 0; i < jobs; ++i) {
    world.Add(i);
    const int pause = *rc::gen::element(0, 0, 10, 1000, 5000, 25000);
    world.RunFor(Duration::Milliseconds(pause));
  }
  world.Finish();
}

}  // namespace
}  // namespace knx::engine
