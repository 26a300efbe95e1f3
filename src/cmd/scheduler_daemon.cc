#include "cmd/scheduler_daemon.h"

#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "client/credential_watch.h"
#include "client/endpoint.h"
#include "client/first_contact.h"
#include "client/in_cluster.h"
#include "client/kubeconfig.h"
#include "client/token_source.h"
#include "cmd/exit_code.h"
#include "cmd/text_files.h"
#include "framework/config.h"
#include "framework/profile_builder.h"
#include "live/scheduler.h"
#include "plugins/registry.h"

namespace knx::cmd {
namespace {

constexpr Duration kBetweenLooks = Duration::Milliseconds(10);
constexpr int kMostLooks = 1000;

void Log(std::string_view line) {
  fmt::print(stderr, "{} {}\n", FormatTime(live::SteadyClock::Wall()), line);
}

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The kubeconfig that was named, or the one that is found, or the service account of our pod.
Result<client::ApiAccess> FindAccess(const DaemonOptions& options) {
  std::vector<std::string> named;
  if (!options.kubeconfig.empty()) named.push_back(options.kubeconfig);
  auto access = client::ReadKubeconfigs(
      client::FindKubeconfigs(named, Environment("KUBECONFIG"), Environment("HOME")), "");
  if (access.ok() || access.error().kind != ErrorKind::kNotFound || !named.empty()) return access;
  auto in_cluster = client::ReadInCluster({.host = Environment("KUBERNETES_SERVICE_HOST"),
                                           .port = Environment("KUBERNETES_SERVICE_PORT")});
  if (in_cluster.ok() || in_cluster.error().kind != ErrorKind::kNotFound) return in_cluster;
  return InvalidError(
      fmt::format("no way to an API server: {}, and {}; name a kubeconfig with --kubeconfig",
                  access.error().message, in_cluster.error().message));
}

Result<client::ApiClient::Options> Reach(const client::ApiAccess& access,
                                         const client::Credentials& first,
                                         client::CredentialWatch& credentials) {
  client::ApiClient::Options out;
  KNX_TRY(out.endpoint, client::EndpointFor(access, first));
  out.base_path = access.server.base_path;
  out.authorization = [&credentials] { return credentials.Current(); };
  out.refused = [&credentials](std::uint64_t generation) { credentials.Refused(generation); };
  out.log = Log;
  out.user_agent = "kubenexus-scheduler";
  return out;
}

Result<framework::SchedulerConfiguration> ConfigurationOf(const DaemonOptions& options) {
  if (options.config_file.empty()) return framework::DefaultConfiguration();
  KNX_TRY(const std::string text, ReadText(options.config_file));
  return framework::ReadConfiguration(text, options.config_file);
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

// What was sent is answered before we go, unless the server takes too long.
void StopWhenAnswered(net::EventLoop& loop, const live::Scheduler& scheduler, int looks_left) {
  if (scheduler.outstanding() == 0 || looks_left == 0) return loop.Stop();
  loop.After(kBetweenLooks, [&loop, &scheduler, looks_left] {
    StopWhenAnswered(loop, scheduler, looks_left - 1);
  });
}

Result<int> Run(const DaemonOptions& options) {
  KNX_TRY(const framework::SchedulerConfiguration config, ConfigurationOf(options));
  KNX_TRY(std::vector<framework::Profile> profiles,
          framework::BuildProfiles(config, plugins::AllPlugins()));
  for (const std::string& warning : framework::Warnings(config, plugins::AllPlugins())) {
    Log(warning);
  }
  KNX_TRY(const client::ApiAccess access, FindAccess(options));
  for (const std::string& warning : access.warnings) Log(warning);
  client::TokenSource source(access);
  KNX_TRY(const client::Credentials* first, source.GetOrWait(live::SteadyClock::Wall()));
  net::EventLoop loop;
  client::CredentialWatch credentials(loop, source, *first, &live::SteadyClock::Wall);
  KNX_TRY(client::ApiClient::Options reach, Reach(access, *first, credentials));
  client::ApiClient api(loop, std::move(reach));
  credentials.set_callbacks(
      {.certificate_changed =
           [&](const client::Credentials& newer) {
             auto endpoint = client::EndpointFor(access, newer);
             if (endpoint.ok()) return api.Replace(*endpoint);
             api.troubles().Report(endpoint.error().ToString());
           },
       .trouble = [&api](std::string_view what) { api.troubles().Report(what); }});
  live::Scheduler scheduler(loop, api, std::move(profiles),
                            {.engine = engine::OptionsFor(config),
                             .instance = fmt::format("kubenexus-scheduler-{}", HostName()),
                             .log = Log});
  const int signals = SignalDescriptor();
  loop.Watch(signals, net::kReadable, [&](std::uint32_t) {
    loop.Unwatch(signals);
    scheduler.Drain();
    StopWhenAnswered(loop, scheduler, kMostLooks);
  });
  Status reached = Ok();
  const client::FirstContact contact(loop, api, source.may_change(), [&](const Status& outcome) {
    reached = outcome;
    outcome.ok() ? scheduler.Start() : loop.Stop();
  });
  loop.Run();
  KNX_TRY_DONE(std::move(reached));
  return kExitOk;
}

}  // namespace

int RunDaemon(const DaemonOptions& options) {
  const auto code = Run(options);
  if (code.ok()) return *code;
  fmt::print(stderr, "kubenexus-scheduler: {}\n", code.error().ToString());
  return kExitWrong;
}

}  // namespace knx::cmd
