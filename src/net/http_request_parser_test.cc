#include "net/http_request_parser.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace knx::net {
namespace {

constexpr HttpRequestParser::Limits kSmall{.head = 200, .body = 20};

// Feeds `text` in pieces of `step` bytes, as a socket would.
std::size_t ParseInPieces(HttpRequestParser& parser, std::string_view text, std::size_t step) {
  std::string waiting;
  std::size_t taken = 0;
  for (std::size_t at = 0; at < text.size() && !parser.complete() && !parser.refusal();
       at += step) {
    waiting += text.substr(at, step);
    const std::size_t used = parser.Parse(waiting);
    waiting.erase(0, used);
    taken += used;
  }
  return taken;
}

TEST(HttpRequestParser, ReadsARequestInPiecesOfAnySize) {
  const std::string text =
      "POST /a%20b?x=1 HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nx-one: 2\r\n"
      "Content-Length: 5\r\n\r\nhello";
  const std::string next = "GET / HTTP/1.1\r\n";
  for (std::size_t step = 1; step <= text.size() + next.size(); ++step) {
    SCOPED_TRACE(step);
    HttpRequestParser parser(kSmall);
    EXPECT_EQ(ParseInPieces(parser, text + next, step), text.size());
    ASSERT_TRUE(parser.complete());
    EXPECT_TRUE(parser.keep_alive());
    EXPECT_FALSE(parser.http_1_0());
    const ServerRequest request = parser.Take();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.target, "/a%20b?x=1");
    EXPECT_EQ(request.path, "/a b");
    EXPECT_EQ(request.query, "x=1");
    EXPECT_EQ(request.body, "hello");
    EXPECT_EQ(FindHeader(request.headers, "x-one"), "1");
    EXPECT_EQ(request.headers.size(), 4U);
  }
}

TEST(HttpRequestParser, ReadsChunksInPiecesOfAnySizeAndIgnoresTrailers) {
  const std::string text =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nAuthorization: Bearer x\r\n\r\n";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    SCOPED_TRACE(step);
    HttpRequestParser parser(kSmall);
    EXPECT_EQ(ParseInPieces(parser, text, step), text.size());
    ASSERT_TRUE(parser.complete());
    const ServerRequest request = parser.Take();
    EXPECT_EQ(request.body, "abcde");
    EXPECT_EQ(FindHeader(request.headers, "authorization"), "");
  }
}

TEST(HttpRequestParser, RefusesWhatIsBrokenOrTooLongOrAmbiguous) {
  const std::string host = "Host: h\r\n";
  struct Case {
    std::string_view name;
    std::string text;
    int status;
  };
  const Case cases[] = {
      {"garbage", "\x16\x03\x01\x02garbage\r\n\r\n", 400},
      {"no version", "GET /\r\n\r\n", 400},
      {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
      {"HTTP/0.9", "GET / HTTP/0.9\r\n" + host + "\r\n", 400},
      {"no host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two hosts", "GET / HTTP/1.1\r\n" + host + host + "\r\n", 400},
      {"path without slash", "GET metrics HTTP/1.1\r\n" + host + "\r\n", 400},
      {"broken escape", "GET /%zz HTTP/1.1\r\n" + host + "\r\n", 400},
      {"header without colon", "GET / HTTP/1.1\r\n" + host + "oops\r\n\r\n", 400},
      {"space before colon", "GET / HTTP/1.1\r\n" + host + "a : b\r\n\r\n", 400},
      {"nul in header", "GET / HTTP/1.1\r\n" + host + std::string("a: \0\r\n\r\n", 8), 400},
      {"two lengths",
       "GET / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
      {"negative length", "GET / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", 400},
      {"enormous length",
       "GET / HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999999\r\n\r\n", 400},
      {"length and chunks",
       "GET / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
       400},
      {"bad chunk", "GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
       400},
      {"unknown coding", "GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {"compressed chunks",
       "GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"chunks in HTTP/1.0", "POST / HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n",
       501},
      {"strange expectation", "GET / HTTP/1.1\r\n" + host + "Expect: cake\r\n\r\n", 417},
      {"long body", "GET / HTTP/1.1\r\n" + host + "Content-Length: 21\r\n\r\n", 413},
      {"long chunk", "GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n15\r\n", 413},
      {"many chunks",
       "GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n" +
           "b\r\n01234567890\r\n",
       413},
      {"long path", "GET /" + std::string(300, 'a') + " HTTP/1.1\r\n" + host + "\r\n", 431},
      {"long header", "GET / HTTP/1.1\r\n" + host + "a: " + std::string(300, 'a') + "\r\n\r\n",
       431},
      {"endless chunk extension",
       "GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(300, 'a'),
       400},
  };
  for (const Case& c : cases) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, c.text.size()}) {
      SCOPED_TRACE(fmt::format("{}, {} bytes at a time", c.name, step));
      HttpRequestParser parser(kSmall);
      ParseInPieces(parser, c.text, step);
      ASSERT_TRUE(parser.refusal().has_value());
      EXPECT_EQ(parser.refusal()->status, c.status) << parser.refusal()->reason;
      EXPECT_FALSE(parser.refusal()->reason.empty());
    }
  }
}

// Cut into pieces, they are found only when the head is too long or the time is over.
TEST(HttpRequestParser, RefusesLinesWithoutCarriageReturns) {
  HttpRequestParser parser(kSmall);
  parser.Parse("GET / HTTP/1.1\nHost: h\n\n");
  ASSERT_TRUE(parser.refusal().has_value());
  EXPECT_EQ(parser.refusal()->status, 400);
}

TEST(HttpRequestParser, RefusesAHeadThatIsLongOnlyAsAWhole) {
  std::string text = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 100; ++i) text += "a: b\r\n";
  for (const std::size_t step : {std::size_t{1}, std::size_t{6}, text.size()}) {
    HttpRequestParser parser(kSmall);
    ParseInPieces(parser, text, step);
    ASSERT_TRUE(parser.refusal().has_value()) << step;
    EXPECT_EQ(parser.refusal()->status, 431);
  }
}

TEST(HttpRequestParser, SaysWhetherTheConnectionCanBeKept) {
  struct Case {
    std::string_view text;
    bool keep;
  };
  const Case cases[] = {
      {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", true},
      {"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", false},
      {"GET / HTTP/1.0\r\n\r\n", false},
      {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true},
  };
  for (const Case& c : cases) {
    HttpRequestParser parser(kSmall);
    parser.Parse(c.text);
    ASSERT_TRUE(parser.complete()) << c.text;
    EXPECT_EQ(parser.keep_alive(), c.keep) << c.text;
  }
}

TEST(HttpRequestParser, TellsOnceThatTheClientWaitsForConsent) {
  HttpRequestParser parser(kSmall);
  parser.Parse("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: 100-Continue\r\n\r\n");
  EXPECT_TRUE(parser.TakeExpectation());
  EXPECT_FALSE(parser.TakeExpectation());
  parser.Parse("x");
  EXPECT_TRUE(parser.complete());
}

}  // namespace
}  // namespace knx::net
