#include "cmd/scheduler_daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/quoted_text.h"
#include "client/first_contact.h"
#include "cmd/api_reach.h"
#include "cmd/configuration_document.h"
#include "cmd/daemon.h"
#include "cmd/daemon_configuration.h"
#include "cmd/daemon_signals.h"
#include "cmd/exit_code.h"
#include "cmd/text_files.h"
#include "live/process_metrics.h"
#include "live/steady_clock.h"
#include "observe/log.h"
#include "observe/scheduler_metrics.h"

namespace knx::cmd {
namespace {

Result<observe::Log> MakeLog(const LoggingOptions& options) {
  observe::Log::Options made{
      .verbosity = options.verbosity,
      .now = live::SteadyClock::Wall,
      .write = [](std::string_view line) { std::fwrite(line.data(), 1, line.size(), stderr); },
      .process = getpid(),
      // More than there are rights to lack: each is said once an hour, and none may be left out.
      .most_alike_a_minute = 60};
  if (!observe::ParseLogFormat(options.format, made.format)) {
    return InvalidError(
        fmt::format("--logging-format: {}: not text or json", Printable(options.format)));
  }
  return observe::Log(std::move(made));
}

void Remark(observe::Log& log, const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks) log.Info(0, "Something to mind", {{"remark", remark}});
}

std::string NamesOf(const std::vector<framework::Profile>& profiles) {
  std::vector<std::string> names;
  for (const framework::Profile& profile : profiles) names.push_back(profile.scheduler_name);
  return fmt::format("{}", fmt::join(names, ", "));
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

// What was read before anything is begun.
struct Given {
  const DaemonOptions& options;
  std::string text;  // of the configuration file
  DaemonConfiguration configuration;
  client::ApiAccess access;
};

Result<int> RunUntilItEnds(Given given, observe::Log& log, DaemonSignals& signals) {
  const DaemonOptions& options = given.options;
  KNX_TRY(const auto made, net::EventLoop::Make());
  net::EventLoop& loop = *made;
  const client::PluginWait plugin_wait{
      .interrupt = signals.descriptor(),
      .slow = [&log](std::string_view line) { Remark(log, {std::string(line)}); }};
  KNX_TRY(const auto way, ApiReach::Open(loop, std::move(given.access), plugin_wait));
  client::ApiClient::Options reach = way->options();
  // An API server ends the beginning of a watch with a bookmark that may take seconds to come.
  reach.lists_by_pages = !options.feature_gates.Enabled("WatchListClient");
  // The server is not to go on with what we have given up. Leaders have less time.
  reach.server_timeout = [] { return client::kLongestWrite; };
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
  reach.missing_right = [&log](std::string_view line) {
    log.Error("A right is missing", {{"err", line}});
  };
  log.Info(0, "Starting",
           {{"version", KNX_VERSION},
            {"server", host},
            {"podsOf", NamesOf(given.configuration.profiles)},
            {"writes", options.shadow ? "nothing: a shadow" : "bindings"}});
  client::ApiClient api(loop, reach);  // for what is no scheduling
  Daemon daemon({loop, log, metrics, api, options, signals, plugin_wait},
                std::move(given.configuration), std::move(given.text), std::move(reach));
  KNX_TRY_DONE(daemon.Serve());
  way->Follow(
      [&](const net::Endpoint& endpoint) {
        api.Replace(endpoint);
        daemon.Replace(endpoint);
      },
      [&api](std::string_view what) { api.troubles().Report(what); });
  Status reached = Ok();
  const auto answered = [&](const Status& outcome) {
    reached = outcome.ok() ? daemon.Start() : outcome;
    if (!reached.ok()) loop.Stop();
  };
  const client::FirstContact contact(loop, api, way->credentials(), options.wait_for_api_server,
                                     answered);
  const int code = daemon.Run();
  KNX_TRY_DONE(std::move(reached));
  return code;
}

Result<int> Run(const DaemonOptions& options) {
  KNX_TRY(observe::Log log, MakeLog(options.logging));
  Remark(log, options.warnings);
  std::string text;
  if (!options.config_file.empty()) {
    KNX_TRY(text, ReadText(options.config_file, framework::kMaxConfigurationBytes));
  }
  KNX_TRY(DaemonConfiguration configuration, ReadDaemonConfiguration(options, text));
  Remark(log, configuration.warnings);
  if (!options.write_config_to.empty()) {
    KNX_TRY_DONE(WriteWhole(options.write_config_to, ConfigurationYaml(configuration.config)));
    return kExitOk;
  }
  KNX_TRY(client::ApiAccess access,
          FindAccess(configuration.config.client_connection.kubeconfig, options.master));
  Remark(log, access.warnings);
  if (std::string remark = ProxyRemark(access); !remark.empty()) Remark(log, {std::move(remark)});
  KNX_TRY(const auto signals, DaemonSignals::Catch());
  auto code = RunUntilItEnds(
      {options, std::move(text), std::move(configuration), std::move(access)}, log, *signals);
  log.Flush();
  // Before it could begin.
  if (!code.ok() && signals->Take() != 0) {
    log.Info(0, "Asked to end", {{"err", code.error().ToString()}});
    return kExitOk;
  }
  return code;
}

}  // namespace

int RunDaemon(const DaemonOptions& options) {
  // Who writes where nobody reads, or to a file that may not grow, is told so by an error; that the
  // log is lost is no reason to end.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const auto code = Run(options);
  if (code.ok()) return *code;
  std::fputs(fmt::format("kubenexus-scheduler: {}\n", code.error().ToString()).c_str(), stderr);
  return kExitWrong;
}

}  // namespace knx::cmd
