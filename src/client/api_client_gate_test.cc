#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string>

#include "client/api_client.h"

namespace knx::client {
namespace {

// Takes one connection and whatever comes over it, and never says more than that it is HTTP/2.
class SilentServer {
 public:
  SilentServer() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 8), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~SilentServer() {
    close(listener_);
    if (connection_ >= 0) close(connection_);
  }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  void Read() {
    if (connection_ < 0) Accept();
    if (connection_ < 0) return;
    std::array<char, 4096> buffer;
    for (;;) {
      const auto got = read(connection_, buffer.data(), buffer.size());
      if (got < 0) reset = reset || errno == ECONNRESET;
      if (got <= 0) return;
      bytes.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  [[nodiscard]] int port() const { return port_; }
  std::string bytes;
  bool reset = false;

 private:
  void Accept() {
    connection_ = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
    if (connection_ < 0) return;
    constexpr std::array<char, 9> kEmptySettings = {0, 0, 0, 4, 0, 0, 0, 0, 0};
    // Whoever was there may have gone.
    [[maybe_unused]] const auto put =
        send(connection_, kEmptySettings.data(), kEmptySettings.size(), MSG_NOSIGNAL);
  }

  int listener_ = -1, connection_ = -1, port_ = 0;
};

class ApiClientGate : public ::testing::Test {
 protected:
  ApiClientGate() {
    ApiClient::Options options;
    options.endpoint.host = "127.0.0.1";
    options.endpoint.port = server.port();
    options.may_send = [this] { return allowed; };
    api.emplace(loop, options);
  }
  void Send(std::string body) {
    api->Send({.method = "POST", .path = "/x", .body = std::move(body)},
              [this](const Status& outcome) {
                ++answers;
                if (!outcome.ok()) last = outcome.error().message;
              });
  }
  void RunFor(Duration time) {
    loop.After(time, [this] { loop.Stop(); });
    loop.Run();
    server.Read();
  }
  void RunUntilSeen(std::string_view text) {
    for (int i = 0; i < 500 && server.bytes.find(text) == std::string::npos; ++i) {
      RunFor(Duration::Milliseconds(10));
    }
    EXPECT_NE(server.bytes.find(text), std::string::npos);
  }

  SilentServer server;
  net::EventLoop loop;
  bool allowed = true;
  std::optional<ApiClient> api;
  int answers = 0;
  std::string last;
};

constexpr Duration kAWhile = Duration::Milliseconds(100);

TEST_F(ApiClientGate, ACallThatMayNotBeSentIsRefused) {
  allowed = false;
  Send("a");
  EXPECT_EQ(answers, 0);
  EXPECT_EQ(api->urgent_calls(), 1U);
  RunFor(kAWhile);
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(last, "this process may not write any more");
  EXPECT_EQ(api->urgent_calls(), 0U);
  EXPECT_EQ(server.bytes, "");
}

TEST_F(ApiClientGate, WhatWaitsForAConnectionNeverLeaves) {
  Send("a");
  allowed = false;
  RunFor(kAWhile);
  EXPECT_EQ(server.bytes, "");
}

TEST_F(ApiClientGate, WhatWasHandedToAConnectionAndNotSentNeverLeaves) {
  Send("first");
  RunUntilSeen("first");
  Send("second");  // leaves with the next turn of the loop
  allowed = false;
  RunFor(kAWhile);
  EXPECT_EQ(server.bytes.find("second"), std::string::npos);
  EXPECT_TRUE(server.reset);
  EXPECT_EQ(answers, 2);
  EXPECT_EQ(api->urgent_calls(), 0U);
}

TEST_F(ApiClientGate, StoppingEndsTheConnectionAtOnce) {
  Send("first");
  RunUntilSeen("first");
  Send("second");
  api->StopSending();
  Send("third");
  RunFor(kAWhile);
  EXPECT_EQ(server.bytes.find("second"), std::string::npos);
  EXPECT_EQ(server.bytes.find("third"), std::string::npos);
  EXPECT_TRUE(server.reset);
  EXPECT_EQ(last, "this process may not write any more");
}

TEST_F(ApiClientGate, CallsWaitForTheirTurn) {
  ApiClient::Options options;
  options.endpoint.host = "127.0.0.1";
  options.endpoint.port = server.port();
  options.calls_per_second = 5;
  options.burst = 1;
  api.emplace(loop, options);
  Send("first");
  Send("second");
  RunUntilSeen("first");
  EXPECT_EQ(server.bytes.find("second"), std::string::npos);
  RunUntilSeen("second");
}

}  // namespace
}  // namespace knx::client
