// May a pod be on a node? Answered from the objects alone, for the filters that a profile has
// switched on: the yardstick for decisions, and for pods that wait although they need not.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "framework/config.h"
#include "framework/profile.h"
#include "k8s/objects.h"
#include "sim/amounts.h"

namespace knx::sim {

// What a profile looks at. A filter that is off cannot be held against it.
struct ProfileRules {
  bool node_name = false, unschedulable = false, taints = false, affinity = false;
  bool ports = false, fit = false, features = false;
  bool volumes = false;            // pods with volumes are not fully understood
  bool pods = false;               // looks at other pods, which is not understood here
  bool gangs = false;              // members of gangs wait for each other
  bool evicts_incomplete = false;  // gangs, after this grace
  Duration grace, straggler_wait;
  bool searches = false;                    // for ways to place them, not only the best places
  bool devices = false;                     // pods with claims of devices wait
  std::set<std::string> ignored_resources;  // of fit: names, and groups as "group/"
  bool complete = true;  // every filter of the profile is among those above, and fully understood

  [[nodiscard]] bool CountsAllRoom() const { return fit && ports && ignored_resources.empty(); }
};
using Rules = std::map<std::string, ProfileRules, std::less<>>;  // by scheduler name

Rules RulesOf(const framework::SchedulerConfiguration& config,
              const std::vector<framework::Profile>& profiles);

// Why the pod may not be on the node whatever else is there; nullopt if it may.
std::optional<std::string> Forbids(const ProfileRules& rules, const k8s::Pod& pod,
                                   const k8s::Node& node);

// A pod and what it asks for, so that it is added up once.
struct Guest {
  const k8s::Pod* pod = nullptr;
  const Amounts* requests = nullptr;
};
// Why the pod does not fit beside the others, of which it is none; in each the name of an
// invariant.
struct NoRoom {
  std::string_view invariant;  // "capacity", "pod-count" or "host-ports"
  std::string what;
};
std::optional<NoRoom> Overfills(const ProfileRules& rules, const Guest& guest,
                                const k8s::Node& node, const std::vector<Guest>& others);

}  // namespace knx::sim
