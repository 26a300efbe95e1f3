#include "runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "binder.h"
#include "client/api_client.h"
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

}  // namespace

Status Fill(const LiveLoad& load) {
  KNX_TRY(const std::unique_ptr<Stage> stage, Stage::Make(load));
  KNX_TRY_DONE(stage->SendAll(2, 1, [&](int i, Flood::Answered answered) {
    stage->Create("/api/v1/namespaces", NamespaceJson(i == 0 ? kMeasured : kPresent),
                  std::move(answered));
  }));
  if (load.shape.kind == LiveKind::kPreemption) {
    KNX_TRY_DONE(stage->SendAll(1, 1, [&](int, Flood::Answered answered) {
      stage->Create("/apis/scheduling.k8s.io/v1/priorityclasses", PriorityClassJson(),
                    std::move(answered));
    }));
  }
  if (load.shape.kind == LiveKind::kGang) {
    const int gangs = (load.pods + load.shape.members - 1) / load.shape.members;
    KNX_TRY_DONE(stage->SendAll(gangs, load.at_a_time, [&](int i, Flood::Answered answered) {
      stage->Create(PodGroupsPath(), PodGroupJson(load.shape, i), std::move(answered));
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
  Binder binder(stage->api(), load.shape, load.nodes);
  return stage->SendAll(load.pods, load.at_a_time, [&](int i, Flood::Answered answered) {
    binder.BindOne(i, std::move(answered));
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

// Calls back so many times, at a steady rate.
class Pace {
 public:
  Pace(net::EventLoop& loop, int rate, int count, std::function<void(int)> each)
      : loop_(loop), rate_(rate), count_(count), each_(std::move(each)) {
    Next();
  }
  [[nodiscard]] Time start() const { return start_; }

 private:
  [[nodiscard]] Time Due(int i) const {
    return start_ + Duration::Nanoseconds(std::int64_t{1'000'000'000} * i / rate_);
  }
  void Next() {
    for (; next_ < count_ && Due(next_) <= net::EventLoop::Now(); ++next_) each_(next_);
    if (next_ == count_) return;
    loop_.After(Due(next_) - net::EventLoop::Now(), [this] { Next(); });
  }

  net::EventLoop& loop_;
  int rate_, count_;
  std::function<void(int)> each_;
  Time start_ = net::EventLoop::Now();
  int next_ = 0;
};

// Creates one pod after the other at a steady rate; whoever wants to hears when each is there.
class Arrivals {
 public:
  Arrivals(Stage& stage, const LiveLoad& load, int rate, std::function<void(int)> created)
      : stage_(stage),
        load_(load),
        created_(std::move(created)),
        pace_(stage.loop(), rate, load.pods, [this](int i) { CreateOne(i); }) {}
  [[nodiscard]] const std::map<std::string, Time>& sent() const { return sent_; }

 private:
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
  std::map<std::string, Time> sent_;
  Pace pace_;
};

// How long it took from each of them until the pod of the name was bound.
std::vector<Duration> WaitsSince(const std::map<std::string, Time>& begin, const Watcher& watcher) {
  std::vector<Duration> waits;
  for (const auto& [name, when] : watcher.bound()) waits.push_back(when - begin.at(name));
  std::sort(waits.begin(), waits.end());
  return waits;
}

double MillisecondsAt(const std::vector<Duration>& sorted, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1));
  return static_cast<double>(sorted[at].ns) / 1e6;
}

}  // namespace

Status Arrive(const LiveLoad& load) {
  KNX_TRY(const std::unique_ptr<Stage> stage, Stage::Make(load));
  Binder binder(stage->api(), load.shape, load.nodes);
  const auto created = [&](int i) {
    if (!load.bind) return;
    binder.BindOne(i, [&](const Status& outcome) {
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
                if (arrivals) return;
                arrivals = std::make_unique<Arrivals>(*stage, load, load.rate, created);
              },
          .news =
              [&] {
                if (watcher->bound().size() == static_cast<std::size_t>(load.pods)) {
                  stage->loop().Stop();
                }
              },
          .trouble = [&](std::string_view what) { stage->Fail(std::string(what)); }});
  KNX_TRY_DONE(stage->Run());
  const std::vector<Duration> waits = WaitsSince(arrivals->sent(), *watcher);
  Say(fmt::format(R"({{"p50_ms":{:.3f},"p90_ms":{:.3f},"p99_ms":{:.3f}}})",
                  MillisecondsAt(waits, 0.5), MillisecondsAt(waits, 0.9),
                  MillisecondsAt(waits, 0.99)));
  return Ok();
}

namespace {

// Many small changes of what is there: now a node gives a sign of life, now a pod has become ready
// or is not any more.
class Updates {
 public:
  Updates(Stage& stage, const LiveLoad& load, std::function<void()> all_done)
      : stage_(stage),
        load_(load),
        all_done_(std::move(all_done)),
        wanted_(load.rate * load.pods),
        pace_(stage.loop(), load.rate, wanted_, [this](int i) { SendOne(i); }) {}
  [[nodiscard]] bool done() const { return answered_ == wanted_; }
  [[nodiscard]] double per_second() const { return answered_ / (last_ - pace_.start()).seconds(); }

 private:
  void SendOne(int i) {
    const int which = i / 2;
    const bool of_node = i % 2 == 0;
    stage_.api().Send(
        {.method = "PATCH",
         .path = of_node ? NodeStatusPath(which % load_.nodes)
                         : PresentPodStatusPath(which % load_.present),
         .body = of_node ? SignOfLifeJson(i) : ReadinessJson(i, which / load_.present % 2 == 0),
         .content_type = "application/strategic-merge-patch+json",
         .urgent = false},
        [this](const Status& outcome) {
          if (!outcome.ok()) return stage_.Fail(outcome.error().ToString());
          ++answered_;
          last_ = net::EventLoop::Now();
          if (done()) all_done_();
        });
  }

  Stage& stage_;
  const LiveLoad& load_;
  std::function<void()> all_done_;
  int wanted_, answered_ = 0;
  Time last_;
  Pace pace_;
};

}  // namespace

Status Storm(const LiveLoad& load) {
  KNX_TRY(const std::unique_ptr<Stage> stage, Stage::Make(load));
  std::map<std::string, Time> created;
  std::unique_ptr<Arrivals> canaries;
  std::unique_ptr<Updates> updates;
  std::unique_ptr<Watcher> watcher;
  const auto end_when_done = [&] {
    const bool all = watcher->bound().size() == static_cast<std::size_t>(load.pods);
    // Of the last canary, the answer may come after the news.
    if (all && created.size() == watcher->bound().size() && updates->done()) stage->loop().Stop();
  };
  const auto begin = [&] {
    if (updates) return;
    updates = std::make_unique<Updates>(*stage, load, end_when_done);
    canaries = std::make_unique<Arrivals>(*stage, load, 1, [&](int i) {
      created[PodNameOf(i)] = net::EventLoop::Now();
      end_when_done();
    });
  };
  watcher = std::make_unique<Watcher>(
      stage->loop(), stage->api(),
      Watcher::Callbacks{
          .watching = begin, .news = end_when_done, .trouble = [&](std::string_view what) {
            stage->Fail(std::string(what));
          }});
  KNX_TRY_DONE(stage->Run());
  Say(fmt::format(
      R"({{"updates_per_s":{:.1f},"slowest_ms":{:.3f},"slowest_since_created_ms":{:.3f}}})",
      updates->per_second(), MillisecondsAt(WaitsSince(canaries->sent(), *watcher), 1),
      MillisecondsAt(WaitsSince(created, *watcher), 1)));
  return Ok();
}

}  // namespace knx::bench
