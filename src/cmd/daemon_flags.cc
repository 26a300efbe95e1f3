#include "cmd/daemon_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <utility>

#include "base/near_names.h"
#include "cmd/flag_table.h"
#include "cmd/flag_values.h"

namespace knx::cmd {
namespace {

constexpr std::string_view kProgram = "kubenexus-scheduler";
constexpr std::string_view kShadowOf = "shadow-scheduler-name";
constexpr std::string_view kIgnoredWithConfig = "; not with --config";

constexpr const char* kAbout = R"(Schedules the pods of a Kubernetes cluster.

Takes kube-scheduler's flags. Those that say "no effect" are accepted with a warning.
)";

constexpr const char* kFooter =
    R"(Exit codes: 0 asked to end; 1 the leader lease was lost, a second signal came, or a changed
configuration cannot be gone on with; 2 a flag, a file or the way to the API server is wrong.

Examples:
  kubenexus-scheduler --config=/etc/kubenexus/config.yaml
  kubenexus-scheduler --kubeconfig=$HOME/.kube/config --shadow --secure-port=0
  kubenexus-scheduler --config=config.yaml --write-config-to=/tmp/complete.yaml)";

// ---- which flags there are ----

void AddMisc(FlagTable& table, DaemonOptions& out) {
  table.Group("General");
  table.Text("config", out.config_file, "FILE",
             "a KubeSchedulerConfiguration; a change of the file is taken over");
  table.Text("write-config-to", out.write_config_to, "FILE",
             "write the complete configuration there, and end");
  table.Text("master", out.master, "URL",
             "the API server, instead of the one that the kubeconfig names");
  table.Span("wait-for-api-server", out.wait_for_api_server,
             "at the start, end with exit code 2 if it gave no answer for so long; 0: never");
  table.Bool("shadow", out.shadow,
             "write nothing: decide about another scheduler's pods and report the differences");
  table.Text(std::string(kShadowOf), out.shadow_scheduler_name, "NAME",
             "with --shadow: whose pods");
}

void AddLeaderElection(FlagTable& table, LeaderElectionFlags& out) {
  const framework::LeaderElection config;
  table.Group("Leader election (each wins over the configuration)");
  table.Bool("leader-elect", out.leader_elect, config.leader_elect,
             "decide only while this replica holds the lease");
  table.Span("leader-elect-lease-duration", out.lease_duration, config.lease_duration,
             "others wait so long after the last renewal that they saw");
  table.Span("leader-elect-renew-deadline", out.renew_deadline, config.renew_deadline,
             "a leader that could not renew for so long stops writing and ends");
  table.Span("leader-elect-retry-period", out.retry_period, config.retry_period,
             "between two attempts");
  table.Text("leader-elect-resource-lock", out.resource_lock, "KIND", config.resource_lock,
             "leases is all there is");
  table.Text("leader-elect-resource-name", out.resource_name, "NAME", config.resource_name,
             "of the Lease");
  table.Text("leader-elect-resource-namespace", out.resource_namespace, "NAME",
             config.resource_namespace, "of the Lease");
}

void AddServing(FlagTable& table, ServingOptions& out) {
  table.Group("Serving");
  table.Text("bind-address", out.bind_address, "ADDRESS", "where --secure-port listens");
  table.Integer("secure-port", out.secure_port, 0, std::numeric_limits<std::uint16_t>::max(),
                "HTTPS for health, metrics and configuration; 0: none");
  table.Text("cert-dir", out.cert_dir, "FOLDER",
             "where kube-scheduler.crt and kube-scheduler.key are, unless the files are named; "
             "where both are missing it makes its own, in memory");
  table.Text("tls-cert-file", out.tls_cert_file, "FILE",
             "the server's certificate; without one it makes its own");
  table.Text("tls-private-key-file", out.tls_private_key_file, "FILE",
             "the key of --tls-cert-file");
  table.List("tls-cipher-suites", out.tls_cipher_suites, "by their names in Go or IANA's");
  table.Text("tls-min-version", out.tls_min_version, "VERSION",
             "VersionTLS12 or VersionTLS13; older ones are not spoken");
  table.WithoutEffect("tls-curve-preferences", "LIST", "OpenSSL chooses");
  table.WithoutEffect("tls-sni-cert-key", "PAIR", "there is one certificate");
  table.WithoutEffect("disable-http2-serving", "", "the server speaks HTTP/1.1");
  table.WithoutEffect("http2-max-streams-per-connection", "NUMBER", "the server speaks HTTP/1.1");
  table.WithoutEffect("permit-address-sharing", "", "the address is shared where it can be");
  table.WithoutEffect("permit-port-sharing", "", "the port is never shared");
}

void AddAccess(FlagTable& table, ServingOptions& out) {
  table.Group("Who may ask the server");
  table.Text("authentication-kubeconfig", out.authentication_kubeconfig, "FILE",
             "the API server that knows who asks, unless it is where pods are scheduled");
  table.Bool("authentication-skip-lookup", out.authentication_skip_lookup,
             "do not read the cluster's authorities");
  table.Bool("authentication-tolerate-lookup-failure", out.authentication_tolerate_lookup_failure,
             "look up again later what cannot be read of them; false: end with exit code 1 if that "
             "fails at the start");
  table.Span("authentication-token-webhook-cache-ttl", out.remembered,
             "how long it is remembered whose a token is, and what they may");
  table.Text("client-ca-file", out.client_ca_file, "FILE",
             "who signs the certificates of clients, instead of the cluster's authorities");
  table.Text(
      "requestheader-client-ca-file", out.proxy_ca_file, "FILE",
      "who signs the certificates of proxies that say for whom they ask, instead of what the "
      "cluster has; the other requestheader flags count only with it");
  table.List("requestheader-allowed-names", out.proxies.allowed_names,
             "common names of such certificates; none: all that are signed");
  table.List("requestheader-username-headers", out.proxies.user_headers, "where they say the user");
  table.List("requestheader-uid-headers", out.proxies.uid_headers, "the user's uid");
  table.List("requestheader-group-headers", out.proxies.group_headers, "the user's groups");
  table.List("requestheader-extra-headers-prefix", out.proxies.extra_prefixes,
             "what headers begin with that say more");
  table.Text("authorization-kubeconfig", out.authorization_kubeconfig, "FILE",
             "the API server that knows what they may, unless it is where pods are scheduled");
  table.List("authorization-always-allow-paths", out.authorization_always_allow_paths,
             "what everybody may see");
  for (const char* flag : {"authorization-webhook-cache-authorized-ttl",
                           "authorization-webhook-cache-unauthorized-ttl"}) {
    table.WithoutEffect(flag, "DURATION", "see --authentication-token-webhook-cache-ttl");
  }
}

void AddDeprecated(FlagTable& table, DaemonOptions& out) {
  table.Group("Deprecated (the configuration says it better)");
  table.Text("kubeconfig", out.kubeconfig, "FILE",
             "how to reach the API server, unless the configuration says it");
  table.Any({.name = "kube-api-qps",
             .group = {},
             .type = "NUMBER",
             .what = fmt::format("at most so many writes a second{}", kIgnoredWithConfig),
             .by_default = {},
             .take = [&out](std::string_view text) -> Status {
               out.kube_api_qps = ParseFlagNumber(text);
               if (out.kube_api_qps) return Ok();
               return InvalidError(fmt::format("{:?} is no number", text.substr(0, kShownOfValue)));
             }});
  table.Any({.name = "kube-api-burst",
             .group = {},
             .type = "NUMBER",
             .what = fmt::format("so many at once with --kube-api-qps{}", kIgnoredWithConfig),
             .by_default = "100",
             .take = [&out](std::string_view text) -> Status {
               const auto number = ParseFlagInteger(text);
               constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
               if (!number || *number < 0 || *number > kMost) {
                 return InvalidError(
                     fmt::format("{:?} is no number from 0", text.substr(0, kShownOfValue)));
               }
               out.kube_api_burst = static_cast<std::int32_t>(*number);
               return Ok();
             }});
  table.Span("pod-max-in-unschedulable-pods-duration", out.pod_max_in_unschedulable_pods,
             "a pod that fits nowhere is tried again after this, whatever happened");
  table.WithoutEffect("kube-api-content-type", "TYPE", "it is chosen for every kind");
  table.WithoutEffect("profiling", "", "there are no profiles of Go");
  table.WithoutEffect("contention-profiling", "", "there are no profiles of Go");
}

void AddObserving(FlagTable& table, DaemonOptions& out) {
  table.Group("Logs");
  table.Integer("v", out.logging.verbosity, 0, std::numeric_limits<std::int32_t>::max(),
                "how much is logged");
  table.WithoutEffect("vmodule", "PATTERN=N", "the files have other names here");
  table.Any({.name = "logging-format",
             .group = {},
             .type = "FORM",
             .what = "text or json",
             .by_default = out.logging.format,
             .take = [&out](std::string_view text) -> Status {
               if (text != "text" && text != "json") {
                 return InvalidError(fmt::format("{:?} is not known, allowed are text and json",
                                                 text.substr(0, kShownOfValue)));
               }
               out.logging.format = text;
               return Ok();
             }});
  table.WithoutEffect("log-flush-frequency", "DURATION", "every line is written at once");
  table.WithoutEffect("log-json-info-buffer-size", "SIZE", "every line is written at once");
  table.WithoutEffect("log-json-split-stream", "", "all goes to standard error");
  table.WithoutEffect("log-text-info-buffer-size", "SIZE", "every line is written at once");
  table.WithoutEffect("log-text-split-stream", "", "all goes to standard error");
  table.Group("Metrics");
  table.WithoutEffect("disabled-metrics", "LIST", "all metrics are shown");
  table.WithoutEffect("show-hidden-metrics-for-version", "VERSION", "no metric is hidden yet");
  table.WithoutEffect("allow-metric-labels", "MAP", "labels have few values here");
  table.WithoutEffect("allow-metric-labels-manifest", "FILE", "labels have few values here");
}

void AddGates(FlagTable& table, DaemonOptions& out) {
  table.Group("Feature gates");
  table.Any({.name = "feature-gates",
             .group = {},
             .type = "NAME=BOOL",
             .what = "those of kube-scheduler 1.36; most have no effect, with a warning",
             .by_default = {},
             .take = [&out](std::string_view text) { return out.feature_gates.Add(text); }});
  table.WithoutEffect("emulated-version", "VERSION", "it behaves as kube-scheduler 1.36 does");
  table.WithoutEffect("emulation-forward-compatible", "", "it behaves as kube-scheduler 1.36 does");
  table.WithoutEffect("min-compatibility-version", "VERSION",
                      "it behaves as kube-scheduler 1.36 does");
}

void AddFlags(FlagTable& table, DaemonOptions& out) {
  AddMisc(table, out);
  AddLeaderElection(table, out.leader_election);
  AddServing(table, out.serving);
  AddAccess(table, out.serving);
  AddDeprecated(table, out);
  AddObserving(table, out);
  AddGates(table, out);
}

// ---- reading them ----

// Go's libraries take --a_b for --a-b and -v=2 for --v=2, which the parser does not.
std::string Normalized(std::string argument) {
  if (argument.starts_with("-v=")) argument.insert(0, "-");
  if (!argument.starts_with("--")) return argument;
  const std::size_t end = std::min(argument.find('='), argument.size());
  std::replace(argument.begin(), argument.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
  return argument;
}

std::string UnknownArgument(const std::string& argument, const std::vector<Flag>& flags) {
  if (!argument.starts_with("-")) {
    return fmt::format("{:?} is not a flag, and nothing else is expected",
                       argument.substr(0, kShownOfValue));
  }
  const std::string name = argument.substr(0, argument.find('='));
  std::string out = fmt::format("unknown flag {}", name.substr(0, kShownOfValue));
  std::vector<std::string_view> names = {"help", "version"};
  for (const Flag& flag : flags) names.push_back(flag.name);
  const std::size_t dashes = std::min(name.find_first_not_of('-'), name.size());
  const auto near = NamesNear(std::string_view(name).substr(dashes), names);
  if (!near.empty()) out += fmt::format("; did you mean --{}?", near.front());
  return out;
}

class DaemonParser {
 public:
  DaemonParser(FlagTable& table, std::string_view version)
      : flags_(table.flags()), version_(version) {
    app_.set_help_flag("-h,--help", "explain the flags");
    app_.add_flag("--version", version_wanted_, "print the version");
    app_.allow_extras();
    app_.get_formatter()->column_width(55);
    app_.footer(kFooter);
    for (Flag& flag : flags_) Add(flag);
  }

  Result<std::optional<std::string>> Parse(const std::vector<std::string>& arguments) {
    // The parser takes the last one first.
    std::vector<std::string> reversed;
    for (auto it = arguments.rbegin(); it != arguments.rend(); ++it) {
      std::string argument = Normalized(*it);
      if (!TakeEmpty(argument)) reversed.push_back(std::move(argument));
    }
    try {
      app_.parse(reversed);
    } catch (const CLI::CallForHelp&) {
      return std::optional(app_.help());
    } catch (const CLI::Error& error) {
      return InvalidError(error.what());
    }
    if (const auto extras = app_.remaining(); !extras.empty()) {
      return InvalidError(UnknownArgument(extras.front(), flags_));
    }
    if (complaint_) return *complaint_;
    if (version_wanted_.empty()) return std::optional<std::string>();
    if (version_wanted_ != "true" && version_wanted_ != "raw") {
      return InvalidError(fmt::format("--version: {:?} is not known, allowed are true and raw",
                                      version_wanted_.substr(0, kShownOfValue)));
    }
    return std::optional(fmt::format("{} {}\n", kProgram, version_));
  }

 private:
  void Add(Flag& flag) {
    const std::string name =
        flag.name.size() == 1 ? fmt::format("-{0},--{0}", flag.name) : "--" + flag.name;
    const bool is_bool = flag.type.empty();
    std::string what = flag.what;
    if (is_bool && !flag.by_default.empty()) what += fmt::format(" (default {})", flag.by_default);
    const CLI::callback_t take = [this, &flag](const CLI::results_t& texts) {
      flag.given = true;
      for (const std::string& text : texts) Take(flag, text);
      return true;
    };
    CLI::Option* option = app_.add_option(name, take, what);
    option->group(std::string(flag.group))->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    option->type_name(std::string(flag.type));
    if (is_bool) {
      option->expected(0)->type_size(0);
    } else {
      option->allow_extra_args(false)->default_str(flag.by_default);
    }
  }

  // "--name=" is an empty value, which the parser takes for a missing one.
  bool TakeEmpty(std::string_view argument) {
    if (!argument.starts_with("--") || !argument.ends_with('=')) return false;
    const std::string_view name = argument.substr(2, argument.size() - 3);
    const auto flag = std::find_if(flags_.begin(), flags_.end(),
                                   [name](const Flag& known) { return known.name == name; });
    if (flag == flags_.end() || flag->type.empty()) return false;
    flag->given = true;
    Take(*flag, "");
    return true;
  }

  void Take(const Flag& flag, const std::string& text) {
    const Status taken = flag.take(text);
    if (!taken.ok() && !complaint_) {
      complaint_ = InvalidError(fmt::format("--{}: {}", flag.name, taken.error().message));
    }
  }

  CLI::App app_{kAbout, std::string(kProgram)};
  std::vector<Flag>& flags_;
  std::string_view version_;
  std::string version_wanted_;
  std::optional<Error> complaint_;
};

}  // namespace

Result<framework::LeaderElection> LeaderElectionFlags::Over(
    framework::LeaderElection config) const {
  const auto over = [](const auto& flag, auto& field) {
    if (flag) field = *flag;
  };
  over(leader_elect, config.leader_elect);
  over(lease_duration, config.lease_duration);
  over(renew_deadline, config.renew_deadline);
  over(retry_period, config.retry_period);
  over(resource_lock, config.resource_lock);
  over(resource_name, config.resource_name);
  over(resource_namespace, config.resource_namespace);
  const auto complaint = framework::LeaderElectionComplaint(config);
  if (!complaint) return config;
  std::string name = fmt::format("leaderElection.{}", complaint->field);
  const std::pair<std::string_view, std::string_view> flags[] = {
      {"leaseDuration", lease_duration ? "--leader-elect-lease-duration" : ""},
      {"renewDeadline", renew_deadline ? "--leader-elect-renew-deadline" : ""},
      {"retryPeriod", retry_period ? "--leader-elect-retry-period" : ""},
      {"resourceLock", resource_lock ? "--leader-elect-resource-lock" : ""},
      {"resourceName", resource_name ? "--leader-elect-resource-name" : ""},
      {"resourceNamespace", resource_namespace ? "--leader-elect-resource-namespace" : ""},
  };
  for (const auto& [field, flag] : flags) {
    if (field == complaint->field && !flag.empty()) name = flag;
  }
  return InvalidError(fmt::format("{}: {}", name, complaint->what));
}

Result<DaemonCommand> ParseDaemonFlags(const std::vector<std::string>& arguments,
                                       std::string_view version) {
  DaemonCommand out;
  FlagTable table;
  AddFlags(table, out.options);
  DaemonParser parser(table, version);
  KNX_TRY(out.print, parser.Parse(arguments));
  if (out.print) return out;
  for (const Flag& flag : table.flags()) {
    if (!flag.given) continue;
    if (flag.name == kShadowOf && !out.options.shadow) {
      return InvalidError(fmt::format(
          "--{}: needs --shadow; without it the pods would really be scheduled", kShadowOf));
    }
    if (flag.without_effect.empty()) continue;
    out.options.warnings.push_back(
        fmt::format("--{} has no effect here: {}", flag.name, flag.without_effect));
  }
  if (out.options.shadow_scheduler_name.empty()) {
    return InvalidError(fmt::format("--{}: must not be empty", kShadowOf));
  }
  for (std::string& warning : out.options.feature_gates.Warnings()) {
    out.options.warnings.push_back(std::move(warning));
  }
  return out;
}

}  // namespace knx::cmd
