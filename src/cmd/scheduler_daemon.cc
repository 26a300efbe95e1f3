#include "cmd/scheduler_daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/quoted_text.h"
#include "client/credential_watch.h"
#include "client/endpoint.h"
#include "client/first_contact.h"
#include "client/leader_lease.h"
#include "client/token_source.h"
#include "cmd/api_reach.h"
#include "cmd/configuration_document.h"
#include "cmd/daemon_configuration.h"
#include "cmd/exit_code.h"
#include "cmd/text_files.h"
#include "live/extender_calls.h"
#include "live/file_watch.h"
#include "live/process_metrics.h"
#include "live/scheduler.h"
#include "observe/log.h"
#include "observe/scheduler_metrics.h"

namespace knx::cmd {
namespace {

constexpr Duration kBetweenLooks = Duration::Milliseconds(10);
// At the end, and before another configuration: for the answers to what was sent.
constexpr Duration kWaitForAnswers = Duration::Seconds(10);
constexpr Duration kWaitForRelease = Duration::Seconds(10);
constexpr Duration kLookAtFile = Duration::Seconds(1);
constexpr Duration kLeastServerTimeout = Duration::Seconds(1);

Result<observe::Log> MakeLog(const LoggingOptions& options) {
  observe::Log::Options made{
      .verbosity = options.verbosity,
      .now = live::SteadyClock::Wall,
      .write = [](std::string_view line) { std::fwrite(line.data(), 1, line.size(), stderr); },
      .process = getpid()};
  if (!observe::ParseLogFormat(options.format, made.format)) {
    return InvalidError(
        fmt::format("--logging-format: {}: not text or json", Printable(options.format)));
  }
  return observe::Log(std::move(made));
}

void Remark(observe::Log& log, const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks) log.Info(0, "Something to mind", {{"remark", remark}});
}

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown-host";
}

// SIGTERM and SIGINT become something that the loop can wait for.
int SignalDescriptor() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

// For the owner's eyes only: a configuration may hold keys.
Status WriteWhole(const std::string& path, std::string_view text) {
  const auto complain = [&] {
    return InvalidError(fmt::format("--write-config-to: {}: {}", path, std::strerror(errno)));
  };
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return complain();
  while (!text.empty()) {
    const auto written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const Error error = complain();
      close(file);
      return error;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return close(file) == 0 ? Ok() : Status(complain());
}

// The scheduler under one configuration, with connections of its own: when it goes, so does all
// that it waits for.
struct Incarnation {
  Incarnation(net::EventLoop& loop, const client::ApiClient::Options& reach) : api(loop, reach) {}

  [[nodiscard]] std::size_t unanswered() const {
    return scheduler->outstanding() + api.patient_calls();
  }

  client::ApiClient api;
  std::unique_ptr<live::ExtenderCalls> extenders;
  std::unique_ptr<live::Scheduler> scheduler;
};

class Daemon {
 public:
  Daemon(net::EventLoop& loop, observe::Log& log, observe::SchedulerMetrics& metrics,
         const DaemonOptions& options, DaemonConfiguration configuration, std::string text,
         client::ApiClient::Options reach)
      : loop_(loop),
        log_(log),
        metrics_(metrics),
        options_(options),
        config_(configuration.config),
        reach_(std::move(reach)),
        next_(std::move(configuration)) {
    const framework::LeaderElection& election = config_.leader_election;
    if (election.leader_elect) MakeLease(election);
    if (config_.client_connection.qps_set) {
      reach_.calls_per_second = config_.client_connection.qps;
      reach_.burst = config_.client_connection.burst;
    }
    if (options_.config_file.empty() || options_.config_file == kStandardInput) return;
    file_ = std::make_unique<live::FileWatch>(
        loop_, options_.config_file, std::move(text), kLookAtFile,
        live::FileWatch::Callbacks{
            .changed = [this](const std::string& now) { OnFileChanged(now); },
            .unreadable = [this](const Error& error) { OnBadFile(error); }});
  }

  // The API server answers.
  Status Start() {
    KNX_TRY_DONE(Begin(*std::exchange(next_, std::nullopt)));
    if (lease_ != nullptr) lease_->Start();
    return Ok();
  }

  // New connections go there.
  void Replace(const net::Endpoint& endpoint) {
    reach_.endpoint = endpoint;
    if (incarnation_ != nullptr) incarnation_->api.Replace(endpoint);
    if (lease_ != nullptr) lease_->Replace(endpoint);
  }

  // Until a signal, or the end of our lease.
  int Run() {
    const int signals = SignalDescriptor();
    loop_.Watch(signals, net::kReadable, [this, signals](std::uint32_t) {
      signalfd_siginfo which{};
      if (read(signals, &which, sizeof(which)) == sizeof(which)) OnSignal();
    });
    loop_.Run();
    close(signals);
    return exit_code_;
  }

 private:
  void MakeLease(const framework::LeaderElection& election) {
    client::LeaderLease::Options lease;
    lease.reach = reach_;
    lease.namespace_ = election.resource_namespace;
    lease.name = election.resource_name;
    lease.election.identity = client::LeaseIdentity();
    lease.election.lease_duration = election.lease_duration;
    lease.election.renew_deadline = election.renew_deadline;
    lease.election.retry_period = election.retry_period;
    lease.election.seed = static_cast<std::uint64_t>(live::SteadyClock::SinceBoot().ns);
    lease.now = live::SteadyClock::SinceBoot;
    lease.wall = live::SteadyClock::Wall;
    const std::string name = fmt::format("{}/{}", lease.namespace_, lease.name);
    log_.Info(0, "Attempting to acquire leader lease",
              {{"lease", name}, {"identity", lease.election.identity}});
    metrics_.Leads(lease.name, false);
    lease_ = std::make_unique<client::LeaderLease>(
        loop_, std::move(lease),
        client::LeaderLease::Callbacks{
            .leading = [this] { OnLeading(); },
            .lost = [this](std::string_view why) { OnLost(why); },
            .seen =
                [this, name](std::string_view holder) {
                  log_.Info(0, holder.empty() ? "Nobody leads" : "New leader elected",
                            {{"lease", name}, {"identity", holder}});
                },
            .trouble =
                [this, name](const Error& error) {
                  log_.Error("Trouble with the lease",
                             {{"lease", name}, {"err", error.ToString()}});
                }});
    reach_.may_send = [this] { return lease_->MayWrite(); };
    reach_.server_timeout =
        std::max(election.lease_duration - election.renew_deadline, kLeastServerTimeout);
  }

  [[nodiscard]] bool leading() const { return lease_ == nullptr || lease_->leading(); }

  // Also whether there is a way to the extenders.
  Result<std::unique_ptr<live::ExtenderCalls>> ReachExtenders(
      client::ApiClient& api, const DaemonConfiguration& configuration) {
    return live::ExtenderCalls::Make(
        loop_, api, configuration.engine.extenders,
        [this](std::string_view line) { log_.Error("Trouble with an extender", {{"err", line}}); });
  }

  Status Begin(DaemonConfiguration configuration) {
    incarnation_ = std::make_unique<Incarnation>(loop_, reach_);
    KNX_TRY(incarnation_->extenders, ReachExtenders(incarnation_->api, configuration));
    incarnation_->scheduler = std::make_unique<live::Scheduler>(
        loop_, incarnation_->api, std::move(configuration.profiles),
        live::Scheduler::Options{.engine = configuration.engine,
                                 .instance = fmt::format("kubenexus-scheduler-{}", HostName()),
                                 .log = log_,
                                 .metrics = metrics_,
                                 .extenders = incarnation_->extenders.get()});
    if (leading()) {
      incarnation_->scheduler->Lead();
    } else if (!config_.delay_cache_until_active) {
      incarnation_->scheduler->Start();
    }
    return Ok();
  }

  // ---- the lease ----

  void OnLeading() {
    log_.Info(0, "Leads", {{"identity", lease_->identity()}});
    metrics_.Leads(config_.leader_election.resource_name, true);
    incarnation_->scheduler->Lead();
  }

  void OnLost(std::string_view why) {
    incarnation_->scheduler->Drain();
    incarnation_->api.StopSending();
    log_.Error("Leader election lost, nothing more is written", {{"err", why}});
    metrics_.Leads(config_.leader_election.resource_name, false);
    End(kExitFailed);
  }

  // ---- the end ----

  void OnSignal() {
    if (std::exchange(ending_, true)) return End(kExitFailed);
    if (incarnation_ == nullptr) return End(kExitOk);
    incarnation_->scheduler->Drain();
    WhenAnswered(net::EventLoop::Now() + kWaitForAnswers, [this] {
      if (lease_ == nullptr) return End(kExitOk);
      incarnation_->api.StopSending();
      loop_.After(kWaitForRelease, [this] { End(kExitOk); });
      lease_->Release([this] { End(kExitOk); });
    });
  }

  void End(int code) {
    if (std::exchange(ended_, true)) return;
    exit_code_ = code;
    loop_.Stop();
  }

  // Calls `then` when everything that was sent was answered, or the time has come.
  void WhenAnswered(Time until, std::function<void()> then) {
    if (incarnation_->unanswered() == 0 || net::EventLoop::Now() >= until) return then();
    loop_.After(kBetweenLooks,
                [this, until, then = std::move(then)] { WhenAnswered(until, then); });
  }

  // ---- another configuration ----

  void OnFileChanged(const std::string& text) {
    if (ending_) return;
    auto read = ReadDaemonConfiguration(options_, text);
    if (!read.ok()) return OnBadFile(read.error());
    if (incarnation_ != nullptr) {
      const auto extenders = ReachExtenders(incarnation_->api, *read);
      if (!extenders.ok()) return OnBadFile(extenders.error());
    }
    Remark(log_, read->warnings);
    const bool waits_already = std::exchange(next_, *std::move(read)).has_value();
    if (waits_already || incarnation_ == nullptr) return;
    incarnation_->scheduler->Drain();
    WhenAnswered(net::EventLoop::Now() + kWaitForAnswers, [this] { TakeNext(); });
  }

  void OnBadFile(const Error& error) {
    log_.Error("The changed configuration is not taken over", {{"err", error.ToString()}});
  }

  void TakeNext() {
    if (ending_ || ended_) return;
    DaemonConfiguration next = *std::exchange(next_, std::nullopt);
    const auto later = NeedsRestart(config_, next.config);
    const std::size_t cut = incarnation_->unanswered();
    log_.Info(0, "Takes over the changed configuration",
              {{"file", options_.config_file},
               {"onlyAfterRestart", fmt::format("{}", fmt::join(later, ", "))},
               {"unansweredCalls", cut}});
    const Status begun = Begin(std::move(next));
    if (begun.ok()) return;
    log_.Error("Cannot go on with the changed configuration", {{"err", begun.error().ToString()}});
    End(kExitFailed);
  }

  net::EventLoop& loop_;
  observe::Log& log_;
  observe::SchedulerMetrics& metrics_;
  const DaemonOptions& options_;
  // The one we started with, which decides about all that stays as it is until a restart.
  const framework::SchedulerConfiguration config_;
  client::ApiClient::Options reach_;
  std::unique_ptr<client::LeaderLease> lease_;
  std::unique_ptr<Incarnation> incarnation_;
  std::unique_ptr<live::FileWatch> file_;
  // Until the API server answers, or what was sent is answered.
  std::optional<DaemonConfiguration> next_;
  bool ending_ = false, ended_ = false;
  int exit_code_ = kExitOk;
};

Result<int> Run(const DaemonOptions& options) {
  KNX_TRY(observe::Log log, MakeLog(options.logging));
  Remark(log, options.warnings);
  if (options.shadow) return InvalidError("--shadow: not built yet");
  std::string text;
  if (!options.config_file.empty()) {
    KNX_TRY(text, ReadText(options.config_file));
  }
  KNX_TRY(DaemonConfiguration configuration, ReadDaemonConfiguration(options, text));
  Remark(log, configuration.warnings);
  if (!options.write_config_to.empty()) {
    KNX_TRY_DONE(WriteWhole(options.write_config_to, ConfigurationYaml(configuration.config)));
    return kExitOk;
  }
  KNX_TRY(const client::ApiAccess access,
          FindAccess(configuration.config.client_connection.kubeconfig, options.master));
  Remark(log, access.warnings);
  client::TokenSource source(access);
  KNX_TRY(const client::Credentials* first, source.GetOrWait(live::SteadyClock::Wall()));
  std::signal(SIGPIPE, SIG_IGN);
  net::EventLoop loop;
  client::CredentialWatch credentials(loop, source, *first, &live::SteadyClock::Wall);
  KNX_TRY(client::ApiClient::Options reach, ReachOf(access, *first, credentials));
  observe::SchedulerMetrics metrics;
  live::AddProcessMetrics(metrics.registry());
  metrics.SetBuild(KNX_VERSION);
  const std::string host = fmt::format("{}:{}", reach.endpoint.host, reach.endpoint.port);
  reach.answered = [&metrics, host](std::string_view method, int status) {
    metrics.RequestAnswered(method, host, status);
  };
  reach.log = [&log](std::string_view line) {
    log.Error("Trouble with the API server", {{"err", line}});
  };
  log.Info(0, "Starting", {{"version", KNX_VERSION}, {"server", host}});
  client::ApiClient api(loop, reach);  // for what is no scheduling
  Daemon daemon(loop, log, metrics, options, std::move(configuration), std::move(text),
                std::move(reach));
  credentials.set_callbacks(
      {.certificate_changed =
           [&](const client::Credentials& newer) {
             auto endpoint = client::EndpointFor(access, newer);
             if (!endpoint.ok()) {
               return api.troubles().Report(endpoint.error().ToString());
             }
             api.Replace(*endpoint);
             daemon.Replace(*endpoint);
           },
       .trouble = [&api](std::string_view what) { api.troubles().Report(what); }});
  Status reached = Ok();
  const client::FirstContact contact(loop, api, source.may_change(), [&](const Status& outcome) {
    reached = outcome.ok() ? daemon.Start() : outcome;
    if (!reached.ok()) loop.Stop();
  });
  const int code = daemon.Run();
  log.Flush();
  KNX_TRY_DONE(std::move(reached));
  return code;
}

}  // namespace

int RunDaemon(const DaemonOptions& options) {
  const auto code = Run(options);
  if (code.ok()) return *code;
  fmt::print(stderr, "kubenexus-scheduler: {}\n", code.error().ToString());
  return kExitWrong;
}

}  // namespace knx::cmd
