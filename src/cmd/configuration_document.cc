#include "cmd/configuration_document.h"

#include <absl/strings/escaping.h>
#include <fmt/format.h>

#include "cmd/yaml_writer.h"

namespace knx::cmd {
namespace {

using framework::SchedulerConfiguration;
using k8s::YamlNode;

void SpanField(DocumentWriter& out, std::string_view key, Duration span) {
  Put(out, key, FormatDuration(span));
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
  PutBool(out, "leaderElect", config.leader_elect);
  SpanField(out, "leaseDuration", config.lease_duration);
  SpanField(out, "renewDeadline", config.renew_deadline);
  SpanField(out, "retryPeriod", config.retry_period);
  Put(out, "resourceLock", config.resource_lock);
  Put(out, "resourceName", config.resource_name);
  Put(out, "resourceNamespace", config.resource_namespace);
  out.EndMap();
}

void WriteClientConnection(const framework::ClientConnection& config, DocumentWriter& out) {
  out.Key("clientConnection");
  out.BeginMap();
  Put(out, "kubeconfig", config.kubeconfig);
  Put(out, "acceptContentTypes", config.accept_content_types);
  Put(out, "contentType", config.content_type);
  // Without a word of the file there is no limit here, whatever the default says.
  if (config.qps_set) {
    out.Key("qps");
    out.Literal(fmt::format("{}", config.qps));
    Put(out, "burst", config.burst);
  }
  out.EndMap();
}

void WriteNames(std::string_view key, const std::vector<framework::ResolvedPlugin>& plugins,
                DocumentWriter& out) {
  out.Key(key);
  out.BeginList();
  for (const framework::ResolvedPlugin& entry : plugins) {
    out.BeginMap();
    Put(out, "name", entry.plugin->name);
    if (entry.weight != 0) Put(out, "weight", entry.weight);
    out.EndMap();
  }
  out.EndList();
}

void WriteAllDisabled(DocumentWriter& out) {
  out.Key("disabled");
  out.BeginList();
  out.BeginMap();
  Put(out, "name", "*");
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
  Put(out, "schedulerName", profile.scheduler_name);
  if (profile.percentage_of_nodes_to_score) {
    Put(out, "percentageOfNodesToScore", *profile.percentage_of_nodes_to_score);
  }
  WritePlugins(profile.resolved, out);
  out.Key("pluginConfig");
  out.BeginList();
  for (const framework::PluginArguments& entry : profile.plugin_config) {
    out.BeginMap();
    Put(out, "name", entry.plugin->name);
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
  PutBool(out, "insecure", tls.insecure);
  Put(out, "serverName", tls.server_name);
  Put(out, "certFile", tls.cert_file);
  Put(out, "keyFile", tls.key_file);
  Put(out, "caFile", tls.ca_file);
  Put(out, "certData", absl::Base64Escape(tls.cert_data));
  if (secrets == SecretsAre::kKept) Put(out, "keyData", absl::Base64Escape(tls.key_data));
  Put(out, "caData", absl::Base64Escape(tls.ca_data));
  out.EndMap();
}

void WriteExtender(const framework::Extender& extender, SecretsAre secrets, DocumentWriter& out) {
  out.BeginMap();
  Put(out, "urlPrefix", extender.url_prefix);
  Put(out, "filterVerb", extender.filter_verb);
  Put(out, "preemptVerb", extender.preempt_verb);
  Put(out, "prioritizeVerb", extender.prioritize_verb);
  Put(out, "bindVerb", extender.bind_verb);
  Put(out, "weight", extender.weight);
  PutBool(out, "enableHTTPS", extender.enable_https);
  if (extender.tls) WriteTls(*extender.tls, secrets, out);
  SpanField(out, "httpTimeout", extender.http_timeout);
  PutBool(out, "nodeCacheCapable", extender.node_cache_capable);
  out.Key("managedResources");
  out.BeginList();
  for (const framework::ExtenderResource& resource : extender.managed_resources) {
    out.BeginMap();
    Put(out, "name", resource.name);
    PutBool(out, "ignoredByScheduler", resource.ignored_by_scheduler);
    out.EndMap();
  }
  out.EndList();
  PutBool(out, "ignorable", extender.ignorable);
  out.EndMap();
}

}  // namespace

void WriteConfiguration(const SchedulerConfiguration& config, SecretsAre secrets,
                        DocumentWriter& out) {
  out.BeginMap();
  Put(out, "apiVersion", "kubescheduler.config.k8s.io/v1");
  Put(out, "kind", "KubeSchedulerConfiguration");
  Put(out, "parallelism", config.parallelism);
  WriteLeaderElection(config.leader_election, out);
  WriteClientConnection(config.client_connection, out);
  PutBool(out, "enableProfiling", config.enable_profiling);
  PutBool(out, "enableContentionProfiling", config.enable_contention_profiling);
  Put(out, "percentageOfNodesToScore", config.percentage_of_nodes_to_score);
  Put(out, "podInitialBackoffSeconds", config.pod_initial_backoff_seconds);
  Put(out, "podMaxBackoffSeconds", config.pod_max_backoff_seconds);
  PutBool(out, "delayCacheUntilActive", config.delay_cache_until_active);
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
