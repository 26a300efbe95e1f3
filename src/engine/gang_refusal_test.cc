#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr const char* kGpu = "nvidia.com/gpu";

class GangRefusalTest : public ::testing::Test {
 protected:
  void Node(const std::string& name, const std::string& gpus, const std::string& cpu = "64",
            const std::string& rack = "r1") {
    harness_->Node(NodeBuilder(name)
                       .Has("cpu", cpu)
                       .Has("memory", "64Gi")
                       .Has("pods", "110")
                       .Has(kGpu, gpus)
                       .Label("kubernetes.io/hostname", name)
                       .Label("rack", rack));
  }
  // A member of a gang of which so many start together.
  static PodBuilder Member(const std::string& name, int minimum, const std::string& gpus,
                           const std::string& cpu = "1") {
    return PodBuilder(name)
        .Asks("cpu", cpu)
        .Asks(kGpu, gpus)
        .Label("pod-group.scheduling.kubenexus.io/name", "train")
        .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(minimum));
  }
  void Members(int count, const std::string& gpus, const std::string& cpu = "1") {
    for (int i = 0; i < count; ++i) {
      harness_->Pod(Member("m" + std::to_string(i), count, gpus, cpu));
    }
  }
  void Sizes(const std::vector<std::string>& gpus) {
    const int count = static_cast<int>(gpus.size());
    for (int i = 0; i < count; ++i) {
      harness_->Pod(Member("m" + std::to_string(i), count, gpus[static_cast<std::size_t>(i)]));
    }
  }
  // Of the pods that carry the gang's label `app`.
  static k8s::PodAffinityTerm TheirRack() {
    k8s::PodAffinityTerm term;
    term.selector = k8s::LabelSelector{{{"app", "train"}}, {}};
    term.topology_key = "rack";
    return term;
  }
  // What the first member says after its gang was tried.
  std::string Refusal() {
    harness_->Schedule();
    EXPECT_EQ(harness_->NodeOf("m0"), "");
    return harness_->Why("m0");
  }
  int Placed(int count) {
    harness_->ScheduleAndBind();
    int placed = 0;
    for (int i = 0; i < count; ++i) {
      placed += harness_->NodeOf("m" + std::to_string(i)).empty() ? 0 : 1;
    }
    return placed;
  }
  void Restart(const std::string& args) {
    harness_ = std::make_unique<testing::Harness>(EngineOptions{}, testing::GangProfiles(args));
  }
  void TearDown() override {
    EXPECT_EQ(harness_->engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_->engine().VerifyCaches().value_or("equal"), "equal");
  }
  std::unique_ptr<testing::Harness> harness_ =
      std::make_unique<testing::Harness>(EngineOptions{}, testing::GangProfiles());
};

TEST_F(GangRefusalTest, ACountSaysWhatThereIsTooLittleOf) {
  for (int i = 0; i < 4; ++i) Node("n" + std::to_string(i), "8");
  for (int i = 0; i < 2; ++i) {
    harness_->Pod(
        PodBuilder("other" + std::to_string(i)).Asks(kGpu, "1").On("n" + std::to_string(i)));
  }
  Members(3, "8");
  EXPECT_EQ(Refusal(),
            "pod group default/train needs 3 pods at once, 2 fit; for the next: 0/4 nodes are "
            "available: 4 Insufficient nvidia.com/gpu. Impossible now: at most 2 fit by "
            "nvidia.com/gpu.");
  for (const char* member : {"m1", "m2"}) EXPECT_EQ(harness_->Why(member), harness_->Why("m0"));
}

TEST_F(GangRefusalTest, AmountsThatOnlyTogetherAreTooLittleAreNamedTogether) {
  Node("gpus", "8", "1");
  Node("cores", "1", "64");
  Members(2, "1", "4");
  EXPECT_THAT(Refusal(),
              EndsWith(" Impossible now: at most 1 fit by nvidia.com/gpu, cpu together."));
}

TEST_F(GangRefusalTest, NodesThatDoNotComeIntoQuestionDoNotCount) {
  Node("a", "8", "64", "r1");
  Node("b", "8", "64", "r2");
  for (int i = 0; i < 2; ++i) {
    harness_->Pod(Member("m" + std::to_string(i), 2, "8").NodeSelector("rack", "r3"));
  }
  EXPECT_THAT(Refusal(),
              EndsWith(" Impossible now: at most 0 fit on the nodes that come into question."));
}

TEST_F(GangRefusalTest, MembersOfDifferentSizesShareWhatThereIs) {
  Node("a", "4");
  Node("b", "4");
  // Each kind fits for itself, and all of them need nine.
  Sizes({"4", "3", "2"});
  EXPECT_THAT(Refusal(), EndsWith(" Impossible now: at most 2 fit by nvidia.com/gpu."));
}

TEST_F(GangRefusalTest, SmallMembersAreEnoughWhereLargeOnesLeaveTooLittleRoom) {
  Restart("searchEvaluations: 0");
  Node("a", "8");
  harness_->Pod(Member("large", 4, "7"));
  for (int i = 0; i < 4; ++i) harness_->Pod(Member("m" + std::to_string(i), 4, "2"));
  EXPECT_EQ(Placed(4), 4);
  EXPECT_EQ(harness_->NodeOf("large"), "");
}

TEST_F(GangRefusalTest, HowManyFitIsSaidOfTheSmallMembersIfTheyAreMore) {
  Node("a", "7");
  harness_->Pod(Member("large", 4, "7"));
  for (int i = 0; i < 4; ++i) harness_->Pod(Member("m" + std::to_string(i), 4, "2"));
  EXPECT_THAT(Refusal(), HasSubstr(" needs 4 pods at once, 3 fit; for the next: "));
}

TEST_F(GangRefusalTest, AnotherWayThanTheFirstIsSearchedFor) {
  Node("a", "8");
  Node("b", "8");
  // Spread over both nodes, as scores want it, the last finds no place.
  Sizes({"4", "4", "3", "3", "2"});
  EXPECT_EQ(Placed(5), 5);
}

TEST_F(GangRefusalTest, WhatWasTriedInEveryWayIsImpossible) {
  Node("a", "5");
  Node("b", "5");
  Sizes({"4", "3", "3"});
  EXPECT_THAT(Refusal(), EndsWith(" Impossible now: every way was tried."));
}

TEST_F(GangRefusalTest, WhatWasNotFoundInTimeIsNotCalledImpossible) {
  Restart("searchEvaluations: 1");
  Node("a", "8");
  Node("b", "8");
  Sizes({"4", "4", "3", "3", "2"});
  EXPECT_THAT(Refusal(), EndsWith(" No way was found within 1 evaluation; there may be one."));
}

TEST_F(GangRefusalTest, MembersThatMustBeApartNeedAsManyDomains) {
  for (int i = 0; i < 4; ++i) Node("n" + std::to_string(i), "8", "64", i < 3 ? "r1" : "r2");
  for (int i = 0; i < 3; ++i) {
    harness_->Pod(Member("m" + std::to_string(i), 3, "1").Label("app", "train").Apart(TheirRack()));
  }
  EXPECT_THAT(Refusal(), EndsWith(" Impossible now: at most 2 fit, one in each rack."));
}

TEST_F(GangRefusalTest, MembersThatMustBeTogetherAreCountedByDomain) {
  for (int i = 0; i < 4; ++i) Node("n" + std::to_string(i), "8", "64", i < 3 ? "r1" : "r2");
  for (int i = 0; i < 4; ++i) {
    harness_->Pod(Member("m" + std::to_string(i), 4, "8").Label("app", "train").Near(TheirRack()));
  }
  EXPECT_THAT(Refusal(), EndsWith(" Impossible now: at most 3 fit by nvidia.com/gpu in one rack."));
}

TEST_F(GangRefusalTest, ASpreadThatMayStillComeOutRightIsNoProof) {
  Node("a", "2", "64", "r1");
  Node("b", "8", "64", "r2");
  k8s::TopologySpreadConstraint evenly;
  evenly.max_skew = 1;
  evenly.topology_key = "rack";
  evenly.selector = k8s::LabelSelector{{{"app", "train"}}, {}};
  for (int i = 0; i < 6; ++i) {
    harness_->Pod(Member("m" + std::to_string(i), 6, "1").Label("app", "train").Spread(evenly));
  }
  EXPECT_THAT(Refusal(), HasSubstr("evaluations; there may be one."));
}

TEST_F(GangRefusalTest, AGangThatHasItsMinimumSaysOnlyWhyNoMoreFit) {
  Node("a", "2");
  for (int i = 0; i < 3; ++i) harness_->Pod(Member("m" + std::to_string(i), 2, "1"));
  EXPECT_EQ(Placed(3), 2);
  EXPECT_THAT(harness_->Why("m2"), EndsWith("1 Insufficient nvidia.com/gpu."));
}

// Annotations may be of any length.
TEST_F(GangRefusalTest, NamesOfAnyLengthAreShortenedWhereTheyAreSaid) {
  Node("n0", "1");
  std::string long_name = "x";
  for (int i = 0; i < 2000; ++i) long_name += "ü";
  const std::string ours = "pod-group.scheduling.kubenexus.io/";
  for (const char* name : {"m0", "m1"}) {
    harness_->Pod(PodBuilder(name)
                      .Asks(kGpu, "1")
                      .Annotation(ours + "name", long_name)
                      .Annotation(ours + "min-available", "2")
                      .Annotation(ours + "role", long_name)
                      .Annotation(ours + "topology-key", long_name));
  }
  const std::string refusal = Refusal();
  EXPECT_LT(refusal.size(), 1000U);
  EXPECT_THAT(refusal, HasSubstr("pod group default/xüü"));
  EXPECT_THAT(refusal, HasSubstr("üü… needs 2 pods at once in one xüü"));
  for (const std::string& note : harness_->notes()) EXPECT_LE(note.size(), 1024U + 20U);
}

}  // namespace
}  // namespace knx::engine
