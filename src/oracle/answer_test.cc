#include "oracle/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knx::oracle {
namespace {

using ::testing::HasSubstr;

constexpr const char* kNode =
    R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},"status":{"allocatable":{"cpu":"1","pods":"9"}}})";

std::string PodAsking(const std::string& cpu) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ns","uid":"u"},)"
         R"("spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")" +
         cpu + R"("}}}]}})";
}

std::string Line(const std::string& pod) {
  return std::string(R"({"id":"7","objects":[)") + kNode + "," + pod + R"(],"pods":["ns/p"]})";
}

TEST(AnswerLine, SaysWhichNodesFitAndWhatTheyScore) {
  const std::string answer = AnswerLine(Line(PodAsking("1")));
  EXPECT_THAT(answer, HasSubstr(R"("id":"7")"));
  EXPECT_THAT(answer, HasSubstr(R"("feasible":["a"])"));
  EXPECT_THAT(answer, HasSubstr(R"("chosen":"a")"));
  EXPECT_THAT(answer, HasSubstr(R"("NodeResourcesFit":{"a":[)"));
}

TEST(AnswerLine, SaysWhyNodesDoNotFit) {
  const std::string answer = AnswerLine(Line(PodAsking("2")));
  EXPECT_THAT(answer, HasSubstr(R"("a":{"plugin":"NodeResourcesFit",)"
                                R"("code":"UnschedulableAndUnresolvable",)"
                                R"("reasons":["Insufficient cpu"]})"));
  EXPECT_THAT(answer, HasSubstr(R"("message":"0/1 nodes are available: 1 Insufficient cpu.")"));
  EXPECT_THAT(answer, HasSubstr(R"("unschedulablePlugins":["NodeResourcesFit"])"));
}

// kube-scheduler judges such a node with the nominated pod first. Without it, it would be the last
// filter that says no; with it, one before.
TEST(AnswerLine, ANodeWithPromisedRoomIsJudgedWithThatPodFirst) {
  const std::string promised =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"q","namespace":"ns","uid":"v"},)"
      R"("spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]},)"
      R"("status":{"nominatedNodeName":"a"}})";
  const std::string asks_feature =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ns","uid":"u"},)"
      R"("spec":{"hostNetwork":true,"hostUsers":false,)"
      R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}})";
  EXPECT_THAT(AnswerLine(Line(asks_feature)),
              HasSubstr("1 node(s) didn't match Pod's required features."));
  EXPECT_THAT(AnswerLine(Line(promised + "," + asks_feature)),
              HasSubstr(R"("message":"0/1 nodes are available: 1 Insufficient cpu.")"));
}

TEST(AnswerLine, AnswersABadRequestWithAnError) {
  const struct {
    std::string line, error;
  } cases[] = {
      {"", "not a line of JSON"},
      {"[]", "a request is a JSON object"},
      {"{}", "objects: a list of Kubernetes objects is missing"},
      {R"({"objects":[]})", "pods: a list of"},
      {R"({"objects":[{"kind":"Pod"}],"pods":[]})", "objects[0]: "},
      {R"({"objects":[],"pods":[1]})", "every entry is a text"},
      {R"({"objects":[],"pods":["ns/p"]})", "ns/p is no object"},
      {R"({"objects":[],"pods":[],"config":"profiles: 7"})", "config:1"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(AnswerLine(c.line), HasSubstr("\"error\":\"")) << c.line;
    EXPECT_THAT(AnswerLine(c.line), HasSubstr(c.error)) << c.line;
  }
}

}  // namespace
}  // namespace knx::oracle
