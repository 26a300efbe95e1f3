// What becomes of requests where a server takes few at a time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "net/http_client.h"
#include "net/testing/client_and_server.h"

namespace knx::net {
namespace {

using testing::Heard;
using testing::RunFor;
using testing::RunUntil;

class HttpClientRoomTest : public testing::ClientAndServer {};

TEST_F(HttpClientRoomTest, KeepsToTheNumberOfRequestsThatTheServerTakesAtATime) {
  std::vector<Asked> open;
  std::size_t most_open = 0;
  Serve({.most_streams = 3}, [&](const Asked& asked) {
    open.push_back(asked);
    most_open = std::max(most_open, open.size());
    loop_.After(Duration::Milliseconds(1), [&, asked] {
      std::erase_if(open, [&](const Asked& one) { return one.stream == asked.stream; });
      server_->Answer(asked, 200, "");
    });
  });
  Connect();
  ASSERT_TRUE(Done({Get("/first")}));
  std::vector<std::shared_ptr<Heard>> all;
  for (int i = 0; i < 30; ++i) all.push_back(Get("/"));
  ASSERT_TRUE(Done(all));
  for (const auto& one : all) EXPECT_TRUE(one->ok && one->dones == 1);
  EXPECT_EQ(most_open, 3U);
}

TEST_F(HttpClientRoomTest, WhereRequestsWaitTheUrgentOnesGoFirst) {
  std::vector<std::string> order;
  std::optional<Asked> holding;
  Serve({.most_streams = 1}, [&](const Asked& asked) {
    if (asked.path == "/hold") {
      holding = asked;
      return;
    }
    order.push_back(asked.path);
    server_->Answer(asked, 200, "");
  });
  Connect();
  ASSERT_TRUE(Done({Get("/first")}));
  const auto hold = Get("/hold");
  ASSERT_TRUE(RunUntil(loop_, [&] { return holding.has_value(); }));
  std::vector<std::shared_ptr<Heard>> all;
  all.push_back(Send({.path = "/patient", .urgent = false}));
  all.push_back(Get("/urgent"));
  server_->Answer(*holding, 200, "");
  ASSERT_TRUE(Done(all));
  EXPECT_THAT(order, ::testing::ElementsAre("/first", "/urgent", "/patient"));
}

TEST_F(HttpClientRoomTest, PatientOnesThatHangLeaveRoomForUrgentOnes) {
  int hanging = 0;
  Serve({.most_streams = 8}, [&](const Asked& asked) {
    if (asked.path != "/hang") return server_->Answer(asked, 200, "");
    ++hanging;
  });
  Connect();
  std::vector<std::shared_ptr<Heard>> all;
  for (int i = 0; i < 20; ++i) all.push_back(Send({.path = "/hang", .urgent = false}));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Done({Get("/urgent")}));
  EXPECT_EQ(hanging, 6);
}

TEST_F(HttpClientRoomTest, AFewPatientOnesAreTriedWhereAnswersDoNotCome) {
  std::vector<Asked> open;
  bool hangs = false;
  Serve({}, [&](const Asked& asked) {
    hangs ? open.push_back(asked) : server_->Answer(asked, 200, "");
  });
  Connect();
  const auto send = [this](int count) {
    std::vector<std::shared_ptr<Heard>> sent;
    for (int i = 0; i < count; ++i) sent.push_back(Send({.path = "/", .urgent = false}));
    return sent;
  };
  hangs = true;
  auto all = send(100);
  ASSERT_TRUE(RunUntil(loop_, [&] { return open.size() == 50; }));
  RunFor(loop_, Duration::Milliseconds(20));
  EXPECT_EQ(open.size(), 50U);
  hangs = false;
  for (const Asked& one : std::exchange(open, {})) server_->Answer(one, 200, "");
  ASSERT_TRUE(Done(all));
  hangs = true;
  all = send(200);
  ASSERT_TRUE(RunUntil(loop_, [&] { return open.size() == 150; })) << "it was quick before";
}

TEST_F(HttpClientRoomTest, ManyConnectionsShareTheWork) {
  std::set<std::uint64_t> used;
  std::vector<Asked> open;
  Serve({.most_streams = 2}, [&](const Asked& asked) {
    used.insert(asked.connection);
    open.push_back(asked);
    if (open.size() == 6) {
      for (const Asked& one : open) server_->Answer(one, 200, "");
    }
  });
  Connect(3);
  std::vector<std::shared_ptr<Heard>> all;
  for (std::size_t i = 1; i <= 6; ++i) {
    all.push_back(Get("/"));
    ASSERT_TRUE(RunUntil(loop_, [&] { return open.size() == i; }));
  }
  ASSERT_TRUE(Done(all));
  EXPECT_EQ(used.size(), 3U);
}

// Does something as soon as it is answered.
class PromptSink final : public ResponseSink {
 public:
  explicit PromptSink(std::function<void()> answered) : answered_(std::move(answered)) {}
  void OnHead(int, const Headers&) override { answered_(); }
  void OnData(std::string_view) override {}
  void OnDone(const Status&, bool) override {}

 private:
  std::function<void()> answered_;
};

TEST_F(HttpClientRoomTest, WhatWaitsInAConnectionThatGoesAwayWasNotActedUpon) {
  Serve({}, [&](const Asked& asked) {
    server_->Begin(asked, 200);
    server_->GoAway(asked.connection, asked.stream);
  });
  Connect();
  // It is handed over between the two, which come together.
  std::shared_ptr<Heard> second;
  client_->Send({.path = "/1"}, std::make_unique<PromptSink>([&] { second = Get("/2"); }));
  ASSERT_TRUE(RunUntil(loop_, [&] { return second != nullptr && second->dones > 0; }));
  EXPECT_TRUE(second->unsent);
  EXPECT_EQ(second->error,
            fmt::format("127.0.0.1:{}: the server takes no more requests", server_->port()));
}

TEST_F(HttpClientRoomTest, NothingIsSentBeforeTheServerHasSaidHowManyItTakes) {
  std::size_t open = 0;
  Serve({.most_streams = 2}, [&](const Asked&) { ++open; });
  Connect();
  std::vector<std::shared_ptr<Heard>> all;
  for (int i = 0; i < 5; ++i) all.push_back(Get("/"));
  ASSERT_TRUE(RunUntil(loop_, [&] { return open == 2; }));
  RunFor(loop_, Duration::Milliseconds(30));
  EXPECT_EQ(open, 2U);
  for (const auto& one : all) EXPECT_EQ(one->dones, 0) << "refused: " << one->error;
}

TEST_F(HttpClientRoomTest, RequestsWithoutEndAllGetAPlaceWhereTheServerTakesFewAtATime) {
  std::map<std::uint64_t, int> places;
  Serve({.most_streams = 3}, [&](const Asked& asked) {
    server_->Begin(asked, 200);
    ++places[asked.connection];
  });
  Connect(32);
  std::vector<std::shared_ptr<Heard>> all;
  for (int i = 0; i < 10; ++i) all.push_back(Get("/watch"));
  ASSERT_TRUE(RunUntil(loop_, [&] {
    return std::all_of(all.begin(), all.end(), [](const auto& one) { return one->heads > 0; });
  }));
  EXPECT_EQ(places.size(), 4U);
  for (const auto& [connection, count] : places) EXPECT_LE(count, 3) << connection;
}

TEST_F(HttpClientRoomTest, WhoWaitsForRoomForTooLongIsToldSo) {
  Serve({.most_streams = 2}, [&](const Asked& asked) { server_->Begin(asked, 200); });
  Connect(2, {}, Duration::Milliseconds(900));
  std::vector<std::shared_ptr<Heard>> watches;
  for (int i = 0; i < 4; ++i) watches.push_back(Get("/watch"));
  const auto fifth = Get("/watch");
  const auto call = Send({.path = "/call", .timeout = Duration::Milliseconds(400)});
  ASSERT_TRUE(Done({fifth, call}));
  const std::string why =
      "waited for room: the server takes no more than 4 requests at a time over 2 connections";
  EXPECT_EQ(call->error,
            fmt::format("127.0.0.1:{}: not sent within 400ms: {}", server_->port(), why));
  EXPECT_EQ(fifth->error,
            fmt::format("127.0.0.1:{}: not sent within 900ms: {}", server_->port(), why));
  EXPECT_TRUE(fifth->unsent && call->unsent);
  for (const auto& watch : watches) EXPECT_EQ(watch->dones, 0);
  EXPECT_EQ(client_->outstanding(), 4U);
}

TEST_F(HttpClientRoomTest, WhoWaitsBehindOthersThatAreServedIsNotGivenUp) {
  Serve({.most_streams = 1}, [&](const Asked& asked) {
    loop_.After(Duration::Milliseconds(100), [this, asked] { server_->Answer(asked, 200, ""); });
  });
  Connect();
  std::vector<std::shared_ptr<Heard>> all;
  for (int i = 0; i < 15; ++i) {
    all.push_back(Send({.path = "/", .timeout = Duration::Seconds(1)}));
  }
  ASSERT_TRUE(Done(all));
  for (const auto& one : all) EXPECT_TRUE(one->ok) << one->error;
}

TEST_F(HttpClientRoomTest, AServerThatSaysNothingKeepsNobodyWaitingForLong) {
  Serve({.says_nothing = true}, [](const Asked&) { FAIL(); });
  Connect();
  const auto heard = Send({.path = "/", .timeout = Duration::Milliseconds(50)});
  ASSERT_TRUE(Done({heard}));
  EXPECT_EQ(heard->error, fmt::format("127.0.0.1:{}: not sent within 50ms: waited for a connection",
                                      server_->port()));
  EXPECT_TRUE(heard->unsent);
}

// As one that sheds load: it speaks HTTP/2, takes no requests, and ends the connection.
TEST_F(HttpClientRoomTest, AServerThatTakesNoRequestsAndHangsUpIsNotStormed) {
  const std::string settings("\0\0\6\4\0\0\0\0\0\0\3\0\0\0\0", 15);  // streams at a time: 0
  Serve({.greeting = settings}, nullptr);
  Connect(4);
  std::function<void()> hang_up = [&] {
    server_->CutAll();
    loop_.After(Duration::Milliseconds(2), hang_up);
  };
  hang_up();
  std::vector<std::shared_ptr<Heard>> all = {Get("/"), Get("/")};
  ASSERT_TRUE(Done(all));
  EXPECT_TRUE(all[0]->unsent && all[1]->unsent);
  // Whoever asks again at once waits for the next attempt, later and later.
  for (int i = 0; i < 200; ++i) {
    all = {Get("/")};
    RunFor(loop_, Duration::Milliseconds(5));
  }
  EXPECT_LE(server_->accepted(), 8U);
}

// Cancels another request when it is told.
class CancellingSink final : public ResponseSink {
 public:
  CancellingSink(HttpClient& client, const HttpClient::RequestId& other, int& dones)
      : client_(client), other_(other), dones_(dones) {}
  void OnHead(int, const Headers&) override {}
  void OnData(std::string_view) override {}
  void OnDone(const Status&, bool) override {
    ++dones_;
    client_.Cancel(other_);
  }

 private:
  HttpClient& client_;
  const HttpClient::RequestId& other_;
  int& dones_;
};

TEST_F(HttpClientRoomTest, WhoIsToldThatThereIsNoRoomMayCancelAnother) {
  Serve({.says_nothing = true}, nullptr);
  Connect(1, {}, Duration::Milliseconds(20));
  HttpClient::RequestId second = 0;
  int dones = 0;
  client_->Send({.path = "/"}, std::make_unique<CancellingSink>(*client_, second, dones));
  const auto cancelled = Get("/");
  second = last_id_;
  ASSERT_TRUE(RunUntil(loop_, [&] { return dones == 1; }));
  RunFor(loop_, Duration::Milliseconds(40));
  EXPECT_EQ(cancelled->dones, 0);
  EXPECT_EQ(client_->outstanding(), 0U);
}

}  // namespace
}  // namespace knx::net
