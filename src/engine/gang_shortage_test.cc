// Gangs whose object wants something to be left in the cluster before they start (minResources).
#include "engine/gang_shortage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Story = testing::Harness;

class GangShortageTest : public ::testing::Test {
 protected:
  explicit GangShortageTest(const std::vector<std::string>& plugins = {"Coscheduling"})
      : harness_({}, testing::ProfilesWith(plugins)) {}

  static NodeBuilder NodeOf(const std::string& name, const std::string& cpu) {
    return NodeBuilder(name).Has("cpu", cpu).Has("memory", "64Gi").Has("pods", "110");
  }
  void Node(const std::string& name, const std::string& cpu) { harness_.Node(NodeOf(name, cpu)); }
  static k8s::PodGroup GroupOf(std::int32_t minimum, const k8s::ResourceList& resources) {
    k8s::PodGroup group;
    group.api = k8s::PodGroupApi::kSigs;
    group.meta.name = "train";
    group.meta.namespace_ = "default";
    group.minimum = minimum;
    group.min_resources = resources;
    return group;
  }
  void Group(std::int32_t minimum, const k8s::ResourceList& resources) {
    harness_.Object(GroupOf(minimum, resources));
  }
  static k8s::ResourceList Cpu(std::int64_t units) {
    return {{"cpu", k8s::Quantity::FromUnits(units)}};
  }
  static PodBuilder Member(int i) {
    return PodBuilder("m" + std::to_string(i))
        .Asks("cpu", "1")
        .Label("scheduling.x-k8s.io/pod-group", "train");
  }
  void Members(int count) {
    for (int i = 0; i < count; ++i) harness_.Pod(Member(i));
  }
  int Sent(int count) {
    int sent = 0;
    for (int i = 0; i < count; ++i)
      sent += harness_.NodeOf("m" + std::to_string(i)).empty() ? 0 : 1;
    return sent;
  }
  void TearDown() override {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
  }
  testing::Harness harness_;
};

TEST_F(GangShortageTest, NobodyStartsBeforeSoMuchIsLeft) {
  Node("a", "4");
  harness_.Pod(PodBuilder("other").Asks("cpu", "2").On("a"));
  Group(1, Cpu(4));
  Members(2);
  harness_.Schedule();
  EXPECT_EQ(Sent(2), 0);
  EXPECT_EQ(harness_.Why("m0"),
            "pod group default/train needs 4 cpu in all (minResources), 2 are free.");
  ASSERT_EQ(harness_.patches().size(), 2U);
  EXPECT_EQ(harness_.patches()[0].reason, "Unschedulable");
  harness_.PodGone("other");
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(Sent(2), 2);
}

TEST_F(GangShortageTest, WhatLeavesMoreLetsItTryAgain) {
  struct Case {
    std::string_view name;
    std::function<void(Story&)> happens;
    bool starts = true;
  };
  const Case cases[] = {
      {"a node comes", [](Story& h) { h.Node(NodeOf("c", "2")); }},
      {"a node comes where its pods may not be",
       [](Story& h) { h.Node(NodeOf("c", "2").Taint("gpu", "", k8s::TaintEffect::kNoSchedule)); }},
      {"a node comes that has none of it", [](Story& h) { h.Node(NodeOf("c", "0")); }, false},
      {"a closed node comes", [](Story& h) { h.Node(NodeOf("c", "2").Unschedulable()); }, false},
      {"a node has more", [](Story& h) { h.Node(NodeOf("a", "6")); }},
      {"a node is opened", [](Story& h) { h.Node(NodeOf("b", "2")); }},
      {"a node that was dead comes back", [](Story& h) { h.Node(NodeOf("dead", "2")); }},
      {"a pod takes less", [](Story& h) { h.Pod(PodBuilder("other").Asks("cpu", "0").On("a")); }},
      {"a pod that takes none of it goes", [](Story& h) { h.PodGone("small"); }, false},
      {"the object wants less", [](Story& h) { h.Object(GroupOf(1, Cpu(2))); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Story h({}, testing::GangProfiles());
    h.Node(NodeOf("a", "4"));
    h.Node(NodeOf("b", "2").Unschedulable());
    h.Node(NodeOf("dead", "2")
               .Taint("node.kubernetes.io/unreachable", "", k8s::TaintEffect::kNoSchedule));
    h.Pod(PodBuilder("other").Asks("cpu", "2").On("a"));
    h.Pod(PodBuilder("small").Asks("memory", "1Gi").On("a"));
    h.Object(GroupOf(1, Cpu(4)));
    h.Pod(Member(0));
    h.Schedule();
    ASSERT_EQ(h.Why("m0"),
              "pod group default/train needs 4 cpu in all (minResources), 2 are free.");
    c.happens(h);
    h.Pass(Duration::Seconds(11));
    EXPECT_EQ(h.NodeOf("m0") != "", c.starts);
    EXPECT_EQ(h.engine().Verify().value_or("equal"), "equal");
  }
}

TEST_F(GangShortageTest, EveryResourceIsNamedThatThereIsTooLittleOf) {
  Node("a", "4");
  Group(1, {{"cpu", k8s::Quantity::FromMilli(4500)},
            {"memory", k8s::Quantity::FromUnits(std::int64_t{32} << 30)},
            {"nvidia.com/gpu", k8s::Quantity::FromUnits(16)},
            {"pods", k8s::Quantity::FromUnits(200)}});
  Members(1);
  harness_.Schedule();
  EXPECT_EQ(harness_.Why("m0"),
            "pod group default/train needs 4500m cpu in all (minResources), 4 are free; 200 pods, "
            "110 are free; 16 nvidia.com/gpu, 0 are free.");
}

TEST_F(GangShortageTest, WhatItsOwnPodsUseCountsAndWhoHasStartedIsNotAsked) {
  Node("a", "4");
  Group(2, Cpu(4));
  Members(2);
  harness_.Schedule();
  harness_.FinishBinding("m0");
  harness_.FinishBinding("m1");
  // Another comes when nothing like that is left: the gang has started.
  harness_.Pod(PodBuilder("other").Asks("cpu", "1").On("a"));
  harness_.Pod(Member(2));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("m2"), "a");
  harness_.FinishBinding("m2");
  // One is left and two have to be: what it has counts.
  harness_.PodGone("m1");
  harness_.PodGone("m2");
  harness_.Pod(Member(3));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("m3"), "");
  EXPECT_EQ(harness_.Why("m3"),
            "pod group default/train needs 4 cpu in all (minResources), 2 are free and 1 its own.");
  harness_.PodGone("other");
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(harness_.NodeOf("m3"), "a");
}

TEST_F(GangShortageTest, WhoFindsNoPlaceSaysThat) {
  Node("a", "1");
  Node("b", "1");
  Group(3, Cpu(8));
  Members(3);
  harness_.Schedule();
  EXPECT_THAT(harness_.Why("m0"), HasSubstr("needs 3 pods at once, 2 fit; for the next: "));
}

TEST_F(GangShortageTest, APodOnItsWayIsTakenBackWhenItsObjectWantsMore) {
  Node("a", "4");
  Group(1, {});
  Members(2);
  Group(1, Cpu(8));
  harness_.Schedule();
  EXPECT_EQ(Sent(2), 0);
  Group(1, {});
  harness_.ScheduleAndBind();
  EXPECT_EQ(Sent(2), 2);
}

TEST_F(GangShortageTest, ASmallerMinimumIsOfNoUseWhereTooLittleIsLeftInAll) {
  Node("a", "2");
  Members(4);
  for (const auto& [in_all, want] : {std::pair(3, 0U), std::pair(2, 2U)}) {
    Group(4, Cpu(in_all));
    harness_.Schedule();
    const auto inquiry = harness_.engine().InquireGang("uid-m0");
    ASSERT_TRUE(inquiry.has_value());
    EXPECT_EQ(inquiry->fitting, 2U);
    EXPECT_EQ(inquiry->startable, want) << in_all;
  }
}

TEST_F(GangShortageTest, AnInquirySaysWhatIsMissingAndHowManyNodesWouldHelp) {
  Node("a", "4");
  harness_.Pod(PodBuilder("other").Asks("cpu", "2").On("a"));
  Group(1, Cpu(20));
  Members(1);
  harness_.Schedule();
  const auto inquiry = harness_.engine().InquireGang("uid-m0");
  ASSERT_TRUE(inquiry.has_value());
  EXPECT_EQ(inquiry->message,
            "pod group default/train needs 20 cpu in all (minResources), 2 are free.");
  EXPECT_EQ(inquiry->answer, GangAnswer::kImpossible);
  EXPECT_EQ(inquiry->proof, "needs 20 cpu in all (minResources), 2 are free");
  EXPECT_TRUE(inquiry->lacks_in_all);
  EXPECT_THAT(inquiry->scarce, ElementsAre("cpu"));
  EXPECT_EQ(inquiry->startable, 0U);
  EXPECT_EQ(inquiry->nodes, 5U);
  EXPECT_THAT(inquiry->pods, IsEmpty());
  Group(1, Cpu(4));
  harness_.Schedule();
  EXPECT_THAT(harness_.engine().InquireGang("uid-m0")->pods, ElementsAre("default/other"));
}

class GangShortageRoomTest : public GangShortageTest {
 protected:
  GangShortageRoomTest() : GangShortageTest({"Coscheduling", "GangPreemption"}) {}
  // Full of less important pods.
  void Fill(const std::string& node, const std::string& cpu) {
    Node(node, cpu);
    harness_.Pod(PodBuilder("low-" + node).Asks("cpu", cpu).On(node).Started(Time{1}));
  }
  void ImportantMembers(int count) {
    for (int i = 0; i < count; ++i) harness_.Pod(Member(i).Priority(10));
  }
};

TEST_F(GangShortageRoomTest, OthersGoIfThatLeavesEnough) {
  Fill("a", "2");
  Group(2, Cpu(2));
  ImportantMembers(2);
  harness_.Schedule();
  EXPECT_THAT(harness_.evictions(), ElementsAre("low-a"));
  harness_.FinishEviction("low-a");
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(Sent(2), 2);
}

TEST_F(GangShortageRoomTest, NobodyGoesIfItWouldNotStartAllTheSame) {
  Fill("a", "2");
  Group(2, Cpu(3));
  ImportantMembers(2);
  harness_.Schedule();
  EXPECT_THAT(harness_.evictions(), IsEmpty());
  EXPECT_THAT(harness_.Why("m0"),
              HasSubstr(" Nobody is evicted for it: even then it needs 3 cpu in all "
                        "(minResources), 2 are free."));
  // A node where its pods may not be.
  harness_.Node(NodeOf("b", "1").Taint("gpu", "", k8s::TaintEffect::kNoSchedule));
  harness_.Pass(Duration::Seconds(11));
  EXPECT_THAT(harness_.evictions(), ElementsAre("low-a"));
}

TEST_F(GangShortageRoomTest, NobodyGoesForAGangWhosePodsFit) {
  Fill("a", "2");
  Node("b", "2");
  Group(2, Cpu(4));
  ImportantMembers(2);
  harness_.Schedule();
  EXPECT_THAT(harness_.evictions(), IsEmpty());
  EXPECT_EQ(harness_.Why("m0"),
            "pod group default/train needs 4 cpu in all (minResources), 2 are free.");
}

}  // namespace
}  // namespace knx::engine
