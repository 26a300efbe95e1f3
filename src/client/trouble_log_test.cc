#include "client/trouble_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace knx::client {
namespace {

TEST(TroubleLog, SaysTheSameOnceInAWhileAndAgainWhenItIsNews) {
  Time now{1'000'000'000'000};
  std::string said;
  TroubleLog log([&](std::string_view line) { said += fmt::format("{};", line); },
                 [&] { return now; });
  for (int i = 0; i < 15; ++i) log.ReportServer("down");
  log.Report("not allowed");
  log.Report("not allowed");
  EXPECT_EQ(said, "down;not allowed;");
  log.ServerWorks();
  log.ReportServer("down");
  log.Report("not allowed");
  EXPECT_EQ(said, "down;not allowed;down;");
  now = now + Duration::Minutes(5);
  log.ReportServer("down");
  log.Report("not allowed");
  EXPECT_EQ(said, "down;not allowed;down;down;not allowed;");
}

TEST(TroubleLog, TellsOfRightsApart) {
  std::string said, missing;
  TroubleLog log([&](std::string_view line) { said += line; }, [] { return Time{}; },
                 [&](std::string_view line) { missing += line; });
  log.Report("odd");
  log.ReportMissing("list nodes");
  EXPECT_EQ(said, "odd");
  EXPECT_EQ(missing, "list nodes");
}

TEST(TroubleLog, RemindsOfAMissingRightEveryHour) {
  Time now{1'000'000'000'000};
  std::string said;
  TroubleLog log([&](std::string_view line) { said += fmt::format("{};", line); },
                 [&] { return now; });
  for (int minute = 0; minute < 90; ++minute) {
    log.ReportMissing("list nodes");
    if (minute == 30) log.ReportMissing("list pods");
    log.ServerWorks();
    now = now + Duration::Minutes(1);
  }
  EXPECT_EQ(said, "list nodes;list pods;list nodes;");
}

TEST(TroubleLog, RemembersNoMoreThanItMust) {
  int said = 0;
  TroubleLog log([&](std::string_view) { ++said; }, [] { return Time{1}; });
  for (int i = 0; i < 5000; ++i) log.Report(fmt::format("trouble {}", i));
  EXPECT_EQ(said, 5000);
  TroubleLog silent(nullptr, [] { return Time{1}; });
  silent.Report("nobody hears it");
}

}  // namespace
}  // namespace knx::client
