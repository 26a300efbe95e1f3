// What is said of a gang whose driver waits, which starts with the places of those kept that it has
// yet to make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kOurs = "pod-group.scheduling.kubenexus.io/";

class DriverInquiryTest : public ::testing::Test {
 protected:
  void Node(const std::string& name, const std::string& cpu, const std::string& rack = "r") {
    harness_.Node(NodeBuilder(name)
                      .Has("cpu", cpu)
                      .Has("pods", "110")
                      .Label("kubernetes.io/hostname", name)
                      .Label("rack", rack));
  }
  void Other(const std::string& name, const std::string& node, const std::string& cpu) {
    harness_.Pod(PodBuilder(name).Asks("cpu", cpu).On(node));
  }
  // Of four, of which it makes three.
  static PodBuilder Driver() {
    return PodBuilder("driver")
        .Asks("cpu", "1")
        .Label("spark-role", "driver")
        .Label(kOurs + "name", "spark")
        .Label(kOurs + "min-available", "4");
  }
  static k8s::Pod WithExecutors(k8s::Pod driver, const std::string& executor) {
    driver.meta.annotations = {{"scheduling.kubenexus.io/executor-resources", executor}};
    return driver;
  }
  k8s::ResourceReservation Reserved(const std::string& name, const std::string& group, int places,
                                    int cpus) {
    k8s::ResourceReservation made;
    made.meta.namespace_ = "default";
    made.meta.name = made.meta.uid = name;
    made.meta.created = harness_.now();
    made.duration = Duration::Minutes(60);
    made.pod_group = group;
    for (int i = 0; i < places; ++i) {
      made.places.push_back({std::to_string(i), "", {{"cpu", k8s::Quantity::FromUnits(cpus)}}});
    }
    return made;
  }
  GangInquiry Ask() {
    harness_.Schedule();
    const auto inquiry = harness_.engine().InquireGang("uid-driver");
    EXPECT_TRUE(inquiry.has_value());
    return inquiry.value_or(GangInquiry{});
  }
  void TearDown() override {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
  }
  testing::Harness harness_{{}, testing::ReservingProfiles()};
};

TEST_F(DriverInquiryTest, SaysWhatItsConditionSaysAndWhatWouldHelp) {
  Node("a", "6");
  Node("b", "2");
  Other("other", "b", "2");
  harness_.Pod(WithExecutors(Driver(), "cpu=2"));
  const GangInquiry inquiry = Ask();
  EXPECT_TRUE(inquiry.complete);
  EXPECT_EQ(inquiry.to_come, 3U);
  EXPECT_TRUE(inquiry.with_places);
  EXPECT_EQ(inquiry.needed, 4U);
  EXPECT_EQ(inquiry.message, harness_.Why("driver"));
  EXPECT_THAT(inquiry.message, HasSubstr("needs 4 pods at once, 3 fit; for the next: no room for "
                                         "an executor of its driver: 0/2 nodes"));
  EXPECT_EQ(inquiry.fitting, 3U);
  EXPECT_EQ(inquiry.startable, 3U);
  EXPECT_EQ(inquiry.nodes, 1U);
  EXPECT_EQ(inquiry.like, "a");
  EXPECT_THAT(inquiry.pods, ElementsAre("default/other"));
  harness_.PodGone("other");
  harness_.Pass(Duration::Minutes(1));
  EXPECT_NE(harness_.NodeOf("driver"), "");
}

TEST_F(DriverInquiryTest, ShowsThatItIsImpossible) {
  Node("a", "6");
  harness_.Pod(WithExecutors(Driver(), "cpu=2"));
  const GangInquiry inquiry = Ask();
  EXPECT_EQ(inquiry.answer, GangAnswer::kImpossible);
  EXPECT_EQ(inquiry.proof, "at most 3 fit by cpu");
  EXPECT_EQ(inquiry.most, 3U);
  EXPECT_THAT(inquiry.scarce, ElementsAre("cpu"));
  EXPECT_THAT(inquiry.pods, IsEmpty());
}

TEST_F(DriverInquiryTest, NamesWhoFindsNoPlace) {
  Node("a", "1");
  Other("other", "a", "1");
  harness_.Pod(WithExecutors(Driver(), "cpu=2"));
  const GangInquiry inquiry = Ask();
  EXPECT_EQ(inquiry.fitting, 0U);
  ASSERT_EQ(inquiry.unplaced.size(), 1U);
  EXPECT_EQ(inquiry.unplaced[0].example, "an executor of default/driver");
  EXPECT_EQ(inquiry.unplaced[0].members, 4U);
  EXPECT_THAT(inquiry.pods, IsEmpty());
  ASSERT_EQ(inquiry.too_large.size(), 1U);
  EXPECT_EQ(inquiry.too_large[0].asked, 2000);
}

TEST_F(DriverInquiryTest, IsAllThatIsNeededWhenNobodyKnowsItsExecutors) {
  Node("a", "1");
  Other("other", "a", "1");
  harness_.Pod(Driver());
  const GangInquiry inquiry = Ask();
  EXPECT_EQ(inquiry.needed, 1U);
  EXPECT_EQ(inquiry.to_come, 3U);
  EXPECT_FALSE(inquiry.with_places);
  EXPECT_EQ(inquiry.message, harness_.Why("driver"));
  EXPECT_THAT(inquiry.message, HasSubstr("needs 1 pod at once, 0 fit"));
  EXPECT_EQ(inquiry.startable, 0U);
  EXPECT_EQ(inquiry.nodes, 1U);
  EXPECT_THAT(inquiry.pods, ElementsAre("default/other"));
}

TEST_F(DriverInquiryTest, NamesTheReservationThatItWaitsForAndWhatWouldHelpBoth) {
  Node("a", "4");
  Node("b", "2");
  Other("other", "b", "1");
  harness_.Object(Reserved("spark", "spark", 3, 2));
  harness_.Pod(Driver());
  const GangInquiry inquiry = Ask();
  EXPECT_FALSE(inquiry.complete);
  ASSERT_TRUE(inquiry.awaited.has_value());
  EXPECT_EQ(inquiry.awaited->name, "default/spark");
  EXPECT_THAT(inquiry.awaited->why, HasSubstr("no room for place 2: 0/2 nodes are available"));
  EXPECT_EQ(inquiry.nodes, 1U);
  EXPECT_EQ(inquiry.like, "a");
  EXPECT_THAT(inquiry.pods, IsEmpty()) << "there would be no room for the driver";
  Node("c", "4");
  harness_.Pass(Duration::Minutes(1));
  EXPECT_NE(harness_.NodeOf("driver"), "");
}

TEST_F(DriverInquiryTest, NothingHelpsItUntilItsReservationBegins) {
  Node("a", "8");
  k8s::ResourceReservation later = Reserved("spark", "spark", 3, 2);
  later.start = harness_.now() + Duration::Minutes(5);
  harness_.Object(later);
  harness_.Pod(Driver());
  const GangInquiry inquiry = Ask();
  ASSERT_TRUE(inquiry.awaited.has_value());
  EXPECT_THAT(inquiry.awaited->why, HasSubstr("it begins at "));
  EXPECT_EQ(inquiry.nodes, 0U);
  EXPECT_THAT(inquiry.pods, IsEmpty());
}

TEST_F(DriverInquiryTest, TheEndOfAReservationForOthersWouldHelpAndNotThatOfItsOwn) {
  Node("a", "8");
  harness_.Object(Reserved("report", "", 1, 2));
  harness_.Object(Reserved("spark", "spark", 3, 2));
  harness_.Pod(Driver());
  const GangInquiry inquiry = Ask();
  EXPECT_FALSE(inquiry.awaited.has_value()) << "it is held, and fills the node";
  ASSERT_EQ(inquiry.reserved.size(), 1U);
  EXPECT_EQ(inquiry.reserved[0].name, "default/report");
}

TEST_F(DriverInquiryTest, WhatIsKnownOfOneDomainSaysNothingOfAnother) {
  testing::Harness harness(
      {}, testing::ProfilesWith({"Coscheduling", "ResourceReservation"},
                                "{name: Coscheduling, args: {searchEvaluations: 0}}"));
  const auto node = [&](const std::string& name, const std::string& cpu, const std::string& rack) {
    harness.Node(NodeBuilder(name).Has("cpu", cpu).Has("pods", "110").Label("rack", rack));
  };
  // The driver is put where there is most room; were it on the other node all would fit.
  node("a", "6", "r1");
  node("b", "4", "r2");
  node("c", "3", "r2");
  harness.Pod(WithExecutors(Driver().Label(kOurs + "topology-key", "rack"), "cpu=2"));
  harness.Schedule();
  ASSERT_EQ(harness.NodeOf("driver"), "");
  EXPECT_THAT(harness.Why("driver"), HasSubstr("No way was found within 0 evaluations"));
  const auto inquiry = harness.engine().InquireGang("uid-driver");
  ASSERT_TRUE(inquiry.has_value());
  EXPECT_EQ(inquiry->answer, GangAnswer::kNotFound);
  EXPECT_EQ(inquiry->proof, "");
}

TEST_F(DriverInquiryTest, WhereNoNodeHasTheLabelItIsImpossible) {
  Node("a", "16");
  harness_.Pod(WithExecutors(Driver().Label(kOurs + "topology-key", "zone"), "cpu=2"));
  const GangInquiry inquiry = Ask();
  EXPECT_EQ(inquiry.answer, GangAnswer::kImpossible);
  EXPECT_EQ(inquiry.message, harness_.Why("driver"));
  EXPECT_THAT(inquiry.message, HasSubstr("Impossible now"));
}

}  // namespace
}  // namespace knx::engine
