#include "cmd/daemon.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "cmd/configuration_document.h"
#include "cmd/exit_code.h"
#include "cmd/json_writer.h"
#include "cmd/text_files.h"
#include "observe/pod_resources.h"

namespace knx::cmd {
namespace {

constexpr Duration kBetweenLooks = Duration::Milliseconds(10);
// Together with the wait for answers less than the 30 seconds that a pod has to end.
constexpr Duration kWaitForRelease = Duration::Seconds(10);
constexpr Duration kWaitForPages = Duration::Seconds(2);
constexpr Duration kLookAtFile = Duration::Seconds(1);
constexpr Duration kBetweenShadowReports = Duration::Minutes(1);
// A leader that has not renewed its lease for so long after its end hangs, as kube-scheduler has
// it.
constexpr Duration kLeaseTolerance = Duration::Seconds(20);

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown-host";
}

Status Unavailable(std::string why) { return Error{ErrorKind::kUnavailable, std::move(why), {}}; }

}  // namespace

Daemon::Daemon(const Parts& parts, DaemonConfiguration configuration, std::string text,
               client::ApiClient::Options reach)
    : parts_(parts),
      config_(configuration.config),
      reach_(std::move(reach)),
      next_(std::move(configuration)) {
  const framework::LeaderElection& election = config_.leader_election;
  if (parts_.options.shadow) {
    reach_.may_send = [] { return false; };
  } else if (election.leader_elect) {
    MakeLease(election);
  }
  if (config_.client_connection.qps_set) {
    reach_.calls_per_second = config_.client_connection.qps;
    reach_.burst = config_.client_connection.burst;
  }
  const std::string& file = parts_.options.config_file;
  if (file.empty() || file == kStandardInput) return;
  file_ = std::make_unique<live::FileWatch>(
      parts_.loop, live::FileWatch::File{file, std::move(text), framework::kMaxConfigurationBytes},
      kLookAtFile,
      live::FileWatch::Callbacks{.changed = [this](const std::string& now) { OnFileChanged(now); },
                                 .unreadable = [this](const Error& error) { OnBadFile(error); }});
}

int Daemon::Run() {
  parts_.signals.CatchAll();
  const int signals = parts_.signals.descriptor();
  parts_.loop.Watch(signals, net::kReadable, [this](std::uint32_t) {
    if (const int signal = parts_.signals.Take(); signal != 0) OnSignal(signal);
  });
  parts_.loop.Run();
  parts_.loop.Unwatch(signals);
  return exit_code_;
}

void Daemon::Replace(const net::Endpoint& endpoint) {
  reach_.endpoint = endpoint;
  if (incarnation_ != nullptr) incarnation_->api.Replace(endpoint);
  if (lease_ != nullptr) lease_->Replace(endpoint);
}

// ---- the scheduler ----

Status Daemon::Start() {
  KNX_TRY_DONE(Begin(*std::exchange(next_, std::nullopt)));
  if (lease_ != nullptr) lease_->Start();
  if (parts_.options.shadow) {
    parts_.loop.After(kBetweenShadowReports, [this] { ReportShadow(); });
  }
  return Ok();
}

Result<std::unique_ptr<live::ExtenderCalls>> Daemon::ReachExtenders(
    client::ApiClient& api, const DaemonConfiguration& configuration) {
  return live::ExtenderCalls::Make(parts_.loop, api, configuration.engine.extenders,
                                   [this](std::string_view line) {
                                     parts_.log.Error("Trouble with an extender", {{"err", line}});
                                   });
}

Status Daemon::Begin(DaemonConfiguration configuration) {
  incarnation_ = std::make_unique<Incarnation>(parts_.loop, reach_);
  KNX_TRY(incarnation_->extenders, ReachExtenders(incarnation_->api, configuration));
  incarnation_->config = std::move(configuration.config);
  incarnation_->scheduler = std::make_unique<live::Scheduler>(
      parts_.loop, incarnation_->api, std::move(configuration.profiles),
      live::Scheduler::Options{.engine = configuration.engine,
                               .host = HostName(),
                               .log = parts_.log,
                               .metrics = parts_.metrics,
                               .extenders = incarnation_->extenders.get(),
                               .shadow = parts_.options.shadow ? &shadow_report_ : nullptr});
  if (leading()) {
    incarnation_->scheduler->Lead();
  } else if (!config_.delay_cache_until_active) {
    incarnation_->scheduler->Start();
  }
  return Ok();
}

void Daemon::ReportShadow() {
  // Others may have their reasons for a lower score; for a node that does not fit there is none.
  const observe::ShadowReport::Counts& counts = shadow_report_.counts();
  parts_.log.Info(0, "Shadow",
                  {{"seen", shadow_report_.Summary()},
                   {"lowerScore", counts.lower},
                   {"doesNotFit", counts.unfit},
                   {"refusedInOtherWords", counts.other_words},
                   {"refusedAndFits", counts.we_place}});
  parts_.loop.After(kBetweenShadowReports, [this] { ReportShadow(); });
}

// ---- the lease ----

void Daemon::MakeLease(const framework::LeaderElection& election) {
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
  parts_.log.Info(0, "Attempting to acquire leader lease",
                  {{"lease", name}, {"identity", lease.election.identity}});
  parts_.metrics.Leads(lease.name, false);
  lease_ = std::make_unique<client::LeaderLease>(
      parts_.loop, std::move(lease),
      client::LeaderLease::Callbacks{
          .leading = [this] { OnLeading(); },
          .lost = [this](std::string_view why) { OnLost(why); },
          .seen =
              [this, name](std::string_view holder) {
                if (holder.empty()) return parts_.log.Info(0, "Nobody leads", {{"lease", name}});
                parts_.log.Info(0, "Waits for the lease", {{"lease", name}, {"heldBy", holder}});
              },
          .trouble =
              [this, name](const Error& error) {
                parts_.log.Error("Trouble with the lease",
                                 {{"lease", name}, {"err", error.ToString()}});
              }});
  reach_.may_send = [this] { return lease_->MayWrite(); };
  reach_.server_timeout = [this, most = reach_.server_timeout] {
    return std::min(lease_->TimeForWrites(), most());
  };
}

void Daemon::OnLeading() {
  parts_.log.Info(0, "Leads", {{"identity", lease_->identity()}});
  parts_.metrics.Leads(config_.leader_election.resource_name, true);
  incarnation_->scheduler->Lead();
}

void Daemon::OnLost(std::string_view why) {
  incarnation_->scheduler->Drain();
  incarnation_->api.StopSending();
  parts_.log.Error("Leader election lost, nothing more is written", {{"err", why}});
  parts_.metrics.Leads(config_.leader_election.resource_name, false);
  End(kExitFailed);
}

// ---- the pages ----

Status Daemon::Serve() {
  if (parts_.options.serving.secure_port == 0) return Ok();
  ServingOptions serving = parts_.options.serving;
  // The way that is there already, if that is the one that is meant.
  for (std::string* file :
       {&serving.authentication_kubeconfig, &serving.authorization_kubeconfig}) {
    const bool same = *file == config_.client_connection.kubeconfig;
    if (same && parts_.options.master.empty()) file->clear();
  }
  const auto give_up = [this] {
    parts_.log.Error("Ends, as --authentication-tolerate-lookup-failure=false demands");
    End(kExitFailed);
  };
  KNX_TRY(pages_,
          DaemonPages::Open({parts_.loop, parts_.log, parts_.api, parts_.plugin_wait, give_up},
                            serving, Pages()));
  return Ok();
}

live::ServingPages Daemon::Pages() const {
  const live::HealthCheck ping{"ping", [] { return Ok(); }};
  const live::HealthCheck lease{"leaderElection", [this] { return LeaseIsHeld(); }};
  const live::HealthCheck shutdown{
      "shutdown", [this] { return ending_ ? Unavailable("process is shutting down") : Ok(); }};
  live::ServingPages out;
  out.healthz = {ping, lease};
  out.livez = {ping, lease};
  out.readyz = {ping, lease, shutdown, {"sched-handler-sync", [this] { return IsSynced(); }}};
  out.metrics = [this] { return parts_.metrics.Text(); };
  out.resource_metrics = [this] {
    // As in kube-scheduler only who leads says something about pods.
    const bool speaks = incarnation_ != nullptr && leading();
    return speaks ? observe::PodResourcesText(incarnation_->scheduler->engine().state()) : "";
  };
  out.configz = [this] { return Configz(); };
  out.log = [this](std::string_view line) { parts_.log.Info(0, "Not healthy", {{"why", line}}); };
  return out;
}

Status Daemon::LeaseIsHeld() const {
  if (lease_ == nullptr) return Ok();
  const Duration since = lease_->SinceConfirmed();
  if (since <= config_.leader_election.lease_duration + kLeaseTolerance) return Ok();
  return Unavailable(fmt::format("the lease was not renewed for {}", FormatDuration(since)));
}

Status Daemon::IsSynced() const {
  if (incarnation_ != nullptr && incarnation_->scheduler->synced()) return Ok();
  return Unavailable("the cluster is not known yet");
}

std::string Daemon::Configz() const {
  std::string text;
  JsonWriter out(text);
  out.BeginMap();
  out.Key("componentconfig");
  WriteConfiguration(incarnation_ == nullptr ? config_ : InForce(config_, incarnation_->config),
                     SecretsAre::kLeftOut, out);
  out.EndMap();
  return text;
}

// ---- the end ----

void Daemon::OnSignal(int signal) {
  if (signal == SIGUSR2) {
    if (incarnation_ != nullptr) incarnation_->scheduler->CheckState();
    return;
  }
  if (std::exchange(ending_, true)) {
    exit_code_ = kExitFailed;
    return parts_.loop.Stop();
  }
  if (incarnation_ == nullptr) return End(kExitOk);
  parts_.log.Info(0, "Asked to end", {{"unanswered", incarnation_->unanswered()}});
  incarnation_->scheduler->Drain();
  WhenAnswered(net::EventLoop::Now() + parts_.wait_for_answers, [this] { EndWhenAnswered(); });
}

void Daemon::EndWhenAnswered() {
  if (parts_.options.shadow) (void)WriteOut(shadow_report_.ToText());
  if (lease_ == nullptr) return End(kExitOk);
  const std::size_t outstanding = incarnation_->scheduler->outstanding();
  incarnation_->api.StopSending();
  // Whoever leads next is to find done whatever the server does of it.
  if (outstanding > 0) {
    parts_.log.Info(0, "Leaves the lease to run out, as it is not known what became of all writes",
                    {{"unanswered", outstanding}});
    return End(kExitOk);
  }
  parts_.loop.After(kWaitForRelease, [this] { End(kExitOk); });
  lease_->Release([this] { End(kExitOk); });
}

void Daemon::End(int code) {
  if (std::exchange(ended_, true)) return;
  exit_code_ = code;
  if (pages_ != nullptr) pages_->Drain();
  StopWhenServed(net::EventLoop::Now() + kWaitForPages);
}

// Whoever asked one of the pages gets an answer, if it takes it soon.
void Daemon::StopWhenServed(Time until) {
  if (pages_ == nullptr || pages_->idle() || net::EventLoop::Now() >= until) {
    return parts_.loop.Stop();
  }
  parts_.loop.After(kBetweenLooks, [this, until] { StopWhenServed(until); });
}

// Calls `then` when everything that was sent was answered, or the time has come.
void Daemon::WhenAnswered(Time until, std::function<void()> then) {
  if (incarnation_->unanswered() == 0 || net::EventLoop::Now() >= until) return then();
  parts_.loop.After(kBetweenLooks,
                    [this, until, then = std::move(then)] { WhenAnswered(until, then); });
}

// ---- another configuration ----

void Daemon::OnFileChanged(const std::string& text) {
  if (ending_) return;
  auto read = ReadDaemonConfiguration(parts_.options, text);
  if (!read.ok()) return OnBadFile(read.error());
  if (incarnation_ != nullptr) {
    const auto extenders = ReachExtenders(incarnation_->api, *read);
    if (!extenders.ok()) return OnBadFile(extenders.error());
  }
  for (const std::string& remark : read->warnings) {
    parts_.log.Info(0, "Something to mind", {{"remark", remark}});
  }
  const bool waits_already = std::exchange(next_, *std::move(read)).has_value();
  if (waits_already || incarnation_ == nullptr) return;
  incarnation_->scheduler->Drain();
  WhenAnswered(net::EventLoop::Now() + parts_.wait_for_answers, [this] { TakeNextWhenCertain(); });
}

void Daemon::OnBadFile(const Error& error) {
  parts_.log.Error("The changed configuration is not taken over", {{"err", error.ToString()}});
}

// What is bound after everything was told to the next scheduler has taken room that it has given
// away. Events take none.
void Daemon::TakeNextWhenCertain(bool said) {
  if (ending_ || ended_) return;
  const std::size_t outstanding = incarnation_->scheduler->outstanding();
  if (outstanding == 0) return TakeNext();
  if (!said) {
    parts_.log.Info(0, "Waits with the changed configuration for answers to what was written",
                    {{"unanswered", outstanding}});
  }
  parts_.loop.After(kBetweenLooks, [this] { TakeNextWhenCertain(true); });
}

void Daemon::TakeNext() {
  if (ending_ || ended_) return;
  DaemonConfiguration next = *std::exchange(next_, std::nullopt);
  const auto later = NeedsRestart(config_, next.config);
  parts_.log.Info(0, "Takes over the changed configuration",
                  {{"file", parts_.options.config_file},
                   {"onlyAfterRestart", fmt::format("{}", fmt::join(later, ", "))},
                   {"unansweredCalls", incarnation_->unanswered()}});
  const Status begun = Begin(std::move(next));
  if (begun.ok()) return;
  parts_.log.Error("Cannot go on with the changed configuration",
                   {{"err", begun.error().ToString()}});
  End(kExitFailed);
}

}  // namespace knx::cmd
