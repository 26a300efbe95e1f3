// What people hear of a lease that cannot be had, from a server of the test.
#include "client/leader_lease.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/testing/api_server.h"
#include "client/testing/wire.h"

namespace knx::client {
namespace {

using net::testing::RunUntil;
using testing::ApiServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JsonStatus;

std::string Lease(std::string_view holder) {
  return fmt::format(
      R"({{"metadata":{{"name":"l"}},"spec":{{"holderIdentity":"{}","leaseDurationSeconds":15}}}})",
      holder);
}

class LeaderLeaseTest : public ::testing::Test {
 protected:
  void Start() {
    LeaderLease::Options options;
    options.reach.endpoint = server_.endpoint();
    options.namespace_ = "kube-sytem";
    options.name = "l";
    options.election.identity = "me";
    options.election.retry_period = Duration::Milliseconds(10);
    options.election.renew_deadline = renew_deadline_;
    options.now = net::EventLoop::Now;
    options.wall = net::EventLoop::Now;
    lease_ = std::make_unique<LeaderLease>(
        loop_, std::move(options),
        LeaderLease::Callbacks{
            .leading = [this] { ++led_; },
            .lost = [this](std::string_view why) { lost_ = why; },
            .seen = [this](std::string_view holder) { seen_.emplace_back(holder); },
            .trouble = [this](const Error& error) { troubles_.push_back(error.message); }});
    lease_->Start();
  }
  // So that each kind of question gets the same answer for ever.
  void Answers(std::map<std::string, std::pair<int, std::string>> by_method) {
    server_.Otherwise([by_method = std::move(by_method)](ApiServer& server,
                                                         const ApiServer::Asked& asked) {
      const auto& [status, body] = by_method.at(asked.method);
      server.http().Answer(asked, status, body);
    });
  }
  [[nodiscard]] bool IsAsked(std::size_t times) {
    return RunUntil(loop_, [&] { return server_.asked().size() >= times; });
  }

  net::EventLoop loop_;
  ApiServer server_{loop_};
  Duration renew_deadline_ = Duration::Seconds(10);
  int led_ = 0;
  std::string lost_;
  std::vector<std::string> seen_, troubles_;
  std::unique_ptr<LeaderLease> lease_;
};

TEST_F(LeaderLeaseTest, ANamespaceThatIsNotThereIsSaidOnce) {
  Answers({{"GET", {404, JsonStatus(404, "no such lease")}},
           {"POST", {404, JsonStatus(404, "namespaces 'kube-sytem' not found")}}});
  Start();
  ASSERT_TRUE(IsAsked(8));
  EXPECT_THAT(troubles_,
              ElementsAre("it cannot be made in namespace \"kube-sytem\" "
                          "(leaderElection.resourceNamespace, --leader-elect-resource-namespace): "
                          "namespaces 'kube-sytem' not found"));
  EXPECT_EQ(led_, 0);
}

TEST_F(LeaderLeaseTest, WhatOneKindOfCallIsRefusedForIsNoNewsAfterAnother) {
  struct Case {
    std::string name;
    std::map<std::string, std::pair<int, std::string>> answers;
    std::string trouble;
  };
  const std::pair<int, std::string> none = {404, JsonStatus(404, "no such lease")};
  const std::pair<int, std::string> bad = {422, JsonStatus(422, "bad name")};
  const std::pair<int, std::string> changed = {409, JsonStatus(409, "changed")};
  for (const Case& c :
       {Case{"a name that is not allowed", {{"GET", none}, {"POST", bad}}, "bad name"},
        Case{"only to be looked at", {{"GET", {200, Lease("")}}, {"PUT", bad}}, "bad name"},
        Case{"changed by nobody", {{"GET", {200, Lease("")}}, {"PUT", changed}}, "changed"}}) {
    SCOPED_TRACE(c.name);
    Answers(c.answers);
    const std::size_t before = server_.asked().size();
    Start();
    ASSERT_TRUE(IsAsked(before + 8));
    EXPECT_THAT(troubles_, ElementsAre(c.trouble));
    troubles_.clear();
    lease_.reset();
  }
}

TEST_F(LeaderLeaseTest, TroubleThatComesAgainAfterAllWasWellIsNews) {
  const auto no = [&] { server_.NextAnswer(500, JsonStatus(500, "etcd is ill")); };
  const auto yes = [&] { server_.NextAnswer(200, Lease("me")); };
  yes();  // the lease that is there
  yes();
  no();
  no();
  yes();
  no();
  Start();
  ASSERT_TRUE(IsAsked(6));
  ASSERT_TRUE(RunUntil(loop_, [&] { return troubles_.size() == 2; }));
  EXPECT_THAT(troubles_, ElementsAre("etcd is ill", "etcd is ill"));
  EXPECT_EQ(led_, 1);
}

TEST_F(LeaderLeaseTest, ALeaseThatAnotherHoldsIsNoTrouble) {
  server_.NextAnswer(200, Lease(""));
  server_.NextAnswer(409, JsonStatus(409, "changed"));
  Answers({{"GET", {200, Lease("other")}}});
  Start();
  ASSERT_TRUE(IsAsked(5));
  EXPECT_THAT(troubles_, IsEmpty());
  EXPECT_THAT(seen_, ElementsAre("other"));
}

TEST_F(LeaderLeaseTest, WhoLostTheLeaseDoesNotWaitForIt) {
  server_.NextAnswer(200, Lease(""));
  server_.NextAnswer(200, Lease("me"));
  server_.NextAnswer(200, Lease("thief"));
  Start();
  ASSERT_TRUE(RunUntil(loop_, [&] { return !lost_.empty(); }));
  EXPECT_EQ(lost_, "thief holds the lease");
  EXPECT_EQ(led_, 1);
  EXPECT_THAT(seen_, IsEmpty());
}

// The server may ask for more patience than there is time.
TEST_F(LeaderLeaseTest, AServerThatPutsUsOffHasAnswered) {
  renew_deadline_ = Duration::Milliseconds(200);
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Answer(asked, 429, JsonStatus(429, "slow down"), {{"retry-after", "1"}});
  });
  Start();
  ASSERT_TRUE(RunUntil(loop_, [&] { return !troubles_.empty(); }));
  EXPECT_THAT(troubles_[0], HasSubstr("the server answered 429"));
}

}  // namespace
}  // namespace knx::client
