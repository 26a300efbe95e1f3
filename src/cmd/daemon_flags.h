// The command line of kubenexus-scheduler: kube-scheduler's flags and a few of our own. What has no
// effect here is accepted with a warning, so that a command line written for kube-scheduler works;
// what nobody knows is refused. docs/daemon.md has the table for users.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/trusted_proxies.h"
#include "cmd/feature_gates.h"
#include "framework/config.h"

namespace knx::cmd {

// The HTTPS server: where it listens, what it shows, and whom it answers.
struct ServingOptions {
  std::string bind_address = "0.0.0.0";
  std::int32_t secure_port = 10259;  // 0: no server
  std::string cert_dir, tls_cert_file, tls_private_key_file;
  std::vector<std::string> tls_cipher_suites;
  std::string tls_min_version;
  // Looking up who asks, and what they may.
  std::string authentication_kubeconfig, authorization_kubeconfig;
  bool authentication_skip_lookup = false, authentication_tolerate_lookup_failure = true;
  Duration remembered = Duration::Seconds(10);
  std::string client_ca_file;
  // Proxies who tell for whom they ask; with a file, the cluster's own are not looked up.
  std::string proxy_ca_file;
  client::TrustedProxies proxies;
  std::vector<std::string> authorization_always_allow_paths = {"/healthz", "/readyz", "/livez"};
};

struct LoggingOptions {
  std::int32_t verbosity = 0;
  std::string format = "text";  // or json
};

// What was said; the rest is for the configuration to say.
struct LeaderElectionFlags {
  std::optional<bool> leader_elect;
  std::optional<Duration> lease_duration, renew_deadline, retry_period;
  std::optional<std::string> resource_lock, resource_name, resource_namespace;

  // Over what a configuration says. An error names the flag, or the field.
  Result<framework::LeaderElection> Over(framework::LeaderElection config) const;
};

struct DaemonOptions {
  std::string config_file;      // empty: the defaults
  std::string write_config_to;  // empty: do not
  std::string master;           // instead of the server of the kubeconfig
  std::string kubeconfig;       // empty: $KUBECONFIG, ~/.kube/config, or the service account
  std::optional<double> kube_api_qps;
  std::optional<std::int32_t> kube_api_burst;
  Duration wait_for_api_server = Duration::Minutes(10);  // at the start; 0: without end
  Duration pod_max_in_unschedulable_pods = Duration::Minutes(5);
  LeaderElectionFlags leader_election;
  FeatureGates feature_gates;
  ServingOptions serving;
  LoggingOptions logging;
  bool shadow = false;
  std::string shadow_scheduler_name = "default-scheduler";
  // Of flags that have no effect, a line each.
  std::vector<std::string> warnings;
};

struct DaemonCommand {
  // What is to be printed instead of running: --help, --version.
  std::optional<std::string> print;
  DaemonOptions options;
};

// `arguments`: without the program's name. An error is one line that says what is wrong.
Result<DaemonCommand> ParseDaemonFlags(const std::vector<std::string>& arguments,
                                       std::string_view version);

}  // namespace knx::cmd
