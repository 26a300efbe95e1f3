#include "runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "client/api_client.h"
#include "client/event_recorder.h"
#include "client/pod_writer.h"
#include "connection.h"
#include "flood.h"
#include "watcher.h"

namespace knx::bench {
namespace {

// A loop with a server to talk to, and what went wrong.
class Stage {
 public:
  static Result<std::unique_ptr<Stage>> Make(const LiveLoad& load) {
    KNX_TRY(client::ApiClient::Options options, ConnectionTo(load.kubeconfig));
    return std::unique_ptr<Stage>(new Stage(std::move(options), load));
  }
  net::EventLoop& loop() { return loop_; }
  client::ApiClient& api() { return api_; }

  void Create(std::string path, std::string body, Flood::Answered answered) {
    api_.Send({.method = "POST", .path = std::move(path), .body = std::move(body)},
              std::move(answered));
  }
  void Fail(std::string why) {
    if (!failure_) failure_ = std::move(why);
    loop_.Stop();
  }
  // Until somebody stops the loop.
  Status Run() {
    loop_.Run();
    if (failure_) return Error{ErrorKind::kUnavailable, *failure_, {}};
    return Ok();
  }
  // Sends `count` of them and waits.
  Status SendAll(int count, int at_a_time, const std::function<void(int, Flood::Answered)>& send) {
    int next = 0;
    Flood flood(
        at_a_time,
        [&](Flood::Answered answered) {
          if (next == count) return false;
          send(next++, std::move(answered));
          return true;
        },
        [this] { loop_.Stop(); });
    flood.Start();
    KNX_TRY_DONE(Run());
    if (flood.failed() == 0) return Ok();
    return Error{ErrorKind::kUnavailable,
                 fmt::format("{} of {} calls failed, the first one with: {}", flood.failed(), count,
                             flood.first_failure()),
                 {}};
  }

 private:
  Stage(client::ApiClient::Options options, const LiveLoad& load)
      : api_(loop_, std::move(options)) {
    loop_.After(Duration::Seconds(load.timeout_seconds),
                [this, load] { Fail(fmt::format("not done within {} s", load.timeout_seconds)); });
  }

  net::EventLoop loop_;
  client::ApiClient api_;
  std::optional<std::string> failure_;
};

std::string PodsPath(std::string_view space) {
  return fmt::format("/api/v1/namespaces/{}/pods", space);
}

double Seconds(Time time) { return static_cast<double>(time.ns) / 1e9; }

void Say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

struct Writers {
  explicit Writers(client::ApiClient& api) : pods(api), events(api) {}
  client::PodWriter pods;
  client::EventRecorder events;
};

// As a scheduler would: a binding, and when it is done an event.
void BindOne(Writers& writers, int i, int nodes, Flood::Answered answered) {
  const client::PodName pod{std::string(kMeasured), PodNameOf(i), ""};
  const std::string node = NodeNameOf(i % nodes);
  writers.pods.Bind(
      pod, node, [&writers, pod, node, answered = std::move(answered)](const Status& outcome) {
        if (!outcome.ok()) return answered(outcome);
        client::PodEvent event;
        event.regarding = pod;
        event.reason = "Scheduled";
        event.action = "Binding";
        event.note =
            fmt::format("Successfully assigned {}/{} to {}", pod.namespace_, pod.name, node);
        event.controller = "default-scheduler";
        event.instance = "binder";
        event.when = Time{};
        writers.events.Record(event, answered);
      });
}

}  // namespace

Status Fill(const LiveLoad& load) {
  KNX_TRY(const std::unique_ptr<Stage> stage, Stage::Make(load));
  KNX_TRY_DONE(stage->SendAll(2, 1, [&](int i, Flood::Answered answered) {
    stage->Create("/api/v1/namespaces", NamespaceJson(i == 0 ? kMeasured : kPresent),
                  std::move(answered));
  }));
  if (load.shape == LiveShape::kPreemption) {
    KNX_TRY_DONE(stage->SendAll(1, 1, [&](int, Flood::Answered answered) {
      stage->Create("/apis/scheduling.k8s.io/v1/priorityclasses", PriorityClassJson(),
                    std::move(answered));
    }));
  }
  KNX_TRY_DONE(stage->SendAll(load.nodes, load.at_a_time, [&](int i, Flood::Answered answered) {
    stage->Create("/api/v1/nodes", NodeJson(load.shape, i), std::move(answered));
  }));
  KNX_TRY_DONE(stage->SendAll(load.present, load.at_a_time, [&](int i, Flood::Answered answered) {
    stage->Create(PodsPath(kPresent), PresentPodJson(load.shape, i, load.nodes),
                  std::move(answered));
  }));
  return stage->SendAll(load.pods, load.at_a_time, [&](int i, Flood::Answered answered) {
    stage->Create(PodsPath(kMeasured), PodJson(load.shape, i), std::move(answered));
  });
}

Status BindAll(const LiveLoad& load) {
  KNX_TRY(const std::unique_ptr<Stage> stage, Stage::Make(load));
  Writers writers(stage->api());
  return stage->SendAll(load.pods, load.at_a_time, [&](int i, Flood::Answered answered) {
    BindOne(writers, i, load.nodes, std::move(answered));
  });
}

Status WatchAll(const LiveLoad& load) {
  KNX_TRY(const std::unique_ptr<Stage> stage, Stage::Make(load));
  const auto wanted = static_cast<std::size_t>(load.pods);
  Time first = kNever, last_bound, last_event;
  std::unique_ptr<Watcher> watcher;
  watcher = std::make_unique<Watcher>(
      stage->loop(), stage->api(),
      Watcher::Callbacks{
          .watching = [] { Say(R"({"watching":true})"); },
          .news =
              [&] {
                const Time now = net::EventLoop::Now();
                first = std::min(first, now);
                if (last_bound == Time{} && watcher->bound().size() == wanted) last_bound = now;
                if (watcher->events() >= load.pods) last_event = now;
                if (last_bound != Time{} && last_event != Time{}) stage->loop().Stop();
              },
          .trouble = [&](std::string_view what) { stage->Fail(std::string(what)); }});
  KNX_TRY_DONE(stage->Run());
  Say(fmt::format(R"({{"first":{:.6f},"bound":{:.6f},"events":{:.6f}}})", Seconds(first),
                  Seconds(last_bound), Seconds(last_event)));
  return Ok();
}

namespace {

// Creates one pod after the other at a steady rate; whoever wants to hears when each is there.
class Arrivals {
 public:
  Arrivals(Stage& stage, const LiveLoad& load, std::function<void(int)> created)
      : stage_(stage), load_(load), created_(std::move(created)), start_(net::EventLoop::Now()) {
    Next();
  }
  [[nodiscard]] const std::map<std::string, Time>& sent() const { return sent_; }

 private:
  [[nodiscard]] Time Due(int i) const {
    return start_ + Duration::Nanoseconds(std::int64_t{1'000'000'000} * i / load_.rate);
  }
  void Next() {
    for (; next_ < load_.pods && Due(next_) <= net::EventLoop::Now(); ++next_) CreateOne(next_);
    if (next_ == load_.pods) return;
    stage_.loop().After(Due(next_) - net::EventLoop::Now(), [this] { Next(); });
  }
  void CreateOne(int i) {
    sent_[PodNameOf(i)] = net::EventLoop::Now();
    stage_.Create(PodsPath(kMeasured), PodJson(load_.shape, i), [this, i](const Status& outcome) {
      if (!outcome.ok()) return stage_.Fail(outcome.error().ToString());
      created_(i);
    });
  }

  Stage& stage_;
  const LiveLoad& load_;
  std::function<void(int)> created_;
  Time start_;
  int next_ = 0;
  std::map<std::string, Time> sent_;
};

double MillisecondsAt(const std::vector<Duration>& sorted, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1));
  return static_cast<double>(sorted[at].ns) / 1e6;
}

}  // namespace

Status Arrive(const LiveLoad& load) {
  KNX_TRY(const std::unique_ptr<Stage> stage, Stage::Make(load));
  Writers writers(stage->api());
  const auto created = [&](int i) {
    if (!load.bind) return;
    BindOne(writers, i, load.nodes, [&](const Status& outcome) {
      if (!outcome.ok()) stage->Fail(outcome.error().ToString());
    });
  };
  std::unique_ptr<Arrivals> arrivals;
  std::unique_ptr<Watcher> watcher;
  watcher = std::make_unique<Watcher>(
      stage->loop(), stage->api(),
      Watcher::Callbacks{
          .watching =
              [&] {
                if (!arrivals) arrivals = std::make_unique<Arrivals>(*stage, load, created);
              },
          .news =
              [&] {
                if (watcher->bound().size() == static_cast<std::size_t>(load.pods)) {
                  stage->loop().Stop();
                }
              },
          .trouble = [&](std::string_view what) { stage->Fail(std::string(what)); }});
  KNX_TRY_DONE(stage->Run());
  std::vector<Duration> waits;
  for (const auto& [name, when] : watcher->bound()) {
    waits.push_back(when - arrivals->sent().at(name));
  }
  std::sort(waits.begin(), waits.end());
  Say(fmt::format(R"({{"p50_ms":{:.3f},"p90_ms":{:.3f},"p99_ms":{:.3f}}})",
                  MillisecondsAt(waits, 0.5), MillisecondsAt(waits, 0.9),
                  MillisecondsAt(waits, 0.99)));
  return Ok();
}

}  // namespace knx::bench
