#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kDevice = "nvidia.com/gpu";

class GangInquiryTest : public ::testing::Test {
 protected:
  void Node(const std::string& name, const std::string& gpus, const std::string& rack = "r1") {
    harness_.Node(NodeBuilder(name)
                      .Has("cpu", "64")
                      .Has("memory", "64Gi")
                      .Has("pods", "110")
                      .Has(kDevice, gpus)
                      .Label("kubernetes.io/hostname", name)
                      .Label("rack", rack));
  }
  void Other(const std::string& name, const std::string& node, const std::string& gpus) {
    harness_.Pod(PodBuilder(name).Asks(kDevice, gpus).On(node));
  }
  static PodBuilder Member(int i, int minimum, const std::string& gpus) {
    return PodBuilder("m" + std::to_string(i))
        .Asks(kDevice, gpus)
        .Label("pod-group.scheduling.kubenexus.io/name", "train")
        .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(minimum));
  }
  void Members(int count, int minimum, const std::string& gpus) {
    for (int i = 0; i < count; ++i) harness_.Pod(Member(i, minimum, gpus));
  }
  GangInquiry Ask() {
    harness_.Schedule();
    const std::string before = harness_.Why("m0");
    const auto inquiry = harness_.engine().InquireGang("uid-m0");
    EXPECT_TRUE(inquiry.has_value());
    EXPECT_EQ(harness_.Why("m0"), before);
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
    return inquiry.value_or(GangInquiry{});
  }
  testing::Harness harness_{{}, testing::GangProfiles()};
};

TEST_F(GangInquiryTest, SaysHowManyFitAndWhatWouldHelp) {
  for (int i = 0; i < 4; ++i) Node("n" + std::to_string(i), "8");
  Other("one", "n0", "1");
  Other("two", "n1", "1");
  Other("three", "n1", "1");
  Members(3, 3, "8");
  const GangInquiry inquiry = Ask();
  EXPECT_EQ(inquiry.name, "default/train");
  EXPECT_EQ(inquiry.answer, GangAnswer::kImpossible);
  EXPECT_EQ(inquiry.needed, 3U);
  EXPECT_EQ(inquiry.fitting, 2U);
  EXPECT_EQ(inquiry.most, 2U);
  EXPECT_EQ(inquiry.proof, "at most 2 fit by nvidia.com/gpu");
  EXPECT_THAT(inquiry.scarce, ElementsAre(kDevice));
  EXPECT_EQ(inquiry.message, harness_.Why("m0"));
  EXPECT_EQ(inquiry.nodes, 1U);
  EXPECT_EQ(inquiry.like, "n0");
  EXPECT_THAT(inquiry.pods, ElementsAre("default/one"));
}

TEST_F(GangInquiryTest, WhatItSaysWouldHelpHelps) {
  Node("small", "2");
  Node("large", "8");
  for (int i = 0; i < 6; ++i) Other("other" + std::to_string(i), "large", "1");
  Members(5, 5, "2");
  const GangInquiry inquiry = Ask();
  EXPECT_EQ(inquiry.fitting, 2U);
  EXPECT_THAT(inquiry.pods, ::testing::SizeIs(6));
  EXPECT_EQ(inquiry.like, "large") << "one of them does what three of the others do";
  EXPECT_EQ(inquiry.nodes, 1U);
  Node("another", "8");
  harness_.Pass(Duration::Minutes(1));
  for (int i = 0; i < 5; ++i) EXPECT_NE(harness_.NodeOf("m" + std::to_string(i)), "");
}

TEST_F(GangInquiryTest, WhereNothingWouldHelpNothingIsSaid) {
  Node("n", "8");
  for (int i = 0; i < 2; ++i) {
    harness_.Pod(Member(i, 2, "1").NodeSelector("rack", "nowhere"));
  }
  const GangInquiry inquiry = Ask();
  EXPECT_EQ(inquiry.answer, GangAnswer::kImpossible);
  EXPECT_EQ(inquiry.nodes, 0U);
  EXPECT_THAT(inquiry.pods, IsEmpty());
}

TEST_F(GangInquiryTest, DomainsAreCountedWhereMembersMustBeTogether) {
  for (int i = 0; i < 4; ++i) Node("n" + std::to_string(i), "8", i < 3 ? "r1" : "r2");
  k8s::PodAffinityTerm term;
  term.selector = k8s::LabelSelector{{{"app", "train"}}, {}};
  term.topology_key = "rack";
  for (int i = 0; i < 4; ++i) harness_.Pod(Member(i, 4, "8").Label("app", "train").Near(term));
  const GangInquiry inquiry = Ask();
  EXPECT_EQ(inquiry.together, "rack");
  ASSERT_EQ(inquiry.domains.size(), 2U);
  EXPECT_EQ(inquiry.domains[0].value, "r1");
  EXPECT_EQ(inquiry.domains[0].most, 3U);
  EXPECT_EQ(inquiry.domains[1].most, 1U);
  EXPECT_EQ(inquiry.nodes, 1U);
  EXPECT_EQ(inquiry.like, "n0") << "a node in the other rack would not be enough";
}

TEST_F(GangInquiryTest, NodesOfADomainThatIsTakenAreNotAskedFor) {
  for (int i = 0; i < 2; ++i) Node("n" + std::to_string(i), "8", "r" + std::to_string(i));
  k8s::PodAffinityTerm term;
  term.selector = k8s::LabelSelector{{{"app", "train"}}, {}};
  term.topology_key = "rack";
  for (int i = 0; i < 3; ++i) harness_.Pod(Member(i, 3, "1").Label("app", "train").Apart(term));
  const GangInquiry inquiry = Ask();
  EXPECT_EQ(inquiry.proof, "at most 2 fit, one in each rack");
  EXPECT_EQ(inquiry.nodes, 0U) << "it would have to be in a third rack";
}

TEST_F(GangInquiryTest, PodsThatEveryNodeHasAreNotInTheWay) {
  Node("n0", "8");
  k8s::NodeSelectorTerm term;
  term.match_fields.push_back({"metadata.name", k8s::SelectorOperator::kIn, {"n0"}});
  harness_.Pod(PodBuilder("agent").Asks(kDevice, "1").Requires(term).On("n0"));
  Members(2, 2, "4");
  const GangInquiry inquiry = Ask();
  EXPECT_THAT(inquiry.pods, IsEmpty());
  EXPECT_EQ(inquiry.nodes, 1U) << "with an agent of its own, there is room for one member";
}

TEST_F(GangInquiryTest, OneMoreNodeHelpsAGangWithSubGroupsThatHasMoreMembersThanItNeeds) {
  Node("n0", "2");
  const std::string ours = "pod-group.scheduling.kubenexus.io/";
  for (int i = 0; i < 5; ++i) {
    harness_.Pod(Member(i, 2, i == 0 ? "2" : "1")
                     .Label(ours + "sub-group", i < 3 ? "a" : "b")
                     .Label(ours + "sub-group-min-available", "2")
                     .Label(ours + "min-sub-groups", "2"));
  }
  const GangInquiry inquiry = Ask();
  EXPECT_EQ(inquiry.needed, 4U);
  EXPECT_EQ(inquiry.nodes, 1U);
  EXPECT_EQ(inquiry.like, "n0");
}

TEST_F(GangInquiryTest, MoreNodesHelpAGangWithRolesThatHasMoreMembersThanItNeeds) {
  Node("n0", "2");
  Other("other", "n0", "2");
  const std::string ours = "pod-group.scheduling.kubenexus.io/";
  for (int i = 0; i < 3; ++i) {
    harness_.Pod(Member(i, 2, i == 0 ? "1" : "2")
                     .Label(ours + "role", i < 2 ? "ps" : "worker")
                     .Label(ours + "role-min-available", "1"));
  }
  const GangInquiry inquiry = Ask();
  EXPECT_EQ(inquiry.nodes, 2U);
  EXPECT_THAT(inquiry.pods, IsEmpty()) << "there is no room for both on one node";
}

TEST_F(GangInquiryTest, NothingIsSaidOfMembersThatItCanDoWithout) {
  Node("n0", "2", "r0");
  const std::string ours = "pod-group.scheduling.kubenexus.io/";
  for (int i = 0; i < 4; ++i) harness_.Pod(Member(i, 4, "1").Label(ours + "topology-key", "rack"));
  harness_.Pod(Member(4, 4, "2").Label(ours + "topology-key", "rack"));
  harness_.Pod(Member(5, 4, "1").Asks("x/disk", "1").Label(ours + "topology-key", "rack"));
  const GangInquiry inquiry = Ask();
  EXPECT_EQ(inquiry.most, 2U);
  EXPECT_EQ(inquiry.fitting, 2U) << "two small ones, not the large one alone";
  EXPECT_EQ(inquiry.startable, 2U);
  ASSERT_EQ(inquiry.domains.size(), 1U);
  EXPECT_EQ(inquiry.domains[0].most, 2U);
  EXPECT_EQ(inquiry.nodes, 1U);
  EXPECT_THAT(inquiry.too_large, IsEmpty()) << "four others are enough";
}

TEST_F(GangInquiryTest, LargerNodesAreNamedWhereItCannotStartWithoutThem) {
  Node("n0", "2");
  for (int i = 0; i < 3; ++i) harness_.Pod(Member(i, 2, i == 0 ? "8" : "4"));
  const GangInquiry inquiry = Ask();
  EXPECT_EQ(inquiry.nodes, 0U);
  ASSERT_EQ(inquiry.too_large.size(), 1U);
  EXPECT_EQ(inquiry.too_large[0].asked, 4) << "the two smaller ones are enough";
  EXPECT_EQ(inquiry.too_large[0].most, 2);
}

TEST(GangInquiry, ReservationsThatWaitHaveTheirRoomFirst) {
  testing::Harness harness({}, testing::ReservingProfiles());
  harness.Node(NodeBuilder("n0").Has("cpu", "4").Has("pods", "9"));
  harness.Pod(PodBuilder("other").Asks("cpu", "4").On("n0"));
  k8s::ResourceReservation kept;
  kept.meta.namespace_ = "default";
  kept.meta.name = kept.meta.uid = "kept";
  kept.meta.created = harness.now();
  kept.places.push_back({"p", "", {{"cpu", k8s::Quantity::FromUnits(4)}}});
  harness.Object(kept);
  for (const char* name : {"m0", "m1"}) {
    harness.Pod(PodBuilder(name)
                    .Asks("cpu", "2")
                    .Label("pod-group.scheduling.kubenexus.io/name", "train")
                    .Label("pod-group.scheduling.kubenexus.io/min-available", "2"));
  }
  harness.Schedule();
  const auto inquiry = harness.engine().InquireGang("uid-m0");
  ASSERT_TRUE(inquiry.has_value());
  EXPECT_EQ(inquiry->nodes, 2U) << "the first of them is kept";
  EXPECT_THAT(inquiry->pods, IsEmpty()) << "what it leaves is kept";
  EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
}

TEST(GangInquiry, ASmallerMinimumMayStartInTheSteadOfOthers) {
  testing::Harness harness({}, testing::ProfilesWith({"Coscheduling", "GangPreemption"}));
  for (int i = 0; i < 8; ++i) {
    const std::string node = "n" + std::to_string(i);
    harness.Node(NodeBuilder(node).Has("cpu", "1").Has("pods", "9"));
    if (i < 3) continue;
    harness.Pod(
        PodBuilder("o" + std::to_string(i)).Asks("cpu", "1").Priority(i == 3 ? 100 : 0).On(node));
  }
  for (int i = 0; i < 8; ++i) {
    harness.Pod(PodBuilder("m" + std::to_string(i))
                    .Asks("cpu", "1")
                    .Priority(10)
                    .Label("pod-group.scheduling.kubenexus.io/name", "train")
                    .Label("pod-group.scheduling.kubenexus.io/min-available", "8"));
  }
  harness.Schedule();
  ASSERT_TRUE(harness.evictions().empty()) << "one of the others is more important";
  const auto inquiry = harness.engine().InquireGang("uid-m0");
  ASSERT_TRUE(inquiry.has_value());
  EXPECT_EQ(inquiry->startable, 3U) << "beside all others";
  EXPECT_EQ(inquiry->startable_by_eviction, 7U);
  EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
  EXPECT_TRUE(harness.evictions().empty()) << "nobody goes because somebody asks";
}

TEST_F(GangInquiryTest, OnlyWhetherItCouldStartIsAskedForLess) {
  Node("n0", "2");
  Members(3, 3, "1");
  harness_.Schedule();
  const auto inquiry = harness_.engine().InquireGang("uid-m0", GangQuestion::kWhether);
  ASSERT_TRUE(inquiry.has_value());
  EXPECT_EQ(inquiry->answer, GangAnswer::kImpossible);
  EXPECT_EQ(inquiry->nodes, 0U) << "that is not asked";
}

TEST_F(GangInquiryTest, OfAGangThatIsNotThereYetOnlyThatIsSaid) {
  Node("n0", "1");
  Members(2, 3, "8");
  const GangInquiry inquiry = Ask();
  EXPECT_FALSE(inquiry.complete);
  EXPECT_EQ(inquiry.message,
            "waiting for pod group default/train: it has 2 pods, needs at least 3");
  EXPECT_EQ(inquiry.ready, 2U);
}

TEST_F(GangInquiryTest, OnlyMembersThatWaitAreAskedAbout) {
  Node("n0", "8");
  harness_.Pod(PodBuilder("single").Asks(kDevice, "16"));
  Members(2, 2, "1");
  harness_.ScheduleAndBind();
  EXPECT_FALSE(harness_.engine().InquireGang("uid-single").has_value());
  EXPECT_FALSE(harness_.engine().InquireGang("uid-m0").has_value());
  EXPECT_FALSE(harness_.engine().InquireGang("uid-nobody").has_value());
}

}  // namespace
}  // namespace knx::engine
