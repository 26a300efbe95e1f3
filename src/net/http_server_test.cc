#include "net/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>

#include "net/testing/raw_client.h"
#include "net/testing/served.h"

namespace knx::net {
namespace {

using testing::CountIn;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RawClient;
using testing::Served;
using ::testing::StartsWith;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr std::string_view kLastGet = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

// Says what it was asked.
void Echo(const ServerRequest& request, const Responder& respond) {
  respond({.headers = {{"x-peer", request.peer}},
           .body = fmt::format("{} {} {}|{}", request.method, request.path, request.query,
                               request.body)});
}

HttpServer::Options WithLimits(const HttpServerLimits& limits) {
  HttpServer::Options options;
  options.limits = limits;
  return options;
}

TEST(HttpServer, AnswersAndKeepsTheConnection) {
  Served served(Echo);
  RawClient client(served.port());
  client.Send("GET /a%20b?c HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string first = client.ReceiveUntil("GET /a b c|");
  EXPECT_THAT(first, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(first, HasSubstr("content-length: 11\r\n"));
  EXPECT_THAT(first, HasSubstr("x-peer: 127.0.0.1:"));
  EXPECT_THAT(first, HasSubstr("\r\ndate: "));
  EXPECT_THAT(first, Not(HasSubstr("connection:")));
  client.Send("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc");
  const std::string second = client.ReceiveAll();
  EXPECT_THAT(second, HasSubstr("connection: close\r\n"));
  EXPECT_THAT(second, HasSubstr("POST / |abc"));
  EXPECT_TRUE(client.ended());
  EXPECT_TRUE(served.Reaches(0));
}

TEST(HttpServer, AnswersOldClientsAsTheyExpect) {
  Served served(Echo);
  RawClient old(served.port());
  old.Send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_THAT(old.ReceiveAll(), HasSubstr("connection: close\r\n"));
  RawClient keeping(served.port());
  keeping.Send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(keeping.ReceiveUntil("GET / |"), HasSubstr("connection: keep-alive\r\n"));
}

TEST(HttpServer, AnswersHeadWithoutABody) {
  Served served(Echo);
  RawClient client(served.port());
  client.Send("HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  const std::string answer = client.ReceiveAll();
  EXPECT_THAT(answer, HasSubstr("content-length: 8\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST(HttpServer, AnswersManyRequestsSentAheadInOrder) {
  Served served(Echo);
  RawClient client(served.port());
  constexpr int kRequests = 5000;
  std::thread sender([&] {
    std::string all;
    for (int i = 0; i < kRequests; ++i) {
      all += fmt::format("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", i);
    }
    client.Send(all + std::string(kLastGet));
  });
  const std::string answers = client.ReceiveAll();
  sender.join();
  EXPECT_EQ(CountIn(answers, "HTTP/1.1 200 OK"), kRequests + 1);
  EXPECT_LT(answers.find("GET /1 |"), answers.find("GET /2 |"));
  EXPECT_LT(answers.find("GET /4998 |"), answers.find("GET /4999 |"));
}

TEST(HttpServer, AnswersLaterAlsoToSeveralClients) {
  std::vector<Responder> waiting;
  Served served([&](const ServerRequest&, Responder respond) { waiting.push_back(respond); });
  RawClient a(served.port());
  RawClient b(served.port());
  a.Send(kGet);
  a.Send(kGet);  // ahead
  b.Send(kLastGet);
  for (int i = 0; i < 200; ++i) {
    std::size_t count = 0;
    served.Do([&] { count = waiting.size(); });
    if (count == 2) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  served.Do([&] {
    ASSERT_EQ(waiting.size(), 2U) << "the second request of a client waits for its first";
    for (const Responder& respond : std::exchange(waiting, {})) {
      respond({.body = "one"});
      respond({.body = "never"});
    }
  });
  EXPECT_THAT(a.ReceiveUntil("one"), Not(HasSubstr("never")));
  EXPECT_THAT(b.ReceiveAll(), HasSubstr("one"));
  served.Do([&] {
    for (const Responder& respond : waiting) respond({.status = 418, .body = "two"});
  });
  EXPECT_THAT(a.ReceiveUntil("two"), StartsWith("HTTP/1.1 418 "));
}

TEST(HttpServer, AnAnswerAfterTheClientHasGoneDoesNothing) {
  std::vector<Responder> waiting;
  Served served([&](const ServerRequest&, Responder respond) { waiting.push_back(respond); });
  const auto asked = [&] {
    std::size_t count = 0;
    served.Do([&] { count = waiting.size(); });
    return count;
  };
  {
    RawClient client(served.port());
    client.Send(kGet);
    while (asked() == 0) std::this_thread::yield();
  }
  served.Do([&] { waiting.front()({.body = std::string(4 << 20, 'x')}); });
  EXPECT_TRUE(served.Reaches(0));
  served.Do([&] { waiting.front()({.body = "again"}); });
}

TEST(HttpServer, AnAnswerAfterTheServerHasGoneDoesNothing) {
  Responder waiting;
  {
    Served served([&](const ServerRequest&, Responder respond) { waiting = std::move(respond); });
    RawClient client(served.port());
    client.Send(kGet);
    bool asked = false;
    while (!asked) served.Do([&] { asked = waiting != nullptr; });
  }
  waiting({.body = "late"});
}

TEST(HttpServer, SendsALongAnswerToAClientThatIsDoneWriting) {
  const std::string body(8 << 20, 'x');
  Served served([&](const ServerRequest&, const Responder& respond) { respond({.body = body}); });
  RawClient client(served.port());
  client.Send(kGet);
  client.EndWriting();
  const std::string answer = client.ReceiveAll();
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, body.size());
  EXPECT_TRUE(served.Reaches(0));
}

TEST(HttpServer, ConsentsToABodyThatIsAskedFor) {
  Served served(Echo);
  RawClient client(served.port());
  client.Send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.ReceiveUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("abc");
  EXPECT_THAT(client.ReceiveUntil("|abc"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(HttpServer, RefusesBrokenRequestsAndEndsTheConnection) {
  HttpServerLimits limits;
  limits.request = {.head = 1000, .body = 1000};
  std::atomic<int> asked = 0;
  Served served(
      [&](const ServerRequest& request, const Responder& respond) {
        ++asked;
        Echo(request, respond);
      },
      WithLimits(limits));
  struct Case {
    std::string text;
    std::string_view answer;
  };
  const Case cases[] = {
      {"garbage\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
      {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
      {"GET / HTTP/1.1\r\nHost: h\r\na: " + std::string(100'000, 'a'),
       "HTTP/1.1 431 Request Header Fields Too Large\r\n"},
      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'a'),
       "HTTP/1.1 413 Payload Too Large\r\n"},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n",
       "HTTP/1.1 501 Not Implemented\r\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text.substr(0, 50));
    RawClient client(served.port());
    client.Send(c.text + std::string(kGet));
    const std::string answer = client.ReceiveAll();
    EXPECT_THAT(answer, StartsWith(c.answer));
    EXPECT_THAT(answer, HasSubstr("connection: close\r\n"));
    EXPECT_EQ(CountIn(answer, "HTTP/1.1"), 1) << "what comes behind is not looked at";
  }
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(served.Reaches(0));
}

TEST(HttpServer, LeavesClientsThatAreSlow) {
  HttpServerLimits limits;
  limits.idle = limits.receive = Duration::Milliseconds(100);
  Served served(Echo, WithLimits(limits));
  RawClient silent(served.port());
  EXPECT_EQ(silent.ReceiveAll(), "");
  EXPECT_TRUE(silent.ended());
  RawClient dripping(served.port());
  // Each byte comes in time, the request does not.
  for (const char c : kGet) {
    if (!dripping.Send(std::string_view(&c, 1))) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(dripping.ReceiveAll(), "");
  RawClient cut(served.port());
  cut.Send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nab");
  EXPECT_EQ(cut.ReceiveAll(), "");
  EXPECT_TRUE(served.Reaches(0));
}

TEST(HttpServer, LeavesAClientThatDoesNotReadItsAnswer) {
  HttpServerLimits limits;
  limits.send = Duration::Milliseconds(100);
  const std::string body(64 << 20, 'x');
  std::promise<void> asked;
  Served served(
      [&](const ServerRequest&, const Responder& respond) {
        respond({.body = body});
        asked.set_value();
      },
      WithLimits(limits));
  RawClient client(served.port());
  client.Send(kGet);
  ASSERT_EQ(asked.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_TRUE(served.Reaches(0));
}

TEST(HttpServer, AnswersItselfWhenNobodyDoes) {
  HttpServerLimits limits;
  limits.answer = Duration::Milliseconds(50);
  Served served([](const ServerRequest&, const Responder&) {}, WithLimits(limits));
  RawClient client(served.port());
  client.Send(kGet);
  EXPECT_THAT(client.ReceiveAll(), StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
}

TEST(HttpServer, IdleClientsMakeRoomForNewOnes) {
  HttpServerLimits limits;
  limits.connections = 8;
  Served served(Echo, WithLimits(limits));
  std::vector<std::unique_ptr<RawClient>> hoarded;
  for (int i = 0; i < 100; ++i) {
    hoarded.push_back(std::make_unique<RawClient>(served.port()));
    if (i % 2 == 0) hoarded.back()->Send("GET / HT");
  }
  RawClient client(served.port());
  client.Send(kLastGet);
  EXPECT_THAT(client.ReceiveAll(), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_LE(served.connections(), 8U);
}

TEST(HttpServer, NobodyMakesRoomWhileBeingServed) {
  HttpServerLimits limits;
  limits.connections = 2;
  std::vector<Responder> waiting;
  Served served([&](const ServerRequest&, Responder respond) { waiting.push_back(respond); },
                WithLimits(limits));
  RawClient a(served.port()), b(served.port());
  a.Send(kLastGet);
  b.Send(kLastGet);
  std::size_t asked = 0;
  while (asked < 2) served.Do([&] { asked = waiting.size(); });
  RawClient refused(served.port());
  EXPECT_EQ(refused.ReceiveAll(), "");
  EXPECT_TRUE(refused.ended());
  served.Do([&] {
    for (const Responder& respond : waiting) respond({.body = "served"});
  });
  EXPECT_THAT(a.ReceiveAll(), HasSubstr("served"));
  EXPECT_THAT(b.ReceiveAll(), HasSubstr("served"));
}

TEST(HttpServer, SurvivesClientsThatComeAndGo) {
  Served served(Echo);
  for (int i = 0; i < 300; ++i) {
    RawClient client(served.port());
    if (i % 3 == 0) client.Send(kGet);
    if (i % 3 == 1) client.Send("GET /");
  }
  RawClient client(served.port());
  client.Send(kLastGet);
  EXPECT_THAT(client.ReceiveAll(), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(served.Reaches(0));
}

TEST(HttpServer, DrainsByAnsweringWhatWasAsked) {
  std::vector<Responder> waiting;
  Served served([&](const ServerRequest&, Responder respond) { waiting.push_back(respond); });
  RawClient asking(served.port()), idle(served.port());
  asking.Send(kGet);
  std::size_t asked = 0;
  while (asked < 1 || served.connections() < 2) served.Do([&] { asked = waiting.size(); });
  served.Do([&] { served.server().Drain(); });
  EXPECT_EQ(idle.ReceiveAll(), "");
  EXPECT_TRUE(idle.ended());
  EXPECT_FALSE(RawClient(served.port()).connected());
  served.Do([&] { waiting.front()({.body = "last words"}); });
  const std::string answer = asking.ReceiveAll();
  EXPECT_THAT(answer, HasSubstr("last words"));
  EXPECT_THAT(answer, HasSubstr("connection: close\r\n"));
}

TEST(HttpServer, SaysWhereItCannotListenAndWhy) {
  EventLoop loop;
  const auto first = HttpServer::Listen(loop, {.address = "127.0.0.1"}, Echo);
  ASSERT_TRUE(first.ok());
  const int port = (*first)->port();
  struct Case {
    std::string address;
    int port;
    std::string want;
  };
  const Case cases[] = {
      {"127.0.0.1", port,
       fmt::format("cannot listen on 127.0.0.1:{}: Address already in use", port)},
      {"localhost", 80, "cannot listen on localhost:80: this is not an IP address"},
      {"192.0.2.1", 80, "cannot listen on 192.0.2.1:80: Cannot assign requested address"},
      {"127.0.0.1", 65536, "cannot listen on 127.0.0.1:65536: the port must be from 0 to 65535"},
  };
  for (const Case& c : cases) {
    const auto server = HttpServer::Listen(loop, {.address = c.address, .port = c.port}, Echo);
    ASSERT_FALSE(server.ok());
    EXPECT_EQ(server.error().ToString(), c.want);
  }
}

TEST(HttpServer, ListensOnBothKindsOfAddressesAtOnce) {
  EventLoop loop;
  auto server = HttpServer::Listen(loop, {.address = "::"}, Echo);
  if (!server.ok()) GTEST_SKIP() << "no IPv6 here: " << server.error().ToString();
  std::thread thread([&] { loop.Run(); });
  {
    RawClient client((*server)->port());
    client.Send(kLastGet);
    EXPECT_THAT(client.ReceiveAll(), HasSubstr("x-peer: [::ffff:127.0.0.1]:"));
  }
  loop.Stop();
  thread.join();
}

}  // namespace
}  // namespace knx::net
