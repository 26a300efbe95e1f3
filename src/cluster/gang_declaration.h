// Which gang a pod says it belongs to. Every spelling that users have is read here and nowhere
// else; docs/gangs.md has the table.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "k8s/objects.h"

namespace knx::cluster {

// So many pods in one gang are beyond any cluster; keeps sums of counts within 32 bits.
inline constexpr std::int32_t kMaxGangMinimum = 1'000'000;

// Where it is said how many pods of a gang must start together; what comes first counts.
enum class GangSource : std::uint8_t {
  kPodGroup,      // a PodGroup of Kubernetes
  kWorkload,      // a group of a Workload of Kubernetes 1.35
  kSigsPodGroup,  // a PodGroup of kubernetes-sigs
  kVolcano,       // a PodGroup of Volcano
  kPod,           // the pods themselves, by labels or annotations
  kOperator,      // likewise, where it is known by what an operator put on them that it is a gang
};
// False: nobody says it but the pods.
constexpr bool HasObject(GangSource source) { return source < GangSource::kPod; }
// "PodGroup object (scheduling.x-k8s.io)"
std::string_view ObjectOf(GangSource source);

// How many members of each role must be among those that start together, by role.
using GangRoles = std::map<std::string, std::int32_t, std::less<>>;

struct GangDeclaration {
  std::string name;  // unique in the pod's namespace among those of its source
  // Members that must start together, as the pod says; above 1. Where an object says so this is
  // nothing but a contradiction, or 0.
  std::int32_t minimum = 0;
  std::string problem = {};  // why what it says about its gang cannot be read; then it cannot start
  GangSource source = GangSource::kPod;
  std::string conflict = {};      // what else it says, and what counts; in words
  std::string role = {};          // what it is in the gang; empty: nothing special
  std::int32_t role_minimum = 0;  // as it says itself; 0: it does not
  // A part of the gang that starts whole or not at all, and how many pods make it whole; how many
  // such parts of the gang must start. Empty and 0: it does not say.
  std::string sub_group = {};
  std::int32_t sub_group_minimum = 0, min_sub_groups = 0;
  std::string topology_key = {};  // all members in one domain of this label; empty: anywhere
  bool by_parts = false;          // the minimum is not what it says, but what its parts want
  friend bool operator==(const GangDeclaration&, const GangDeclaration&) = default;
};

// What operators put on their pods (k8s/operators.h) counts after everything else, or not at all.
enum class OperatorGangs : bool { kIgnore, kRead };

// nullopt: it belongs to none. A gang of one is none.
std::optional<GangDeclaration> ReadGangDeclaration(
    const k8s::Pod& pod, OperatorGangs operators = OperatorGangs::kIgnore);

// Of a pod that belongs to none: what it lacks to be in one, if it says only a name or only a
// minimum, as pods do whose key is misspelt. Empty: it says neither, or a minimum of 1.
std::string WhyInNoGang(const k8s::Pod& pod);

// What else an object says about its gang.
struct GangTerms {
  // Who of it may be made to go without the others.
  k8s::DisruptionMode disruption = k8s::DisruptionMode::kUnset;
  std::optional<Duration> patience = {};  // how long those with a place wait for the rest
  friend bool operator==(const GangTerms&, const GangTerms&) = default;
};

// What an object says about gangs: by name, how many of each must start together.
struct GangObject {
  GangSource source = GangSource::kPodGroup;
  std::string name;
  std::vector<std::pair<std::string, std::int32_t>> groups;
  GangRoles roles = {};  // of each of them
  k8s::ResourceList resources = {};
  std::string topology_key = {};
  std::vector<k8s::SubGroupPolicy> sub_groups = {};
  GangTerms terms = {};  // of the one that has the name of the object
};
// nullopt: it is of another kind.
std::optional<GangObject> ReadGangObject(const k8s::Object& object);

// Which of the policies a pod with these labels falls under, and the sub-group it is in by that.
// Both are empty: none.
struct SubGroupPlace {
  const k8s::SubGroupPolicy* policy = nullptr;
  std::string kind, name;
};
SubGroupPlace FindSubGroup(std::span<const k8s::SubGroupPolicy> policies,
                           const k8s::StringMap& labels);
// What the sub-groups of a policy have in common; by its name, or where it stands among the others.
std::string KindOf(const k8s::SubGroupPolicy& policy, std::size_t position);

// The groups of a Workload are named "workload/group", and what is a gang for itself of such a
// group "workload/group/replica". Of every other gang both are the same.
std::string_view GroupOf(GangSource source, std::string_view gang);

}  // namespace knx::cluster
