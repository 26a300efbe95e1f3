#include "oracle/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knx::oracle {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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
      {R"({"objects":[],"pods":["ns/p"]})", "no such pod, or it has ended"},
      {R"({"objects":[],"pods":[],"config":"profiles: 7"})", "config:1"},
      {R"({"objects":[],"pods":[],"config":7})", "config: a configuration is a text or an object"},
      {R"({"objects":[],"pods":[],"config":{"profiles":7}})", "config:1"},
      {R"({"objects":[],"pods":[],"preempt":"yes"})", "preempt: expected true or false"},
      {R"({"objects":[],"pods":[],"scheduler":1})", "scheduler: expected a text"},
      {R"({"objects":{},"pods":[]})", "objects: a list of Kubernetes objects is missing"},
      {R"({"objects":[],"pods":[],"preemt":true})", "preemt: is not a field of a request"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(AnswerLine(c.line), HasSubstr("\"error\":\"")) << c.line;
    EXPECT_THAT(AnswerLine(c.line), HasSubstr(c.error)) << c.line;
  }
}

TEST(AnswerLine, KeepsTheIdOfARequestThatIsWrong) {
  for (const std::string rest :
       {R"("objects":1})", R"("objects":[],"pods":[1]})",
        R"("objects":[{"kind":"Pod"}],"pods":[]})", R"("objects":[],"pods":[],"preempt":1})"}) {
    EXPECT_THAT(AnswerLine(R"({"id":"7",)" + rest), HasSubstr(R"({"id":"7","error":)")) << rest;
  }
  for (const std::string id : {"7", "null", "[]"}) {
    EXPECT_EQ(AnswerLine(R"({"id":)" + id + R"(,"objects":[],"pods":[]})"),
              R"({"id":"","error":"id: expected a text"})");
  }
}

TEST(AnswerLine, RefusesSinglePodsAndAnswersTheOthers) {
  const auto pod = [](const std::string& name, const std::string& meta, const std::string& spec) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
           R"(","namespace":"ns")" + meta + R"(},"spec":{"containers":[{"name":"c"}])" + spec +
           "}}";
  };
  const std::string line =
      R"({"id":"1","objects":[)" + pod("placed", "", R"(,"nodeName":"n")") + "," +
      pod("other", "", R"(,"schedulerName":"other")") + "," +
      pod("leaving", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")", "") + "," +
      pod("waits", "", "") +
      R"(],"pods":["ns/nobody","ns/placed","ns/other","ns/leaving","ns/waits"]})";
  EXPECT_THAT(
      AnswerLine(line),
      AllOf(HasSubstr(R"({"pod":"ns/nobody","error":"no such pod, or it has ended"})"),
            HasSubstr(R"({"pod":"ns/placed","error":"it is on node n already"})"),
            HasSubstr(R"("error":"it belongs to scheduler other, not to default-scheduler"})"),
            HasSubstr(R"("error":"skip schedule deleting pod: ns/leaving"})"),
            HasSubstr(R"("message":"no nodes available to schedule pods")")));
}

TEST(AnswerLine, TellsPodsApartThatHaveNoUid) {
  const auto pod = [](const std::string& name, const std::string& cpu) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
           R"(","namespace":"ns"},"spec":{"containers":[{"name":"c","resources":)"
           R"({"requests":{"cpu":")" +
           cpu + R"("}}}]}})";
  };
  const std::string line = std::string(R"({"objects":[)") + kNode + "," + pod("p", "1") + "," +
                           pod("q", "2") + R"(],"pods":["ns/p","ns/q"]})";
  const std::string answer = AnswerLine(line);
  EXPECT_THAT(answer, HasSubstr(R"("pod":"ns/p","prefilter":{"plugin":"","code":"Success",)"
                                R"("reasons":[],"nodes":null},"nodes":{},"feasible":["a"])"));
  EXPECT_THAT(answer, HasSubstr("1 Insufficient cpu."));
}

TEST(AnswerLine, RefusesWhatIsThereTwice) {
  const std::string pod = PodAsking("1");
  EXPECT_THAT(AnswerLine(Line(pod + "," + pod)),
              HasSubstr(R"("error":"objects[2]: Pod ns/p is there twice")"));
  std::string other = pod;
  other.replace(other.find("\"p\""), 3, "\"q\"");
  EXPECT_THAT(AnswerLine(Line(pod + "," + other)),
              HasSubstr(R"("error":"objects[2]: Pod ns/q has the uid of Pod ns/p")"));
  EXPECT_THAT(AnswerLine(std::string(R"({"objects":[)") + kNode + "," + kNode + R"(],"pods":[]})"),
              HasSubstr("objects[1]: Node a is there twice"));
}

TEST(AnswerLine, GivesPodsThePriorityOfTheirClass) {
  const std::string there =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"q","namespace":"ns"},)"
      R"("spec":{"nodeName":"a","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})";
  const auto answer = [&](const std::string& name) {
    std::string pod = PodAsking("1");
    pod.replace(pod.find(R"("spec":{)"), 8, R"("spec":{"priorityClassName":")" + name + R"(",)");
    const std::string high =
        R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":)"
        R"({"name":"high"},"value":5},)";
    return AnswerLine(R"({"preempt":true,)" + Line(high + there + "," + pod).substr(1));
  };
  constexpr const char* kNoVictims = "No preemption victims found";
  EXPECT_THAT(answer(""), HasSubstr(kNoVictims));
  EXPECT_THAT(answer("high"), Not(HasSubstr(kNoVictims)));
  EXPECT_THAT(answer("high"), HasSubstr("1 Insufficient cpu."));
  EXPECT_THAT(answer("system-node-critical"), Not(HasSubstr(kNoVictims)));
  EXPECT_THAT(answer("none"),
              HasSubstr(R"("error":"pod ns/p: no PriorityClass with name none was found")"));
}

TEST(AnswerLine, TakesAConfigurationAsJson) {
  const std::string line = Line(PodAsking("1"));
  const std::string config =
      R"("config":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",)"
      R"("profiles":[{"plugins":{"score":{"disabled":[{"name":"*"}]},)"
      R"("preScore":{"disabled":[{"name":"*"}]},"multiPoint":{"disabled":[{"name":"NodeAffinity"}]}}}]},)";
  EXPECT_THAT(AnswerLine("{" + config + line.substr(1)), HasSubstr(R"("scores":{})"));
}

TEST(AnswerLine, OfAnotherSchedulerOnlyIfAskedFor) {
  const std::string line = Line(PodAsking("1"));
  EXPECT_THAT(AnswerLine(R"({"scheduler":"default-scheduler",)" + line.substr(1)),
              HasSubstr(R"("feasible":["a"])"));
  EXPECT_THAT(AnswerLine(R"({"scheduler":"other",)" + line.substr(1)),
              HasSubstr(R"("error":"it belongs to scheduler default-scheduler, not to other")"));
}

}  // namespace
}  // namespace knx::oracle
