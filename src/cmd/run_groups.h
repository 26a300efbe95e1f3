// What belongs together in the account of a run: nodes of one shape, pods of one kind of work, pods
// that wait for the same reason. Points into the result, which must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/simulation.h"

namespace knx::cmd {

// "node-2" before "node-10".
bool NaturalLess(std::string_view a, std::string_view b);
// "train-*" for "train-12"; what does not end in a number after a dash is its own family.
std::string FamilyOf(std::string_view name);

// Equal amounts of everything, equal taints (those that only tell their state left out).
struct NodeGroup {
  std::vector<const sim::NodeUse*> nodes;  // by name
  std::vector<std::string> taints;
};
// What a group has of everything, and its taints, as far as that tells it from groups that would
// otherwise be called the same; one text a group, empty where the common ones are enough.
// `common`: what is told of each group anyway.
std::vector<std::string> Distinctions(const std::vector<NodeGroup>& groups,
                                      const std::vector<std::string>& common);
// Ordered by the name of the first node.
std::vector<NodeGroup> GroupNodes(const std::vector<sim::NodeUse>& nodes);
// Whether its state is worth telling.
bool IsOrdinary(const sim::NodeUse& node);
// `limit` nodes to stand for the group: those that are not ordinary, then the first; by name.
std::vector<const sim::NodeUse*> Representatives(const NodeGroup& group, std::size_t limit);
// How many rows each of several groups gets out of `limit`: what it needs, or a fair share. At
// least one each, as long as there are any.
std::vector<std::size_t> ShareRows(const std::vector<std::size_t>& needs, std::size_t limit);

// The pods of a workload. Jobs and single pods whose names differ only in a number at the end
// belong together.
struct WorkGroup {
  std::string namespace_;
  std::string label;  // "Deployment/web", "Job/train-*", "Pod/debug"
  std::int64_t owners = 0;
  std::vector<const sim::PodOutcome*> pods;
};
// Ordered by namespace and label.
std::vector<WorkGroup> GroupPods(const std::vector<sim::PodOutcome>& pods);

// Has no node and is not finished.
bool IsWaiting(const sim::PodOutcome& pod);

// In words, of a pod that waits: what its condition says, or why it has none. `profiles`: the
// scheduler names that there are profiles for.
std::string WhyItWaits(const sim::PodOutcome& pod, const std::vector<std::string>& profiles);

struct WaitingGroup {
  std::string message;
  std::int64_t pods = 0;
  std::vector<WorkGroup> work;
};
// Most pods first.
std::vector<WaitingGroup> GroupWaiting(const sim::SimulationResult& result);

}  // namespace knx::cmd
