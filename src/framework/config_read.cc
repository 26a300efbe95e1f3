#include "framework/config_read.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace knx::framework {
namespace {

using k8s::FieldReader;

constexpr std::string_view kGroup = "kubescheduler.config.k8s.io/";
constexpr std::string_view kApiVersion = "kubescheduler.config.k8s.io/v1";
constexpr std::string_view kKind = "KubeSchedulerConfiguration";

std::string Quoted(std::string_view text) {
  constexpr std::size_t kShown = 80;  // enough to recognise it
  return fmt::format("{:?}", text.substr(0, kShown));
}

// What is read, and what is said about it.
struct Reading {
  SchedulerConfiguration& config;

  SourcePlace PlaceOf(const FieldReader& fields) const {
    return {config.file, fields.node().line, fields.node().column};
  }
  void Warn(const FieldReader& fields, std::string_view what) const {
    const Error said = InvalidError(fmt::format("{}: {}", fields.path(), what), PlaceOf(fields));
    config.warnings.push_back(said.ToString());
  }
  // About a field that is there.
  void WarnOf(FieldReader& fields, std::string_view key, std::string_view what) const {
    const k8s::YamlNode& node = *fields.Node(key);
    const std::string path = fields.path();
    const Error said =
        InvalidError(fmt::format("{}{}{}: {}", path, path.empty() ? "" : ".", key, what),
                     {config.file, node.line, node.column});
    config.warnings.push_back(said.ToString());
  }
};

void WarnOfSampling(FieldReader& fields, const Reading& reading, std::int32_t percentage) {
  if (!fields.ok() || percentage == 0 || percentage == 100) return;
  reading.WarnOf(fields, "percentageOfNodesToScore", "has no effect, all nodes are considered");
}

// ---- which file it is ----

std::string WrongVersion(std::string_view version) {
  std::string out = fmt::format("{} is not allowed; allowed is {}", Quoted(version), kApiVersion);
  if (!version.starts_with(kGroup)) return out;
  const std::string_view older = version.substr(kGroup.size());
  if (older == "v1beta3") {
    out += "; v1 has the same fields, so changing this line is enough";
  } else if (older.starts_with("v1alpha") || older.starts_with("v1beta")) {
    out +=
        "; v1 has other default plugins and weights, merges plugins through multiPoint, and has "
        "no preExtender and no unreserve: docs/configuration.md describes it";
  }
  return out;
}

void ReadType(FieldReader& fields) {
  std::string version, kind;
  fields.Require("apiVersion", version);
  if (fields.ok() && version != kApiVersion) fields.Fail("apiVersion", WrongVersion(version));
  fields.Require("kind", kind);
  if (fields.ok() && kind != kKind) {
    fields.Fail("kind", fmt::format("{} is not allowed; allowed is {}", Quoted(kind), kKind));
  }
}

// ---- the scheduler as a whole ----

// A field of Kubernetes' shared structs, for which empty and absent are the same.
void ReadFilled(FieldReader& fields, std::string_view key, std::string& out) {
  std::string text;
  if (fields.Read(key, text) && !text.empty()) out = std::move(text);
}

void ReadLease(FieldReader& fields, std::string_view key, Duration& out) {
  Duration value;
  if (!fields.Read(key, value)) return;
  if (value > kMaxConfiguredDuration || value < Duration{} - kMaxConfiguredDuration) {
    fields.Fail(key, "must be at most a year");
  }
  if (value != Duration{}) out = value;
}

void ReadLeaderElection(FieldReader& fields, LeaderElection& out) {
  fields.Read("leaderElect", out.leader_elect);
  ReadLease(fields, "leaseDuration", out.lease_duration);
  ReadLease(fields, "renewDeadline", out.renew_deadline);
  ReadLease(fields, "retryPeriod", out.retry_period);
  ReadFilled(fields, "resourceLock", out.resource_lock);
  ReadFilled(fields, "resourceName", out.resource_name);
  ReadFilled(fields, "resourceNamespace", out.resource_namespace);
}

void ReadClientConnection(FieldReader& fields, ClientConnection& out) {
  fields.Read("kubeconfig", out.kubeconfig);
  fields.Read("acceptContentTypes", out.accept_content_types);
  ReadFilled(fields, "contentType", out.content_type);
  double qps = 0;
  if (fields.Read("qps", qps)) {
    constexpr double kMost = std::numeric_limits<float>::max();
    if (qps > kMost || qps < -kMost) fields.Fail("qps", "is out of range for a 32-bit float");
    if (qps != 0) {
      out.qps = qps;
      out.qps_set = true;
    }
  }
  std::int32_t burst = 0;
  if (fields.Read("burst", burst, k8s::IntegerLimits{.min = 0}) && burst != 0) out.burst = burst;
}

// ---- plugins ----

// `and_so` goes on from the name: " is disabled".
std::string UnknownPlugin(std::string_view name, std::string_view and_so = {}) {
  std::string out = fmt::format("unknown plugin {}{}", Quoted(name), and_so);
  const std::vector<std::string_view> near = NamesLike(name);
  if (!near.empty()) out += fmt::format("; did you mean {}?", fmt::join(near, " or "));
  return out;
}

// The plugin of that name, or an error at the field `name`.
const KnownPlugin* NeedPlugin(FieldReader& fields, std::string_view name) {
  const KnownPlugin* plugin = FindPlugin(name);
  if (plugin != nullptr) return plugin;
  const std::string_view advice = RemovedPluginAdvice(name);
  fields.Fail("name", advice.empty()
                          ? UnknownPlugin(name)
                          : fmt::format("{} was removed from kube-scheduler; {}", name, advice));
  return nullptr;
}

// `point` is nullptr for multiPoint.
void ReadEnabled(FieldReader& fields, const Point* point, const Reading& reading, PluginSet& out) {
  std::string name;
  EnabledPlugin entry;
  fields.Require("name", name);
  // kube-scheduler does not refuse negative weights; here a total score is never negative.
  fields.Read("weight", entry.weight, k8s::IntegerLimits{.min = 0});
  if (!fields.ok()) return;
  entry.plugin = NeedPlugin(fields, name);
  if (entry.plugin == nullptr) return;
  if (point != nullptr && !entry.plugin->points.Contains(*point)) {
    fields.Fail("name", fmt::format("{} does not extend {}; it extends {}", name, PointName(*point),
                                    PointNames(entry.plugin->points)));
    return;
  }
  for (const EnabledPlugin& other : out.enabled) {
    if (other.plugin != entry.plugin) continue;
    fields.Fail("name", fmt::format("{} is enabled twice here, first in line {}",
                                    entry.plugin->name, other.place.line));
    return;
  }
  entry.place = reading.PlaceOf(fields);
  out.enabled.push_back(std::move(entry));
}

void ReadDisabled(FieldReader& fields, const Reading& reading, PluginSet& out) {
  std::string name;
  fields.Require("name", name);
  fields.Allow({"weight"});
  if (!fields.ok()) return;
  if (name == "*") {
    out.all_disabled = true;
    return;
  }
  const KnownPlugin* plugin = FindPlugin(name);
  if (plugin == nullptr) {
    reading.Warn(fields, UnknownPlugin(name, " is disabled, which changes nothing"));
  } else if (!out.Disables(plugin)) {
    out.disabled.push_back(plugin);
  }
}

void ReadPluginSet(FieldReader& fields, std::string_view key, const Point* point,
                   const Reading& reading, PluginSet& out) {
  fields.Map(key, [&](FieldReader& set) {
    set.ForEach("enabled", [&](FieldReader& item) { ReadEnabled(item, point, reading, out); });
    set.ForEach("disabled", [&](FieldReader& item) { ReadDisabled(item, reading, out); });
  });
}

void ReadPlugins(FieldReader& fields, const Reading& reading, Plugins& out) {
  ReadPluginSet(fields, "multiPoint", nullptr, reading, out.multi_point);
  for (const Point& point : kAllPoints) {
    ReadPluginSet(fields, PointName(point), &point, reading, out.at(point));
  }
}

// Arguments may say what they are; then it must be right, and the plugin need not know.
void CheckType(FieldReader& args, std::string_view written, std::string_view name) {
  const k8s::YamlNode* version = args.node().Find("apiVersion");
  if (version != nullptr && version->text != kApiVersion) {
    args.Fail("apiVersion",
              fmt::format("{} is not allowed; allowed is {}", Quoted(version->text), kApiVersion));
  }
  const k8s::YamlNode* kind = args.node().Find("kind");
  if (kind != nullptr && kind->text != fmt::format("{}Args", name) &&
      kind->text != fmt::format("{}Args", written)) {
    args.Fail("kind",
              fmt::format("{} is not allowed; allowed is {}Args", Quoted(kind->text), name));
  }
}

void ReadArguments(FieldReader& fields, const Reading& reading, std::vector<PluginArguments>& out) {
  std::string name;
  fields.Require("name", name);
  fields.Allow({"args"});
  if (!fields.ok()) return;
  if (FindPlugin(name) == nullptr && RemovedPluginAdvice(name).empty()) {
    reading.Warn(fields, UnknownPlugin(name, " has arguments, which nobody reads"));
    return;
  }
  PluginArguments entry;
  entry.plugin = NeedPlugin(fields, name);
  if (entry.plugin == nullptr) return;
  for (const PluginArguments& other : out) {
    if (other.plugin != entry.plugin) continue;
    fields.Fail("name", fmt::format("{} is configured twice, first in line {}", entry.plugin->name,
                                    other.place.line));
    return;
  }
  entry.path = fields.path() + ".args";
  entry.place = reading.PlaceOf(fields);
  fields.Map("args", [&](FieldReader& args) {
    CheckType(args, name, entry.plugin->name);
    entry.args = args.node();
    std::erase_if(entry.args->children, [](const k8s::YamlNode& field) {
      return field.key == "apiVersion" || field.key == "kind";
    });
  });
  out.push_back(std::move(entry));
}

void ReadProfile(FieldReader& fields, const Reading& reading, bool only_one) {
  ProfileConfiguration& out = reading.config.profiles.emplace_back();
  out.place = reading.PlaceOf(fields);
  if (!only_one) out.scheduler_name.clear();
  fields.Read("schedulerName", out.scheduler_name);
  fields.Read("percentageOfNodesToScore", out.percentage_of_nodes_to_score,
              k8s::IntegerLimits{.min = 0, .max = 100});
  WarnOfSampling(fields, reading, out.percentage_of_nodes_to_score.value_or(0));
  fields.Map("plugins", [&](FieldReader& plugins) { ReadPlugins(plugins, reading, out.plugins); });
  fields.ForEach("pluginConfig",
                 [&](FieldReader& item) { ReadArguments(item, reading, out.plugin_config); });
  out.resolved = Resolve(out.plugins);
}

}  // namespace

void ReadFields(FieldReader& fields, SchedulerConfiguration& out) {
  ReadType(fields);
  fields.Read("parallelism", out.parallelism, k8s::IntegerLimits{.min = 1});
  fields.Map("leaderElection",
             [&](FieldReader& map) { ReadLeaderElection(map, out.leader_election); });
  fields.Map("clientConnection",
             [&](FieldReader& map) { ReadClientConnection(map, out.client_connection); });
  fields.Read("enableProfiling", out.enable_profiling);
  out.enable_contention_profiling = out.enable_profiling;
  fields.Read("enableContentionProfiling", out.enable_contention_profiling);
  fields.Read("percentageOfNodesToScore", out.percentage_of_nodes_to_score,
              k8s::IntegerLimits{.min = 0, .max = 100});
  const Reading reading{out};
  WarnOfSampling(fields, reading, out.percentage_of_nodes_to_score);
  const k8s::IntegerLimits seconds{.min = 1, .max = kMaxConfiguredDuration.ns / 1'000'000'000};
  fields.Read("podInitialBackoffSeconds", out.pod_initial_backoff_seconds, seconds);
  fields.Read("podMaxBackoffSeconds", out.pod_max_backoff_seconds, seconds);
  fields.Read("delayCacheUntilActive", out.delay_cache_until_active);
  const k8s::YamlNode* profiles = fields.Node("profiles");
  const std::size_t count = profiles == nullptr ? 0 : profiles->children.size();
  if (count > kMaxProfiles) {
    fields.Fail("profiles",
                fmt::format("{} are too many; at most {} are allowed", count, kMaxProfiles));
  }
  fields.ForEach("profiles", [&](FieldReader& item) { ReadProfile(item, reading, count == 1); });
  if (out.profiles.empty()) out.profiles = DefaultConfiguration().profiles;
  fields.ForEach("extenders",
                 [&](FieldReader& item) { ReadExtender(item, out.extenders.emplace_back()); });
}

}  // namespace knx::framework
