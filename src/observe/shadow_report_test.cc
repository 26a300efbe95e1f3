#include "observe/shadow_report.h"

#include <gtest/gtest.h>

namespace knx::observe {
namespace {

engine::Inquiry Fits(std::vector<std::string> nodes, std::vector<std::int32_t> totals,
                     std::string chosen) {
  engine::Inquiry inquiry;
  inquiry.feasible = std::move(nodes);
  inquiry.totals = std::move(totals);
  inquiry.chosen = std::move(chosen);
  return inquiry;
}

engine::Inquiry FitsNowhere(std::string message) {
  engine::Inquiry inquiry;
  inquiry.message = std::move(message);
  inquiry.rejections = {
      {"n1", "NodeResourcesFit", framework::Code::kUnschedulable, {"Insufficient cpu"}}};
  return inquiry;
}

TEST(ShadowReport, ANodeThatIsAsGoodIsNoDifference) {
  ShadowReport report;
  const engine::Inquiry ours = Fits({"n1", "n2", "n3"}, {90, 90, 80}, "n1");
  report.Placed("default/a", "n1", ours);
  report.Placed("default/b", "n2", ours);
  EXPECT_EQ(report.counts().same, 1);
  EXPECT_EQ(report.counts().as_good, 1);
  EXPECT_EQ(report.counts().different(), 0);
}

TEST(ShadowReport, ALowerScoreSaysByHowMuch) {
  ShadowReport report;
  report.Placed("default/a", "n3", Fits({"n1", "n2", "n3"}, {90, 90, 80}, "n1"));
  EXPECT_EQ(report.counts().lower, 1);
  EXPECT_EQ(report.counts().most_lower, 10);
  EXPECT_NE(report.ToText().find("default/a: placed on n3 (score 80), we say n1 (score 90)"),
            std::string::npos);
}

TEST(ShadowReport, ANodeThatDoesNotFitSaysWhy) {
  ShadowReport report;
  report.Placed("default/a", "n1", FitsNowhere("0/1 nodes are available"));
  report.Placed("default/b", "n9", FitsNowhere("0/1 nodes are available"));
  EXPECT_EQ(report.counts().unfit, 2);
  EXPECT_NE(report.ToText().find("Insufficient cpu"), std::string::npos);
  EXPECT_NE(report.ToText().find("we do not know that node"), std::string::npos);
}

TEST(ShadowReport, RefusalsAreComparedWordByWord) {
  ShadowReport report;
  report.Refused("default/a", "no room", FitsNowhere("no room"));
  report.Refused("default/b", "no luck", FitsNowhere("no room"));
  report.Refused("default/c", "no luck", Fits({"n1"}, {}, "n1"));
  EXPECT_EQ(report.counts().same_words, 1);
  EXPECT_EQ(report.counts().other_words, 1);
  EXPECT_EQ(report.counts().we_place, 1);
  EXPECT_EQ(report.counts().refused(), 3);
}

TEST(ShadowReport, OnlyTheNewestDifferencesAreKept) {
  ShadowReport report;
  for (int i = 0; i < 100; ++i) {
    report.Refused("default/p" + std::to_string(i), "no luck", FitsNowhere("no room"));
  }
  const std::string text = report.ToText();
  EXPECT_EQ(text.find("default/p79:"), std::string::npos);
  EXPECT_NE(text.find("default/p80:"), std::string::npos);
  EXPECT_NE(text.find("The 20 newest differences of 100:"), std::string::npos);
}

}  // namespace
}  // namespace knx::observe
