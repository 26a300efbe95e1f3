// Pods that belong together: PodGroups of three projects, and the Workload of Kubernetes 1.35.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "k8s/json_fields.h"
#include "k8s/object_fields.h"
#include "k8s/proto_fields.h"
#include "k8s/yaml_reader.h"

namespace knx::k8s {
namespace {

// A policy that is not "gang" makes no demands.
template <class Fields>
void ReadGangPolicy(Fields& fields, std::string_view key, std::int32_t& minimum) {
  fields.Map(key, [&](Fields& policy) {
    policy.Map("gang", [&](Fields& gang) { gang.Require("minCount", minimum); });
  });
}

// There is at most one.
template <class Fields>
void ReadTopologyKey(Fields& spec, PodGroup& out) {
  spec.Map("schedulingConstraints", [&](Fields& constraints) {
    constraints.ForEach("topology", [&](Fields& constraint) {
      if (out.topology_key.empty()) constraint.Require("key", out.topology_key);
    });
  });
}

// Never sent as protobuf.
template <class Fields>
void ReadRoleMinimums(Fields& spec, PodGroup& out) {
  if constexpr (!std::is_same_v<Fields, ProtoFields>) {
    std::vector<std::string> roles;
    spec.ForEachEntry("minTaskMember",
                      [&](std::string_view role, Fields& /*value*/) { roles.emplace_back(role); });
    spec.Map("minTaskMember", [&](Fields& minimums) {
      for (std::string& role : roles) {
        std::int32_t minimum = 0;
        minimums.Read(role, minimum);
        out.role_minimums.emplace_back(std::move(role), minimum);
      }
    });
  }
}

// Nor these.
template <class Fields>
void ReadSubGroupPolicies(Fields& spec, PodGroup& out) {
  if constexpr (!std::is_same_v<Fields, ProtoFields>) {
    spec.ForEach("subGroupPolicy", [&](Fields& policy) {
      SubGroupPolicy& read = out.sub_group_policies.emplace_back();
      policy.Read("name", read.name);
      policy.Map("labelSelector",
                 [&](Fields& selector) { ReadSelector(selector, read.selector.emplace()); });
      policy.Read("matchLabelKeys", read.match_label_keys);
      policy.Read("subGroupSize", read.size);
      policy.Read("minSubGroups", read.minimum);
    });
  }
}

// What a quota counts, and no node has any of. Volcano's controller writes it there, too.
bool IsOfQuota(std::string_view resource) {
  return resource.starts_with("count/") || resource.starts_with("requests.") ||
         resource.starts_with("limits.");
}

// By the names that pods use, and "gpu" as in reservations.
template <class Fields>
void ReadMinResources(Fields& spec, PodGroup& out) {
  constexpr std::string_view kKey = "minResources", kPods = "pods";
  if constexpr (!std::is_same_v<Fields, ProtoFields>) {
    ResourceList& list = out.min_resources;
    ReadResourceList(spec, kKey, list);
    std::erase_if(
        list, [](const auto& entry) { return entry.second.IsZero() || IsOfQuota(entry.first); });
    for (auto& [name, amount] : list) {
      if (amount < Quantity()) spec.Fail(kKey, fmt::format("{}: must not be negative", name));
      const auto resource = name == kPods ? kPods : ReservedResource(name);
      if (!resource) {
        spec.Fail(kKey, fmt::format("{}: no resource; pods, {}", name, kReservedResources));
      } else if (*resource != name) {
        name = *resource;
      }
    }
    std::sort(list.begin(), list.end());
    const auto twice = std::adjacent_find(
        list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice != list.end()) spec.Fail(kKey, fmt::format("{}: is said twice", twice->first));
  }
}

// A word in v1alpha2, and a map with one of two entries since.
template <class Fields>
void ReadDisruptionMode(Fields& spec, PodGroup& out) {
  if (out.version != "v1alpha2") {
    spec.Map("disruptionMode", [&](Fields& mode) {
      if (mode.Has("single")) out.disruption = DisruptionMode::kSingle;
      if (mode.Has("all")) out.disruption = DisruptionMode::kAll;
    });
    return;
  }
  std::string word;
  spec.Read("disruptionMode", word);
  if (word == "Pod") out.disruption = DisruptionMode::kSingle;
  if (word == "PodGroup") out.disruption = DisruptionMode::kAll;
}

// Other conditions than the one that says whether it is scheduled are not ours.
template <class Fields>
void ReadScheduled(Fields& status, std::string_view type, std::optional<PodGroupCondition>& out) {
  status.ForEach("conditions", [&](Fields& condition) {
    PodGroupCondition read;
    condition.Read("type", read.said.type);
    if (read.said.type != type) return;
    condition.Read("status", read.said.status);
    condition.Read("reason", read.said.reason);
    condition.Read("message", read.said.message);
    condition.Read("lastTransitionTime", read.said.last_transition);
    condition.Read("observedGeneration", read.observed_generation);
    out = std::move(read);
  });
}

}  // namespace

template <class Fields>
void ReadFields(Fields& object, PodGroup& out) {
  ReadMeta(object, Scope::kNamespaced, out.meta);
  if (out.api == PodGroupApi::kKubernetes) {
    object.Map("status", [&](Fields& status) {
      ReadScheduled(status, ScheduledConditionIn(out.version), out.scheduled);
    });
  }
  object.Map("spec", [&](Fields& spec) {
    if (out.api == PodGroupApi::kKubernetes) {
      ReadGangPolicy(spec, "schedulingPolicy", out.minimum);
      ReadTopologyKey(spec, out);
      ReadDisruptionMode(spec, out);
    } else {
      spec.Read("minMember", out.minimum);
      ReadMinResources(spec, out);
      if (out.api == PodGroupApi::kVolcano) {
        ReadRoleMinimums(spec, out);
        ReadSubGroupPolicies(spec, out);
      }
      if (out.api == PodGroupApi::kSigs) {
        spec.Read("scheduleTimeoutSeconds", out.schedule_timeout_seconds);
      }
    }
  });
}

template <class Fields>
void ReadFields(Fields& object, GroupWorkload& out) {
  ReadMeta(object, Scope::kNamespaced, out.meta);
  object.Map("spec", [&](Fields& spec) {
    spec.ForEach("podGroups", [&](Fields& group) {
      GroupWorkload::Group& read = out.groups.emplace_back();
      group.Require("name", read.name);
      ReadGangPolicy(group, "policy", read.minimum);
    });
  });
}

template void ReadFields(FieldReader&, PodGroup&);
template void ReadFields(JsonFields&, PodGroup&);
template void ReadFields(ProtoFields&, PodGroup&);
template void ReadFields(FieldReader&, GroupWorkload&);
template void ReadFields(JsonFields&, GroupWorkload&);
template void ReadFields(ProtoFields&, GroupWorkload&);

}  // namespace knx::k8s
