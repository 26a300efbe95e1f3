// Pods whose volumes have to be bound before they are: writes, waiting, giving up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/volume_builders.h"
#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::ClaimBuilder;
using cluster::testing::MakeClass;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using cluster::testing::VolumeBuilder;
using ::testing::HasSubstr;

class VolumeFlight : public ::testing::Test {
 protected:
  VolumeFlight() {
    harness_.Node(NodeBuilder("a").Has("cpu", "4").Has("memory", "8Gi").Has("pods", "110"));
    Object(MakeClass("local", "kubernetes.io/no-provisioner"));
    Object(VolumeBuilder("pv").Class("local"));
    Object(ClaimBuilder("x").Class("local"));
    harness_.Pod(PodBuilder("p").Asks("cpu", "3").Claim("x"));
    harness_.Schedule();
  }
  void TearDown() override {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
  }
  void Object(const k8s::Object& object) {
    harness_.engine().Handle(ObjectUpserted{object}, harness_.now());
  }
  void Written() {
    Object(VolumeBuilder("pv").Class("local").Version("2").For("x", "uid-x"));
    harness_.Answer(harness_.questions().back().first, {true, "", false});
  }
  void Bound() { Object(ClaimBuilder("x").Class("local").Version("3").BoundTo("pv")); }

  testing::Harness harness_;
};

TEST_F(VolumeFlight, AsksForTheWriteAndKeepsTheRoom) {
  ASSERT_EQ(harness_.questions().size(), 1u);
  const AskOutside& ask = harness_.questions()[0].second;
  EXPECT_EQ(ask.plugin, "VolumeBinding");
  EXPECT_EQ(ask.node, "a");
  ASSERT_EQ(ask.question.writes.size(), 1u);
  EXPECT_EQ(ask.question.body, "bind pv to default/x");
  EXPECT_EQ(harness_.engine().Standing("uid-p"), PodStanding::kPaused);
  EXPECT_TRUE(harness_.engine().state().volumes().IsAssumed("pv"));
}

TEST_F(VolumeFlight, IsBoundAsSoonAsTheClaimIs) {
  Written();
  EXPECT_EQ(harness_.NodeOf("p"), "");
  Bound();
  EXPECT_EQ(harness_.NodeOf("p"), "a") << "without waiting for the next look";
  harness_.ScheduleAndBind();
  EXPECT_EQ(
      harness_.engine().state().volumes().FindPlan(harness_.engine().state().pods().Find("uid-p")),
      nullptr);
}

TEST_F(VolumeFlight, LooksEverySecondBesides) {
  Written();
  const Time begin = harness_.now();
  EXPECT_EQ(harness_.engine().NextWake(), begin + Duration::Seconds(1));
  harness_.NodeGone("a");
  harness_.Pass(Duration::Seconds(1));
  EXPECT_THAT(harness_.notes().back(), HasSubstr("binding volumes: failed to get node \"a\""));
}

TEST_F(VolumeFlight, IsGivenUpInTheEndAndQueuedAgain) {
  Written();
  harness_.Pass(Duration::Seconds(599));
  EXPECT_EQ(harness_.engine().Standing("uid-p"), PodStanding::kPaused);
  harness_.Pass(Duration::Seconds(1));
  EXPECT_THAT(harness_.notes(),
              ::testing::Contains(HasSubstr("running PreBind plugin \"VolumeBinding\": binding "
                                            "volumes: context deadline exceeded")));
  EXPECT_NE(harness_.PlaceOf("p"), QueuePlace::kNone);
  Bound();
  harness_.Pass(Duration::Seconds(10));
  EXPECT_EQ(harness_.NodeOf("p"), "a");
}

TEST_F(VolumeFlight, ARefusedWriteIsTriedAgainWithTheNextAttempt) {
  harness_.Answer(harness_.questions()[0].first, {false, "the object has been modified", false});
  EXPECT_EQ(harness_.Why("p"),
            "running PreBind plugin \"VolumeBinding\": the object has been modified");
  EXPECT_FALSE(harness_.engine().state().volumes().IsAssumed("pv"));
  harness_.Pass(Duration::Seconds(10));
  ASSERT_EQ(harness_.questions().size(), 2u);
  Written();
  Bound();
  EXPECT_EQ(harness_.NodeOf("p"), "a");
}

TEST_F(VolumeFlight, ADeletedPodGivesItsVolumeToWhoWaits) {
  Object(ClaimBuilder("y").Class("local"));
  harness_.Pod(PodBuilder("q").Asks("cpu", "1").Claim("y"));
  harness_.Schedule();
  EXPECT_THAT(harness_.Why("q"), HasSubstr("didn't find available persistent volumes to bind"));
  harness_.PodGone("p");
  harness_.Pass(Duration::Seconds(10));
  ASSERT_EQ(harness_.questions().size(), 2u);
  EXPECT_EQ(harness_.questions()[1].second.question.body, "bind pv to default/y");
}

TEST_F(VolumeFlight, APodThatChangesItsVolumesOnTheWayIsNotLost) {
  Written();
  harness_.Pod(PodBuilder("p").Asks("cpu", "3"));
  harness_.Pass(Duration::Seconds(610));
  EXPECT_EQ(harness_.NodeOf("p"), "a") << "after its time was up, as the pod it is now";
  EXPECT_FALSE(harness_.engine().state().volumes().IsAssumed("pv"));
}

TEST_F(VolumeFlight, SomebodyElsesBindingCancelsOurs) {
  harness_.Pod(PodBuilder("p").Asks("cpu", "3").Claim("x").On("a"));
  EXPECT_FALSE(harness_.engine().state().volumes().IsAssumed("pv"));
  harness_.Answer(harness_.questions()[0].first, {true, "", false});
  EXPECT_EQ(harness_.NodeOf("p"), "") << "nothing was sent";
}

}  // namespace
}  // namespace knx::engine
