// Objects that say which pods belong together, and how many of them must start together. Included
// by objects.h; only the fields that we read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "k8s/object_meta.h"

namespace knx::k8s {

// Which group a pod belongs to, as its spec says.
struct PodGroupReference {
  std::string workload;     // that has the group (Kubernetes 1.35); empty: it is a PodGroup
  std::string group;        // its name
  std::string replica_key;  // which of several such groups of a workload
  friend bool operator==(const PodGroupReference&, const PodGroupReference&) = default;
};

// Three projects have a kind of this name.
enum class PodGroupApi : std::uint8_t {
  kKubernetes,  // scheduling.k8s.io
  kSigs,        // scheduling.x-k8s.io, of the plugin Coscheduling of kubernetes-sigs
  kVolcano,     // scheduling.volcano.sh
};

// Of Volcano: pods of a group that each start in parts which are whole or not at all.
struct SubGroupPolicy {
  std::string name;
  std::optional<LabelSelector> selector;  // whom it is about; absent: all pods of the group
  // Pods with the same values of these labels are one part; without any, all of them are.
  std::vector<std::string> match_label_keys;
  std::int32_t size = 1;     // pods that make a part whole
  std::int32_t minimum = 0;  // parts that must start
  friend bool operator==(const SubGroupPolicy&, const SubGroupPolicy&) = default;
};

// What the status of a PodGroup of Kubernetes says about whether its pods have their places.
struct PodGroupCondition {
  Condition said;
  std::int64_t observed_generation = 0;  // of the PodGroup, when it was said
  friend bool operator==(const PodGroupCondition&, const PodGroupCondition&) = default;
};
// The type of that condition, which has another name since Kubernetes 1.37.
constexpr std::string_view ScheduledConditionIn(std::string_view version) {
  return version == "v1alpha2" ? "PodGroupScheduled" : "PodGroupInitiallyScheduled";
}

// Who of a group may be disrupted without the others.
enum class DisruptionMode : std::uint8_t {
  kUnset,   // it is not said
  kSingle,  // each pod for itself: "Pod", since 1.37 "single"
  kAll,     // none: "PodGroup", since 1.37 "all"
};

struct PodGroup {
  PodGroupApi api = PodGroupApi::kKubernetes;
  ObjectMeta meta;
  std::int32_t minimum = 1;  // pods that must start together; 1 or less: each starts for itself
  // Of Volcano: how many of each role must be among them.
  std::vector<std::pair<std::string, std::int32_t>> role_minimums;
  std::vector<SubGroupPolicy> sub_group_policies;
  std::string topology_key;  // of Kubernetes: all pods in one domain of this label; empty: anywhere
  // Of Kubernetes: the version in which it was read, and what its status says.
  std::string version = {};
  std::optional<PodGroupCondition> scheduled = {};
  DisruptionMode disruption = DisruptionMode::kUnset;  // of Kubernetes
  // Of kubernetes-sigs: how long those with a place wait for the rest.
  std::optional<std::int32_t> schedule_timeout_seconds = {};
  // Of kubernetes-sigs and Volcano: what the cluster must have left for it in all before it starts.
  ResourceList min_resources = {};
  friend bool operator==(const PodGroup&, const PodGroup&) = default;
};

// What Kubernetes 1.35 had instead of PodGroups: a Workload (scheduling.k8s.io/v1alpha1) that has
// several groups.
struct GroupWorkload {
  struct Group {
    std::string name;
    std::int32_t minimum = 1;  // as of a PodGroup
    friend bool operator==(const Group&, const Group&) = default;
  };
  ObjectMeta meta;
  std::vector<Group> groups;
  friend bool operator==(const GroupWorkload&, const GroupWorkload&) = default;
};

}  // namespace knx::k8s
