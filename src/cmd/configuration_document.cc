#include "cmd/configuration_document.h"

#include <absl/strings/escaping.h>
#include <fmt/format.h>

#include "cmd/yaml_writer.h"

namespace knx::cmd {
namespace {

using framework::SchedulerConfiguration;
using k8s::YamlNode;

void TextField(DocumentWriter& out, std::string_view key, std::string_view text) {
  out.Key(key);
  out.Text(text);
}

void BoolField(DocumentWriter& out, std::string_view key, bool value) {
  out.Key(key);
  out.Bool(value);
}

void NumberField(DocumentWriter& out, std::string_view key, std::int64_t number) {
  out.Key(key);
  out.Number(number);
}

void SpanField(DocumentWriter& out, std::string_view key, Duration span) {
  TextField(out, key, FormatDuration(span));
}

// A tree as it was read.
void WriteTree(const YamlNode& node, DocumentWriter& out) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return out.Literal("null");
    case YamlNode::Kind::kScalar:
      // What stands for a number or a boolean may be written in ways that JSON does not know.
      if (!node.quoted && node.AsBool()) return out.Bool(*node.AsBool());
      return !node.quoted && node.IsNumber() ? out.Literal(node.text) : out.Text(node.text);
    case YamlNode::Kind::kList:
      out.BeginList();
      for (const YamlNode& child : node.children) WriteTree(child, out);
      return out.EndList();
    case YamlNode::Kind::kMap:
      out.BeginMap();
      for (const YamlNode& child : node.children) {
        out.Key(child.key);
        WriteTree(child, out);
      }
      return out.EndMap();
  }
}

void WriteLeaderElection(const framework::LeaderElection& config, DocumentWriter& out) {
  out.Key("leaderElection");
  out.BeginMap();
  BoolField(out, "leaderElect", config.leader_elect);
  SpanField(out, "leaseDuration", config.lease_duration);
  SpanField(out, "renewDeadline", config.renew_deadline);
  SpanField(out, "retryPeriod", config.retry_period);
  TextField(out, "resourceLock", config.resource_lock);
  TextField(out, "resourceName", config.resource_name);
  TextField(out, "resourceNamespace", config.resource_namespace);
  out.EndMap();
}

void WriteClientConnection(const framework::ClientConnection& config, DocumentWriter& out) {
  out.Key("clientConnection");
  out.BeginMap();
  TextField(out, "kubeconfig", config.kubeconfig);
  TextField(out, "acceptContentTypes", config.accept_content_types);
  TextField(out, "contentType", config.content_type);
  // Without a word of the file there is no limit here, whatever the default says.
  if (config.qps_set) {
    out.Key("qps");
    out.Literal(fmt::format("{}", config.qps));
    NumberField(out, "burst", config.burst);
  }
  out.EndMap();
}

void WriteNames(std::string_view key, const std::vector<framework::ResolvedPlugin>& plugins,
                DocumentWriter& out) {
  out.Key(key);
  out.BeginList();
  for (const framework::ResolvedPlugin& entry : plugins) {
    out.BeginMap();
    TextField(out, "name", entry.plugin->name);
    if (entry.weight != 0) NumberField(out, "weight", entry.weight);
    out.EndMap();
  }
  out.EndList();
}

void WriteAllDisabled(DocumentWriter& out) {
  out.Key("disabled");
  out.BeginList();
  out.BeginMap();
  TextField(out, "name", "*");
  out.EndMap();
  out.EndList();
}

// Every point says all of its plugins, and nothing else counts.
void WritePlugins(const framework::ResolvedPlugins& plugins, DocumentWriter& out) {
  out.Key("plugins");
  out.BeginMap();
  out.Key("multiPoint");
  out.BeginMap();
  WriteAllDisabled(out);
  out.EndMap();
  for (const framework::Point point : framework::kAllPoints) {
    out.Key(framework::PointName(point));
    out.BeginMap();
    WriteNames("enabled", plugins.at(point), out);
    WriteAllDisabled(out);
    out.EndMap();
  }
  out.EndMap();
}

void WriteProfile(const framework::ProfileConfiguration& profile, DocumentWriter& out) {
  out.BeginMap();
  TextField(out, "schedulerName", profile.scheduler_name);
  if (profile.percentage_of_nodes_to_score) {
    NumberField(out, "percentageOfNodesToScore", *profile.percentage_of_nodes_to_score);
  }
  WritePlugins(profile.resolved, out);
  out.Key("pluginConfig");
  out.BeginList();
  for (const framework::PluginArguments& entry : profile.plugin_config) {
    out.BeginMap();
    TextField(out, "name", entry.plugin->name);
    if (entry.args) {
      out.Key("args");
      WriteTree(*entry.args, out);
    }
    out.EndMap();
  }
  out.EndList();
  out.EndMap();
}

void WriteTls(const framework::ExtenderTls& tls, SecretsAre secrets, DocumentWriter& out) {
  out.Key("tlsConfig");
  out.BeginMap();
  BoolField(out, "insecure", tls.insecure);
  TextField(out, "serverName", tls.server_name);
  TextField(out, "certFile", tls.cert_file);
  TextField(out, "keyFile", tls.key_file);
  TextField(out, "caFile", tls.ca_file);
  TextField(out, "certData", absl::Base64Escape(tls.cert_data));
  if (secrets == SecretsAre::kKept) TextField(out, "keyData", absl::Base64Escape(tls.key_data));
  TextField(out, "caData", absl::Base64Escape(tls.ca_data));
  out.EndMap();
}

void WriteExtender(const framework::Extender& extender, SecretsAre secrets, DocumentWriter& out) {
  out.BeginMap();
  TextField(out, "urlPrefix", extender.url_prefix);
  TextField(out, "filterVerb", extender.filter_verb);
  TextField(out, "preemptVerb", extender.preempt_verb);
  TextField(out, "prioritizeVerb", extender.prioritize_verb);
  TextField(out, "bindVerb", extender.bind_verb);
  NumberField(out, "weight", extender.weight);
  BoolField(out, "enableHTTPS", extender.enable_https);
  if (extender.tls) WriteTls(*extender.tls, secrets, out);
  SpanField(out, "httpTimeout", extender.http_timeout);
  BoolField(out, "nodeCacheCapable", extender.node_cache_capable);
  out.Key("managedResources");
  out.BeginList();
  for (const framework::ExtenderResource& resource : extender.managed_resources) {
    out.BeginMap();
    TextField(out, "name", resource.name);
    BoolField(out, "ignoredByScheduler", resource.ignored_by_scheduler);
    out.EndMap();
  }
  out.EndList();
  BoolField(out, "ignorable", extender.ignorable);
  out.EndMap();
}

}  // namespace

void WriteConfiguration(const SchedulerConfiguration& config, SecretsAre secrets,
                        DocumentWriter& out) {
  out.BeginMap();
  TextField(out, "apiVersion", "kubescheduler.config.k8s.io/v1");
  TextField(out, "kind", "KubeSchedulerConfiguration");
  NumberField(out, "parallelism", config.parallelism);
  WriteLeaderElection(config.leader_election, out);
  WriteClientConnection(config.client_connection, out);
  BoolField(out, "enableProfiling", config.enable_profiling);
  BoolField(out, "enableContentionProfiling", config.enable_contention_profiling);
  NumberField(out, "percentageOfNodesToScore", config.percentage_of_nodes_to_score);
  NumberField(out, "podInitialBackoffSeconds", config.pod_initial_backoff_seconds);
  NumberField(out, "podMaxBackoffSeconds", config.pod_max_backoff_seconds);
  BoolField(out, "delayCacheUntilActive", config.delay_cache_until_active);
  out.Key("profiles");
  out.BeginList();
  for (const framework::ProfileConfiguration& profile : config.profiles) WriteProfile(profile, out);
  out.EndList();
  out.Key("extenders");
  out.BeginList();
  for (const framework::Extender& extender : config.extenders) {
    WriteExtender(extender, secrets, out);
  }
  out.EndList();
  out.EndMap();
}

std::string ConfigurationYaml(const SchedulerConfiguration& config) {
  std::string out;
  YamlWriter writer(out);
  WriteConfiguration(config, SecretsAre::kKept, writer);
  return out;
}

}  // namespace knx::cmd
