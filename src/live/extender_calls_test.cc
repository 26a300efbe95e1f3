// Against an extender and an API server of the test, both on its loop.
#include "live/extender_calls.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "client/testing/api_server.h"
#include "client/testing/wire.h"
#include "net/http_server.h"
#include "net/testing/run_until.h"

namespace knx::live {
namespace {

using client::testing::ApiServer;
using client::testing::JsonBookmark;
using client::testing::JsonEvent;
using net::testing::RunFor;
using net::testing::RunUntil;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

framework::Extender Binding() {
  framework::Extender extender;
  extender.bind_verb = "bind";
  return extender;
}

class ExtenderCallsTest : public ::testing::Test {
 protected:
  void Use(framework::Extender extender) {
    auto server = net::HttpServer::Listen(
        loop_, {.address = "127.0.0.1"}, [this](net::ServerRequest request, net::Responder answer) {
          asked_.push_back(std::move(request));
          answers_.push_back(std::move(answer));
        });
    ASSERT_TRUE(server.ok());
    extender_ = *std::move(server);
    api_.emplace(loop_, client::ApiClient::Options{.endpoint = api_server_.endpoint(),
                                                   .may_send = [this] { return leads_; }});
    extender.url_prefix = fmt::format("http://127.0.0.1:{}", extender_->port());
    auto calls = ExtenderCalls::Make(loop_, *api_, {std::move(extender)},
                                     [this](std::string_view line) { log_.emplace_back(line); });
    ASSERT_TRUE(calls.ok());
    calls_ = *std::move(calls);
  }
  void Bind(const std::string& pod, std::function<bool()> wanted = {}) {
    calls_->Bind(
        {{"ns", pod, "uid-" + pod}, "n", 0},
        [this](const Status& outcome) {
          outcomes_.push_back(outcome.ok() ? "bound" : outcome.error().message);
        },
        std::move(wanted));
  }
  [[nodiscard]] bool Come(std::size_t outcomes) {
    return RunUntil(loop_, [&] { return outcomes_.size() >= outcomes; });
  }
  [[nodiscard]] bool IsAsked(std::size_t times) {
    return RunUntil(loop_, [&] { return asked_.size() >= times; });
  }
  void AnswerAll() {
    for (const net::Responder& answer : std::exchange(answers_, {})) answer({.body = "{}"});
  }

  net::EventLoop loop_;
  ApiServer api_server_{loop_};
  std::unique_ptr<net::HttpServer> extender_;
  std::vector<net::ServerRequest> asked_;
  std::vector<net::Responder> answers_;
  bool leads_ = true;
  std::vector<std::string> outcomes_, log_;
  std::optional<client::ApiClient> api_;
  std::unique_ptr<ExtenderCalls> calls_;
};

TEST_F(ExtenderCallsTest, WhatCannotBeUsedIsNamedByItsPlaceAndNeverByAPassword) {
  api_.emplace(loop_, client::ApiClient::Options{.endpoint = api_server_.endpoint()});
  const auto complaint = [this](std::string url) {
    framework::Extender good, bad;
    good.url_prefix = "http://127.0.0.1:1";
    bad.place = "extenders[1]";
    bad.url_prefix = std::move(url);
    const auto calls = ExtenderCalls::Make(loop_, *api_, {good, bad}, [](std::string_view) {});
    return calls.ok() ? "" : calls.error().ToString();
  };
  EXPECT_THAT(complaint("gopher://x"), ::testing::StartsWith("extenders[1] \"gopher://x\": "));
  EXPECT_THAT(complaint("http://me:hunter2@x"), ::testing::StartsWith("extenders[1]: "));
  EXPECT_THAT(complaint("http://me:hunter2@x"), ::testing::Not(HasSubstr("hunter2")));
}

TEST_F(ExtenderCallsTest, WhoDoesNotLeadAnyMoreBindsNothing) {
  Use(Binding());
  Bind("while-it-connects");
  leads_ = false;
  ASSERT_TRUE(Come(1));
  EXPECT_THAT(outcomes_[0], HasSubstr("nothing may be sent any more"));
  EXPECT_THAT(asked_, IsEmpty());
  leads_ = true;
  Bind("a");
  ASSERT_TRUE(IsAsked(1));
  AnswerAll();
  ASSERT_TRUE(Come(2));
  EXPECT_EQ(outcomes_[1], "bound");
  leads_ = false;
  Bind("over-a-connection-that-is-there");
  ASSERT_TRUE(Come(3));
  EXPECT_THAT(outcomes_[2], HasSubstr("nothing may be sent any more"));
  leads_ = true;
  api_->StopSending();
  Bind("after-the-end");
  ASSERT_TRUE(Come(4));
  EXPECT_THAT(outcomes_[3], HasSubstr("nothing may be sent any more"));
  EXPECT_EQ(asked_.size(), 1u);
  EXPECT_EQ(calls_->outstanding(), 0u);
}

TEST_F(ExtenderCallsTest, ABindingThatWaitsIsNotSentOnceItIsNotWanted) {
  Use(Binding());
  constexpr std::size_t kConnections = 8;
  for (std::size_t i = 0; i < kConnections; ++i) Bind(fmt::format("p{}", i));
  bool wanted = true;
  Bind("late", [&] { return wanted; });
  ASSERT_TRUE(IsAsked(kConnections));
  wanted = false;
  AnswerAll();
  ASSERT_TRUE(Come(kConnections + 1));
  EXPECT_EQ(asked_.size(), kConnections);
  EXPECT_THAT(outcomes_, ::testing::Contains(HasSubstr("somebody else was faster")).Times(1));
}

// Nodes are told to the scheduler and to who writes them for extenders by watches of their own.
class ExtenderNodesTest : public ExtenderCallsTest {
 protected:
  void AskAbout(std::vector<std::string> nodes) {
    framework::Extender extender;
    extender.filter_verb = "filter";
    api_server_.NextWatch(JsonEvent("ADDED", {"a", "ua", "1"}) + JsonBookmark("2", true),
                          "application/json");
    Use(extender);
    ASSERT_TRUE(RunUntil(loop_, [this] { return !api_server_.asked().empty(); }));
    api_server_.NextAnswer(200, R"({"metadata":{"uid":"uid-p"}})");
    calls_->Ask({.pod = {"ns", "p", "uid-p"},
                 .verb = engine::ExtenderVerb::kFilter,
                 .nodes = std::move(nodes),
                 .victims = {}},
                [this](const engine::ExtenderAnswer& answer) {
                  outcomes_.push_back(answer.failure.value_or("answered"));
                });
    ASSERT_TRUE(RunUntil(loop_, [this] { return api_server_.asked().size() == 2; }));
  }
};

TEST_F(ExtenderNodesTest, ANodeThatIsNotWrittenYetIsWaitedFor) {
  AskAbout({"a", "b"});
  RunFor(loop_, Duration::Milliseconds(50));
  EXPECT_THAT(asked_, IsEmpty());
  api_server_.Push(JsonEvent("ADDED", {"b", "ub", "3"}));
  ASSERT_TRUE(IsAsked(1));
  EXPECT_THAT(asked_[0].body, HasSubstr("\"uid\":\"ua\""));
  EXPECT_THAT(asked_[0].body, HasSubstr("\"uid\":\"ub\""));
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(ExtenderNodesTest, ANodeThatIsNotWrittenForLongIsAFailureAndNotLeftOut) {
  AskAbout({"a", "b", "c"});
  ASSERT_TRUE(Come(1));
  EXPECT_THAT(outcomes_, ElementsAre("the API server has not told of node \"b\" and 1 more yet"));
  EXPECT_THAT(asked_, IsEmpty());
  EXPECT_THAT(log_, ElementsAre(HasSubstr("no usable answer of extender")));
  EXPECT_EQ(calls_->outstanding(), 0u);
}

TEST_F(ExtenderCallsTest, IsAskedAboutANodeWithoutVictims) {
  framework::Extender extender;
  extender.preempt_verb = "preempt";
  Use(extender);
  api_server_.NextAnswer(200, R"({"metadata":{"uid":"uid-p"}})");
  calls_->Ask({.pod = {"ns", "p", "uid-p"},
               .verb = engine::ExtenderVerb::kPreempt,
               .nodes = {},
               .victims = {{.node = "n", .pods = {}}}},
              [this](const engine::ExtenderAnswer& answer) {
                outcomes_.push_back(answer.failure.value_or("answered"));
              });
  ASSERT_TRUE(IsAsked(1));
  AnswerAll();
  ASSERT_TRUE(Come(1));
  EXPECT_THAT(outcomes_, ElementsAre("answered"));
  EXPECT_THAT(log_, IsEmpty());
}

}  // namespace
}  // namespace knx::live
