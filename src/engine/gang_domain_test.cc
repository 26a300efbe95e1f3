// Gangs whose members all have to be in one domain of a label.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr const char* kRack = "topology.kubernetes.io/rack";

class GangDomainTest : public ::testing::Test {
 protected:
  // A PodGroup of Kubernetes of which so many start together in one rack.
  void Group(int minimum, const std::string& key = kRack) {
    k8s::PodGroup group;
    group.meta.name = "train";
    group.meta.namespace_ = "default";
    group.minimum = minimum;
    group.topology_key = key;
    harness_.Object(group);
  }
  void Node(const std::string& name, const std::string& rack, const std::string& cpu = "2") {
    NodeBuilder node = NodeBuilder(name).Has("cpu", cpu).Has("memory", "64Gi").Has("pods", "110");
    if (!rack.empty()) node.Label(kRack, rack);
    harness_.Node(node);
  }
  static k8s::Pod Member(const std::string& name, const std::string& cpu = "1",
                         std::int32_t priority = 10) {
    k8s::Pod pod = PodBuilder(name).Asks("cpu", cpu).Priority(priority);
    pod.spec.pod_group = k8s::PodGroupReference{"", "train", ""};
    return pod;
  }
  void Members(int count, const std::string& cpu = "1") {
    for (int i = 0; i < count; ++i) harness_.Pod(Member("m" + std::to_string(i), cpu));
  }
  // The first letters of the nodes' names are those of their racks.
  std::multiset<char> Racks() {
    std::multiset<char> racks;
    for (int i = 0; i < 20; ++i) {
      const std::string node = harness_.NodeOf("m" + std::to_string(i));
      if (!node.empty()) racks.insert(node[0]);
    }
    return racks;
  }
  void TearDown() override {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
  }
  testing::Harness harness_{{}, testing::GangProfiles()};
};

TEST_F(GangDomainTest, AllMembersAreInOneDomain) {
  for (const char* name : {"a1", "a2", "b1", "b2", "c1"}) Node(name, std::string(1, name[0]));
  Group(4);
  Members(4);
  harness_.ScheduleAndBind();
  EXPECT_EQ(Racks(), (std::multiset<char>{'a', 'a', 'a', 'a'}));
}

TEST_F(GangDomainTest, TheFullestDomainThatHasRoomIsTaken) {
  for (const char* name : {"a1", "a2", "a3", "b1", "b2", "b3"}) Node(name, std::string(1, name[0]));
  harness_.Pod(PodBuilder("other").Asks("cpu", "1").On("b1"));
  Group(4);
  Members(4);
  harness_.ScheduleAndBind();
  EXPECT_EQ(Racks(), (std::multiset<char>{'b', 'b', 'b', 'b'}));
}

// Both have room for two such members, and one of them nothing beside.
TEST_F(GangDomainTest, WhatIsLeftOverIsCountedInCpusAsWell) {
  Node("a1", "a", "8");
  Node("b1", "b", "8");
  harness_.Pod(PodBuilder("other").Asks("cpu", "2").On("b1"));
  Group(2);
  Members(2, "3");
  harness_.ScheduleAndBind();
  EXPECT_EQ(Racks(), (std::multiset<char>{'b', 'b'}));
}

TEST_F(GangDomainTest, RoomForAllComesBeforeRoomForThoseThatMust) {
  for (const char* name : {"a1", "b1", "b2"}) Node(name, std::string(1, name[0]));
  Group(2);
  Members(4);
  harness_.ScheduleAndBind();
  EXPECT_EQ(Racks(), (std::multiset<char>{'b', 'b', 'b', 'b'}));
}

TEST_F(GangDomainTest, ARefusalNamesEachDomainAndHowManyFitThere) {
  for (const char* name : {"a1", "b1", "c1", "d1"}) Node(name, std::string(1, name[0]));
  Node("e1", "e", "1");
  Node("x1", "", "8");
  Group(4);
  Members(4);
  harness_.Schedule();
  EXPECT_EQ(Racks().size(), 0U);
  EXPECT_EQ(
      harness_.Why("m0"),
      "pod group default/train needs 4 pods at once in one topology.kubernetes.io/rack, 2 fit "
      "(a: 2 of 4, b: 2 of 4, c: 2 of 4, d: 2 of 4, e: 1 of 4); for the next: 0/6 nodes are "
      "available: 1 Insufficient cpu, 5 node(s) outside of topology.kubernetes.io/rack a. "
      "Impossible now: at most 2 fit by cpu in one topology.kubernetes.io/rack.");
  EXPECT_EQ(harness_.Why("m3"), harness_.Why("m0"));
}

TEST_F(GangDomainTest, ALongRefusalNamesTheBestDomainsOnly) {
  for (int i = 10; i < 30; ++i)
    Node(std::to_string(i), "r" + std::to_string(i), i < 20 ? "2" : "1");
  Group(4);
  Members(4);
  harness_.Schedule();
  EXPECT_THAT(harness_.Why("m0"), HasSubstr("(r10: 2 of 4, r11: 2 of 4, "));
  EXPECT_THAT(harness_.Why("m0"), HasSubstr(", r17: 2 of 4, 12 others no more); for the next"));
}

TEST_F(GangDomainTest, MembersThatHaveAPlacePinTheDomain) {
  for (const char* name : {"a1", "b1", "b2"}) Node(name, std::string(1, name[0]));
  Group(2);
  for (const char* name : {"m0", "m1"}) {
    k8s::Pod pod = Member(name);
    pod.spec.node_name = "a1";
    harness_.Pod(pod);
  }
  harness_.Pod(Member("m2"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("m2"), "") << "there is room in the other rack only";
  harness_.PodGone("m0");
  harness_.Pod(Member("m3"));
  harness_.ScheduleAndBind();
  harness_.Pass(Duration::Seconds(20));
  EXPECT_EQ(Racks(), (std::multiset<char>{'a'}));
  Node("a2", "a");
  harness_.Pass(Duration::Seconds(20));
  harness_.ScheduleAndBind();
  EXPECT_EQ(Racks(), (std::multiset<char>{'a', 'a'}));
}

TEST_F(GangDomainTest, OneThatIsPinnedSaysWhereItNeedsRoom) {
  for (const char* name : {"a1", "b1", "b2"}) Node(name, std::string(1, name[0]));
  Group(4);
  k8s::Pod there = Member("m0");
  there.spec.node_name = "a1";
  harness_.Pod(there);
  for (const char* name : {"m1", "m2", "m3"}) harness_.Pod(Member(name));
  harness_.Schedule();
  EXPECT_THAT(harness_.Why("m1"), HasSubstr("has 1 of 4 pods, needs 3 more at once in "
                                            "topology.kubernetes.io/rack a, 1 fit; for the next"));
  EXPECT_THAT(harness_.Why("m1"), EndsWith(" Impossible now: at most 1 fit by cpu."));
}

// One member after the other takes the best place; in one rack only another way finds places for
// all: the large one must not take what two small ones need.
TEST_F(GangDomainTest, EachDomainIsSearchedThroughAndFoundOrProvenImpossible) {
  for (const char* name : {"a1", "a2", "b1"}) Node(name, std::string(1, name[0]), "3");
  Group(3);
  harness_.Pod(Member("m0", "3"));
  harness_.Pod(Member("m1", "2"));
  harness_.Pod(Member("m2", "2"));
  harness_.Schedule();
  EXPECT_EQ(Racks().size(), 0U);
  EXPECT_THAT(harness_.Why("m0"), HasSubstr("Impossible now"));
}

TEST_F(GangDomainTest, WhereDomainsLackDifferentThingsEachIsSaid) {
  const auto node = [&](const std::string& name, const std::string& cpu, const std::string& pods) {
    harness_.Node(NodeBuilder(name)
                      .Has("cpu", cpu)
                      .Has("memory", "64Gi")
                      .Has("pods", pods)
                      .Label(kRack, name.substr(0, 1)));
  };
  node("a1", "2", "110");
  node("b1", "8", "1");
  Group(3);
  Members(3);
  harness_.Schedule();
  EXPECT_THAT(harness_.Why("m0"), HasSubstr(", 2 fit (a: 2 of 3 by cpu, b: 1 of 3 by pods); "));
}

TEST_F(GangDomainTest, WithoutTheLabelThereIsNoDomain) {
  Node("a1", "");
  Group(2);
  Members(2);
  harness_.Schedule();
  EXPECT_EQ(
      harness_.Why("m0"),
      "pod group default/train needs 2 pods at once in one topology.kubernetes.io/rack, 0 fit; "
      "for the next: no node has the label. Impossible now: at most 0 fit on the nodes that "
      "come into question.");
  // Nodes get their labels from others, some time after they have come.
  Node("a1", "a");
  harness_.Pass(Duration::Seconds(20));
  harness_.ScheduleAndBind();
  EXPECT_EQ(Racks(), (std::multiset<char>{'a', 'a'}));
}

TEST_F(GangDomainTest, ANodeThatJoinsADomainHelps) {
  Node("a1", "a");
  Node("a2", "z");
  Group(4);
  Members(4);
  harness_.Schedule();
  harness_.Pass(Duration::Seconds(30));
  EXPECT_EQ(Racks().size(), 0U);
  Node("a2", "a");
  harness_.Pass(Duration::Seconds(30));
  harness_.ScheduleAndBind();
  EXPECT_EQ(Racks(), (std::multiset<char>{'a', 'a', 'a', 'a'}));
}

TEST_F(GangDomainTest, PodsMaySayItThemselves) {
  for (const char* name : {"a1", "a2", "b1", "b2"}) Node(name, std::string(1, name[0]));
  harness_.Pod(PodBuilder("other").Asks("cpu", "1").On("a1"));
  for (int i = 0; i < 4; ++i) {
    k8s::Pod pod = PodBuilder("m" + std::to_string(i))
                       .Asks("cpu", "1")
                       .Label("pod-group.scheduling.kubenexus.io/name", "train")
                       .Label("pod-group.scheduling.kubenexus.io/min-available", "4");
    pod.meta.annotations = {{"pod-group.scheduling.kubenexus.io/topology-key", kRack}};
    harness_.Pod(pod);
  }
  harness_.ScheduleAndBind();
  EXPECT_EQ(Racks(), (std::multiset<char>{'b', 'b', 'b', 'b'}));
}

TEST_F(GangDomainTest, RoomIsMadeInOneDomain) {
  testing::Harness harness({}, testing::ProfilesWith({"Coscheduling", "GangPreemption"}));
  const auto node = [&](const std::string& name) {
    harness.Node(NodeBuilder(name)
                     .Has("cpu", "2")
                     .Has("memory", "64Gi")
                     .Has("pods", "110")
                     .Label(kRack, name.substr(0, 1)));
  };
  for (const char* name : {"a1", "a2", "b1", "b2"}) node(name);
  // In each rack two are free, and b has the cheaper victims.
  for (const auto& [name, on, priority] : {std::tuple("x0", "a1", 5), std::tuple("x1", "a2", 5),
                                           std::tuple("y0", "b1", 1), std::tuple("y1", "b2", 1)}) {
    harness.Pod(PodBuilder(name).Asks("cpu", "1").On(on).Priority(priority));
  }
  k8s::PodGroup group;
  group.meta.name = "train";
  group.meta.namespace_ = "default";
  group.minimum = 3;
  group.topology_key = kRack;
  harness.Object(group);
  for (const char* name : {"m0", "m1", "m2"}) harness.Pod(Member(name));
  harness.Schedule();
  const std::vector<std::string> evicted = harness.evictions();
  ASSERT_EQ(evicted.size(), 1U);
  EXPECT_EQ(evicted[0][0], 'y');
}

}  // namespace
}  // namespace knx::engine
