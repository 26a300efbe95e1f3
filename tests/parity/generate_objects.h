// Random objects of a cluster, with awkward values on purpose.
#pragma once

#include <string>
#include <vector>

#include "dice.h"

namespace knx::parity {

std::string NodeJson(Dice& dice, std::int64_t number);
std::vector<std::string> NamespacesJson();
// Services and workloads whose selectors meet the labels of pods.
std::vector<std::string> OwnersJson(Dice& dice);
std::vector<std::string> BudgetsJson(Dice& dice);

// What pods have in common: a spec, without its place.
struct PodPlan {
  std::string namespace_;
  std::string labels, owner;            // JSON; owner may be empty
  std::string spec;                     // fields of a PodSpec, without braces
  std::vector<std::string> host_ports;  // "address/protocol/port"
  std::int64_t priority = 0;
};
PodPlan MakePlan(Dice& dice);

struct PodPlace {
  std::string name;
  std::string node;         // empty: waits
  std::string nominated;    // empty: nowhere
  std::int64_t number = 0;  // of a pod on a node: different for each
  std::string scheduler{};  // empty: the default one
};
std::string PodJson(Dice& dice, const PodPlan& plan, const PodPlace& place);

}  // namespace knx::parity
