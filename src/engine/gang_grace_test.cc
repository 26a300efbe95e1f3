// The grace of a gang of which too few have a place: it begins when that is so, goes on until those
// who are missing are bound, and begins anew only after that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class GangGrace : public ::testing::Test {
 protected:
  GangGrace() {
    harness_.Node(NodeBuilder("a").Has("cpu", "8").Has("memory", "64Gi").Has("pods", "110"));
  }
  void TearDown() override { EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal"); }

  // It needs two.
  static PodBuilder Member(const std::string& name) {
    return PodBuilder(name)
        .Label("pod-group.scheduling.kubenexus.io/name", "train")
        .Label("pod-group.scheduling.kubenexus.io/min-available", "2");
  }
  // m0 is bound, m1 could not be and is on its way again.
  void BeginWithHalf() {
    for (const char* name : {"m0", "m1"}) harness_.Pod(Member(name));
    harness_.Schedule();
    harness_.FinishBinding("m0");
    harness_.FinishBinding("m1", "refused");
    harness_.Pass(Duration::Seconds(30));
  }
  // Half a minute after m1 was refused, by anything but a binding.
  void LoseOne(const std::string& name) { harness_.PodGone(name); }

  testing::Harness harness_{{}, testing::GangProfiles("evictIncomplete: true")};
};

TEST_F(GangGrace, IsOneHoweverOftenABindingIsRefused) {
  BeginWithHalf();
  harness_.FinishBinding("m1", "refused");
  harness_.Pass(Duration::Seconds(29));
  EXPECT_THAT(harness_.evictions(), IsEmpty());
  harness_.FinishBinding("m1", "refused");
  harness_.Pass(Duration::Seconds(2));
  EXPECT_THAT(harness_.evictions(), UnorderedElementsAre("m0"));
}

TEST_F(GangGrace, OneThatEndsWhileABindingIsOnItsWayWaitsForItsAnswer) {
  BeginWithHalf();
  harness_.Pass(Duration::Seconds(20));
  harness_.FinishBinding("m1", "refused");
  harness_.Pass(Duration::Seconds(5));
  // Asked for 55 s after the first was refused, and answered after the end.
  harness_.Pass(Duration::Seconds(10));
  EXPECT_THAT(harness_.evictions(), IsEmpty());
  harness_.FinishBinding("m1", "refused");
  harness_.Pass(Duration::Milliseconds(1));
  EXPECT_THAT(harness_.evictions(), UnorderedElementsAre("m0"));
}

TEST_F(GangGrace, BeginsAnewForOneThatWasWhole) {
  for (const bool answer_is_lost : {false, true}) {
    BeginWithHalf();
    if (answer_is_lost) harness_.Pod(Member("m1").On("a"));
    harness_.FinishBinding("m1",
                           answer_is_lost ? std::optional<std::string>("lost") : std::nullopt);
    harness_.Pass(Duration::Minutes(5));
    LoseOne("m1");
    harness_.Pass(Duration::Seconds(59));
    EXPECT_THAT(harness_.evictions(), IsEmpty());
    harness_.Pass(Duration::Seconds(2));
    EXPECT_THAT(harness_.evictions(), UnorderedElementsAre("m0"));
    harness_.FinishEviction("m0");
  }
}

// Those are on their way without an end, and are not what the gang waited for.
TEST_F(GangGrace, IsNotKeptForMembersAboveTheMinimum) {
  BeginWithHalf();
  harness_.Pod(Member("m2"));
  harness_.Schedule();
  ASSERT_EQ(harness_.NodeOf("m2"), "a");
  harness_.FinishBinding("m1");
  harness_.Pass(Duration::Seconds(10));
  harness_.FinishBinding("m2", "refused");
  LoseOne("m1");
  LoseOne("m2");
  harness_.Pass(Duration::Seconds(59));
  EXPECT_THAT(harness_.evictions(), IsEmpty());
  harness_.Pass(Duration::Seconds(2));
  EXPECT_THAT(harness_.evictions(), UnorderedElementsAre("m0"));
}

TEST_F(GangGrace, IsForgottenWithWhoWasOnItsWay) {
  BeginWithHalf();
  harness_.Pod(PodBuilder("m1"));  // it is no member any more
  harness_.FinishBinding("m1");
  harness_.Pod(Member("m2"));
  harness_.ScheduleAndBind();
  harness_.Pass(Duration::Minutes(2));
  EXPECT_THAT(harness_.notes(), Not(Contains(HasSubstr("incomplete"))));
}

// They are as good as gone: who is bound to join them would be alone.
TEST_F(GangGrace, WhoWasAskedToGoIsNotJoinedByOthers) {
  BeginWithHalf();
  harness_.FinishBinding("m1", "refused");
  LoseOne("m1");
  harness_.Pass(Duration::Seconds(31));
  ASSERT_THAT(harness_.evictions(), UnorderedElementsAre("m0"));
  harness_.Pod(Member("m2"));
  harness_.Pass(Duration::Seconds(20));
  EXPECT_EQ(harness_.NodeOf("m2"), "");
  harness_.Pod(Member("m3"));
  harness_.Pass(Duration::Seconds(20));
  for (const char* name : {"m2", "m3"}) EXPECT_EQ(harness_.NodeOf(name), "a");
}

TEST_F(GangGrace, WhoWasAskedToGoAndStaysIsJoinedByOthers) {
  BeginWithHalf();
  harness_.FinishBinding("m1", "refused");
  LoseOne("m1");
  harness_.Pass(Duration::Seconds(31));
  harness_.FinishEviction("m0", "the server is busy");
  harness_.Pod(Member("m2"));
  harness_.Pass(Duration::Seconds(20));
  harness_.FinishBinding("m2");
  harness_.Pass(Duration::Minutes(5));
  EXPECT_THAT(harness_.evictions(), IsEmpty());
}

// m0 is on its way when the grace ends, and nobody is asked to go. It comes back later.
TEST_F(GangGrace, WhoIsLeftByOneThatComesBackAfterTheEndGoesAfterAnother) {
  for (const char* name : {"m0", "m1"}) harness_.Pod(Member(name));
  harness_.Schedule();
  harness_.FinishBinding("m1");
  LoseOne("m1");
  harness_.Pass(Duration::Seconds(61));
  EXPECT_THAT(harness_.evictions(), IsEmpty());
  harness_.Pod(Member("m2"));
  harness_.Schedule();
  harness_.FinishBinding("m2");
  harness_.FinishBinding("m0", "refused");
  LoseOne("m0");
  harness_.Pass(Duration::Seconds(61));
  EXPECT_THAT(harness_.evictions(), UnorderedElementsAre("m2"));
}

// Enough in all, and too few of a role.
TEST_F(GangGrace, SaysWhichRoleIsMissing) {
  const std::string ours = "pod-group.scheduling.kubenexus.io/";
  const auto member = [&](const std::string& name, const std::string& role) {
    return Member(name).Label(ours + "role", role).Label(ours + "role-min-available", "1");
  };
  for (const char* name : {"w0", "w1", "w2"}) harness_.Pod(member(name, "worker"));
  harness_.Pod(member("ps", "ps"));
  harness_.ScheduleAndBind();
  harness_.Pod(member("next", "ps").Gate("example.com/not-yet"));
  harness_.PodGone("ps");
  harness_.Pass(Duration::Seconds(61));
  EXPECT_THAT(harness_.notes(), Contains("PodGroupIncomplete: pod group default/train is "
                                         "incomplete: 3 pods have a place, and are not enough, 1 "
                                         "more of role ps"));
}

}  // namespace
}  // namespace knx::engine
