#include "sim/placement_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/host_ports.h"
#include "cluster/resources.h"
#include "k8s/names.h"
#include "k8s/selector.h"
#include "k8s/yaml_reader.h"

namespace knx::sim {
namespace {

bool Ignored(const ProfileRules& rules, const std::string& resource) {
  if (!cluster::IsScalarResource(resource)) return false;
  if (rules.ignored_resources.contains(resource)) return true;
  const std::size_t slash = resource.find('/');
  return slash != std::string::npos &&
         rules.ignored_resources.contains(resource.substr(0, slash + 1));
}

void ReadFitArguments(const k8s::YamlNode& args, ProfileRules& rules) {
  for (const auto& [field, suffix] :
       {std::pair<std::string_view, std::string_view>{"ignoredResources", ""},
        {"ignoredResourceGroups", "/"}}) {
    const k8s::YamlNode* list = args.Find(field);
    if (list == nullptr) continue;
    for (const k8s::YamlNode& item : list->children) {
      rules.ignored_resources.insert(fmt::format("{}{}", item.text, suffix));
    }
  }
}

void ReadArguments(const framework::ProfileConfiguration& profile, ProfileRules& rules) {
  for (const framework::PluginArguments& entry : profile.plugin_config) {
    if (!entry.args.has_value() || entry.plugin == nullptr) continue;
    if (entry.plugin->name == "NodeResourcesFit") ReadFitArguments(*entry.args, rules);
    if (entry.plugin->name == "NodeAffinity" && entry.args->Find("addedAffinity") != nullptr) {
      rules.complete = false;
    }
    if (entry.plugin->name == "PodTopologySpread" &&
        entry.args->Find("defaultConstraints") != nullptr) {
      rules.complete = false;
    }
  }
}

void Switch(std::string_view plugin, ProfileRules& rules) {
  const std::pair<std::string_view, bool*> known[] = {
      {"NodeName", &rules.node_name},
      {"NodeUnschedulable", &rules.unschedulable},
      {"TaintToleration", &rules.taints},
      {"NodeAffinity", &rules.affinity},
      {"NodePorts", &rules.ports},
      {"NodeResourcesFit", &rules.fit},
      {"VolumeBinding", &rules.volumes},
      {"VolumeRestrictions", &rules.volumes},
      {"VolumeZone", &rules.volumes},
      {"NodeVolumeLimits", &rules.volumes},
      {"PodTopologySpread", &rules.pods},
      {"InterPodAffinity", &rules.pods},
      {"NodeDeclaredFeatures", &rules.features},
      {"DynamicResources", &rules.devices},
  };
  for (const auto& [name, flag] : known) {
    if (plugin != name) continue;
    *flag = true;
    return;
  }
  rules.complete = false;
}

bool SelectorMatches(const k8s::Pod& pod, const k8s::Node& node) {
  for (const auto& [key, value] : pod.spec.node_selector) {
    const std::string* found = k8s::FindValue(node.meta.labels, key);
    if (found == nullptr || *found != value) return false;
  }
  return !pod.spec.node_affinity.has_value() || !pod.spec.node_affinity->required.has_value() ||
         k8s::Matches(*pod.spec.node_affinity->required, node.meta.labels, node.meta.name);
}

bool Declares(const k8s::Node& node, std::string_view feature) {
  const std::vector<std::string>& declared = node.declared_features;
  return std::find(declared.begin(), declared.end(), feature) != declared.end();
}

bool FeaturesMatch(const k8s::PodSpec& spec, const k8s::Node& node) {
  if (spec.host_network && !spec.host_users &&
      !Declares(node, k8s::names::kFeatureHostNetworkUsers)) {
    return false;
  }
  for (const auto* containers : {&spec.containers, &spec.init_containers}) {
    for (const k8s::Container& container : *containers) {
      if (container.may_restart_all && !Declares(node, k8s::names::kFeatureRestartAll)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

Rules RulesOf(const framework::SchedulerConfiguration& config,
              const std::vector<framework::Profile>& profiles) {
  Rules out;
  for (const framework::Profile& profile : profiles) {
    ProfileRules& rules = out[profile.scheduler_name];
    // Who fits may have to wait all the same, so as not to delay another.
    if (profile.backfill) rules.complete = false;
    rules.gangs = profile.gangs.has_value();
    if (rules.gangs) {
      const framework::GangArgs args = profile.gangs->plugin->gang_args();
      rules.searches = args.search_evaluations > 0;
      rules.evicts_incomplete = args.evict_incomplete;
      rules.grace = args.grace;
      rules.straggler_wait = args.straggler_wait;
    }
    for (const auto& entry : profile.filters) {
      if (entry.filter) {
        Switch(profile.plugins[entry.index]->name(), rules);
      } else {
        rules.complete = false;
      }
    }
  }
  for (const framework::ProfileConfiguration& profile : config.profiles) {
    if (const auto found = out.find(profile.scheduler_name); found != out.end()) {
      ReadArguments(profile, found->second);
    }
  }
  return out;
}

std::optional<std::string> Forbids(const ProfileRules& rules, const k8s::Pod& pod,
                                   const k8s::Node& node) {
  const k8s::Taint cordon{.key = std::string(k8s::names::kTaintUnschedulable),
                          .value = {},
                          .effect = k8s::TaintEffect::kNoSchedule};
  if (rules.unschedulable && node.unschedulable && !k8s::Tolerates(pod.spec.tolerations, cordon)) {
    return "the node is unschedulable";
  }
  for (const k8s::Taint& taint : node.taints) {
    const bool repels = taint.effect == k8s::TaintEffect::kNoSchedule ||
                        taint.effect == k8s::TaintEffect::kNoExecute;
    if (rules.taints && repels && !k8s::Tolerates(pod.spec.tolerations, taint)) {
      return fmt::format("the pod does not tolerate the taint {}={}", taint.key, taint.value);
    }
  }
  if (rules.affinity && !SelectorMatches(pod, node)) {
    return "the node does not match the pod's node selector or affinity";
  }
  if (rules.node_name && !pod.spec.node_name.empty() && pod.spec.node_name != node.meta.name) {
    return "the pod names another node";
  }
  if (rules.features && !FeaturesMatch(pod.spec, node)) {
    return "the node does not declare a feature that the pod needs";
  }
  return std::nullopt;
}

std::optional<NoRoom> Overfills(const ProfileRules& rules, const Guest& guest,
                                const k8s::Node& node, const std::vector<Guest>& others) {
  const Amounts allocatable = ToAmounts(node.allocatable);
  if (rules.fit) {
    const std::int64_t room = AmountOf(allocatable, std::string(k8s::names::kPods));
    if (static_cast<std::int64_t>(others.size()) + 1 > room) {
      return NoRoom{"pod-count", fmt::format("{} pods of {}", others.size() + 1, room)};
    }
    Amounts taken;
    for (const Guest& other : others) Add(taken, *other.requests);
    for (const auto& [name, wanted] : *guest.requests) {
      if (wanted <= 0 || Ignored(rules, name)) continue;
      // What is taken may be more than can be counted; then nothing is left either way.
      const std::int64_t whole = AmountOf(allocatable, name);
      const std::int64_t used = AmountOf(taken, name);
      if (wanted > whole - used) {
        return NoRoom{"capacity", fmt::format("{} of {} {}", cluster::SaturatingAdd(used, wanted),
                                              whole, name)};
      }
    }
  }
  if (!rules.ports) return std::nullopt;
  const std::vector<cluster::HostPort> wanted = cluster::HostPortsOf(guest.pod->spec);
  if (wanted.empty()) return std::nullopt;
  for (const Guest& other : others) {
    for (const cluster::HostPort& used : cluster::HostPortsOf(other.pod->spec)) {
      const auto conflicts = [&](const auto& port) { return cluster::Conflicts(port, used); };
      if (std::any_of(wanted.begin(), wanted.end(), conflicts)) {
        return NoRoom{"host-ports",
                      fmt::format("port {} is used by {}", used.port, other.pod->meta.name)};
      }
    }
  }
  return std::nullopt;
}

}  // namespace knx::sim
