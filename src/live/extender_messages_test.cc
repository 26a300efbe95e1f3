#include "live/extender_messages.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knx::live {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string Complaint(const Result<engine::ExtenderAnswer>& answer) {
  return answer.ok() ? "" : answer.error().message;
}

TEST(ExtenderMessages, NodesAreNamedOrSentWhole) {
  EXPECT_EQ(WriteNodes({.pod = R"({"p":1})", .names_only = true, .names = {"a", "b\""}}),
            R"({"Pod":{"p":1},"Nodes":null,"NodeNames":["a","b\""]})");
  EXPECT_EQ(WriteNodes({.pod = "{}", .names_only = true, .names = {}}),
            R"({"Pod":{},"Nodes":null,"NodeNames":[]})");
  const std::string a = R"({"a":1})", b = R"({"b":2})";
  EXPECT_EQ(WriteNodes({.pod = "{}", .names = {"a", "b"}, .documents = {&a, &b}}),
            R"({"Pod":{},"Nodes":{"metadata":{},"items":[{"a":1},{"b":2}]},"NodeNames":null})");
}

TEST(ExtenderMessages, VictimsAreNamedOrSentWhole) {
  const std::vector<engine::AskExtender::Victims> on = {
      {"a", {{"default", "x", "1"}, {"default", "y", "2"}}, 1}, {"b", {{"default", "z", "3"}}, 0}};
  EXPECT_EQ(WriteVictims("{}", on, nullptr),
            R"({"Pod":{},"NodeNameToVictims":null,"NodeNameToMetaVictims":{)"
            R"("a":{"Pods":[{"UID":"1"},{"UID":"2"}],"NumPDBViolations":1},)"
            R"("b":{"Pods":[{"UID":"3"}],"NumPDBViolations":0}}})");
  const std::map<std::string, std::string> documents = {{"2", R"({"y":0})"}, {"3", R"({"z":0})"}};
  EXPECT_EQ(WriteVictims("{}", on, &documents),
            R"({"Pod":{},"NodeNameToVictims":{"a":{"Pods":[{"y":0}],"NumPDBViolations":1},)"
            R"("b":{"Pods":[{"z":0}],"NumPDBViolations":0}},"NodeNameToMetaVictims":null})")
      << "who is gone is left out";
}

TEST(ExtenderMessages, ABindingSaysWhoAndWhere) {
  EXPECT_EQ(WriteBinding({{"ns", "p", "u"}, "n", 0}),
            R"({"PodName":"p","PodNamespace":"ns","PodUID":"u","Node":"n"})");
}

TEST(ExtenderMessages, FieldsAreReadInAnyCaseAndNullSaysNothing) {
  const auto answer =
      ReadFilterAnswer(R"({"nodenames":["a","b"],"FAILEDNODES":{"c":"no","c":"never"},)"
                       R"("failedAndUnresolvableNodes":null,"nodes":null,"error":"","more":[1]})",
                       true);
  ASSERT_EQ(Complaint(answer), "");
  EXPECT_THAT(answer->nodes, ElementsAre("a", "b"));
  EXPECT_THAT(answer->failed, ElementsAre(Pair("c", "never")));
  EXPECT_THAT(answer->unresolvable, IsEmpty());
}

TEST(ExtenderMessages, WhoKeepsNoNodesHasToSendThemBack) {
  const std::string_view both =
      R"({"NodeNames":["a"],"Nodes":{"items":[{"metadata":{"name":"b"}},{"metadata":{}}]}})";
  EXPECT_THAT(ReadFilterAnswer(both, true)->nodes, ElementsAre("a"));
  EXPECT_THAT(ReadFilterAnswer(both, false)->nodes, ElementsAre("b", ""));
  EXPECT_THAT(ReadFilterAnswer(R"({"NodeNames":["a"]})", false)->nodes, IsEmpty());
  EXPECT_THAT(ReadFilterAnswer(R"({"Nodes":{"items":[{"metadata":{"name":"b"}}]}})", true)->nodes,
              ElementsAre("b"));
  EXPECT_THAT(ReadFilterAnswer("null", true)->nodes, IsEmpty());
}

TEST(ExtenderMessages, WhatCannotBeReadIsSaidInTheWordsOfGo) {
  const struct {
    std::string_view body, complaint;
  } cases[] = {
      {"", "EOF"},
      {" \n", "EOF"},
      {"<html>", "invalid character '<' looking for beginning of value"},
      {"[]", "json: cannot unmarshal array into Go value of type v1.ExtenderFilterResult"},
      {R"({"Error":"no\nway"})", "no\nway"},
      {R"({"NodeNames":"a"})",
       "json: cannot unmarshal string into Go struct field ExtenderFilterResult.NodeNames of type "
       "[]string"},
      {R"({"FailedNodes":{"a":1}})",
       "json: cannot unmarshal number into Go struct field ExtenderFilterResult.FailedNodes of "
       "type string"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(Complaint(ReadFilterAnswer(one.body, true)), one.complaint);
  for (const std::string_view body : {"{", "{\"NodeNames\":[\"a\"", "nul", "{\"a\":\xFF}"}) {
    EXPECT_NE(Complaint(ReadFilterAnswer(body, true)), "") << body;
  }
}

TEST(ExtenderMessages, ScoresAreWholeNumbers) {
  const auto scores = ReadScores(R"([{"Host":"a","Score":7},{"host":"b"},null])");
  ASSERT_EQ(Complaint(scores), "");
  EXPECT_THAT(scores->scores, ElementsAre(Pair("a", 7), Pair("b", 0)));
  for (const std::string_view bad : {R"([{"Score":1.5}])", R"([{"Score":"1"}])",
                                     R"([{"Score":9223372036854775808}])", R"({"a":1})"}) {
    EXPECT_NE(Complaint(ReadScores(bad)), "") << bad;
  }
}

TEST(ExtenderMessages, VictimsAreReadByNode) {
  const auto answer = ReadVictims(
      R"({"nodeNameToMetaVictims":{"b":{"pods":[{"uid":"1"},{"uid":"2"}],"numPDBViolations":3},)"
      R"("a":{}}})");
  ASSERT_EQ(Complaint(answer), "");
  ASSERT_EQ(answer->victims.size(), 2u);
  EXPECT_EQ(answer->victims[0].node, "a");
  EXPECT_THAT(answer->victims[0].uids, IsEmpty());
  EXPECT_THAT(answer->victims[1].uids, ElementsAre("1", "2"));
  EXPECT_EQ(answer->victims[1].violations, 3);
  EXPECT_NE(Complaint(ReadVictims(R"({"NodeNameToMetaVictims":[]})")), "");
}

TEST(ExtenderMessages, ABindingIsDoneUnlessItSaysWhyNot) {
  EXPECT_TRUE(ReadBindingAnswer("{}").ok());
  EXPECT_TRUE(ReadBindingAnswer("null").ok());
  EXPECT_TRUE(ReadBindingAnswer(R"({"Error":""})").ok());
  EXPECT_EQ(ReadBindingAnswer(R"({"Error":"no rope"})").error().message, "no rope");
  EXPECT_EQ(ReadBindingAnswer("").error().message, "EOF");
}

TEST(ExtenderMessages, WhatHasNoEndIsCutToWhatAPersonCanRead) {
  const std::string endless(2'000'000, 'x');
  const auto of_node = ReadFilterAnswer(
      fmt::format(R"({{"FailedNodes":{{"a":"{0}","b":"{0}"}},)"
                  R"("FailedAndUnresolvableNodes":{{"c":"{0}"}},"NodeNames":["{0}"]}})",
                  endless),
      true);
  ASSERT_EQ(Complaint(of_node), "");
  const std::string cut = endless.substr(0, kLongestReason - 3) + "…";
  EXPECT_THAT(of_node->failed, ElementsAre(Pair("a", cut), Pair("b", cut)));
  EXPECT_THAT(of_node->unresolvable, ElementsAre(Pair("c", cut)));
  EXPECT_LE(of_node->nodes[0].size(), 253u);
  const std::string error = fmt::format(R"({{"Error":"{}"}})", endless);
  EXPECT_EQ(Complaint(ReadFilterAnswer(error, true)).size(), kLongestError);
  EXPECT_EQ(ReadBindingAnswer(error).error().message.size(), kLongestError);
  const auto victims = ReadVictims(fmt::format(
      R"({{"NodeNameToMetaVictims":{{"{0}":{{"Pods":[{{"UID":"{0}"}}]}}}}}})", endless));
  EXPECT_LE(victims->victims[0].node.size(), 253u);
  EXPECT_LE(victims->victims[0].uids[0].size(), 253u);
}

TEST(ExtenderMessages, ReasonsWithoutNumberAreSaidUpToABound) {
  const auto answer = [](bool differ) {
    std::string nodes;
    for (int i = 0; i < 5000; ++i) {
      nodes += fmt::format(R"({}"n{}":"{}: no more than this may be said of it")",
                           i == 0 ? "" : ",", i, differ ? i : 0);
    }
    return ReadFilterAnswer(fmt::format(R"({{"FailedNodes":{{{}}}}})", nodes), true);
  };
  std::size_t size = 0, others = 0;
  const auto many = answer(true), one = answer(false);
  for (const auto& [node, reason] : many->failed) {
    reason == kOtherReason ? ++others : size += reason.size();
  }
  EXPECT_EQ(many->failed.size(), 5000u);
  EXPECT_LE(size, kMostReasons);
  EXPECT_GT(size, kMostReasons - 100);
  EXPECT_GT(others, 4000u);
  for (const auto& [node, reason] : one->failed) EXPECT_NE(reason, kOtherReason);
}

}  // namespace
}  // namespace knx::live
