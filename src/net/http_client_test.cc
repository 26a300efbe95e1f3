#include "net/http_client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "net/testing/client_and_server.h"

namespace knx::net {
namespace {

using ::testing::HasSubstr;
using testing::Heard;
using testing::RunFor;
using testing::RunUntil;

constexpr std::uint32_t kRefusedStream = 7, kInternalError = 2;

class HttpClientTest : public testing::ClientAndServer {};

TEST_F(HttpClientTest, WhatIsNotWantedAnyMoreIsNotSent) {
  std::vector<std::string> paths;
  Serve({}, [&](const Asked& asked) {
    paths.push_back(asked.path);
    server_->Answer(asked, 200, "");
  });
  Connect();
  bool wanted = true;
  const auto first = Send({.path = "/first", .wanted = [&] { return wanted; }});
  const auto second = Get("/second");
  EXPECT_EQ(first->dones, 0);
  wanted = false;
  ASSERT_TRUE(Done({first, second}));
  EXPECT_EQ(paths, std::vector<std::string>{"/second"});
  EXPECT_TRUE(first->unsent);
  EXPECT_EQ(first->error, "not sent: somebody else was faster");
}

TEST_F(HttpClientTest, AConnectionThatWasPreparedTakesTheFirstRequest) {
  Serve({}, [&](const Asked& asked) { server_->Answer(asked, 200, ""); });
  Connect(2);
  client_->Prepare();
  client_->Prepare();
  ASSERT_TRUE(RunUntil(loop_, [&] { return server_->connected() == 1; }));
  ASSERT_TRUE(Done({Get("/")}));
  EXPECT_EQ(server_->connected(), 1U);
}

TEST_F(HttpClientTest, CarriesARequestThereAndItsAnswerBack) {
  Asked got;
  Serve({}, [&](const Asked& asked) {
    got = asked;
    server_->Answer(asked, 201, "made", {{"x-of", "the server"}});
  });
  Connect();
  const auto heard = Send({.method = "POST",
                           .path = "/a?b=c",
                           .headers = {{"x-of", "the client"}},
                           .body = "what to make"});
  ASSERT_TRUE(Done({heard}));
  EXPECT_TRUE(heard->ok);
  EXPECT_EQ(heard->status, 201);
  EXPECT_EQ(heard->body, "made");
  EXPECT_EQ(FindHeader(heard->headers, "x-of"), "the server");
  EXPECT_EQ(got.method + " " + got.path + " " + got.body, "POST /a?b=c what to make");
  EXPECT_EQ(FindHeader(got.headers, "x-of"), "the client");
  EXPECT_EQ(FindHeader(got.headers, ":authority"), fmt::format("127.0.0.1:{}", server_->port()));
  EXPECT_EQ(client_->outstanding(), 0U);
}

TEST_F(HttpClientTest, WhatEndsWithoutAnAnswerMayHaveBeenDone) {
  constexpr std::uint32_t kNoError = 0;
  Serve({}, [&](const Asked& asked) { server_->Reset(asked, kNoError); });
  Connect();
  const auto heard = Get("/");
  ASSERT_TRUE(Done({heard}));
  EXPECT_FALSE(heard->ok || heard->unsent);
  EXPECT_THAT(heard->error, HasSubstr("the server ended the request"));
}

TEST_F(HttpClientTest, TheEndOfAPathIsAskedForWhenItIsSent) {
  std::vector<std::string> paths;
  Serve({}, [&](const Asked& asked) {
    paths.push_back(asked.path);
    server_->Answer(asked, 200, "");
  });
  Connect();
  std::string end = "?early";
  const auto heard = Send({.path = "/a", .path_end = [&] { return end; }});
  end = "?late";
  ASSERT_TRUE(Done({heard}));
  EXPECT_EQ(paths, std::vector<std::string>{"/a?late"});
}

TEST_F(HttpClientTest, CarriesBodiesThatAreLargerThanAnyWindow) {
  const std::string large(std::size_t{9} << 20, 'x');
  Serve({}, [&](const Asked& asked) { server_->Answer(asked, 200, asked.body + "!"); });
  Connect();
  const auto heard = Send({.method = "POST", .path = "/", .body = large});
  ASSERT_TRUE(Done({heard}));
  EXPECT_TRUE(heard->ok) << heard->error;
  EXPECT_EQ(heard->body.size(), large.size() + 1);
}

TEST_F(HttpClientTest, AServerThatTakesNoMoreOfABodyIsNotWaitedForForever) {
  Serve({.grants_window = false}, [](const Asked&) { FAIL(); });
  Connect();
  const auto heard = Send({.method = "POST",
                           .path = "/",
                           .body = std::string(1 << 20, 'x'),
                           .timeout = Duration::Milliseconds(100)});
  ASSERT_TRUE(Done({heard}));
  EXPECT_FALSE(heard->ok);
  EXPECT_FALSE(heard->unsent);
  EXPECT_THAT(heard->error, HasSubstr("no answer within 100ms"));
}

TEST_F(HttpClientTest, WhatIsRefusedWasCertainlyNotActedUponAndWhatFailsMayHaveBeen) {
  Serve({}, [&](const Asked& asked) {
    server_->Reset(asked, asked.path == "/refused" ? kRefusedStream : kInternalError);
  });
  Connect();
  const auto refused = Get("/refused"), failed = Get("/failed");
  ASSERT_TRUE(Done({refused, failed}));
  EXPECT_TRUE(refused->unsent);
  EXPECT_FALSE(failed->unsent);
  EXPECT_FALSE(refused->ok || failed->ok);
  EXPECT_EQ(server_->accepted(), 1U);  // the connection is none the worse for it
}

TEST_F(HttpClientTest, WhatIsAboveTheLastOfAGoAwayWasNotActedUponAndTheRestIsStillAnswered) {
  std::vector<Asked> asked_for;
  Serve({}, [&](const Asked& asked) {
    if (asked.connection > 1) return server_->Answer(asked, 200, "elsewhere");
    asked_for.push_back(asked);
    if (asked_for.size() < 3) return;
    server_->GoAway(asked.connection, asked_for[0].stream);
  });
  Connect();
  const auto first = Get("/1"), second = Get("/2"), third = Get("/3");
  ASSERT_TRUE(Done({second, third}));
  EXPECT_TRUE(second->unsent && third->unsent);
  // The connection that is about to close does not keep a new one from being made.
  const auto fourth = Get("/4");
  ASSERT_TRUE(Done({fourth}));
  EXPECT_EQ(fourth->body, "elsewhere");
  EXPECT_EQ(first->dones, 0);
  server_->Answer(asked_for[0], 200, "late");
  ASSERT_TRUE(Done({first}));
  EXPECT_EQ(first->body, "late");
  EXPECT_TRUE(RunUntil(loop_, [&] { return server_->connected() == 1; }));
}

TEST_F(HttpClientTest, AConnectionThatIsLostTellsAHundredRequestsOnceEach) {
  int seen = 0;
  Serve({}, [&](const Asked& asked) {
    if (++seen == 100) server_->Cut(asked.connection);
  });
  Connect();
  std::vector<std::shared_ptr<Heard>> all;
  for (int i = 0; i < 100; ++i) all.push_back(Get("/"));
  ASSERT_TRUE(Done(all));
  RunFor(loop_, Duration::Milliseconds(20));
  for (const auto& one : all) {
    EXPECT_EQ(one->dones, 1);
    EXPECT_FALSE(one->ok || one->unsent);
    EXPECT_THAT(one->error, HasSubstr("the server closed the connection"));
  }
  EXPECT_EQ(client_->outstanding(), 0U);
}

TEST_F(HttpClientTest, AnAnswerThatIsCutOffIsNoAnswer) {
  Serve({}, [&](const Asked& asked) {
    server_->Begin(asked, 200);
    server_->Write(asked, "half");
    loop_.After(Duration::Milliseconds(20), [this, asked] { server_->Cut(asked.connection); });
  });
  Connect();
  const auto heard = Get("/");
  ASSERT_TRUE(Done({heard}));
  EXPECT_EQ(heard->body, "half");
  EXPECT_FALSE(heard->ok || heard->unsent);
}

TEST_F(HttpClientTest, GarbageEndsTheConnectionAndNothingElse) {
  bool once = false;
  Serve({}, [&](const Asked& asked) {
    if (std::exchange(once, true)) return server_->Answer(asked, 200, "fine");
    server_->Garbage(asked.connection, std::string(100, '\xff'));
  });
  Connect();
  const auto first = Get("/");
  ASSERT_TRUE(Done({first}));
  EXPECT_FALSE(first->ok || first->unsent);
  const auto second = Get("/");
  ASSERT_TRUE(Done({second}));
  EXPECT_EQ(second->body, "fine");
}

TEST_F(HttpClientTest, AServerOfAnotherLanguageIsNamedAsSuch) {
  Serve({.greeting = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"}, nullptr);
  Connect();
  const auto heard = Get("/");
  ASSERT_TRUE(Done({heard}));
  EXPECT_EQ(heard->error,
            fmt::format("127.0.0.1:{}: the server does not speak HTTP/2", server_->port()));
}

TEST_F(HttpClientTest, AServerThatDoesNotAnswerPingsIsFoundDead) {
  Serve({.answers_pings = false}, [](const Asked&) {});
  Connect(1, {.ping_every = Duration::Milliseconds(50)});
  const auto heard = Get("/");
  ASSERT_TRUE(Done({heard}));
  EXPECT_THAT(heard->error, HasSubstr("the server does not answer"));
}

TEST_F(HttpClientTest, AServerThatAnswersPingsMayTakeItsTime) {
  Serve({}, [&](const Asked& asked) {
    loop_.After(Duration::Milliseconds(300), [this, asked] { server_->Answer(asked, 200, "x"); });
  });
  Connect(1, {.ping_every = Duration::Milliseconds(20)});
  const auto heard = Get("/");
  ASSERT_TRUE(Done({heard}));
  EXPECT_TRUE(heard->ok);
}

TEST_F(HttpClientTest, TellsWhoWaitsThatTheServerIsDownAndDoesNotStormIt) {
  Serve({}, nullptr);
  Connect();
  server_->StopListening();
  const auto heard = Get("/");
  ASSERT_TRUE(Done({heard}));
  EXPECT_TRUE(heard->unsent);
  EXPECT_EQ(heard->error, fmt::format("127.0.0.1:{}: Connection refused", server_->port()));
}

TEST_F(HttpClientTest, AServerThatHangsUpAtOnceIsNotStormedEither) {
  Serve({.hangs_up = true}, nullptr);
  Connect();
  const Time end = EventLoop::Now() + Duration::Seconds(1);
  // As a caller would that never gives up.
  while (EventLoop::Now() < end) {
    ASSERT_TRUE(Done({Get("/")}));
  }
  EXPECT_LE(server_->accepted(), 8U);
}

TEST_F(HttpClientTest, WhoCancelsHearsNothingMoreAndMakesRoomForOthers) {
  std::vector<Asked> seen;
  Serve({.most_streams = 1}, [&](const Asked& asked) {
    seen.push_back(asked);
    if (asked.path != "/endless") server_->Answer(asked, 200, "");
  });
  Connect();
  ASSERT_TRUE(Done({Get("/")}));
  const auto endless = Get("/endless");
  const auto id = last_id_;
  ASSERT_TRUE(RunUntil(loop_, [&] { return seen.size() == 2; }));
  const auto next = Get("/next");
  const auto never = Get("/never");
  client_->Cancel(last_id_);
  client_->Cancel(id);
  client_->Cancel(12345);
  ASSERT_TRUE(Done({next}));
  EXPECT_TRUE(next->ok);
  EXPECT_EQ(endless->dones, 0);
  EXPECT_EQ(never->dones, 0);
  EXPECT_EQ(seen.size(), 3U);
  EXPECT_EQ(server_->cancelled(), 1);
}

// Cancels itself as soon as it hears something.
class ImpatientSink final : public ResponseSink {
 public:
  ImpatientSink(HttpClient& client, HttpClient::RequestId& id, int& calls)
      : client_(client), id_(id), calls_(calls) {}
  void OnHead(int, const Headers&) override {}
  void OnData(std::string_view) override {
    ++calls_;
    client_.Cancel(id_);
    ++calls_;  // still there
  }
  void OnDone(const Status&, bool) override { FAIL(); }

 private:
  HttpClient& client_;
  HttpClient::RequestId& id_;
  int& calls_;
};

TEST_F(HttpClientTest, ASinkMayCancelItsOwnRequest) {
  Serve({}, [&](const Asked& asked) {
    server_->Begin(asked, 200);
    server_->Write(asked, "a");
    loop_.After(Duration::Milliseconds(10), [this, asked] { server_->Write(asked, "b"); });
  });
  Connect();
  HttpClient::RequestId id = 0;
  int calls = 0;
  id = client_->Send({.path = "/"}, std::make_unique<ImpatientSink>(*client_, id, calls));
  EXPECT_TRUE(RunUntil(loop_, [&] { return server_->cancelled() == 1; }));
  EXPECT_EQ(calls, 2);
}

TEST_F(HttpClientTest, AClientThatIsDestroyedLeavesNothingBehindThatFires) {
  Serve({}, [](const Asked&) {});
  Connect();
  const auto heard = Send({.path = "/", .timeout = Duration::Milliseconds(300)});
  ASSERT_TRUE(RunUntil(loop_, [&] { return server_->connected() == 1; }));
  Get("/");
  client_.reset();
  RunFor(loop_, Duration::Milliseconds(400));
  EXPECT_EQ(heard->dones, 0);
}

TEST_F(HttpClientTest, ANewEndpointGetsTheNewRequestsAndTheOldOneFinishesItsOwn) {
  std::optional<Asked> first;
  Serve({}, [&](const Asked& asked) {
    if (!first) {
      first = asked;
      return;
    }
    server_->Answer(asked, 200, fmt::format("of {}", asked.connection));
  });
  Connect();
  const auto old_one = Get("/old");
  ASSERT_TRUE(RunUntil(loop_, [&] { return first.has_value(); }));
  client_->Replace(Where());
  const auto new_one = Get("/new");
  ASSERT_TRUE(Done({new_one}));
  EXPECT_EQ(new_one->body, "of 2");
  server_->Answer(*first, 200, "of old");
  ASSERT_TRUE(Done({old_one}));
  EXPECT_EQ(old_one->body, "of old");
  EXPECT_TRUE(RunUntil(loop_, [&] { return server_->connected() == 1; }));
}

}  // namespace
}  // namespace knx::net
