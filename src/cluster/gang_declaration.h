// Which gang a pod says it belongs to. Every spelling that users have is read here and nowhere
// else; docs/gangs.md has the table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
};
// "PodGroup object (scheduling.x-k8s.io)"
std::string_view ObjectOf(GangSource source);

// How many members of each role must be among those that start together, by role.
using GangRoles = std::map<std::string, std::int32_t>;

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
  friend bool operator==(const GangDeclaration&, const GangDeclaration&) = default;
};

// What operators put on their pods (k8s/operators.h) counts after everything else, or not at all.
enum class OperatorGangs : bool { kIgnore, kRead };

// nullopt: it belongs to none. A gang of one is none.
std::optional<GangDeclaration> ReadGangDeclaration(
    const k8s::Pod& pod, OperatorGangs operators = OperatorGangs::kIgnore);

// What an object says about gangs: by name, how many of each must start together.
struct GangObject {
  GangSource source = GangSource::kPodGroup;
  std::string name;
  std::vector<std::pair<std::string, std::int32_t>> groups;
  GangRoles roles = {};  // of each of them
};
// nullopt: it is of another kind.
std::optional<GangObject> ReadGangObject(const k8s::Object& object);

// The groups of a Workload are named "workload/group", and what is a gang for itself of such a
// group "workload/group/replica". Of every other gang both are the same.
std::string_view GroupOf(GangSource source, std::string_view gang);

}  // namespace knx::cluster
