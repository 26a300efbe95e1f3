// The configuration of a scheduler: kubescheduler.config.k8s.io/v1, kind
// KubeSchedulerConfiguration, read strictly and with kube-scheduler's defaults, merge rules and
// refusals. docs/configuration.md describes it for users.
//
// What it refuses to do: open files (the caller has the text), and read the arguments of plugins,
// which belong to them. Fields are read and kept whether or not anything uses them yet;
// profile_builder.h says which have no effect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "framework/extender_config.h"
#include "framework/plugin_sets.h"
#include "k8s/names.h"
#include "k8s/yaml_reader.h"

namespace knx::framework {

struct LeaderElection {
  bool leader_elect = true;
  Duration lease_duration = Duration::Seconds(15);
  Duration renew_deadline = Duration::Seconds(10);
  Duration retry_period = Duration::Seconds(2);
  std::string resource_lock = "leases";
  std::string resource_name = "kube-scheduler";
  std::string resource_namespace = "kube-system";
};

struct ClientConnection {
  std::string kubeconfig;
  std::string accept_content_types;
  std::string content_type = "application/vnd.kubernetes.protobuf";
  double qps = 50;       // negative: no limit of our own
  bool qps_set = false;  // the file says so; else there is no limit here
  std::int32_t burst = 100;
};

// An entry of pluginConfig. Without the fields apiVersion and kind, which are checked here.
struct PluginArguments {
  const KnownPlugin* plugin = nullptr;
  std::optional<k8s::YamlNode> args;
  std::string path;  // "profiles[0].pluginConfig[1].args"
  SourcePlace place;
};

struct ProfileConfiguration {
  std::string scheduler_name{k8s::names::kDefaultScheduler};
  std::optional<std::int32_t> percentage_of_nodes_to_score;  // unset: that of the whole scheduler
  Plugins plugins;
  std::vector<PluginArguments> plugin_config;
  ResolvedPlugins resolved;  // what `plugins` comes to
  SourcePlace place;
};

struct SchedulerConfiguration {
  std::string file;  // where it was read from, for messages
  std::int32_t parallelism = 16;
  LeaderElection leader_election;
  ClientConnection client_connection;
  bool enable_profiling = true;
  bool enable_contention_profiling = true;
  std::int32_t percentage_of_nodes_to_score = 0;  // 0: what we think best, which is all of them
  std::int64_t pod_initial_backoff_seconds = 1;
  std::int64_t pod_max_backoff_seconds = 10;
  bool delay_cache_until_active = false;
  std::vector<ProfileConfiguration> profiles;  // one at least
  std::vector<Extender> extenders;
  // What is accepted and has no effect, each with its place: "file:line:column: path: what".
  std::vector<std::string> warnings;
};

// A ConfigMap holds no more.
inline constexpr std::size_t kMaxConfigurationBytes = std::size_t{1} << 20;
// Every profile has plugins of its own; nobody needs so many, and a small file full of aliases
// could ask for more.
inline constexpr std::size_t kMaxProfiles = 1000;
// Nothing in a configuration lasts longer. Keeps sums of times within 64 bits.
inline constexpr Duration kMaxConfiguredDuration = Duration::Seconds(std::int64_t{365} * 24 * 3600);
// All scores of a node together fit in 31 bits.
inline constexpr std::int64_t kMaxTotalScore = (std::int64_t{1} << 31) - 1;

// What a file gives that says nothing but apiVersion and kind.
SchedulerConfiguration DefaultConfiguration();

// `file` is only named in messages. An error has file, line, column, field, value and what is
// allowed.
Result<SchedulerConfiguration> ReadConfiguration(std::string_view text, std::string_view file);

struct FieldComplaint {
  std::string_view field;
  std::string what;
};

// What is wrong with the fields of leaderElection taken together, or nothing.
std::optional<FieldComplaint> LeaderElectionComplaint(const LeaderElection& config);

// What is wrong with the weights of a profile, or nothing: with every plugin and extender giving
// its most, the total score must not exceed kMaxTotalScore.
std::optional<std::string> WeightsComplaint(const ProfileConfiguration& profile,
                                            const std::vector<Extender>& extenders);

}  // namespace knx::framework
