#include "client/lease_election.h"

#include <gtest/gtest.h>

#include "client/testing/fake_lease.h"

namespace knx::client {
namespace {

using Kind = LeaseElection::Request::Kind;

constexpr Time kNoon = Time{} + Duration::Seconds(1'800'000'000);

// One replica with the default times, and the server's Lease. Its clock begins anywhere.
class LeaseElectionTest : public ::testing::Test {
 protected:
  LeaseElection::Request Expect(Kind kind) {
    const auto request = election.Next(now, wall);
    EXPECT_TRUE(request.has_value());
    if (!request) return {};
    EXPECT_EQ(request->kind, kind);
    return *request;
  }
  // One question and its true answer.
  void Ask(Kind kind) { election.OnAnswer(server.Serve(Expect(kind)), now); }
  void Fail(Kind kind) {
    (void)Expect(kind);
    election.OnAnswer(Error{ErrorKind::kUnavailable, "nobody answers", {}}, now);
  }
  // The server refuses though nothing has changed.
  void Refuse(Kind kind, ErrorKind why = ErrorKind::kConflict) {
    (void)Expect(kind);
    election.OnAnswer(Error{why, "not today", {}}, now);
  }
  void Pass(Duration time) {
    now = now + time;
    wall = wall + time;
  }
  void Lead() {
    Ask(Kind::kGet);
    Ask(Kind::kCreate);
    ASSERT_TRUE(election.leading());
  }
  void HeldByAnother(std::int64_t transitions = 3) {
    server.Put({"other", 15, kNoon, wall, transitions});
  }

  testing::FakeLease server;
  LeaseElection election{{.identity = "me"}};
  Time now = Time{} + Duration::Seconds(77);
  Time wall = kNoon;
};

TEST_F(LeaseElectionTest, MakesTheLeaseWhereThereIsNone) {
  Lead();
  EXPECT_EQ(*server.record, (LeaseRecord{"me", 15, kNoon, kNoon, 0}));
  EXPECT_TRUE(election.MayWrite(now));
  EXPECT_EQ(election.NextWake(), now + Duration::Seconds(2));
}

TEST_F(LeaseElectionTest, RenewsWithOneCallEveryRetryPeriod) {
  Lead();
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(election.Next(now, wall).has_value());
    Pass(Duration::Seconds(2));
    Ask(Kind::kUpdate);
  }
  EXPECT_EQ(*server.record, (LeaseRecord{"me", 15, kNoon, kNoon + Duration::Seconds(20), 0}));
  EXPECT_TRUE(election.MayWrite(now + Duration::Seconds(10) - Duration{1}));
  EXPECT_FALSE(election.MayWrite(now + Duration::Seconds(10)));
}

TEST_F(LeaseElectionTest, ASlowServerDoesNotMakeRenewalsRarer) {
  struct Case {
    Duration latency, between;
  };
  for (const Case& c : {Case{Duration::Milliseconds(1500), Duration::Seconds(2)},
                        Case{Duration::Milliseconds(4500), Duration::Milliseconds(4500)},
                        Case{Duration::Milliseconds(4900), Duration::Milliseconds(4900)}}) {
    SCOPED_TRACE(FormatDuration(c.latency));
    server = {};
    election = LeaseElection({.identity = "me"});
    Lead();
    Time sent = now;
    for (int i = 0; i < 10; ++i) {
      Pass(election.NextWake() - now);
      EXPECT_EQ(now - sent, i == 0 ? Duration::Seconds(2) : c.between);
      sent = now;
      const auto renewal = Expect(Kind::kUpdate);
      Pass(c.latency);
      election.OnAnswer(server.Serve(renewal), now);
      ASSERT_TRUE(election.MayWrite(now));
    }
  }
}

TEST_F(LeaseElectionTest, ARenewalThatTookLongAndFailedIsRepeatedAtOnce) {
  Lead();
  Pass(Duration::Seconds(2));
  (void)Expect(Kind::kUpdate);
  Pass(Duration::Seconds(5));
  election.OnAnswer(Error{ErrorKind::kUnavailable, "no answer in time", {}}, now);
  EXPECT_EQ(election.NextWake(), now);
  Ask(Kind::kUpdate);
  EXPECT_TRUE(election.MayWrite(now + Duration::Seconds(9)));
}

TEST_F(LeaseElectionTest, TheDeadlineCountsFromWhenTheRenewalWasSent) {
  Lead();
  Pass(Duration::Seconds(2));
  const auto request = Expect(Kind::kUpdate);
  const Time sent = now;
  Pass(Duration::Seconds(4));
  election.OnAnswer(server.Serve(request), now);
  EXPECT_TRUE(election.MayWrite(sent + Duration::Seconds(10) - Duration{1}));
  EXPECT_FALSE(election.MayWrite(sent + Duration::Seconds(10)));
}

TEST_F(LeaseElectionTest, WhatIsWrittenHasTimeUntilOthersMayLead) {
  Lead();
  EXPECT_EQ(election.TimeForWrites(now), Duration::Seconds(15));
  Pass(Duration::Seconds(2));
  EXPECT_EQ(election.TimeForWrites(now), Duration::Seconds(13));
  EXPECT_EQ(election.TimeForWrites(now + Duration::Seconds(8)), Duration::Seconds(5));
  Ask(Kind::kUpdate);
  EXPECT_EQ(election.TimeForWrites(now), Duration::Seconds(15));
}

TEST_F(LeaseElectionTest, TakesOverOnlyWhenTheRecordStayedTheSameForItsDuration) {
  HeldByAnother();
  Ask(Kind::kGet);
  const Time seen = now;
  while (!election.leading()) {
    ASSERT_FALSE(election.MayWrite(now));
    Pass(election.NextWake() - now);
    const auto request = election.Next(now, wall);
    ASSERT_TRUE(request.has_value());
    if (request->kind == Kind::kUpdate) {
      EXPECT_GE(now, seen + Duration::Seconds(15));
    }
    election.OnAnswer(server.Serve(*request), now);
    ASSERT_LT(now, seen + Duration::Seconds(30));
  }
  EXPECT_EQ(server.record->holder, "me");
  EXPECT_EQ(server.record->transitions, 4);
}

TEST_F(LeaseElectionTest, TheTimesInTheRecordMeanNothing) {
  struct Case {
    std::string_view name;
    Duration renewed_ago, wall_jumps;
  };
  const Duration hour = Duration::Minutes(60);
  for (const Case& c :
       {Case{"renewed long ago", hour, {}}, Case{"renewed in the future", Duration{} - hour, {}},
        Case{"the clock jumps forward", {}, hour},
        Case{"the clock jumps back", {}, Duration{} - hour}}) {
    SCOPED_TRACE(c.name);
    election = LeaseElection({.identity = "me"});
    server.Put({"other", 15, kNoon, wall - c.renewed_ago, 0});
    Ask(Kind::kGet);
    wall = wall + c.wall_jumps;
    Pass(Duration::Seconds(14));
    Ask(Kind::kGet);
    EXPECT_FALSE(election.Next(now, wall).has_value());
    Pass(Duration::Seconds(5));
    Ask(Kind::kGet);
    Ask(Kind::kUpdate);
    EXPECT_TRUE(election.leading());
    // And for a leader.
    wall = wall - c.wall_jumps - c.wall_jumps;
    Pass(Duration::Seconds(2));
    Ask(Kind::kUpdate);
    EXPECT_TRUE(election.MayWrite(now + Duration::Seconds(9)));
    EXPECT_FALSE(election.MayWrite(now + Duration::Seconds(10)));
  }
}

TEST_F(LeaseElectionTest, AnyChangeOfTheRecordStartsTheWaitAnew) {
  HeldByAnother();
  Ask(Kind::kGet);
  for (int i = 0; i < 10; ++i) {
    Pass(Duration::Seconds(10));
    HeldByAnother();  // renewed
    Ask(Kind::kGet);
    EXPECT_FALSE(election.Next(now, wall).has_value());
  }
}

TEST_F(LeaseElectionTest, AReleasedLeaseIsTakenAtOnce) {
  server.Put({"", 1, kNoon, kNoon, 6});
  Ask(Kind::kGet);
  Ask(Kind::kUpdate);
  EXPECT_TRUE(election.leading());
  EXPECT_EQ(server.record->transitions, 7);
}

TEST_F(LeaseElectionTest, TwoThatTakeAtTheSameTimeAreToldApartByTheVersion) {
  server.Put({"", 1, kNoon, kNoon, 0});
  Ask(Kind::kGet);
  const auto mine = Expect(Kind::kUpdate);
  HeldByAnother();
  election.OnAnswer(server.Serve(mine), now);
  EXPECT_FALSE(election.leading());
  EXPECT_EQ(server.record->holder, "other");
  EXPECT_GE(election.NextWake(), now + Duration::Seconds(2));
}

TEST_F(LeaseElectionTest, ALeaderThatCannotRenewStopsAtItsDeadline) {
  Lead();
  const Time sent = now;
  for (int i = 0; i < 4; ++i) {
    Pass(Duration::Seconds(2));
    Fail(Kind::kUpdate);
    EXPECT_TRUE(election.MayWrite(now));
  }
  EXPECT_EQ(election.NextWake(), sent + Duration::Seconds(10));
  Pass(Duration::Seconds(2));
  EXPECT_FALSE(election.MayWrite(now));
  EXPECT_FALSE(election.Next(now, wall).has_value());
  EXPECT_EQ(*election.lost(), "it could not be renewed within 10s: nobody answers");
  EXPECT_TRUE(election.over());
  EXPECT_EQ(election.NextWake(), kNever);
}

TEST_F(LeaseElectionTest, AnAnswerAfterTheDeadlineChangesNothing) {
  Lead();
  Pass(Duration::Seconds(2));
  const auto request = Expect(Kind::kUpdate);
  Pass(Duration::Seconds(8));
  election.OnAnswer(server.Serve(request), now);
  EXPECT_TRUE(election.lost().has_value());
  EXPECT_FALSE(election.MayWrite(now));
}

TEST_F(LeaseElectionTest, AProcessThatWasStoppedKnowsItBeforeAnythingElse) {
  Lead();
  Pass(Duration::Seconds(60));
  EXPECT_FALSE(election.MayWrite(now));
  EXPECT_FALSE(election.Next(now, wall).has_value());
  EXPECT_TRUE(election.lost().has_value());
}

TEST_F(LeaseElectionTest, ARenewalThatWasTakenUnheardIsNoLoss) {
  Lead();
  Pass(Duration::Seconds(2));
  (void)server.Serve(Expect(Kind::kUpdate));
  election.OnAnswer(Error{ErrorKind::kUnavailable, "the connection broke", {}}, now);
  Pass(Duration::Seconds(2));
  Ask(Kind::kUpdate);  // conflicts with our own
  Ask(Kind::kGet);
  Ask(Kind::kUpdate);
  EXPECT_TRUE(election.leading());
  EXPECT_EQ(server.record->transitions, 0);
  EXPECT_EQ(server.record->acquired, kNoon);
}

TEST_F(LeaseElectionTest, AWriteThatIsRefusedAgainAndAgainIsNotRepeatedAtOnce) {
  Lead();
  const Time sent = now;
  Pass(Duration::Seconds(2));
  Refuse(Kind::kUpdate);
  Ask(Kind::kGet);  // the first may be our own renewal
  Refuse(Kind::kUpdate);
  EXPECT_EQ(election.refusals(), 2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(election.NextWake(), now + Duration::Seconds(2));
    EXPECT_FALSE(election.Next(now, wall).has_value());
    Pass(Duration::Seconds(2));
    Ask(Kind::kGet);
    Refuse(Kind::kUpdate);
  }
  // What it was asked last went well, and says nothing about why.
  Pass(sent + Duration::Seconds(10) - now);
  (void)election.Next(now, wall);
  EXPECT_EQ(*election.lost(), "it could not be renewed within 10s: not today");
}

TEST_F(LeaseElectionTest, ALeaseThatCannotBeMadeAgainIsNotTriedAtOnceForEver) {
  Lead();
  Pass(Duration::Seconds(2));
  server.record.reset();
  Ask(Kind::kUpdate);
  Ask(Kind::kGet);
  Refuse(Kind::kCreate, ErrorKind::kNotFound);  // its namespace has gone, too
  EXPECT_EQ(election.NextWake(), now + Duration::Seconds(2));
  Pass(Duration::Seconds(2));
  Ask(Kind::kGet);
  Ask(Kind::kCreate);
  EXPECT_EQ(election.refusals(), 0);
  EXPECT_TRUE(election.leading());
}

TEST_F(LeaseElectionTest, LosingAgainstOthersIsNoRefusal) {
  for (int i = 0; i < 3; ++i) {
    server.Put({"", 1, kNoon, wall, 0});
    Ask(Kind::kGet);
    const auto mine = Expect(Kind::kUpdate);
    HeldByAnother();
    election.OnAnswer(server.Serve(mine), now);
    EXPECT_EQ(election.refusals(), 1);
    Pass(election.NextWake() - now);
    Ask(Kind::kGet);
    EXPECT_EQ(election.refusals(), 0);
    Pass(election.NextWake() - now);
  }
}

TEST_F(LeaseElectionTest, WhatTheServerHasStoredCountsNotThatItSaysYes) {
  HeldByAnother();
  const StoredLease of_another = server.Stored();
  server.Put({"", 1, kNoon, kNoon, 0});
  Ask(Kind::kGet);
  (void)Expect(Kind::kUpdate);
  election.OnAnswer(of_another, now);
  EXPECT_FALSE(election.leading());
  EXPECT_EQ(election.holder(), "other");
  EXPECT_GE(election.NextWake(), now + Duration::Seconds(2));
  // And for a leader.
  for (const std::string_view holder : {"other", ""}) {
    SCOPED_TRACE(holder);
    server = {};
    election = LeaseElection({.identity = "me"});
    Lead();
    Pass(Duration::Seconds(2));
    (void)Expect(Kind::kUpdate);
    election.OnAnswer(StoredLease{{std::string(holder), 15, kNoon, wall, 3}, "v"}, now);
    EXPECT_FALSE(election.MayWrite(now));
    EXPECT_EQ(*election.lost(), holder.empty() ? "the server has stored that nobody holds the lease"
                                               : "other holds the lease");
  }
}

TEST_F(LeaseElectionTest, ALeaderThatSeesAnotherHolderStopsAtOnce) {
  Lead();
  Pass(Duration::Seconds(2));
  HeldByAnother();
  Ask(Kind::kUpdate);
  EXPECT_TRUE(election.MayWrite(now));
  Ask(Kind::kGet);
  EXPECT_FALSE(election.MayWrite(now));
  EXPECT_EQ(*election.lost(), "other holds the lease");
}

TEST_F(LeaseElectionTest, ALeaseThatSomebodyDeletedIsMadeAgain) {
  Lead();
  Pass(Duration::Seconds(2));
  server.record.reset();
  Ask(Kind::kUpdate);
  Ask(Kind::kGet);
  Ask(Kind::kCreate);
  EXPECT_TRUE(election.leading());
}

TEST_F(LeaseElectionTest, AConfirmationThatCameTooLateIsNoLeadership) {
  Ask(Kind::kGet);
  const auto request = Expect(Kind::kCreate);
  Pass(Duration::Seconds(11));
  election.OnAnswer(server.Serve(request), now);
  EXPECT_FALSE(election.leading());
  Pass(Duration::Seconds(5));
  Ask(Kind::kGet);  // it is ours by now
  Ask(Kind::kUpdate);
  EXPECT_TRUE(election.leading());
}

TEST_F(LeaseElectionTest, ReleasingLeavesItToTheNext) {
  Lead();
  election.Release();
  EXPECT_FALSE(election.MayWrite(now));
  Ask(Kind::kGet);
  EXPECT_FALSE(election.over());
  Ask(Kind::kUpdate);
  EXPECT_TRUE(election.over());
  EXPECT_FALSE(election.lost().has_value());
  EXPECT_EQ(*server.record, (LeaseRecord{"", 1, kNoon, kNoon, 0}));
}

TEST_F(LeaseElectionTest, ReleasingDuringARenewalWaitsForItsAnswer) {
  Lead();
  Pass(Duration::Seconds(2));
  const auto renewal = Expect(Kind::kUpdate);
  election.Release();
  EXPECT_FALSE(election.Next(now, wall).has_value());
  election.OnAnswer(server.Serve(renewal), now);
  Ask(Kind::kGet);
  Ask(Kind::kUpdate);
  EXPECT_TRUE(election.over());
  EXPECT_EQ(server.record->holder, "");
}

TEST_F(LeaseElectionTest, ReleasingWhatAnotherHoldsChangesNothing) {
  Lead();
  HeldByAnother();
  election.Release();
  Ask(Kind::kGet);
  EXPECT_TRUE(election.over());
  EXPECT_EQ(server.record->holder, "other");
}

TEST_F(LeaseElectionTest, WhoWaitsHasNothingToRelease) {
  HeldByAnother();
  Ask(Kind::kGet);
  election.Release();
  EXPECT_TRUE(election.over());
  EXPECT_EQ(election.NextWake(), kNever);
}

TEST_F(LeaseElectionTest, APartOfASecondCountsAsOneForTheOthers) {
  election = LeaseElection({.identity = "me",
                            .lease_duration = Duration::Milliseconds(1500),
                            .renew_deadline = Duration::Milliseconds(1200),
                            .retry_period = Duration::Milliseconds(300)});
  Lead();
  EXPECT_EQ(server.record->duration_seconds, 2);
}

TEST_F(LeaseElectionTest, WhateverTheServerSaysNothingOverflows) {
  server.Put({"other", INT64_MAX, Time{INT64_MIN}, Time{INT64_MAX}, INT64_MAX});
  Ask(Kind::kGet);
  Pass(Duration::Seconds(100));
  Ask(Kind::kGet);
  server.Put({"other", INT64_MIN, Time{INT64_MIN}, Time{INT64_MAX}, INT64_MAX});
  Pass(Duration::Seconds(100));
  Ask(Kind::kGet);
  Ask(Kind::kUpdate);
  EXPECT_TRUE(election.leading());
}

}  // namespace
}  // namespace knx::client
