// What the engine was told, held against what an API server of the test has.
#include "live/state_check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/testing/api_server.h"
#include "cluster/testing/builders.h"
#include "engine/testing/harness.h"
#include "net/testing/run_until.h"

namespace knx::live {
namespace {

using client::testing::ApiServer;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using net::testing::RunUntil;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class StateCheckTest : public ::testing::Test {
 protected:
  StateCheckTest() {
    server_.Otherwise([this](ApiServer&, const ApiServer::Asked& asked) { Serve(asked); });
  }
  void ServerHasNode(const std::string& name) {
    Add("/api/v1/nodes",
        fmt::format(R"({{"metadata":{{"name":"{}","uid":"uid-{}","resourceVersion":"1"}},)"
                    R"("status":{{"allocatable":{{"cpu":"8","pods":"110"}}}}}})",
                    name, name));
  }
  void ServerHasPod(const std::string& name, const std::string& node,
                    const std::string& phase = "Pending") {
    Add("/api/v1/pods",
        fmt::format(R"({{"metadata":{{"namespace":"default","name":"{}","uid":"uid-{}",)"
                    R"("resourceVersion":"1"}},"spec":{{"schedulerName":"default-scheduler",)"
                    R"("nodeName":"{}","containers":[{{"name":"c","image":"i"}}]}},)"
                    R"("status":{{"phase":"{}"}}}})",
                    name, name, node, phase));
  }
  void WeHaveNode(const std::string& name) {
    ours_.Node(NodeBuilder(name).Has("cpu", "8").Has("pods", "110"));
  }
  void BothHaveNode(const std::string& name) {
    ServerHasNode(name);
    WeHaveNode(name);
  }
  // What is reported; nothing if no report came.
  std::optional<std::vector<std::string>> Check() {
    std::optional<std::vector<std::string>> found;
    StateCheck check(
        loop_, api_, ours_.engine(),
        [&found](const std::vector<std::string>& differences) { found = differences; });
    (void)RunUntil(loop_, [&found] { return found.has_value(); });
    return found;
  }

  net::EventLoop loop_;
  engine::testing::Harness ours_;

 private:
  void Add(const std::string& path, const std::string& object) {
    std::string& items = there_[path];
    items += (items.empty() ? "" : ",") + object;
  }
  void Serve(const ApiServer::Asked& asked) {
    const std::string path = asked.path.substr(0, asked.path.find('?'));
    if (asked.path.find("watch=true") != std::string::npos) {
      return server_.http().Begin(asked, 200, {{"content-type", "application/json"}});
    }
    server_.http().Answer(asked, 200,
                          fmt::format(R"({{"apiVersion":"v1","kind":"{}List","metadata":)"
                                      R"({{"resourceVersion":"1"}},"items":[{}]}})",
                                      path.ends_with("pods") ? "Pod" : "Node", there_[path]),
                          {{"content-type", "application/json"}});
  }

  ApiServer server_{loop_};
  std::map<std::string, std::string> there_;  // by path
  client::ApiClient api_{loop_, {.endpoint = server_.endpoint(), .lists_by_pages = true}};
};

TEST_F(StateCheckTest, WhatIsTheSameIsNotReported) {
  BothHaveNode("n1");
  ServerHasPod("placed", "n1");
  ours_.Pod(PodBuilder("placed").On("n1"));
  ServerHasPod("waits", "");
  ours_.Pod(PodBuilder("waits").Gate("example.com/later"));
  ServerHasPod("over", "n1", "Succeeded");
  EXPECT_THAT(Check().value(), IsEmpty());
}

TEST_F(StateCheckTest, EveryDifferenceIsReportedAndWhatIsTheSameIsNot) {
  BothHaveNode("n1");
  BothHaveNode("n2");
  ServerHasNode("theirs");
  WeHaveNode("ours");
  ServerHasPod("same", "n1");
  ours_.Pod(PodBuilder("same").On("n1"));
  ServerHasPod("elsewhere", "n2");
  ours_.Pod(PodBuilder("elsewhere").On("n1"));
  ServerHasPod("bound-unseen", "n2");
  ours_.Pod(PodBuilder("bound-unseen").Gate("example.com/later"));
  ServerHasPod("never-bound", "");
  ours_.Pod(PodBuilder("never-bound").On("n2"));
  ServerHasPod("unseen", "n1");
  ours_.Pod(PodBuilder("gone").On("n1"));
  ServerHasPod("forgotten", "");
  ours_.Pod(PodBuilder("forgotten"));
  ours_.ScheduleAndBind();
  EXPECT_THAT(
      Check().value(),
      UnorderedElementsAre(
          fmt::format("pod default/forgotten: the API server has it on no node, we have it on {}",
                      ours_.NodeOf("forgotten")),
          "pod default/elsewhere: the API server has it on n2, we have it on n1",
          "pod default/bound-unseen: the API server has it on n2, we have it on no node",
          "pod default/never-bound: the API server has it on no node, we have it on n2",
          "pod default/unseen: the API server has it, we do not",
          "pod default/gone: we have it, the API server does not",
          "node theirs: the API server has it, we do not",
          "node ours: we have it, the API server does not"));
}

TEST_F(StateCheckTest, ABindingThatIsOnItsWayIsNoDifference) {
  BothHaveNode("n1");
  ServerHasPod("p", "");
  ours_.Pod(PodBuilder("p"));
  ours_.Schedule();
  ASSERT_EQ(ours_.NodeOf("p"), "n1") << "sent and not answered";
  EXPECT_THAT(Check().value(), IsEmpty());
}

TEST_F(StateCheckTest, WhatIsKnownAMomentLaterIsNotReported) {
  BothHaveNode("n1");
  ServerHasPod("p", "n1");
  const auto news =
      loop_.After(Duration::Seconds(1), [this] { ours_.Pod(PodBuilder("p").On("n1")); });
  EXPECT_THAT(Check().value(), IsEmpty());
  loop_.Cancel(news);
}

}  // namespace
}  // namespace knx::live
