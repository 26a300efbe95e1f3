#include "client/api_client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "client/first_contact.h"
#include "client/pod_writer.h"
#include "client/testing/api_server.h"
#include "client/testing/wire.h"
#include "client/volume_writer.h"
#include "net/testing/certificates.h"
#include "net/testing/heard.h"
#include "net/testing/run_until.h"

namespace knx::client {
namespace {

using net::testing::RunFor;
using net::testing::RunUntil;
using testing::ApiServer;
using ::testing::ElementsAre;
using testing::Enveloped;
using testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JsonStatus;

class ApiClientTest : public ::testing::Test {
 protected:
  ApiClient::Options Reach() {
    return {.endpoint = server_.endpoint(),
            .log = [this](std::string_view line) { said_.emplace_back(line); }};
  }
  void Connect() { api_ = std::make_unique<ApiClient>(loop_, Reach()); }
  // What comes of one call.
  Status Call(ApiClient::Call call = {.path = "/x"}) {
    if (api_ == nullptr) Connect();
    std::optional<Status> got;
    api_->Send(std::move(call), [&](const Status& outcome) { got = outcome; });
    EXPECT_TRUE(RunUntil(loop_, [&] { return got.has_value(); }));
    return got.value_or(InvalidError("never answered"));
  }

  net::EventLoop loop_;
  ApiServer server_{loop_};
  std::vector<std::string> said_;
  std::unique_ptr<ApiClient> api_;
};

TEST_F(ApiClientTest, TellsByItsKindWhatTheServerRefuses) {
  struct Case {
    int status;
    std::string body;
    ErrorKind kind;
    std::string want;
  };
  const Case cases[] = {
      {409, JsonStatus(409, "somebody was faster"), ErrorKind::kConflict, "somebody was faster"},
      {404, JsonStatus(404, "not found"), ErrorKind::kNotFound, "not found"},
      {422, JsonStatus(422, "spec: invalid"), ErrorKind::kInvalid, "spec: invalid"},
      {429, JsonStatus(429, "later"), ErrorKind::kUnavailable, "later"},
      {500, testing::WireStatus(500, "InternalError", "in protobuf"), ErrorKind::kUnavailable,
       "in protobuf"},
      {503, "", ErrorKind::kUnavailable, "the server answers 503"},
      {503, "\r\n", ErrorKind::kUnavailable, "the server answers 503"},
      {500, JsonStatus(500, ""), ErrorKind::kUnavailable, "the server answers 500"},
      {502, "<html>\nno JSON", ErrorKind::kUnavailable, "<html> no JSON"},
      {400, "{\"message\":", ErrorKind::kInvalid, "{\"message\":"},
  };
  for (const Case& c : cases) {
    server_.NextAnswer(c.status, c.body);
    const Status got = Call();
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().kind, c.kind) << c.status;
    EXPECT_EQ(got.error().message, c.want);
  }
  // Each was asked for once: what the server may have done is not asked for again.
  EXPECT_EQ(server_.asked().size(), std::size(cases));
}

TEST_F(ApiClientTest, ComesBackWhenTheServerSaysWhen) {
  for (const int status : {429, 503}) {
    server_.NextAnswer(status, "", {{"retry-after", "0"}});
    server_.NextAnswer(200, "");
    EXPECT_TRUE(Call().ok());
  }
  EXPECT_EQ(server_.asked().size(), 4U);
  server_.NextAnswer(429, JsonStatus(429, "at noon"), {{"retry-after", "Fri, 31 Dec 1999"}});
  EXPECT_FALSE(Call().ok());
  server_.NextAnswer(409, "", {{"retry-after", "0"}});
  EXPECT_FALSE(Call().ok());
  EXPECT_EQ(server_.asked().size(), 6U);
}

TEST_F(ApiClientTest, GivesUpOnAServerThatAlwaysSaysLater) {
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Answer(asked, 429, "", {{"retry-after", "0"}});
  });
  const Time began = net::EventLoop::Now();
  EXPECT_FALSE(Call({.path = "/x", .attempts = 5}).ok());
  EXPECT_EQ(server_.asked().size(), 5U);
  EXPECT_EQ(api_->urgent_calls(), 0U);
  EXPECT_GE(net::EventLoop::Now() - began, Duration::Milliseconds(300)) << "pauses that grow";
}

TEST_F(ApiClientTest, WhatIsPutOffHoldsUpNobodyAndIsSaid) {
  server_.NextAnswer(429, "", {{"retry-after", "3"}});
  Connect();
  bool answered = false;
  api_->Send({.method = "POST", .path = "/later", .body = "{}"},
             [&](const Status& outcome) { answered = outcome.ok(); });
  ASSERT_TRUE(RunUntil(loop_, [&] { return api_->put_off() == 1; }));
  EXPECT_EQ(api_->urgent_calls(), 0U);
  EXPECT_THAT(said_, ElementsAre("the API server puts off what it is asked (status 429): that "
                                 "is sent again after 3s, as the server asks"));
  server_.NextAnswer(200, "");
  ASSERT_TRUE(Call().ok());
  server_.NextAnswer(200, "");
  ASSERT_TRUE(RunUntil(loop_, [&] { return answered; }));
  EXPECT_EQ(api_->put_off() + api_->urgent_calls(), 0U);
}

TEST_F(ApiClientTest, TellsTheServerHowLongItMayTakeForWhatChangesSomething) {
  ApiClient::Options reach = Reach();
  reach.server_timeout = [] { return Duration::Seconds(7); };
  api_ = std::make_unique<ApiClient>(loop_, std::move(reach));
  for (const std::string path : {"/a", "/a?b=c"}) {
    for (const std::string method : {"POST", "GET"}) {
      server_.NextAnswer(200, "");
      EXPECT_TRUE(Call({.method = method, .path = path}).ok());
    }
  }
  std::vector<std::string> paths;
  for (const auto& asked : server_.asked()) paths.push_back(asked.path);
  EXPECT_THAT(paths, ElementsAre("/a?timeout=7s", "/a", "/a?b=c&timeout=7s", "/a?b=c"));
}

TEST_F(ApiClientTest, KnowsWhetherTheServerMayHaveActedUponACall) {
  const ApiClient::Call call = {.method = "POST", .path = "/bind", .body = "{}"};
  for (const int status : {302, 404, 409, 429}) {
    server_.NextAnswer(status, "");
    EXPECT_FALSE(Call(call).ok());
    EXPECT_FALSE(api_->may_be_done()) << status;
  }
  for (const int status : {200, 500, 503}) {
    server_.NextAnswer(status, "");
    (void)Call(call);
    EXPECT_TRUE(api_->may_be_done()) << status;
  }
  server_.NextAnswer(504, "", {{"retry-after", "0"}});
  server_.NextAnswer(429, "");
  (void)Call(call);
  EXPECT_TRUE(api_->may_be_done()) << "by the first attempt";
  server_.Next([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Cut(asked.connection);
  });
  (void)Call(call);
  EXPECT_TRUE(api_->may_be_done()) << "there was no answer";
  server_.http().StopListening();
  (void)Call({.method = "POST", .path = "/bind", .timeout = Duration::Milliseconds(100)});
  EXPECT_FALSE(api_->may_be_done()) << "it never left";
}

TEST_F(ApiClientTest, SendsAgainWhatWasRefusedOrAboveTheLastOfAGoAway) {
  server_.Next(
      [](ApiServer& server, const ApiServer::Asked& asked) { server.http().Reset(asked, 7); });
  server_.Next([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().GoAway(asked.connection, asked.stream - 2);
  });
  server_.NextAnswer(201, "");
  EXPECT_TRUE(Call({.method = "POST", .path = "/bind", .body = "{}"}).ok());
  ASSERT_EQ(server_.asked().size(), 3U);
  EXPECT_EQ(server_.http().accepted(), 2U);
  EXPECT_EQ(server_.asked()[2].body, "{}");
}

TEST_F(ApiClientTest, DoesNotSendAgainWhatMayHaveBeenDone) {
  server_.Next([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Cut(asked.connection);
  });
  const Status got = Call({.method = "POST", .path = "/bind", .body = "{}"});
  EXPECT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind, ErrorKind::kUnavailable);
  RunFor(loop_, Duration::Milliseconds(100));
  EXPECT_EQ(server_.asked().size(), 1U);
}

TEST_F(ApiClientTest, SendsAgainWhatIsTheSameDoneTwice) {
  server_.Next([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Cut(asked.connection);
  });
  server_.NextAnswer(200, "{}");
  EXPECT_TRUE(Call({.method = "PATCH", .path = "/status", .body = "{}", .repeatable = true}).ok());
  EXPECT_EQ(server_.asked().size(), 2U);
}

TEST_F(ApiClientTest, WatchesAndCallsFindAPlaceWhereTheServerTakesFewRequestsAtATime) {
  ApiServer narrow(loop_, {.most_streams = 4});
  narrow.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    asked.path == "/call" ? server.http().Answer(asked, 200, "{}")
                          : server.http().Begin(asked, 200);
  });
  ApiClient::Options options = Reach();
  options.endpoint = narrow.endpoint();
  api_ = std::make_unique<ApiClient>(loop_, options);
  constexpr int kWatches = 19;
  std::vector<std::shared_ptr<net::testing::Heard>> watches;
  for (int i = 0; i < kWatches; ++i) {
    watches.push_back(std::make_shared<net::testing::Heard>());
    api_->Open("/watch", "", std::make_unique<net::testing::HeardSink>(watches.back()));
  }
  EXPECT_TRUE(Call({.path = "/call"}).ok());
  EXPECT_TRUE(RunUntil(loop_, [&] {
    return std::all_of(watches.begin(), watches.end(),
                       [](const auto& watch) { return watch->heads == 1; });
  }));
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(ApiClientTest, ACallThatFindsNoRoomWithinItsTimeIsNotTriedAgain) {
  ApiServer narrow(loop_, {.most_streams = 1});
  ApiClient::Options options = Reach();
  options.endpoint = narrow.endpoint();
  options.write_connections = 1;
  api_ = std::make_unique<ApiClient>(loop_, options);
  api_->Send({.method = "POST", .path = "/never/answered"}, [](const Status&) {});
  const Status got =
      Call({.method = "POST", .path = "/second", .timeout = Duration::Milliseconds(500)});
  EXPECT_THAT(got.error().message, HasSubstr("not sent within 500ms: waited for room: "));
  EXPECT_EQ(got.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(narrow.asked().size(), 1U);
}

TEST_F(ApiClientTest, AnAnswerThatIsTooLongIsNone) {
  ApiClient::Options options = Reach();
  options.longest_answer = 1000;
  api_ = std::make_unique<ApiClient>(loop_, options);
  server_.NextAnswer(200, std::string(1000, 'x'));
  EXPECT_TRUE(Call().ok());
  // The rest of it is not waited for.
  server_.Next([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Begin(asked, 200);
    server.http().Write(asked, std::string(1001, 'x'));
  });
  const Status got = Call({.path = "/list?limit=9"});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().message, "GET /list: an answer of more than 1000 bytes");
  server_.NextAnswer(200, "x");
  EXPECT_TRUE(Call().ok());
}

TEST_F(ApiClientTest, NamesNoRuleWhereNoneIsMissingOrAnotherDoesIt) {
  server_.NextAnswer(403, JsonStatus(403, "pods is forbidden: exceeded quota"));
  EXPECT_EQ(Call().error().kind, ErrorKind::kInvalid);
  server_.NextAnswer(403, JsonStatus(403, R"(User \"jane\" cannot get resource \"nodes\")"));
  EXPECT_EQ(Call({.path = "/api/v1/nodes/a", .says_what_is_forbidden = true}).error().kind,
            ErrorKind::kForbidden);
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(ApiClientTest, WhatIsNotWantedAnyMoreIsNeitherSentNorSentAgain) {
  Connect();
  std::vector<std::string> outcomes;
  const auto send = [&] {
    api_->Send({.method = "POST", .path = "/x", .wanted = [&] { return server_.asked().empty(); }},
               [&](const Status& outcome) {
                 outcomes.push_back(outcome.ok() ? "ok" : outcome.error().message);
               });
  };
  server_.NextAnswer(429, JsonStatus(429, "later"), {{"retry-after", "0"}});
  send();
  ASSERT_TRUE(RunUntil(loop_, [&] { return outcomes.size() == 1; }));
  send();
  ASSERT_TRUE(RunUntil(loop_, [&] { return outcomes.size() == 2; }));
  EXPECT_THAT(outcomes, ElementsAre("later", "not sent: somebody else was faster"));
  EXPECT_EQ(server_.asked().size(), 1U);
}

TEST_F(ApiClientTest, KnowsWhyACallCouldNotBeSent) {
  server_.NextAnswer(200, "{}");
  EXPECT_TRUE(Call().ok());
  EXPECT_EQ(api_->not_sent_because(), "");
  server_.http().StopListening();
  server_.http().CutAll();
  RunFor(loop_, Duration::Milliseconds(20));
  EXPECT_FALSE(Call({.path = "/x", .timeout = Duration::Milliseconds(100)}).ok());
  EXPECT_THAT(api_->not_sent_because(), HasSubstr("Connection refused"));
}

TEST_F(ApiClientTest, SaysOnceWhichRuleIsMissing) {
  Connect();
  PodWriter pods(*api_);
  int done = 0;
  for (int i = 0; i < 5; ++i) {
    server_.NextAnswer(403, JsonStatus(403, R"(User \"jane\" cannot create)"));
    pods.Bind({"ns", "pod", "uid"}, "node", [&](const Status& outcome) {
      ++done;
      EXPECT_EQ(outcome.error().message, R"(User "jane" cannot create)");
      EXPECT_EQ(outcome.error().kind, ErrorKind::kForbidden);
    });
  }
  ASSERT_TRUE(RunUntil(loop_, [&] { return done == 5; }));
  EXPECT_THAT(said_, ElementsAre("not allowed to create pods/binding: the ClusterRole needs "
                                 "apiGroups: [\"\"], resources: [pods/binding], verbs: [create]"));
}

TEST_F(ApiClientTest, After401AsksOnceAgainWithOtherCredentialsIfThereAreSome) {
  Authorization now("Bearer one", 1);
  std::vector<std::uint64_t> refused;
  ApiClient::Options options = Reach();
  options.authorization = [&] { return now; };
  options.refused = [&](std::uint64_t generation) {
    refused.push_back(generation);
    now = Authorization("Bearer two", 2);
  };
  api_ = std::make_unique<ApiClient>(loop_, options);
  server_.NextAnswer(401, JsonStatus(401, "Unauthorized"));
  server_.NextAnswer(200, "");
  EXPECT_TRUE(Call().ok());
  EXPECT_EQ(net::FindHeader(server_.asked()[0].headers, "authorization"), "Bearer one");
  EXPECT_EQ(net::FindHeader(server_.asked()[1].headers, "authorization"), "Bearer two");
  // There are no others this time.
  server_.NextAnswer(401, JsonStatus(401, "Unauthorized"));
  const Status got = Call();
  EXPECT_EQ(got.error().message, "Unauthorized");
  EXPECT_THAT(refused, ElementsAre(1, 2));
  EXPECT_EQ(server_.asked().size(), 3U);
}

TEST_F(ApiClientTest, After401WaitsForCredentialsThatAreBeingFetched) {
  Authorization now("Bearer one", 1);
  ApiClient::Options options = Reach();
  options.authorization = [&] { return now; };
  options.refused = [&](std::uint64_t) {
    now.pending = true;
    loop_.After(Duration::Milliseconds(50), [&] { now = Authorization("Bearer two", 2); });
  };
  api_ = std::make_unique<ApiClient>(loop_, options);
  server_.NextAnswer(401, "");
  server_.NextAnswer(200, "");
  EXPECT_TRUE(Call().ok());
  EXPECT_EQ(net::FindHeader(server_.asked()[1].headers, "authorization"), "Bearer two");
}

TEST_F(ApiClientTest, WritesWhatTheServerExpects) {
  Connect();
  PodWriter pods(*api_);
  VolumeWriter volumes(*api_);
  int done = 0;
  const auto count = [&](const Status& outcome) { done += outcome.ok() ? 1 : 0; };
  server_.NextAnswer(201, "{}");
  for (int i = 0; i < 4; ++i) server_.NextAnswer(200, "{}");
  pods.Bind({"ns", "p\"1", "u"}, "n1", count);
  pods.PatchStatus({"ns", "p", "u"}, PodCondition{"PodScheduled", "False", "R", "m", 3}, "",
                   Time{1'800'000'000'999'000'000}, count);
  pods.Delete({"ns", "p", "u"}, count);
  volumes.SelectNode({"ns", "c", "u"}, "n1", "7", count);
  volumes.SetAside("v", {"ns", "c", "u"}, true, "8", count);
  ASSERT_TRUE(RunUntil(loop_, [&] { return done == 5; }));
  const auto& asked = server_.asked();
  EXPECT_EQ(asked[0].body,
            Enveloped("Binding", Field(1, Field(1, "p\"1") + Field(3, "ns") + Field(5, "u")) +
                                     Field(2, Field(1, "Node") + Field(3, "n1"))));
  EXPECT_THAT(asked[1].body, HasSubstr(R"("nominatedNodeName":null)"));
  EXPECT_THAT(asked[1].body, HasSubstr(R"("observedGeneration":3)"));
  EXPECT_THAT(asked[2].body, HasSubstr(R"("preconditions":{"uid":"u"})"));
  EXPECT_EQ(asked[3].path, "/api/v1/namespaces/ns/persistentvolumeclaims/c");
  EXPECT_THAT(asked[4].body, HasSubstr(R"("resourceVersion":"8")"));
}

// ---- the first contact ----

class FirstContactTest : public ApiClientTest {
 protected:
  std::optional<Status> Contact(bool credentials_may_change, Duration limit = Duration::Seconds(10),
                                Duration patience = {}) {
    if (api_ == nullptr) Connect();
    std::optional<Status> got;
    const FirstContact contact(loop_, *api_,
                               {credentials_may_change, {"users[0].user", {"/k", 6, 9}}}, patience,
                               [&](const Status& outcome) { got = outcome; });
    RunUntil(loop_, [&] { return got.has_value(); }, limit);
    return got;
  }
};

TEST_F(FirstContactTest, IsMadeByAnyAnswerButFrom401And5xx) {
  for (const int status : {200, 403, 404}) {
    server_.NextAnswer(status, "{}");
    EXPECT_TRUE(Contact(false).value().ok());
  }
}

TEST_F(FirstContactTest, FailsForGoodWhereNoWaitingMendsIt) {
  server_.NextAnswer(401, JsonStatus(401, "Unauthorized"));
  EXPECT_EQ(Contact(false).value().error().ToString(),
            "/k:6:9: users[0].user: the API server does not accept our credentials: Unauthorized");
  const net::testing::Authority ours("ours"), theirs("theirs");
  const auto identity = theirs.Issue({.names = "IP:127.0.0.1"});
  ApiServer secured(loop_, {.cert_pem = identity.cert_pem, .key_pem = identity.key_pem});
  ApiClient::Options options = Reach();
  options.endpoint.port = secured.http().port();
  net::TlsOptions tls;
  tls.ca_pem = ours.pem();
  options.endpoint.tls = *net::TlsContext::MakeClient(tls);
  api_ = std::make_unique<ApiClient>(loop_, options);
  const Status got = Contact(true).value();
  EXPECT_THAT(got.error().message, HasSubstr("the server's certificate is not trusted"));
  EXPECT_THAT(said_, ElementsAre());
}

// As a page to log in does, in front of the server.
TEST_F(FirstContactTest, FailsForGoodWhereItIsSentElsewhere) {
  server_.NextAnswer(302, "", {{"location", "http://login/?next=%2Fversion"}});
  EXPECT_EQ(Contact(true).value().error().ToString(),
            "what answers is no API server: asked for /version it sends us elsewhere (302), to "
            "\"http://login/?next=%2Fversion\"");
  server_.NextAnswer(307, "");
  EXPECT_THAT(Contact(true).value().error().message, HasSubstr("(307), to nowhere"));
  EXPECT_THAT(said_, ElementsAre());
}

TEST_F(FirstContactTest, WaitsForAServerThatIsDownAndSaysSoOnce) {
  for (int i = 0; i < 2; ++i) server_.NextAnswer(503, JsonStatus(503, "starting"));
  server_.NextAnswer(200, "{}");
  EXPECT_TRUE(Contact(false).value().ok());
  EXPECT_THAT(said_, ElementsAre("waiting for the API server: starting"));
  server_.http().StopListening();
  server_.http().CutAll();
  RunFor(loop_, Duration::Milliseconds(20));
  said_.clear();
  EXPECT_FALSE(Contact(true, Duration::Seconds(1)).has_value());
  EXPECT_THAT(
      said_, ElementsAre(fmt::format("waiting for the API server: 127.0.0.1:{}: Connection refused",
                                     server_.http().port())));
}

TEST_F(FirstContactTest, GivesUpAfterAWhileIfTold) {
  Connect();
  server_.http().StopListening();
  const auto got = Contact(false, Duration::Seconds(30), Duration::Seconds(1));
  EXPECT_EQ(got.value().error().ToString(),
            fmt::format("waited 1s for the API server: 127.0.0.1:{}: Connection refused",
                        server_.http().port()));
}

TEST_F(FirstContactTest, WaitsForCredentialsThatMayBecomeOthers) {
  server_.NextAnswer(401, JsonStatus(401, "Unauthorized"));
  server_.NextAnswer(200, "{}");
  EXPECT_TRUE(Contact(true).value().ok());
}

}  // namespace
}  // namespace knx::client
