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
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

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
#include "live/file_watch.h"
#include "live/scheduler.h"

namespace knx::cmd {
namespace {

constexpr Duration kBetweenLooks = Duration::Milliseconds(10);
// At the end, and before another configuration: for the answers to what was sent.
constexpr Duration kWaitForAnswers = Duration::Seconds(10);
constexpr Duration kWaitForRelease = Duration::Seconds(10);
constexpr Duration kLookAtFile = Duration::Seconds(1);
constexpr Duration kLeastServerTimeout = Duration::Seconds(1);

void Log(std::string_view line) {
  fmt::print(stderr, "{} {}\n", FormatTime(live::SteadyClock::Wall()), line);
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
  Incarnation(net::EventLoop& loop, const client::ApiClient::Options& reach,
              DaemonConfiguration configuration)
      : api(loop, reach),
        scheduler(loop, api, std::move(configuration.profiles),
                  {.engine = configuration.engine,
                   .instance = fmt::format("kubenexus-scheduler-{}", HostName()),
                   .log = Log}) {}

  [[nodiscard]] std::size_t unanswered() const { return api.urgent_calls() + api.patient_calls(); }

  client::ApiClient api;
  live::Scheduler scheduler;
};

class Daemon {
 public:
  Daemon(net::EventLoop& loop, const DaemonOptions& options, DaemonConfiguration configuration,
         std::string text, client::ApiClient::Options reach)
      : loop_(loop),
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
            .unreadable =
                [](const Error& error) {
                  Log(fmt::format("the configuration stays as it is: {}", error.ToString()));
                }});
  }

  // The API server answers.
  void Start() {
    Begin(*std::exchange(next_, std::nullopt));
    if (lease_ != nullptr) lease_->Start();
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
    Log(fmt::format("waits for the lease {} as {}", name, lease.election.identity));
    lease_ = std::make_unique<client::LeaderLease>(
        loop_, std::move(lease),
        client::LeaderLease::Callbacks{
            .leading = [this] { OnLeading(); },
            .lost = [this](std::string_view why) { OnLost(why); },
            .seen =
                [name](std::string_view holder) {
                  Log(holder.empty() ? fmt::format("nobody holds the lease {}", name)
                                     : fmt::format("{} leads", holder));
                },
            .trouble =
                [name](const Error& error) {
                  Log(fmt::format("the lease {}: {}", name, error.ToString()));
                }});
    reach_.may_send = [this] { return lease_->MayWrite(); };
    reach_.server_timeout =
        std::max(election.lease_duration - election.renew_deadline, kLeastServerTimeout);
  }

  [[nodiscard]] bool leading() const { return lease_ == nullptr || lease_->leading(); }

  void Begin(DaemonConfiguration configuration) {
    incarnation_.reset();
    incarnation_ = std::make_unique<Incarnation>(loop_, reach_, std::move(configuration));
    if (leading()) {
      incarnation_->scheduler.Lead();
    } else if (!config_.delay_cache_until_active) {
      incarnation_->scheduler.Start();
    }
  }

  // ---- the lease ----

  void OnLeading() {
    Log(fmt::format("leads as {}", lease_->identity()));
    incarnation_->scheduler.Lead();
  }

  void OnLost(std::string_view why) {
    incarnation_->scheduler.Drain();
    incarnation_->api.StopSending();
    Log(fmt::format("lost the lease, writes nothing more and ends: {}", why));
    End(kExitFailed);
  }

  // ---- the end ----

  void OnSignal() {
    if (std::exchange(ending_, true)) return End(kExitFailed);
    if (incarnation_ == nullptr) return End(kExitOk);
    incarnation_->scheduler.Drain();
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
    if (!read.ok()) {
      return Log(fmt::format("the configuration stays as it is: {}", read.error().ToString()));
    }
    for (const std::string& warning : read->warnings) Log(warning);
    const bool waits_already = std::exchange(next_, *std::move(read)).has_value();
    if (waits_already || incarnation_ == nullptr) return;
    incarnation_->scheduler.Drain();
    WhenAnswered(net::EventLoop::Now() + kWaitForAnswers, [this] { TakeNext(); });
  }

  void TakeNext() {
    if (ending_ || ended_) return;
    DaemonConfiguration next = *std::exchange(next_, std::nullopt);
    const auto later = NeedsRestart(config_, next.config);
    const std::size_t cut = incarnation_->unanswered();
    Log(fmt::format("takes over the changed configuration {}{}{}{}", options_.config_file,
                    later.empty() ? "" : "; only after a restart: ", fmt::join(later, ", "),
                    cut == 0 ? "" : fmt::format("; {} calls were not answered", cut)));
    Begin(std::move(next));
  }

  net::EventLoop& loop_;
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
  for (const std::string& warning : options.warnings) Log(warning);
  if (options.shadow) return InvalidError("--shadow: not built yet");
  std::string text;
  if (!options.config_file.empty()) {
    KNX_TRY(text, ReadText(options.config_file));
  }
  KNX_TRY(DaemonConfiguration configuration, ReadDaemonConfiguration(options, text));
  for (const std::string& warning : configuration.warnings) Log(warning);
  if (!options.write_config_to.empty()) {
    KNX_TRY_DONE(WriteWhole(options.write_config_to, ConfigurationYaml(configuration.config)));
    return kExitOk;
  }
  KNX_TRY(const client::ApiAccess access,
          FindAccess(configuration.config.client_connection.kubeconfig, options.master));
  for (const std::string& warning : access.warnings) Log(warning);
  client::TokenSource source(access);
  KNX_TRY(const client::Credentials* first, source.GetOrWait(live::SteadyClock::Wall()));
  std::signal(SIGPIPE, SIG_IGN);
  net::EventLoop loop;
  client::CredentialWatch credentials(loop, source, *first, &live::SteadyClock::Wall);
  KNX_TRY(client::ApiClient::Options reach, ReachOf(access, *first, credentials));
  reach.log = Log;
  client::ApiClient api(loop, reach);  // for what is no scheduling
  Daemon daemon(loop, options, std::move(configuration), std::move(text), std::move(reach));
  credentials.set_callbacks(
      {.certificate_changed =
           [&](const client::Credentials& newer) {
             auto endpoint = client::EndpointFor(access, newer);
             if (!endpoint.ok()) return Log(endpoint.error().ToString());
             api.Replace(*endpoint);
             daemon.Replace(*endpoint);
           },
       .trouble = [&api](std::string_view what) { api.troubles().Report(what); }});
  Status reached = Ok();
  const client::FirstContact contact(loop, api, source.may_change(), [&](const Status& outcome) {
    reached = outcome;
    outcome.ok() ? daemon.Start() : loop.Stop();
  });
  const int code = daemon.Run();
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
