#include "observe/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <vector>

namespace knx::observe {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::StartsWith;

class LogTest : public ::testing::Test {
 protected:
  Log Make(Log::Format format, int verbosity = 2) {
    return Log({.format = format,
                .verbosity = verbosity,
                .now = [this] { return now_; },
                .write = [this](std::string_view line) { lines_.emplace_back(line); },
                .process = 7,
                .most_alike_a_minute = 3});
  }
  // 2026-11-15T18:20:00.123456Z
  Time now_{1'794'766'800'123'456'789};
  std::vector<std::string> lines_;
};

TEST_F(LogTest, WritesTextAsComponentsOfKubernetesDo) {
  Log log = Make(Log::Format::kText);
  log.Info(2, "Bound pod",
           {{"pod", ObjectName{"default", "web-1"}},
            {"node", "n1"},
            {"attempts", 3},
            {"alone", true},
            {"of", ObjectName{"", "n2"}}});
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(lines_[0],
              MatchesRegex("I1115 18:20:00\\.123456       7 log_test\\.cc:[0-9]+\\] \"Bound pod\" "
                           "pod=\"default/web-1\" node=\"n1\" attempts=3 alone=true of=\"n2\"\n"));
  log.Error("No way", {{"err", "refused"}});
  EXPECT_THAT(lines_[1], StartsWith("E1115 "));
  EXPECT_THAT(lines_[1], EndsWith("\"No way\" err=\"refused\"\n"));
}

TEST_F(LogTest, WritesOneJsonObjectALine) {
  Log log = Make(Log::Format::kJson);
  log.Info(2, "Bound \"pod\"", {{"pod", ObjectName{"default", "web-1"}}, {"attempts", 3}});
  log.Error("No way", {{"err", "line one\nline two \xff \x1b[31m"}, {"alone", false}});
  ASSERT_THAT(lines_, SizeIs(2));
  simdjson::dom::parser parser;
  const simdjson::dom::element info = parser.parse(lines_[0]);
  EXPECT_NEAR(double(info["ts"]), 1'794'766'800'123.456, 0.001);
  EXPECT_THAT(std::string(info["caller"]), StartsWith("observe/log_test.cc:"));
  EXPECT_EQ(std::string_view(info["msg"]), "Bound \"pod\"");
  EXPECT_EQ(std::int64_t(info["v"]), 2);
  EXPECT_EQ(std::string_view(info["pod"]["name"]), "web-1");
  EXPECT_EQ(std::string_view(info["pod"]["namespace"]), "default");
  EXPECT_EQ(std::int64_t(info["attempts"]), 3);
  EXPECT_EQ(lines_[1].find('\n'), lines_[1].size() - 1);
  EXPECT_EQ(lines_[1].find('\x1b'), std::string::npos);
  const simdjson::dom::element error = parser.parse(lines_[1]);
  EXPECT_TRUE(error["v"].error());
  EXPECT_THAT(std::string(error["err"]), StartsWith("line one\nline two "));
  EXPECT_FALSE(bool(error["alone"]));
}

TEST_F(LogTest, SaysNoMoreThanItWasAskedFor) {
  Log log = Make(Log::Format::kText, 0);
  log.Info(1, "Detail");
  EXPECT_TRUE(lines_.empty());
  log.Info(0, "Always");
  EXPECT_THAT(lines_, SizeIs(1));
  EXPECT_FALSE(log.Says(2));
  log.SetVerbosity(2);
  EXPECT_TRUE(log.Says(2));
}

TEST_F(LogTest, WhatComesAgainAndAgainIsCounted) {
  Log log = Make(Log::Format::kText);
  for (int i = 0; i < 10; ++i) log.Error("Watch ended", {{"err", "gone"}});
  for (int i = 0; i < 4; ++i) log.Info(0, "Other");
  for (int i = 0; i < 10; ++i) log.Info(2, "Asked for");
  EXPECT_THAT(lines_, SizeIs(3 + 3 + 10));
  lines_.clear();
  now_ = now_ + Duration::Seconds(61);
  log.Error("Watch ended", {{"err", "gone"}});
  ASSERT_THAT(lines_, SizeIs(3));
  EXPECT_THAT(lines_[0], HasSubstr("message=\"Other\" lines=1\n"));
  EXPECT_THAT(lines_[0], StartsWith("I"));
  EXPECT_THAT(lines_[1], HasSubstr("message=\"Watch ended\" lines=7\n"));
  EXPECT_THAT(lines_[1], StartsWith("E"));
  EXPECT_THAT(lines_[2], EndsWith("err=\"gone\"\n"));
}

TEST_F(LogTest, AtTheEndItSaysWhatWasLeftOut) {
  Log log = Make(Log::Format::kText);
  for (int i = 0; i < 5; ++i) log.Error("Again");
  lines_.clear();
  log.Flush();
  log.Flush();
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("lines=2")));
}

TEST_F(LogTest, AClockThatIsSetBackHoldsNothingBackForLong) {
  Log log = Make(Log::Format::kText);
  for (int i = 0; i < 5; ++i) log.Error("Again");
  now_ = now_ - Duration::Minutes(60);
  lines_.clear();
  log.Error("Again");
  EXPECT_THAT(lines_, SizeIs(2));
}

TEST(ParseLogFormat, KnowsTextAndJson) {
  Log::Format format = Log::Format::kText;
  EXPECT_TRUE(ParseLogFormat("json", format));
  EXPECT_EQ(format, Log::Format::kJson);
  EXPECT_TRUE(ParseLogFormat("text", format));
  EXPECT_EQ(format, Log::Format::kText);
  EXPECT_FALSE(ParseLogFormat("JSON", format));
}

}  // namespace
}  // namespace knx::observe
