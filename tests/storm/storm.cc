// storm DAEMON RECORDED: a cluster that changes ten thousand times a second, told to the daemon as
// a real API server would tell it, for so many seconds. All that time a pod that comes every second
// must be bound within a second; memory must stay below twice what it was before, and return to it;
// and in the end the daemon must know what there is.
//
// Others may use the machine too. What the daemon or this program waited for a processor, whichever
// is longer, is not counted as the daemon's slowness, and is said.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon_process.h"
#include "net/event_loop.h"
#include "net/testing/run_until.h"
#include "played_cluster.h"
#include "recording.h"
#include "storm_server.h"

namespace knx::storm {
namespace {

using net::testing::RunFor;
using net::testing::RunUntil;

constexpr Duration kBetweenCanaries = Duration::Seconds(1), kCanaryLimit = Duration::Seconds(1);
constexpr Duration kCalm = Duration::Seconds(4), kIdle = Duration::Seconds(2);
constexpr Duration kPatience = Duration::Seconds(30);
constexpr Duration kTick = Duration::Milliseconds(2), kBetweenSamples = Duration::Milliseconds(20);
// However often a pod is tried, little is written of it: the counts of its event, when they double.
constexpr std::int64_t kMostRemarksOnAPod = 20;
constexpr double kMostGrowth = 2.0, kReturned = 1.2, kIdleShare = 0.1;

struct Wanted {
  std::string daemon, recorded, encoding = "protobuf";
  int seconds = 15, rate = 10'000;
};

double Megabytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }
double Milliseconds(Duration duration) { return duration.seconds() * 1e3; }

class Storm {
 public:
  Storm(const Wanted& wanted, const Recording& recording)
      : wanted_(wanted),
        cluster_(recording, PlayedCluster::Size{}),
        server_(loop_, recording, cluster_),
        daemon_(wanted.daemon, server_.port()) {}

  // What went wrong.
  std::vector<std::string> Run();

 private:
  struct Sample {
    Time when;
    Usage daemon, ours;
  };
  struct Span {
    std::size_t begin = 0, end = 0;  // of the samples
  };
  bool Expect(std::string_view what, const std::function<bool()>& holds);
  void TakeSamples();
  void SendCanaries();
  void Rage();
  Span During(const std::function<void()>& what);
  [[nodiscard]] std::int64_t Peak(const Span& span) const;
  [[nodiscard]] Duration WaitedBetween(Time begin, Time end) const;
  void JudgeCanaries();
  void JudgeWrites();
  void JudgeMemory(std::int64_t steady, std::int64_t peak);
  void JudgeState();
  void End();

  const Wanted& wanted_;
  net::EventLoop loop_;
  PlayedCluster cluster_;
  StormServer server_;
  DaemonProcess daemon_;
  bool canaries_come_ = false;
  Time began_;
  std::int64_t told_ = 0, told_bytes_ = 0;
  std::vector<Sample> samples_;
  std::vector<std::string> wrong_;
};

// ---- what happens ----

bool Storm::Expect(std::string_view what, const std::function<bool()>& holds) {
  if (RunUntil(loop_, [&] { return holds() || daemon_.exit_code(); }, kPatience) && holds()) {
    return true;
  }
  wrong_.push_back(
      fmt::format("it did not come true within {}: {}", FormatDuration(kPatience), what));
  return false;
}

void Storm::TakeSamples() {
  samples_.push_back({net::EventLoop::Now(), daemon_.usage(), UsageOf(getpid())});
  loop_.After(kBetweenSamples, [this] { TakeSamples(); });
}

void Storm::SendCanaries() {
  if (canaries_come_) server_.SendCanary();
  loop_.After(kBetweenCanaries, [this] { SendCanaries(); });
}

// Everything that is due by now.
void Storm::Rage() {
  const Time now = net::EventLoop::Now();
  const Time last = std::min(now, began_ + Duration::Seconds(wanted_.seconds));
  const std::int64_t due = (last - began_).ns / 1000 * wanted_.rate / 1'000'000;
  PlayedCluster::News news;
  for (; told_ < due; ++told_) cluster_.Happen(news);
  told_bytes_ += static_cast<std::int64_t>(news.nodes.size() + news.pods.size());
  server_.Tell(news);
  if (last == now) loop_.After(kTick, [this] { Rage(); });
}

Storm::Span Storm::During(const std::function<void()>& what) {
  Span span{.begin = samples_.size() - 1, .end = 0};
  what();
  span.end = samples_.size();
  return span;
}

std::vector<std::string> Storm::Run() {
  TakeSamples();
  SendCanaries();
  if (!Expect("the daemon watches", [&] { return server_.is_watched(); })) return wrong_;
  server_.SendCanary();
  if (!Expect("the daemon binds", [&] { return server_.canaries()[0].bound.has_value(); })) {
    return wrong_;
  }
  canaries_come_ = true;
  const std::int64_t steady = Peak(During([&] { RunFor(loop_, kCalm); }));
  const Span storm = During([&] {
    began_ = net::EventLoop::Now();
    Rage();
    RunFor(loop_, Duration::Seconds(wanted_.seconds));
    PlayedCluster::News last;
    cluster_.Calm(last);
    server_.Tell(last);
    canaries_come_ = false;
    Expect("all canaries are bound", [&] { return server_.canaries().back().bound.has_value(); });
  });
  const Duration cost = samples_[storm.end - 1].daemon.on_cpu - samples_[storm.begin].daemon.on_cpu;
  fmt::print(
      "{} events in {} s, {:.1f} KiB each, in {}: {:.0f} % of a processor, {:.1f} us an event\n",
      told_, wanted_.seconds,
      static_cast<double>(told_bytes_) / 1024.0 / static_cast<double>(told_), wanted_.encoding,
      100.0 * cost.seconds() / wanted_.seconds, cost.seconds() * 1e6 / static_cast<double>(told_));
  JudgeCanaries();
  JudgeWrites();
  JudgeMemory(steady, Peak(storm));
  JudgeState();
  End();
  return wrong_;
}

// ---- how it went ----

std::int64_t Storm::Peak(const Span& span) const {
  std::int64_t peak = 0;
  for (std::size_t i = span.begin; i < span.end; ++i) {
    peak = std::max(peak, samples_[i].daemon.resident_bytes);
  }
  return peak;
}

Duration Storm::WaitedBetween(Time begin, Time end) const {
  Sample before, after;
  for (const Sample& sample : samples_) {
    if (sample.when <= begin) before = sample;
    after = sample;
    if (sample.when >= end) break;
  }
  // Both may have waited at the same time.
  return std::max(after.daemon.waited - before.daemon.waited,
                  after.ours.waited - before.ours.waited);
}

void Storm::JudgeCanaries() {
  Duration slowest, slowest_alone;
  int late = 0;
  for (const StormServer::Canary& canary : server_.canaries()) {
    if (!canary.bound) {
      wrong_.push_back(canary.name + " was never bound");
      continue;
    }
    const Duration took = *canary.bound - canary.sent;
    const Duration alone = took - WaitedBetween(canary.sent, *canary.bound);
    slowest = std::max(slowest, took);
    slowest_alone = std::max(slowest_alone, alone);
    if (took > kCanaryLimit) ++late;
    if (alone > kCanaryLimit) {
      wrong_.push_back(fmt::format("{} was bound after {}", canary.name, FormatDuration(took)));
    }
  }
  fmt::print("{} canaries, the slowest bound after {:.1f} ms\n", server_.canaries().size(),
             Milliseconds(slowest));
  if (late == 0) return;
  fmt::print(
      "{} canaries took more than a second: the machine is busy; less what was waited for a "
      "processor, the slowest took {:.1f} ms\n",
      late, Milliseconds(slowest_alone));
}

void Storm::JudgeWrites() {
  const auto pods = static_cast<std::int64_t>(server_.canaries().size()) + cluster_.size().waiting;
  fmt::print("{} events and conditions written\n", server_.remarks());
  if (server_.remarks() > kMostRemarksOnAPod * pods) {
    wrong_.emplace_back("a storm of news became a storm of writes");
  }
}

void Storm::JudgeMemory(std::int64_t steady, std::int64_t peak) {
  const auto limit = [&](double factor) {
    return static_cast<std::int64_t>(factor * static_cast<double>(steady));
  };
  Expect("memory returns",
         [&] { return samples_.back().daemon.resident_bytes <= limit(kReturned); });
  fmt::print("memory: {:.1f} MiB before, {:.1f} MiB at most, {:.1f} MiB after\n", Megabytes(steady),
             Megabytes(peak), Megabytes(samples_.back().daemon.resident_bytes));
  if (peak > limit(kMostGrowth)) wrong_.emplace_back("memory grew to more than twice as much");
  RunFor(loop_, kIdle);
  const Span idle = During([&] { RunFor(loop_, kIdle); });
  const Duration used = samples_[idle.end - 1].daemon.on_cpu - samples_[idle.begin].daemon.on_cpu;
  fmt::print("afterwards {:.1f} % of a processor\n", 100 * used.seconds() / kIdle.seconds());
  if (used.seconds() > kIdleShare * kIdle.seconds()) {
    wrong_.emplace_back("it does not come to rest");
  }
}

void Storm::JudgeState() {
  const auto says = [&](std::string_view text) {
    return daemon_.log().find(text) != std::string::npos;
  };
  daemon_.Signal(SIGUSR2);
  Expect("the state is compared", [&] { return says("State compared with the API server"); });
  if (!says(R"("differences":0)")) wrong_.emplace_back("it does not know what there is");
  if (says(R"("err")")) wrong_.emplace_back("it complains");
  for (const std::string& asked : server_.wrong()) wrong_.push_back("it asked for " + asked);
}

void Storm::End() {
  daemon_.Signal(SIGTERM);
  Expect("it ends when asked to", [&] { return daemon_.exit_code() == 0; });
  if (wrong_.empty()) return;
  fmt::print("its log:\n{}\n", daemon_.log());
}

int RunStorm(const Wanted& wanted) {
  const auto encoding =
      wanted.encoding == "json" ? Recording::Encoding::kJson : Recording::Encoding::kProtobuf;
  const auto recording = Recording::Read(wanted.recorded, encoding);
  if (!recording.ok()) {
    fmt::print(stderr, "storm: {}\n", recording.error().ToString());
    return 2;
  }
  Storm storm(wanted, *recording);
  const std::vector<std::string> wrong = storm.Run();
  for (const std::string& what : wrong) fmt::print(stderr, "storm: {}\n", what);
  return wrong.empty() ? 0 : 1;
}

}  // namespace
}  // namespace knx::storm

int main(int argc, char** argv) {
  knx::storm::Wanted wanted;
  CLI::App app{"A storm of recorded events for kubenexus-scheduler."};
  app.add_option("daemon", wanted.daemon, "The program")->required();
  app.add_option("recorded", wanted.recorded, "The folder of the recording")->required();
  app.add_option("--encoding", wanted.encoding, "How events are told")
      ->check(CLI::IsMember({"protobuf", "json"}));
  app.add_option("--seconds", wanted.seconds, "How long it lasts")->check(CLI::Range(1, 3600));
  app.add_option("--rate", wanted.rate, "Events a second")->check(CLI::Range(1, 1'000'000));
  CLI11_PARSE(app, argc, argv);
  return knx::storm::RunStorm(wanted);
}
