// Against a server that says what it is told to, byte by byte if need be.
#include "net/http1_client.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace knx::net {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// Listens on loopback. For each request it takes the next of its answers; one that ends with
// kClose is followed by the end of the connection, and kSilence is none at all.
constexpr std::string_view kClose = "<close>", kSilence = "<silence>", kSlowly = "<slowly>";

class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::string> answers) : answers_(std::move(answers)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    bind(listener_, reinterpret_cast<sockaddr*>(&address), length);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    listen(listener_, 16);
    thread_ = std::thread([this] { Serve(); });
  }
  ~ScriptedServer() {
    stopped_ = true;
    thread_.join();
    close(listener_);
  }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int connections() const { return connections_; }
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  static bool Readable(int descriptor) {
    pollfd waiting{descriptor, POLLIN, 0};
    return poll(&waiting, 1, 10) > 0;
  }
  void Serve() {
    while (!stopped_) {
      if (!Readable(listener_)) continue;
      const int peer = accept(listener_, nullptr, nullptr);
      ++connections_;
      Converse(peer);
      close(peer);
    }
  }
  void Converse(int peer) {
    std::string received;
    while (!stopped_) {
      const std::size_t end = received.find("\r\n\r\nend");
      if (end == std::string::npos) {
        if (!Readable(peer)) continue;
        char buffer[4096];
        const auto got = recv(peer, buffer, sizeof(buffer), 0);
        if (got <= 0) return;
        received.append(buffer, static_cast<std::size_t>(got));
        continue;
      }
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(received.substr(0, end + 7));
      }
      received.erase(0, end + 7);
      if (next_ == answers_.size()) return;
      if (!Say(peer, answers_[next_++])) return;
    }
  }
  static bool Say(int peer, std::string answer) {
    if (answer == kSilence) return true;
    const bool closes = answer.ends_with(kClose);
    if (closes) answer.resize(answer.size() - kClose.size());
    std::size_t piece = answer.size();
    if (answer.starts_with(kSlowly)) {
      answer.erase(0, kSlowly.size());
      piece = 1;
    }
    for (std::size_t at = 0; at < answer.size(); at += piece) {
      send(peer, answer.data() + at, std::min(piece, answer.size() - at), MSG_NOSIGNAL);
    }
    return !closes;
  }

  std::vector<std::string> answers_;
  std::size_t next_ = 0;
  int listener_ = -1, port_ = 0;
  std::atomic<bool> stopped_ = false;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

std::string Answer(std::string_view body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

class Http1ClientTest : public ::testing::Test {
 protected:
  void Serve(std::vector<std::string> answers, Http1Client::Options options = {}) {
    server_.emplace(std::move(answers));
    options.endpoint.host = "127.0.0.1";
    options.endpoint.port = server_->port();
    options.authority = "extender.example";
    client_.emplace(loop_, options);
  }
  void Send(bool repeatable = true, Duration timeout = Duration::Seconds(10)) {
    Request request;
    request.method = "POST";
    request.path = "/filter";
    request.headers = {{"content-type", "application/json"}};
    request.body = "end";
    request.timeout = timeout;
    client_->Send(std::move(request), repeatable, [this](Http1Client::Outcome outcome) {
      said_.push_back(outcome.response.ok()
                          ? std::to_string(outcome.response->status) + " " + outcome.response->body
                          : outcome.response.error().message);
      timed_out_ = outcome.timed_out;
      loop_.Stop();
    });
  }
  std::string Ask(bool repeatable = true, Duration timeout = Duration::Seconds(10)) {
    Send(repeatable, timeout);
    loop_.Run();
    return said_.back();
  }

  EventLoop loop_;
  std::optional<ScriptedServer> server_;
  std::optional<Http1Client> client_;
  std::vector<std::string> said_;
  bool timed_out_ = false;
};

TEST_F(Http1ClientTest, AsksAndKeepsTheConnection) {
  Serve({Answer("one"), Answer(""), std::string(kSlowly) + Answer("three")});
  EXPECT_EQ(Ask(), "200 one");
  EXPECT_EQ(Ask(), "200 ");
  EXPECT_EQ(Ask(), "200 three");
  EXPECT_EQ(server_->connections(), 1);
  EXPECT_EQ(client_->outstanding(), 0u);
  EXPECT_EQ(server_->requests()[0],
            "POST /filter HTTP/1.1\r\nhost: extender.example\r\ncontent-type: application/json\r\n"
            "content-length: 3\r\n\r\nend");
}

TEST_F(Http1ClientTest, ReadsEveryWayToEndABody) {
  const std::string chunks =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
  Serve({chunks, std::string(kSlowly) + chunks,
         "HTTP/1.1 100 Continue\r\n\r\n" + Answer("after all"),
         "HTTP/1.0 200 OK\r\n\r\nuntil the end" + std::string(kClose),
         "HTTP/1.1 500 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno",
         "HTTP/1.1 204 Nothing\r\n\r\n"});
  EXPECT_EQ(Ask(), "200 abcde");
  EXPECT_EQ(Ask(), "200 abcde");
  EXPECT_EQ(Ask(), "200 after all");
  EXPECT_EQ(Ask(), "200 until the end");
  EXPECT_EQ(Ask(), "500 no");
  EXPECT_EQ(Ask(), "204 ");
  EXPECT_EQ(server_->connections(), 3);
}

TEST_F(Http1ClientTest, WhatIsNoHttpIsAnErrorAndTheNextRequestGetsANewConnection) {
  for (const char* bad : {
           "SSH-2.0-OpenSSH\r\n\r\n",
           "HTTP/1.1 2000 OK\r\n\r\n",
           "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: minus\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc<close>",
           "<close>",
       }) {
    SCOPED_TRACE(bad);
    Serve({bad, Answer("fine")});
    EXPECT_THAT(Ask(), HasSubstr("127.0.0.1:"));
    EXPECT_EQ(Ask(), "200 fine");
    client_.reset();
  }
}

TEST_F(Http1ClientTest, AnAnswerWithoutEndIsCutOff) {
  Http1Client::Options options;
  options.limits.header_bytes = 1000;
  options.limits.body_bytes = 1000;
  Serve({"HTTP/1.1 200 OK\r\nX: " + std::string(2000, 'x') + "\r\n\r\n",
         Answer(std::string(1001, 'x')), "HTTP/1.1 200 OK\r\n\r\n" + std::string(5000, 'x'),
         Answer(std::string(1000, 'x'))},
        options);
  EXPECT_THAT(Ask(), EndsWith("header limit exceeded"));
  EXPECT_THAT(Ask(), EndsWith("body limit exceeded"));
  EXPECT_THAT(Ask(), EndsWith("body limit exceeded"));
  EXPECT_THAT(Ask(), HasSubstr("200 xxx"));
}

TEST_F(Http1ClientTest, AServerThatSaysNothingOrNotAllIsGivenUp) {
  Serve({std::string(kSilence)});
  EXPECT_THAT(Ask(true, Duration::Milliseconds(50)), EndsWith("no answer within 50ms"));
  EXPECT_TRUE(timed_out_);
  Serve({"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"});
  EXPECT_THAT(Ask(true, Duration::Milliseconds(50)), EndsWith("no answer within 50ms"));
}

TEST_F(Http1ClientTest, AKeptConnectionThatWasClosedIsReplacedIfTheRequestMayBeRepeated) {
  Serve({Answer("one"), std::string(kClose), Answer("two")});
  EXPECT_EQ(Ask(), "200 one");
  EXPECT_EQ(Ask(), "200 two");
  EXPECT_EQ(server_->requests().size(), 3u);
  Serve({Answer("one"), std::string(kClose), Answer("two")});
  EXPECT_EQ(Ask(), "200 one");
  EXPECT_THAT(Ask(false), EndsWith("closed the connection"));
  EXPECT_EQ(server_->requests().size(), 2u);
}

TEST_F(Http1ClientTest, NobodyThereIsAnError) {
  Serve({});
  Http1Client::Options options;
  options.endpoint.host = "127.0.0.1";
  options.endpoint.port = 1;
  client_.emplace(loop_, options);
  EXPECT_EQ(Ask(), "127.0.0.1:1: Connection refused");
}

TEST_F(Http1ClientTest, RequestsWaitForAConnection) {
  Http1Client::Options options;
  options.connections = 1;
  Serve({Answer("one"), Answer("two"), Answer("three")}, options);
  for (int i = 0; i < 3; ++i) Send();
  EXPECT_EQ(client_->outstanding(), 3u);
  while (said_.size() < 3) loop_.Run();
  EXPECT_THAT(said_, ElementsAre("200 one", "200 two", "200 three"));
  EXPECT_EQ(server_->connections(), 1);
}

TEST_F(Http1ClientTest, WhatIsNotWantedAnyMoreIsNotSent) {
  Http1Client::Options options;
  options.connections = 1;
  Serve({Answer("one"), Answer("two")}, options);
  bool wanted = true;
  const auto send = [&](const std::string& path) {
    const auto done = [&](const Http1Client::Outcome& outcome) {
      wanted = false;
      said_.push_back(outcome.response.ok() ? outcome.response->body
                                            : outcome.response.error().message);
      loop_.Stop();
    };
    client_->Send({.method = "POST", .path = path, .body = "end", .wanted = [&] { return wanted; }},
                  false, done);
  };
  send("/while-it-connects");
  wanted = false;
  loop_.Run();
  wanted = true;
  send("/first");
  send("/while-it-waits");
  while (said_.size() < 3) loop_.Run();
  wanted = true;
  send("/last");
  while (said_.size() < 4) loop_.Run();
  EXPECT_THAT(said_, ElementsAre("not sent: somebody else was faster", "one",
                                 "not sent: somebody else was faster", "two"));
  EXPECT_EQ(server_->requests().size(), 2u);
  EXPECT_EQ(client_->outstanding(), 0u);
}

TEST_F(Http1ClientTest, WhoIsDestroyedTellsNobody) {
  Serve({std::string(kSilence)});
  Send();
  loop_.After(Duration::Milliseconds(20), [this] {
    client_.reset();
    loop_.After(Duration::Milliseconds(20), [this] { loop_.Stop(); });
  });
  loop_.Run();
  EXPECT_TRUE(said_.empty());
}

}  // namespace
}  // namespace knx::net
