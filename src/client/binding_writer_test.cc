#include "client/binding_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/api_server.h"
#include "net/testing/run_until.h"

namespace knx::client {
namespace {

using net::testing::RunFor;
using net::testing::RunUntil;
using testing::ApiServer;

constexpr std::string_view kUnbound = R"({"metadata":{"uid":"u"},"spec":{}})";
constexpr std::string_view kHere = R"({"metadata":{"uid":"u"},"spec":{"nodeName":"n"}})";

class BindingWriterTest : public ::testing::Test {
 protected:
  // What is said of it; "" while nothing is.
  std::string BindAndWait(int most_ms = 2000) {
    writer_.Bind({"ns", "p", "u"}, "n", [this](const Status& outcome) {
      said_ = outcome.ok() ? "bound" : outcome.error().message;
    });
    (void)RunUntil(loop_, [this] { return !said_.empty(); }, Duration::Milliseconds(most_ms));
    return said_;
  }
  std::vector<std::string> Methods() const {
    std::vector<std::string> out;
    for (const auto& asked : server_.asked()) out.push_back(asked.method);
    return out;
  }

  net::EventLoop loop_;
  ApiServer server_{loop_};
  ApiClient api_{loop_, {.endpoint = server_.endpoint()}};
  BindingWriter writer_{loop_,
                        api_,
                        {.given_up_after = Duration::Milliseconds(300),
                         .first_pause = Duration::Milliseconds(20),
                         .longest_pause = Duration::Milliseconds(100)}};
  std::string said_;
};

TEST_F(BindingWriterTest, WhatIsAnsweredIsCertain) {
  server_.NextAnswer(201, "{}");
  EXPECT_EQ(BindAndWait(), "bound");
  said_.clear();
  server_.NextAnswer(422, R"({"message":"nonsense"})");
  EXPECT_EQ(BindAndWait(), "nonsense");
  EXPECT_THAT(Methods(), ::testing::ElementsAre("POST", "POST"));
}

TEST_F(BindingWriterTest, AnotherSuccessThanOfABindingIsLookedInto) {
  for (const std::string_view said :
       {R"({"kind":"Status","status":"Success"})", R"({"kind":"Binding"})"}) {
    server_.NextAnswer(202, std::string(said));
    EXPECT_EQ(BindAndWait(), "bound");
    said_.clear();
  }
  EXPECT_THAT(Methods(), ::testing::ElementsAre("POST", "POST"));
  // As a proxy answers that wants somebody to log in.
  for (const std::string_view odd : {"<html>login</html>", "{}", ""}) {
    server_.NextAnswer(200, std::string(odd));
    server_.NextAnswer(200, "<html>login</html>");
    server_.NextAnswer(200, std::string(kUnbound));
    EXPECT_EQ(BindAndWait(250), fmt::format("the answer does not say that it was done: {}",
                                            odd.empty() ? "the server answers 200" : odd));
    said_.clear();
  }
  server_.NextAnswer(200, "<html>login</html>");
  server_.NextAnswer(200, std::string(kHere));
  EXPECT_EQ(BindAndWait(), "bound");
  EXPECT_EQ(writer_.uncertain(), 0U);
}

TEST_F(BindingWriterTest, AConflictMayBeWithAnAttemptOfOurOwn) {
  server_.NextAnswer(504, R"({"message":"later"})", {{"retry-after", "0"}});
  server_.NextAnswer(409, R"({"message":"already"})");
  server_.NextAnswer(200, std::string(kHere));
  EXPECT_EQ(BindAndWait(), "bound");
  EXPECT_THAT(Methods(), ::testing::ElementsAre("POST", "POST", "GET"));
  EXPECT_EQ(writer_.uncertain(), 0U);
}

TEST_F(BindingWriterTest, OneLookTellsWhatAConflictIsAbout) {
  const struct {
    int status;
    std::string body, want;
  } looks[] = {
      {200, R"({"metadata":{"uid":"u"},"spec":{"nodeName":"other"}})",
       "somebody else bound it to other"},
      {200, std::string(kUnbound), "being deleted"},
      {403, R"({"message":"pods is forbidden: User \"u\" cannot get"})", "being deleted"},
      {404, R"({"message":"gone"})", "gone"},
  };
  for (const auto& look : looks) {
    said_.clear();
    server_.NextAnswer(409, R"({"message":"being deleted"})");
    server_.NextAnswer(look.status, look.body);
    EXPECT_EQ(BindAndWait(), look.want);
  }
  EXPECT_EQ(server_.asked().size(), 8U);
}

TEST_F(BindingWriterTest, WhatAServerWithTooMuchToDoPutsOffWasNotDone) {
  server_.NextAnswer(429, R"({"message":"too many"})");
  EXPECT_EQ(BindAndWait(200), "too many");
  EXPECT_THAT(Methods(), ::testing::ElementsAre("POST"));
  EXPECT_EQ(writer_.uncertain(), 0U);
}

TEST_F(BindingWriterTest, WhatIsPutOffAfterAFailureMayHaveBeenDoneBefore) {
  server_.NextAnswer(503, "{}", {{"retry-after", "0"}});
  server_.NextAnswer(429, R"({"message":"too many"})");
  server_.NextAnswer(200, std::string(kUnbound));
  server_.NextAnswer(200, std::string(kHere));
  EXPECT_EQ(BindAndWait(), "bound");
  EXPECT_THAT(Methods(), ::testing::ElementsAre("POST", "POST", "GET", "GET"));
}

TEST_F(BindingWriterTest, AServerThatFailsMayHaveDoneIt) {
  server_.NextAnswer(500, R"({"message":"etcd took too long"})");
  server_.NextAnswer(200, std::string(kHere));
  EXPECT_EQ(BindAndWait(), "bound");
  EXPECT_THAT(Methods(), ::testing::ElementsAre("POST", "GET"));
  EXPECT_EQ(server_.asked()[1].path, "/api/v1/namespaces/ns/pods/p");
  EXPECT_EQ(writer_.uncertain(), 0U);
}

TEST_F(BindingWriterTest, ItMayStillBeDoneAfterTheConnectionIsCut) {
  constexpr std::uint32_t kInternalError = 2;
  server_.Next([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Reset(asked, kInternalError);
  });
  server_.NextAnswer(200, std::string(kUnbound));
  server_.NextAnswer(503, "{}");
  server_.NextAnswer(200, std::string(kHere));
  EXPECT_EQ(BindAndWait(), "bound");
}

TEST_F(BindingWriterTest, WhatIsNotDoneWhenTheServerHasGivenUpWasNotDone) {
  server_.NextAnswer(500, R"({"message":"no"})");
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Answer(asked, 200, std::string(kUnbound));
  });
  EXPECT_EQ(BindAndWait(200), "") << "it may still be done";
  EXPECT_EQ(writer_.uncertain(), 1U);
  ASSERT_TRUE(RunUntil(loop_, [this] { return !said_.empty(); }));
  EXPECT_EQ(said_, "no");
  EXPECT_LT(server_.asked().size(), 10U);
}

TEST_F(BindingWriterTest, WhoMayNotLookWaitsUntilTheServerHasGivenUp) {
  server_.NextAnswer(500, R"({"message":"no"})");
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Answer(asked, 403, R"({"message":"pods is forbidden: User \"u\" cannot get"})");
  });
  EXPECT_EQ(BindAndWait(200), "");
  ASSERT_TRUE(RunUntil(loop_, [this] { return !said_.empty(); }));
  EXPECT_EQ(said_, "pods is forbidden: User \"u\" cannot get");
}

TEST_F(BindingWriterTest, SomebodyElsesPlaceAndAnotherPodAreFailures) {
  server_.NextAnswer(500, "{}");
  server_.NextAnswer(200, R"({"metadata":{"uid":"u"},"spec":{"nodeName":"other"}})");
  EXPECT_EQ(BindAndWait(), "somebody else bound it to other");
  said_.clear();
  server_.NextAnswer(500, "{}");
  server_.NextAnswer(200, R"({"metadata":{"uid":"v"},"spec":{"nodeName":"n"}})");
  EXPECT_EQ(BindAndWait(), "another pod has that name now");
  said_.clear();
  server_.NextAnswer(500, "{}");
  server_.NextAnswer(200, "no JSON");
  server_.NextAnswer(404, R"({"message":"gone"})");
  EXPECT_EQ(BindAndWait(), "gone");
}

}  // namespace
}  // namespace knx::client
