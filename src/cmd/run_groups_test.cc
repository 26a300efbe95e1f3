#include "cmd/run_groups.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace knx::cmd {
namespace {

sim::NodeUse EmptyNode(std::string name, std::int64_t cpu, std::vector<std::string> taints = {}) {
  sim::NodeUse node;
  node.name = std::move(name);
  node.taints = std::move(taints);
  node.resources = {{"cpu", 0, cpu}};
  return node;
}

sim::PodOutcome SomePod(std::string namespace_, std::string owner, std::string name) {
  sim::PodOutcome pod;
  pod.namespace_ = std::move(namespace_);
  pod.owner = std::move(owner);
  pod.name = std::move(name);
  pod.scheduler_name = "default-scheduler";
  pod.phase = "Pending";
  return pod;
}

std::vector<std::string> NamesOf(const std::vector<const sim::NodeUse*>& nodes) {
  std::vector<std::string> out;
  for (const sim::NodeUse* node : nodes) out.push_back(node->name);
  return out;
}

TEST(NaturalLess, OrdersNumbersAsNumbers) {
  std::vector<std::string> names = {
      "n-10", "n-2", "m-3", "n-1", "n", "n-02", "n-18446744073709551616"};
  std::sort(names.begin(), names.end(), NaturalLess);
  EXPECT_EQ(names, (std::vector<std::string>{"m-3", "n", "n-1", "n-02", "n-2", "n-10",
                                             "n-18446744073709551616"}));
  EXPECT_FALSE(NaturalLess("n-2", "n-2"));
}

TEST(FamilyOf, LeavesOutANumberAfterADash) {
  EXPECT_EQ(FamilyOf("train-12"), "train-*");
  EXPECT_EQ(FamilyOf("h100"), "h100");
  EXPECT_EQ(FamilyOf("web"), "web");
  EXPECT_EQ(FamilyOf("-1"), "-1");
  EXPECT_EQ(FamilyOf("12"), "12");
  EXPECT_EQ(FamilyOf(""), "");
}

TEST(GroupNodes, PutsNodesOfOneShapeTogetherWhateverTheirState) {
  const std::vector<sim::NodeUse> nodes = {
      EmptyNode("b-10", 8), EmptyNode("a-1", 4),
      EmptyNode("b-9", 8, {"node.kubernetes.io/unschedulable:NoSchedule"}),
      EmptyNode("b-1", 8, {"gpu:NoSchedule"})};
  const std::vector<NodeGroup> groups = GroupNodes(nodes);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(NamesOf(groups[0].nodes), (std::vector<std::string>{"a-1"}));
  EXPECT_EQ(NamesOf(groups[1].nodes), (std::vector<std::string>{"b-1"}));
  EXPECT_EQ(groups[1].taints, (std::vector<std::string>{"gpu:NoSchedule"}));
  EXPECT_EQ(NamesOf(groups[2].nodes), (std::vector<std::string>{"b-9", "b-10"}));
}

TEST(Representatives, PreferNodesWhoseStateIsWorthTelling) {
  std::vector<sim::NodeUse> nodes = {EmptyNode("a-1", 4), EmptyNode("a-2", 4), EmptyNode("a-3", 4),
                                     EmptyNode("a-4", 4)};
  nodes[3].ready = false;
  const std::vector<NodeGroup> groups = GroupNodes(nodes);
  EXPECT_EQ(NamesOf(Representatives(groups[0], 2)), (std::vector<std::string>{"a-1", "a-4"}));
  EXPECT_EQ(Representatives(groups[0], 9).size(), 4U);
}

TEST(ShareRows, GivesEveryGroupWhatItNeedsOrAFairShare) {
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(ShareRows({}, 5), Sizes{});
  EXPECT_EQ(ShareRows({2, 3}, 20), (Sizes{2, 3}));
  EXPECT_EQ(ShareRows({100, 1, 100}, 9), (Sizes{4, 1, 4}));
  EXPECT_EQ(ShareRows({1, 1, 1}, 2), (Sizes{1, 1, 0}));
}

TEST(GroupPods, PutsTheWorkOfOneOwnerTogetherAndNumberedJobsToo) {
  const std::vector<sim::PodOutcome> pods = {SomePod("b", "Job/etl-1", "etl-1-x"),
                                             SomePod("b", "Job/etl-2", "etl-2-x"),
                                             SomePod("a", "ReplicaSet/web-1", "web-1-x"),
                                             SomePod("a", "ReplicaSet/web-2", "web-2-x"),
                                             SomePod("a", "", "debug-7"),
                                             SomePod("a", "", "single")};
  std::vector<std::string> labels;
  for (const WorkGroup& group : GroupPods(pods)) {
    labels.push_back(group.namespace_ + " " + group.label);
  }
  EXPECT_EQ(labels, (std::vector<std::string>{"a Pod/debug-7", "a Pod/single", "a ReplicaSet/web-1",
                                              "a ReplicaSet/web-2", "b Job/etl-*"}));
}

TEST(GroupWaiting, PutsEqualReasonsTogetherMostPodsFirst) {
  sim::SimulationResult result;
  result.profiles = {"default-scheduler"};
  std::vector<sim::PodOutcome>& pods = result.pods;
  pods = {SomePod("a", "", "lone"),   SomePod("a", "Job/x", "x-1"), SomePod("a", "Job/y", "y-1"),
          SomePod("a", "", "placed"), SomePod("a", "", "done"),     SomePod("a", "", "foreign")};
  pods[1].message = pods[2].message = "0/3 nodes are available: 3 Insufficient cpu.";
  pods[3].node = "node-1";
  pods[4].phase = "Succeeded";
  pods[5].scheduler_name = "other";
  const std::vector<WaitingGroup> groups = GroupWaiting(result);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].pods, 2);
  EXPECT_EQ(groups[0].work.size(), 2U);
  EXPECT_EQ(groups[1].message, "not tried yet");
  EXPECT_EQ(groups[2].message, "not tried: no profile of this scheduler is named other");
}

TEST(WhyItWaits, KnowsTheProfilesThereAre) {
  sim::PodOutcome pod = SomePod("a", "", "p");
  EXPECT_EQ(WhyItWaits(pod, {"default-scheduler"}), "not tried yet");
  EXPECT_EQ(WhyItWaits(pod, {"batch"}),
            "not tried: no profile of this scheduler is named default-scheduler");
  pod.reason = "SchedulerError";
  EXPECT_EQ(WhyItWaits(pod, {"batch"}), "SchedulerError");
  pod.message = "0/3 nodes are available";
  EXPECT_EQ(WhyItWaits(pod, {"batch"}), "0/3 nodes are available");
  pod.terminating = true;
  EXPECT_EQ(WhyItWaits(pod, {"batch"}), "is being deleted");
}

TEST(Distinctions, TellGroupsApartThatWouldReadTheSame) {
  std::vector<sim::NodeUse> nodes = {EmptyNode("a", 1), EmptyNode("b", 1), EmptyNode("c", 2)};
  nodes[0].resources.push_back({"pods", 0, 110});
  nodes[1].resources.push_back({"pods", 0, 20});
  nodes[1].resources.push_back({"disks", 0, 3});
  nodes[2].resources.push_back({"pods", 0, 7});
  const std::vector<NodeGroup> groups = GroupNodes(nodes);
  EXPECT_EQ(Distinctions(groups, {"cpu"}),
            (std::vector<std::string>{", 0 disks, 110 pods", ", 3 disks, 20 pods", ""}));
  EXPECT_EQ(Distinctions(groups, {"cpu", "pods"}), (std::vector<std::string>{"", "", ""}));
}

}  // namespace
}  // namespace knx::cmd
