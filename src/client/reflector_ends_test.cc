// Watches that end sooner than they should.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/reflector_test_base.h"
#include "client/testing/wire.h"
#include "k8s/proto_writer.h"

namespace knx::client {
namespace {

using net::testing::RunFor;
using net::testing::RunUntil;
using testing::ApiServer;
using testing::BookmarkEvent;
using ::testing::ElementsAre;
using testing::ErrorEvent;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JsonNodeList;
using testing::JsonStatus;
using testing::NodeEvent;
using testing::NodeList;

class ReflectorEndsTest : public ReflectorTest {};

TEST_F(ReflectorEndsTest, StreamsThatEndAtOnceAreNoStorm) {
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Answer(asked, 200, BookmarkEvent("9", true),
                         {{"content-type", ApiServer::kProtobufWatch}});
  });
  Follow();
  RunFor(loop_, Duration::Seconds(1));
  EXPECT_LE(server_.asked().size(), 10U);
}

TEST_F(ReflectorEndsTest, AStreamThatWasQuietForLongEnoughIsOpenedAgainSoon) {
  server_.Otherwise([this](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Begin(asked, 200, {{"content-type", ApiServer::kProtobufWatch}});
    loop_.After(Duration::Milliseconds(40), [&server, asked] { server.http().End(asked); });
  });
  Follow();
  EXPECT_TRUE(RunUntil(loop_, [&] { return server_.asked().size() == 20; }, Duration::Seconds(3)));
  EXPECT_EQ(failures_, 0);
}

TEST_F(ReflectorEndsTest, StreamsThatEndAtOnceAgainAndAgainAreSaidOnceAndCounted) {
  server_.NextWatch(BookmarkEvent("9", true));
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Answer(asked, 200, "", {{"content-type", ApiServer::kProtobufWatch}});
  });
  Follow();
  Told(1);
  RunFor(loop_, Duration::Milliseconds(50));
  server_.EndWatch();  // which was long enough
  ASSERT_TRUE(RunUntil(loop_, [&] { return !troubles_.empty(); }));
  const int before = failures_;
  EXPECT_GE(before, 3);
  ASSERT_TRUE(RunUntil(loop_, [&] { return failures_ > before; }));
  EXPECT_THAT(troubles_,
              ElementsAre(HasSubstr("/api/v1/nodes: watches are let in and ended within 30ms")));
  EXPECT_EQ(opened_.substr(0, 4), "annn");
}

// As a server that is too busy to tell us things as fast as they happen does.
TEST_F(ReflectorEndsTest, AStreamThatEndsAfterNewsIsOpenedAgainAtOnce) {
  constexpr int kChanges = 40;
  server_.NextWatch(BookmarkEvent("9", true));
  int changes = 0;
  server_.Otherwise([&](ApiServer& server, const ApiServer::Asked& asked) {
    if (++changes > kChanges) return;
    const std::string number = std::to_string(changes);
    server.http().Answer(asked, 200, NodeEvent("ADDED", {"n" + number, number, "1" + number}),
                         {{"content-type", ApiServer::kProtobufWatch}});
  });
  Follow();
  Told(1);
  RunFor(loop_, Duration::Milliseconds(50));
  server_.EndWatch();
  EXPECT_EQ(Told(kChanges).size(), static_cast<std::size_t>(kChanges));
  EXPECT_EQ(failures_, 0);
  EXPECT_THAT(troubles_, IsEmpty());
}

// As a proxy that keeps answers does, and what tells us of objects that it made up itself.
TEST_F(ReflectorEndsTest, WatchesThatBringNothingNewAreNoStorm) {
  struct Case {
    std::string_view name;
    std::string again;
    std::string_view type;
  };
  const std::string far = NodeEvent("MODIFIED", {"a", "1", "501"});
  const std::string near = NodeEvent("MODIFIED", {"b", "2", "500"});
  const std::string_view protobuf = ApiServer::kProtobufWatch, json = "application/json";
  for (const Case& c :
       {Case{"the same", near + far, protobuf}, Case{"the same, backwards", far + near, protobuf},
        Case{"no version", NodeEvent("ADDED", {"a", "1", ""}), protobuf},
        Case{"a bookmark without a version", BookmarkEvent("", false), protobuf},
        Case{"no number", NodeEvent("ADDED", {"a", "1", "b"}) + NodeEvent("ADDED", {"a", "1", "c"}),
             protobuf},
        Case{"no objects", "[1]\nnull\n{\"type\":\"ADDED\",\"object\":[]}\n", json}}) {
    SCOPED_TRACE(c.name);
    server_.NextWatch(BookmarkEvent("9", true));
    server_.Otherwise([&](ApiServer& server, const ApiServer::Asked& asked) {
      server.http().Answer(asked, 200, c.again, {{"content-type", std::string(c.type)}});
    });
    Follow();
    Told(1);
    RunFor(loop_, Duration::Milliseconds(50));
    server_.EndWatch();
    const std::size_t before = server_.asked().size();
    ASSERT_TRUE(RunUntil(loop_, [&] { return !troubles_.empty() || !said_.empty(); }));
    RunFor(loop_, Duration::Milliseconds(300));
    EXPECT_LE(server_.asked().size(), before + 9);
    EXPECT_THAT(troubles_, ::testing::Contains(HasSubstr("let in and ended within 30ms")));
    // Nobody has to tell everything anew for that.
    EXPECT_EQ(opened_.find('a', 1), std::string::npos) << opened_;
    reflector_.reset();
    opened_.clear();
    troubles_.clear();
  }
}

TEST_F(ReflectorEndsTest, PagesWithoutAnEndAreNoStorm) {
  for (const bool json : {false, true}) {
    SCOPED_TRACE(json ? "JSON" : "protobuf");
    server_.NextAnswer(422, JsonStatus(422, "sendInitialEvents is forbidden"));
    server_.Otherwise([json](ApiServer& server, const ApiServer::Asked& asked) {
      const std::string page = json ? JsonNodeList({{"a", "1", "5"}}, "9", "again")
                                    : NodeList({{"a", "1", "5"}}, "9", "again");
      const std::string_view type = json ? "application/json" : k8s::kProtobufType;
      server.http().Answer(asked, 200, page, {{"content-type", std::string(type)}});
    });
    const std::size_t before = server_.asked().size();
    Follow();
    RunFor(loop_, Duration::Milliseconds(500));
    EXPECT_LE(server_.asked().size(), before + 20);
    EXPECT_FALSE(reflector_->synced());
    EXPECT_THAT(std::exchange(troubles_, {}), ElementsAre(HasSubstr("pages do not end")));
    reflector_.reset();
  }
}

TEST_F(ReflectorEndsTest, SaysWhatCameInsteadOfAWatch) {
  server_.NextWatch("<html>Log in, please\n", "text/html; charset=utf-8");
  Follow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return !troubles_.empty(); }));
  EXPECT_THAT(troubles_, ElementsAre("/api/v1/nodes: what came is no watch but \"text/html; "
                                     "charset=utf-8\": <html>Log in, please "));
}

TEST_F(ReflectorEndsTest, AServerThatAlwaysForgetsIsNotStormedEither) {
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Answer(asked, 200, ErrorEvent(410, "Expired", "too old"),
                         {{"content-type", ApiServer::kProtobufWatch}});
  });
  Follow();
  RunFor(loop_, Duration::Seconds(1));
  EXPECT_LE(server_.asked().size(), 10U);
  EXPECT_THAT(troubles_, ElementsAre(HasSubstr("the server has forgotten what it told us last, 3 "
                                               "times in a row")));
}

TEST_F(ReflectorEndsTest, AServerThatForgetsSoonAgainAndAgainIsAskedLessAndLess) {
  server_.Otherwise([this](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Begin(asked, 200, {{"content-type", ApiServer::kProtobufWatch}});
    server.http().Write(asked, BookmarkEvent("9", true));
    // Long enough for a watch that just ends.
    loop_.After(Duration::Milliseconds(40), [&server, asked] {
      server.http().Write(asked, ErrorEvent(410, "Expired", "too old resource version"));
    });
  });
  Follow();
  RunFor(loop_, Duration::Seconds(1));
  EXPECT_LE(server_.asked().size(), 8U);
  EXPECT_GE(failures_, 3);
  EXPECT_THAT(troubles_, ElementsAre(HasSubstr("the server has forgotten")));
}

TEST_F(ReflectorEndsTest, WhatIsForgottenOnceIsToldAnewAtOnce) {
  server_.NextWatch(BookmarkEvent("9", true));
  Follow();
  Told(1);
  server_.Push(ErrorEvent(410, "Expired", "too old resource version"));
  server_.NextWatch(BookmarkEvent("19", true));
  const Time before = net::EventLoop::Now();
  Told(1);
  EXPECT_LE(net::EventLoop::Now() - before, Duration::Milliseconds(100));
  EXPECT_EQ(opened_, "aa");
  EXPECT_EQ(failures_, 1);
  EXPECT_THAT(troubles_, IsEmpty());
}

}  // namespace
}  // namespace knx::client
