#include "client/discovery.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/api_server.h"
#include "client/testing/wire.h"
#include "net/testing/run_until.h"

namespace knx::client {
namespace {

using net::testing::RunFor;
using net::testing::RunUntil;
using testing::ApiServer;
using testing::BookmarkEvent;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Resource(std::string_view name, std::string_view verbs = R"("list","watch")") {
  return fmt::format(R"({{"resource":"{}","scope":"Namespaced","verbs":[{}]}})", name, verbs);
}

constexpr std::uint32_t kRefusedStream = 7;

std::string Version(std::string_view name, const std::string& resources,
                    std::string_view freshness = "Current") {
  return fmt::format(R"({{"version":"{}","resources":[{}],"freshness":"{}"}})", name, resources,
                     freshness);
}

// The group "g" with these versions, beside another one.
std::string Groups(const std::string& versions) {
  return fmt::format(
      R"({{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[)"
      R"({{"metadata":{{"name":"other"}},"versions":[{}]}},)"
      R"({{"metadata":{{"name":"g"}},"versions":[{}]}}]}})",
      Version("v1", Resource("things")), versions);
}

// Says what it is told to say about what there is, and counts who watches what.
class DiscoveryTest : public ::testing::Test {
 protected:
  DiscoveryTest() {
    server_.Otherwise([this](ApiServer& server, const ApiServer::Asked& asked) {
      if (asked.path != "/apis") {
        watched_.push_back(asked.path.substr(0, asked.path.find('?')));
        server.http().Begin(asked, 200, {{"content-type", ApiServer::kProtobufWatch}});
        return server.http().Write(asked, BookmarkEvent("9", true));
      }
      if (++asked_ <= refused_) return server.http().Reset(asked, kRefusedStream);
      const std::string etag = fmt::format("\"{}\"", std::hash<std::string>{}(says_));
      const bool same = net::FindHeader(asked.headers, "if-none-match") == etag;
      if (same) ++same_;
      server.http().Answer(asked, same ? 304 : status_, same ? "" : says_, {{"etag", etag}});
    });
  }
  void Guide(bool with_older = true) { Guide(discovery_, with_older); }
  void Guide(Discovery& discovery, bool with_older = true) {
    const Collection collection{
        "/apis/g/v1/things", "", true,
        with_older ? std::vector<std::string>{"v1beta2", "v1beta1"} : std::vector<std::string>{}};
    reflectors_.push_back(std::make_unique<Reflector>(
        loop_, api_, collection,
        Reflector::Callbacks{
            .upserted = [](const k8s::Object&) {},
            .gone = [](const k8s::Object&) {},
            .synced = [this] { ++synced_; },
            .trouble = [this](std::string_view,
                              const Error& error) { said_.push_back(error.message); }}));
    discovery.Guide(collection, *reflectors_.back());
  }
  // Until the server was asked some more times, and what follows from it is done.
  void Settle() {
    const int before = asked_;
    EXPECT_TRUE(RunUntil(loop_, [&] { return asked_ >= before + 2; }));
    RunFor(loop_, Duration::Milliseconds(20));
  }

  net::EventLoop loop_;
  ApiServer server_{loop_};
  int status_ = 200, refused_ = 0;
  std::string says_ = Groups("");
  int asked_ = 0, same_ = 0, synced_ = 0;
  std::vector<std::string> watched_, said_;
  ApiClient api_{loop_, {.endpoint = server_.endpoint(), .log = [this](std::string_view line) {
                           said_.emplace_back(line);
                         }}};
  std::vector<std::unique_ptr<Reflector>> reflectors_;
  Discovery discovery_{loop_, api_, Duration::Milliseconds(30)};
};

TEST_F(DiscoveryTest, NobodyAsksWhereNothingIsOptional) {
  RunFor(loop_, Duration::Milliseconds(80));
  EXPECT_EQ(asked_, 0);
}

TEST_F(DiscoveryTest, AKindIsWatchedWhenItIsThereAndLetGoWithoutNoise) {
  Guide();
  Settle();
  EXPECT_EQ(synced_, 1);
  EXPECT_THAT(watched_, IsEmpty());
  EXPECT_GE(same_, 1);  // it is not told anew what is known
  says_ = Groups(Version("v1", Resource("things")));
  Settle();
  EXPECT_THAT(watched_, ElementsAre("/apis/g/v1/things"));
  EXPECT_EQ(synced_, 2);
  says_ = Groups("");
  Settle();
  EXPECT_TRUE(reflectors_.front()->synced());
  EXPECT_EQ(synced_, 3);
  EXPECT_EQ(watched_.size(), 1U);
  EXPECT_THAT(said_, IsEmpty());
  // One that comes later knows at once.
  says_ = Groups(Version("v1", Resource("things")));
  Settle();
  Guide();
  RunFor(loop_, Duration::Milliseconds(20));
  EXPECT_THAT(watched_, ElementsAre("/apis/g/v1/things", "/apis/g/v1/things", "/apis/g/v1/things"));
}

TEST_F(DiscoveryTest, TheBestVersionIsChosenThatTheServerHas) {
  Guide();
  Guide(false);
  says_ = Groups(Version("v1", Resource("others")) + "," + Version("v1beta1", Resource("things")) +
                 "," + Version("v1beta2", Resource("things", R"("get","list")")));
  Settle();
  EXPECT_THAT(watched_, ElementsAre("/apis/g/v1beta1/things"));
  EXPECT_TRUE(reflectors_.back()->synced());
  says_ =
      Groups(Version("v1beta2", Resource("things")) + "," + Version("v1beta1", Resource("things")));
  Settle();
  EXPECT_THAT(watched_, ElementsAre("/apis/g/v1beta1/things", "/apis/g/v1beta2/things"));
}

TEST_F(DiscoveryTest, WhatIsAwayForAWhileIsNotGone) {
  says_ = Groups(Version("v1", Resource("things")));
  Guide();
  Settle();
  for (const std::string& nonsense :
       {Groups(Version("v1", "", "Stale")), std::string("{}"), std::string("no JSON"),
        std::string(R"({"kind":"APIGroupDiscoveryList","items":7})"),
        std::string(R"({"kind":"APIGroupList","groups":[]})")}) {
    says_ = nonsense;
    Settle();
  }
  status_ = 503;
  Settle();
  EXPECT_THAT(watched_, ElementsAre("/apis/g/v1/things"));
  EXPECT_EQ(synced_, 1);
  EXPECT_THAT(said_, IsEmpty());
}

// A server may refuse what comes while a connection begins; its kinds are not to wait for the next
// look around.
TEST_F(DiscoveryTest, AServerThatGaveNoAnswerIsAskedAgainSoon) {
  refused_ = 2;
  Discovery seldom(loop_, api_, Duration::Seconds(3600));
  Guide(seldom);
  EXPECT_TRUE(RunUntil(loop_, [this] { return asked_ == 3; }));
  RunFor(loop_, Duration::Milliseconds(300));
  EXPECT_EQ(asked_, 3);
}

TEST_F(DiscoveryTest, WhereTheServerDoesNotSayTheKindIsTried) {
  status_ = 403;
  says_ = testing::JsonStatus(403, R"(User \"jane\" cannot get path \"/apis\")");
  Guide();
  Settle();
  EXPECT_THAT(watched_, ElementsAre("/apis/g/v1/things"));
  EXPECT_THAT(said_, ElementsAre("not allowed to get /apis: the ClusterRole needs "
                                 "nonResourceURLs: [\"/apis\"], verbs: [get]"));
}

}  // namespace
}  // namespace knx::client
