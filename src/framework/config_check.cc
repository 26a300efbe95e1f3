#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>

#include "framework/config_read.h"

namespace knx::framework {
namespace {

using k8s::FieldReader;
using k8s::YamlNode;

void CheckLeaderElection(FieldReader& fields, const LeaderElection& config) {
  if (const auto complaint = LeaderElectionComplaint(config)) {
    fields.Fail(complaint->field, complaint->what);
  }
}

// ---- the order of the queue ----

// Whether two trees say the same. The order of fields in a map means nothing.
bool Same(const YamlNode& a, const YamlNode& b) {
  if (a.kind != b.kind || a.quoted != b.quoted || a.text != b.text ||
      a.children.size() != b.children.size()) {
    return false;
  }
  const auto ordered = [](const YamlNode& node) {
    std::vector<const YamlNode*> children;
    for (const YamlNode& child : node.children) children.push_back(&child);
    if (node.kind == YamlNode::Kind::kMap) {
      std::sort(children.begin(), children.end(),
                [](const YamlNode* x, const YamlNode* y) { return x->key < y->key; });
    }
    return children;
  };
  const std::vector<const YamlNode*> left = ordered(a), right = ordered(b);
  return std::equal(
      left.begin(), left.end(), right.begin(),
      [](const YamlNode* x, const YamlNode* y) { return x->key == y->key && Same(*x, *y); });
}

const YamlNode* ArgumentsOf(const ProfileConfiguration& profile, const KnownPlugin* plugin) {
  for (const PluginArguments& entry : profile.plugin_config) {
    if (entry.plugin == plugin) return entry.args ? &*entry.args : nullptr;
  }
  return nullptr;
}

// What a plugin does for all profiles is configured once or everywhere alike. `what`: that is.
void CheckCommonArguments(FieldReader& fields, const ProfileConfiguration& profile,
                          const std::vector<ProfileConfiguration>& all, Point point,
                          const KnownPlugin& plugin, std::string_view what) {
  const YamlNode* own = ArgumentsOf(profile, &plugin);
  for (const ProfileConfiguration& other : all) {
    if (&other == &profile) return;
    if (!other.resolved.Contains(point, &plugin)) continue;
    const YamlNode* theirs = ArgumentsOf(other, &plugin);
    if (own == theirs || (own != nullptr && theirs != nullptr && Same(*own, *theirs))) return;
    fields.Fail("pluginConfig",
                fmt::format("{} {}, so its arguments must be the same as in profile {:?}",
                            plugin.name, what, other.scheduler_name));
    return;
  }
}

void CheckQueueSort(FieldReader& fields, const ProfileConfiguration& profile,
                    const std::vector<ProfileConfiguration>& all) {
  const std::size_t count = profile.resolved.at(Point::kQueueSort).size();
  if (count == 1) {
    const ResolvedPlugin& sort = profile.resolved.at(Point::kQueueSort).front();
    return CheckCommonArguments(fields, profile, all, Point::kQueueSort, *sort.plugin,
                                "orders the one queue of all profiles");
  }
  fields.Map("plugins", [&](FieldReader& plugins) {
    plugins.Fail("queueSort", count == 0 ? "no queue sort plugin is left, and one is needed: "
                                           "PrioritySort or Coscheduling"
                                         : "only one queue sort plugin can be enabled");
  });
}

void CheckProfile(FieldReader& fields, const ProfileConfiguration& profile,
                  const SchedulerConfiguration& config) {
  if (profile.scheduler_name.empty()) {
    fields.Fail("schedulerName", config.profiles.size() > 1
                                     ? "missing, but required where there is more than one profile"
                                     : "must not be empty");
  }
  if (profile.resolved.at(Point::kBind).empty()) {
    fields.Map("plugins", [&](FieldReader& plugins) {
      plugins.Fail("bind", "no bind plugin is left, and one is needed: DefaultBinder");
    });
  }
  if (const auto complaint = WeightsComplaint(profile, config.extenders)) {
    fields.FailHere(*complaint);
  }
  CheckQueueSort(fields, profile, config.profiles);
  for (const ResolvedPlugin& entry : profile.resolved.at(Point::kPreFilter)) {
    if (entry.plugin->name != "ProfileClassifier") continue;
    CheckCommonArguments(fields, profile, config.profiles, Point::kPreFilter, *entry.plugin,
                         "says of the pods of all profiles what they are for");
  }
}

}  // namespace

std::optional<FieldComplaint> LeaderElectionComplaint(const LeaderElection& config) {
  if (!config.leader_elect) return std::nullopt;
  if (config.lease_duration <= Duration{}) return {{"leaseDuration", "must be positive"}};
  if (config.renew_deadline <= Duration{}) return {{"renewDeadline", "must be positive"}};
  if (config.retry_period <= Duration{}) return {{"retryPeriod", "must be positive"}};
  if (config.lease_duration <= config.renew_deadline) {
    return {{"leaseDuration", fmt::format("{} must be longer than renewDeadline {}",
                                          FormatDuration(config.lease_duration),
                                          FormatDuration(config.renew_deadline))}};
  }
  // A retry may come late by a fifth; there must be time for one.
  if (config.renew_deadline * 5 <= config.retry_period * 6) {
    return {{"renewDeadline", fmt::format("{} must be longer than 1.2 times retryPeriod {}",
                                          FormatDuration(config.renew_deadline),
                                          FormatDuration(config.retry_period))}};
  }
  if (config.resource_lock != "leases") {
    return {{"resourceLock", "must be leases, which is all there is"}};
  }
  // A file says by it that the default is meant, a flag what it says.
  if (config.resource_name.empty()) return {{"resourceName", "must not be empty"}};
  if (config.resource_namespace.empty()) return {{"resourceNamespace", "must not be empty"}};
  return std::nullopt;
}

void CheckFields(FieldReader& fields, const SchedulerConfiguration& config) {
  fields.Map("leaderElection",
             [&](FieldReader& map) { CheckLeaderElection(map, config.leader_election); });
  if (config.pod_max_backoff_seconds < config.pod_initial_backoff_seconds) {
    const bool max_given = fields.Has("podMaxBackoffSeconds");
    fields.Fail(max_given ? "podMaxBackoffSeconds" : "podInitialBackoffSeconds",
                fmt::format("podMaxBackoffSeconds {} must not be less than "
                            "podInitialBackoffSeconds {}",
                            config.pod_max_backoff_seconds, config.pod_initial_backoff_seconds));
  }
  CheckExtenders(fields, config.extenders);
  absl::flat_hash_map<std::string_view, std::size_t> names;
  std::size_t next = 0;
  fields.ForEach("profiles", [&](FieldReader& item) {
    const std::size_t at = next++;
    const ProfileConfiguration& profile = config.profiles[at];
    CheckProfile(item, profile, config);
    const auto [other, is_new] = names.emplace(profile.scheduler_name, at);
    if (!is_new) {
      item.Fail("schedulerName", fmt::format("{:?} is the name of profiles[{}] already",
                                             profile.scheduler_name, other->second));
    }
  });
}

}  // namespace knx::framework
