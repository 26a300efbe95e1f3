#include "cmd/daemon_configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "framework/profile_builder.h"
#include "plugins/registry.h"

namespace knx::cmd {
namespace {

// As kube-scheduler has it: with a file, what it says about the connection counts and the flags do
// not. Only where it names no kubeconfig that of the flag is used, which is friendlier than to look
// for one elsewhere.
void ApplyClientFlags(const DaemonOptions& options, DaemonConfiguration& out) {
  framework::ClientConnection& connection = out.config.client_connection;
  if (options.config_file.empty()) {
    connection.kubeconfig = options.kubeconfig;
    connection.qps_set = options.kube_api_qps.has_value();
    connection.qps = options.kube_api_qps.value_or(connection.qps);
    connection.burst = options.kube_api_burst.value_or(connection.burst);
    return;
  }
  const auto warn = [&](std::string_view flag, std::string_view field) {
    out.warnings.push_back(fmt::format(
        "--{} has no effect beside --config; clientConnection.{} in the file has", flag, field));
  };
  if (options.kube_api_qps) warn("kube-api-qps", "qps");
  if (options.kube_api_burst) warn("kube-api-burst", "burst");
  if (options.kubeconfig.empty()) return;
  if (!connection.kubeconfig.empty()) return warn("kubeconfig", "kubeconfig");
  connection.kubeconfig = options.kubeconfig;
  out.warnings.push_back(
      "the configuration names no kubeconfig (clientConnection.kubeconfig), so that of "
      "--kubeconfig is used");
}

}  // namespace

namespace {

// A shadow looks at the pods of another scheduler with the first profile, unless one is named so.
void TakePodsOf(const std::string& scheduler, DaemonConfiguration& out) {
  const bool named =
      std::any_of(out.profiles.begin(), out.profiles.end(),
                  [&](const auto& profile) { return profile.scheduler_name == scheduler; });
  if (named) return;
  std::string& first = out.profiles.front().scheduler_name;
  out.warnings.push_back(
      fmt::format("the pods of {:?} are looked at with the profile {:?}, the first one, since no "
                  "profile has that name",
                  scheduler, first));
  first = scheduler;
}

}  // namespace

Result<DaemonConfiguration> ReadDaemonConfiguration(const DaemonOptions& options,
                                                    std::string_view text) {
  DaemonConfiguration out;
  if (options.config_file.empty()) {
    out.config = framework::DefaultConfiguration();
  } else {
    KNX_TRY(out.config, framework::ReadConfiguration(text, options.config_file));
  }
  ApplyClientFlags(options, out);
  KNX_TRY(out.config.leader_election, options.leader_election.Over(out.config.leader_election));
  KNX_TRY(out.profiles, framework::BuildProfiles(out.config, plugins::AllPlugins()));
  for (std::string& warning : framework::Warnings(out.config, plugins::AllPlugins())) {
    out.warnings.push_back(std::move(warning));
  }
  if (options.shadow) TakePodsOf(options.shadow_scheduler_name, out);
  out.engine = engine::OptionsFor(out.config);
  out.engine.queue.max_unschedulable = options.pod_max_in_unschedulable_pods;
  out.engine.queue.pop_from_backoff = options.feature_gates.Enabled("SchedulerPopFromBackoffQ");
  return out;
}

std::vector<std::string_view> NeedsRestart(const framework::SchedulerConfiguration& before,
                                           const framework::SchedulerConfiguration& now) {
  const auto election = [](const framework::LeaderElection& e) {
    return std::tie(e.leader_elect, e.lease_duration, e.renew_deadline, e.retry_period,
                    e.resource_lock, e.resource_name, e.resource_namespace);
  };
  const auto connection = [](const framework::ClientConnection& c) {
    return std::tie(c.kubeconfig, c.qps, c.qps_set, c.burst);
  };
  std::vector<std::string_view> out;
  if (election(before.leader_election) != election(now.leader_election)) {
    out.emplace_back("leaderElection");
  }
  if (connection(before.client_connection) != connection(now.client_connection)) {
    out.emplace_back("clientConnection");
  }
  if (before.delay_cache_until_active != now.delay_cache_until_active) {
    out.emplace_back("delayCacheUntilActive");
  }
  return out;
}

framework::SchedulerConfiguration InForce(const framework::SchedulerConfiguration& before,
                                          framework::SchedulerConfiguration now) {
  now.leader_election = before.leader_election;
  now.client_connection = before.client_connection;
  now.delay_cache_until_active = before.delay_cache_until_active;
  return now;
}

}  // namespace knx::cmd
