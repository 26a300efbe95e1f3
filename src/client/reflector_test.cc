#include "client/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/api_server.h"
#include "client/testing/reflector_test_base.h"
#include "client/testing/wire.h"
#include "net/testing/run_until.h"

namespace knx::client {
namespace {

using net::testing::RunFor;
using net::testing::RunUntil;
using ::testing::_;
using testing::ApiServer;
using testing::BookmarkEvent;
using ::testing::ElementsAre;
using testing::ErrorEvent;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JsonBookmark;
using testing::JsonEvent;
using testing::JsonNodeList;
using testing::JsonStatus;
using testing::NodeEvent;
using testing::NodeList;
using ::testing::Not;
using testing::WireObject;

TEST_F(ReflectorTest, TellsWhatIsThereAndThenWhatChanges) {
  server_.NextWatch(NodeEvent("ADDED", {"a", "1", "5"}) + BookmarkEvent("9", true));
  Follow();
  EXPECT_THAT(Told(2), ElementsAre("+a:1", "synced"));
  EXPECT_EQ(Query(0),
            "watch=true&allowWatchBookmarks=true&fieldSelector=a%3Db%2Cc%21%3Dd"
            "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
  server_.Push(NodeEvent("MODIFIED", {"a", "1", "10"}) + NodeEvent("ADDED", {"b", "2", "11"}) +
               NodeEvent("DELETED", {"a", "1", "12"}) + NodeEvent("DELETED", {"x", "7", "13"}));
  EXPECT_THAT(Told(3), ElementsAre("+a:1", "+b:2", "-a:1"));
  EXPECT_TRUE(reflector_->synced());
  EXPECT_EQ(reflector_->resource_version(), "13");
}

TEST_F(ReflectorTest, WhatIsLeftOutIsAsIfItWereNotThere) {
  left_out_ = [](const k8s::Object& object) { return MetaOf(object).uid == "9"; };
  server_.NextWatch(NodeEvent("ADDED", {"a", "1", "5"}) + NodeEvent("ADDED", {"x", "9", "6"}) +
                    BookmarkEvent("9", true) + NodeEvent("MODIFIED", {"a", "9", "11"}));
  Follow();
  EXPECT_THAT(Told(3), ElementsAre("+a:1", "synced", "-a:1"));
}

TEST_F(ReflectorTest, ReadsFramesThatAreCutAnywhere) {
  const std::string all = NodeEvent("ADDED", {"a", "1", "5"}) + BookmarkEvent("9", true) +
                          NodeEvent("ADDED", {"b", "2", "6"});
  server_.NextWatch("");
  Follow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return server_.asked().size() == 1; }));
  for (const char byte : all) {
    server_.Push(std::string_view(&byte, 1));
    RunFor(loop_, Duration::Nanoseconds(1));
  }
  EXPECT_THAT(Told(3), ElementsAre("+a:1", "synced", "+b:2"));
}

TEST_F(ReflectorTest, ReadsAWatchInJson) {
  server_.NextWatch(JsonEvent("ADDED", {"a", "1", "5"}) + "\n" + JsonBookmark("9", true) +
                        JsonEvent("DELETED", {"a", "1", "10"}) +
                        JsonEvent("ADDED", {"bad", "9", "11", "", true}) + "no JSON\n",
                    "application/json");
  Follow();
  EXPECT_THAT(Told(3), ElementsAre("+a:1", "synced", "-a:1"));
  EXPECT_TRUE(RunUntil(loop_, [&] { return reflector_->undecodable() == 2; }));
  EXPECT_EQ(reflector_->resource_version(), "11");
}

TEST_F(ReflectorTest, GoesOnWhereItWasWhenAStreamEnds) {
  server_.NextWatch(NodeEvent("ADDED", {"a", "1", "5"}) + BookmarkEvent("9", true));
  server_.NextWatch(NodeEvent("ADDED", {"b", "2", "10"}));
  Follow();
  Told(2);
  server_.Push(BookmarkEvent("42", false));
  ASSERT_TRUE(RunUntil(loop_, [&] { return reflector_->resource_version() == "42"; }));
  server_.EndWatch();
  EXPECT_THAT(Told(1), ElementsAre("+b:2"));
  EXPECT_THAT(Query(1), HasSubstr("&resourceVersion=42"));
  EXPECT_THAT(Query(1), Not(HasSubstr("sendInitialEvents")));
  EXPECT_THAT(troubles_, IsEmpty());
}

TEST_F(ReflectorTest, BeginsAtTheBeginningWhenNotEverythingWasTold) {
  server_.NextWatch(NodeEvent("ADDED", {"a", "1", "5"}) + BookmarkEvent("7", false));
  server_.NextWatch(NodeEvent("ADDED", {"b", "2", "8"}) + BookmarkEvent("9", true));
  Follow();
  EXPECT_THAT(Told(1), ElementsAre("+a:1"));
  server_.EndWatch();
  // What was told before and is not told again has gone.
  EXPECT_THAT(Told(3), ElementsAre("+b:2", "-a:1", "synced"));
  EXPECT_THAT(Query(1), HasSubstr("sendInitialEvents"));
}

TEST_F(ReflectorTest, TellsEverythingAnewWhenTheServerHasForgotten) {
  struct Case {
    std::string_view name;
    std::function<void(ApiServer&)> plan;
  };
  const std::string first = NodeEvent("ADDED", {"a", "1", "5"}) +
                            NodeEvent("ADDED", {"b", "2", "6"}) + BookmarkEvent("9", true);
  const std::string later = NodeEvent("ADDED", {"b", "3", "20"}) + BookmarkEvent("21", true);
  const Case cases[] = {
      {"410 as an event",
       [](ApiServer& server) { server.NextWatch(ErrorEvent(410, "Expired", "too old")); }},
      {"410 as an answer",
       [](ApiServer& server) { server.NextAnswer(410, JsonStatus(410, "too old")); }},
      {"set back",
       [](ApiServer& server) {
         server.NextAnswer(504, JsonStatus(504, "Timeout: Too large resource version: 9"));
       }},
      {"set back, said as an event",
       [](ApiServer& server) {
         server.NextWatch(ErrorEvent(504, "Timeout", "Too large resource version: 9, current: 3"));
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    server_.NextWatch(first);
    Follow();
    EXPECT_THAT(Told(3), ElementsAre("+a:1", "+b:2", "synced"));
    c.plan(server_);
    server_.NextWatch(later);
    server_.EndWatch();
    // b is another one by now, of the same name.
    EXPECT_THAT(Told(4), ElementsAre("-b:2", "+b:3", "-a:1", "synced"));
    reflector_.reset();
  }
}

TEST_F(ReflectorTest, TheEndOfOneIsNotTheEndOfAnotherOfItsName) {
  server_.NextWatch(NodeEvent("ADDED", {"a", "1", "5"}) + BookmarkEvent("9", true) +
                    NodeEvent("ADDED", {"a", "2", "10"}) + NodeEvent("DELETED", {"a", "1", "11"}) +
                    NodeEvent("DELETED", {"a", "2", "12"}));
  Follow();
  EXPECT_THAT(Told(5), ElementsAre("+a:1", "synced", "-a:1", "+a:2", "-a:2"));
}

TEST_F(ReflectorTest, LeavesOutWhatCannotBeReadWithOneWarningAndACount) {
  server_.NextWatch(NodeEvent("ADDED", {"bad", "1", "5", "", true}) +
                    NodeEvent("ADDED", {"worse", "2", "6", "", true}) +
                    NodeEvent("ADDED", {"good", "3", "7"}) + BookmarkEvent("9", true));
  Follow();
  EXPECT_THAT(Told(2), ElementsAre("+good:3", "synced"));
  EXPECT_EQ(reflector_->undecodable(), 2U);
  ASSERT_EQ(troubles_.size(), 1U);
  EXPECT_THAT(troubles_[0], HasSubstr("/api/v1/nodes: left out 1 that cannot be read, the last: "));
  EXPECT_THAT(troubles_[0], HasSubstr("/bad: "));
  // It is there as it was, until it goes, also if it could be read no more by then.
  server_.Push(NodeEvent("MODIFIED", {"good", "3", "10", "", true}) + BookmarkEvent("11", false));
  ASSERT_TRUE(RunUntil(loop_, [&] { return reflector_->resource_version() == "11"; }));
  server_.Push(NodeEvent("DELETED", {"good", "3", "12", "", true}));
  EXPECT_THAT(Told(1), ElementsAre("-good:3"));
  EXPECT_EQ(reflector_->undecodable(), 3U);  // that it goes is none
}

TEST_F(ReflectorTest, AFrameWithoutEndEndsTheStream) {
  server_.NextWatch(NodeEvent("ADDED", {"a", "1", "5"}) + BookmarkEvent("9", true));
  server_.NextWatch(NodeEvent("ADDED", {"b", "2", "10"}));
  Follow();
  Told(2);
  server_.Push("\xff\xff\xff\xff and so on");
  EXPECT_THAT(Told(1), ElementsAre("+b:2"));
  ASSERT_EQ(troubles_.size(), 1U);
  EXPECT_THAT(troubles_[0], HasSubstr("a frame of 4294967295 bytes"));
}

TEST_F(ReflectorTest, TellsEveryTimeOfWhatCannotBeReadAndOnceThatItIsNews) {
  std::string heard;
  refused_ = [&](const k8s::RefusedObject& object, bool news) {
    heard += object.name + (news ? "! " : " ");
  };
  const WireObject bad{"bad", "1", "5", "", true}, other{"bad", "2", "8", "", true};
  server_.NextWatch(NodeEvent("ADDED", bad) + NodeEvent("MODIFIED", bad) +
                    BookmarkEvent("6", true) + NodeEvent("MODIFIED", bad) +
                    NodeEvent("DELETED", bad) + NodeEvent("ADDED", other) +
                    NodeEvent("MODIFIED", {"bad", "2", "9"}) + NodeEvent("MODIFIED", other) +
                    NodeEvent("MODIFIED", other));
  Follow();
  EXPECT_THAT(Told(2), ElementsAre("synced", "+bad:2"));
  ASSERT_TRUE(RunUntil(loop_, [&] { return reflector_->undecodable() == 6; }));
  EXPECT_EQ(heard, "bad! bad bad bad! bad! bad ");
  EXPECT_THAT(troubles_, IsEmpty());
  // Whoever is told everything anew may have to say it to others.
  heard.clear();
  server_.NextWatch(NodeEvent("ADDED", other) + BookmarkEvent("10", true));
  reflector_->TellAnew();
  EXPECT_THAT(Told(1), ElementsAre("synced"));
  EXPECT_EQ(heard, "bad! ");
}

constexpr const char* kForbiddenNodes =
    R"(nodes is forbidden: User \"jane\" cannot watch resource \"nodes\")";

TEST_F(ReflectorTest, SaysOnceWhatItIsNotAllowedToSee) {
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Answer(asked, 403, JsonStatus(403, kForbiddenNodes));
  });
  Follow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return server_.asked().size() >= 4; }));
  EXPECT_THAT(said_, ElementsAre("not allowed to watch nodes: the ClusterRole needs apiGroups: "
                                 "[\"\"], resources: [nodes], verbs: [list, watch]"));
  EXPECT_THAT(troubles_, IsEmpty());
  EXPECT_FALSE(reflector_->synced());
}

TEST_F(ReflectorTest, ARefusalThatIsNotTheServersIsNoMissingRight) {
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Answer(asked, 403, "<html>Forbidden by WAF</html>");
  });
  Follow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return server_.asked().size() >= 4; }));
  EXPECT_THAT(said_, IsEmpty());
  EXPECT_THAT(troubles_,
              ElementsAre("/api/v1/nodes: something between us and the API server refuses what we "
                          "ask (403): <html>Forbidden by WAF</html>"));
}

TEST_F(ReflectorTest, SaysOtherRefusalsOnce) {
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Answer(asked, 500, testing::WireStatus(500, "InternalError", "etcd is ill"));
  });
  Follow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return server_.asked().size() >= 4; }));
  EXPECT_THAT(troubles_, ElementsAre("/api/v1/nodes: etcd is ill"));
}

TEST_F(ReflectorTest, ARefusalWithoutAMessageIsSaidAllTheSame) {
  server_.NextWatch(BookmarkEvent("9", true) + ErrorEvent(500, "InternalError", ""));
  Follow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return !troubles_.empty(); }));
  EXPECT_THAT(troubles_,
              ElementsAre("/api/v1/nodes: the server ends the watch: 500 InternalError"));
}

TEST_F(ReflectorTest, ManyThatLoseOneServerSayItOnce) {
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Begin(asked, 200, {{"content-type", ApiServer::kProtobufWatch}});
    server.http().Write(asked, BookmarkEvent("9", true));
  });
  Follow();
  std::vector<std::unique_ptr<Reflector>> others;
  for (int i = 0; i < 14; ++i) others.push_back(MakeReflector("/api/v1/pods", false));
  Told(15);
  server_.http().StopListening();
  server_.http().CutAll();
  RunFor(loop_, Duration::Milliseconds(700));
  EXPECT_THAT(said_, ElementsAre(_, HasSubstr("Connection refused")));
  EXPECT_THAT(troubles_, IsEmpty());
}

TEST_F(ReflectorTest, AKindThatTheServerDoesNotHaveIsEmptyUntilItAppears) {
  server_.NextAnswer(404, "404 page not found");
  server_.NextAnswer(404, "404 page not found");
  server_.NextWatch(NodeEvent("ADDED", {"a", "1", "5"}) + BookmarkEvent("9", true));
  server_.NextAnswer(404, "404 page not found");
  Follow(true);
  EXPECT_THAT(Told(1), ElementsAre("synced"));
  EXPECT_TRUE(reflector_->synced());
  EXPECT_THAT(Told(3), ElementsAre("synced", "+a:1", "synced"));
  // And it may go again, with all that is there of it.
  server_.EndWatch();
  EXPECT_THAT(Told(2), ElementsAre("-a:1", "synced"));
  EXPECT_THAT(troubles_, IsEmpty());
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(ReflectorTest, AKindIsFollowedToWhereItIs) {
  Follow(true);
  server_.NextWatch(NodeEvent("ADDED", {"a", "1", "5"}) + BookmarkEvent("9", true));
  EXPECT_THAT(Told(2), ElementsAre("+a:1", "synced"));
  server_.NextWatch(NodeEvent("ADDED", {"a", "1", "5"}) + BookmarkEvent("9", true));
  reflector_->MoveTo("/api/v2/nodes");
  EXPECT_THAT(Told(2), ElementsAre("+a:1", "synced"));
  EXPECT_THAT(server_.asked().back().path, HasSubstr("/api/v2/nodes?watch=true"));
  reflector_->MoveTo("/api/v2/nodes");
  RunFor(loop_, Duration::Milliseconds(30));
  EXPECT_EQ(server_.asked().size(), 2U);
  reflector_->MoveTo("");
  EXPECT_THAT(Told(2), ElementsAre("-a:1", "synced"));
  // Whoever wants to be told anew hears that there is nothing, and the server hears nothing.
  reflector_->TellAnew();
  EXPECT_THAT(Told(1), ElementsAre("synced"));
  RunFor(loop_, Duration::Milliseconds(100));
  EXPECT_EQ(server_.asked().size(), 2U);
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(ReflectorTest, NothingIsAskedUntilItIsKnownWhere) {
  api_ = std::make_unique<ApiClient>(loop_, ApiClient::Options{.endpoint = server_.endpoint()});
  const Reflector::Callbacks nobody{.upserted = [](const auto&) {},
                                    .gone = [](const auto&) {},
                                    .synced = [] {},
                                    .trouble = [](const auto&, const auto&) {}};
  Reflector reflector(loop_, *api_, Collection{"/apis/g/v1/things", "", true}, nobody);
  reflector.TellAnew();
  RunFor(loop_, Duration::Milliseconds(50));
  EXPECT_THAT(server_.asked(), IsEmpty());
  EXPECT_FALSE(reflector.synced());
}

TEST_F(ReflectorTest, AnOptionalKindThatMayNotBeReadIsEmptyUntilItMay) {
  server_.NextAnswer(403, JsonStatus(403, kForbiddenNodes));
  server_.NextWatch(NodeEvent("ADDED", {"a", "1", "5"}) + BookmarkEvent("9", true));
  server_.NextAnswer(403, JsonStatus(403, kForbiddenNodes));
  server_.NextWatch(BookmarkEvent("10", false));
  Follow(true);
  EXPECT_THAT(Told(3), ElementsAre("synced", "+a:1", "synced"));
  // What is known stays if the right goes.
  server_.EndWatch();
  ASSERT_TRUE(RunUntil(loop_, [&] { return reflector_->resource_version() == "10"; }));
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(ReflectorTest, AKindThatMustBeThereIsMissed) {
  server_.NextAnswer(404, JsonStatus(404, "the server could not find the requested resource"));
  Follow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return !troubles_.empty(); }));
  EXPECT_FALSE(reflector_->synced());
}

// ---- lists in pages ----

constexpr const char* kNoStreaming =
    "ListOptions.meta.k8s.io is invalid: sendInitialEvents: Forbidden: sendInitialEvents is "
    "forbidden for watch unless the WatchList feature gate is enabled";

TEST_F(ReflectorTest, ListsByPagesWhereTheServerDoesNotStreamLists) {
  server_.NextAnswer(422, JsonStatus(422, kNoStreaming));
  server_.NextAnswer(200, NodeList({{"a", "1", "5"}, {"bad", "8", "5", "", true}}, "9", "to=ken"));
  server_.NextAnswer(200, NodeList({{"b", "2", "6"}}, "9", ""));
  server_.NextWatch(NodeEvent("ADDED", {"c", "3", "10"}));
  Follow();
  EXPECT_THAT(Told(4), ElementsAre("+a:1", "+b:2", "synced", "+c:3"));
  EXPECT_EQ(Query(1), "limit=1000&fieldSelector=a%3Db%2Cc%21%3Dd");
  EXPECT_EQ(Query(2), "limit=1000&fieldSelector=a%3Db%2Cc%21%3Dd&continue=to%3Dken");
  EXPECT_THAT(Query(3), HasSubstr("&resourceVersion=9"));
  EXPECT_EQ(opened_, "aa");
  EXPECT_EQ(reflector_->undecodable(), 1U);
  // The next one knows.
  server_.NextAnswer(200, NodeList({{"d", "4", "6"}}, "12", ""));
  const auto other = MakeReflector("/api/v1/nodes", false);
  EXPECT_THAT(Told(2), ElementsAre("+d:4", "synced"));
  EXPECT_THAT(Query(4), HasSubstr("limit=1000"));
}

TEST_F(ReflectorTest, ReadsPagesInJson) {
  const net::Headers json = {{"content-type", "application/json"}};
  server_.NextAnswer(422, JsonStatus(422, kNoStreaming));
  server_.NextAnswer(200, JsonNodeList({{"a", "1", "5"}, {"bad", "8", "5", "", true}}, "9", "more"),
                     json);
  server_.NextAnswer(200, JsonNodeList({{"b", "2", "6"}}, "9", ""), json);
  server_.NextWatch(JsonEvent("ADDED", {"c", "3", "10"}), "application/json");
  Follow();
  EXPECT_THAT(Told(4), ElementsAre("+a:1", "+b:2", "synced", "+c:3"));
  EXPECT_EQ(reflector_->undecodable(), 1U);
}

TEST_F(ReflectorTest, AsksForNothingButJsonWhereThatIsWanted) {
  server_.NextAnswer(422, JsonStatus(422, kNoStreaming));
  server_.NextAnswer(200, JsonNodeList({}, "9", ""), {{"content-type", "application/json"}});
  server_.NextWatch("", "application/json");
  api_ = std::make_unique<ApiClient>(loop_, ApiClient::Options{.endpoint = server_.endpoint()});
  reflector_ = std::make_unique<Reflector>(
      loop_, *api_, Collection{.path = "/api/v1/nodes", .field_selector = "", .json = true},
      Reflector::Callbacks{.upserted = [](const k8s::Object&) {},
                           .gone = [](const k8s::Object&) {},
                           .synced = [] {},
                           .trouble = [](std::string_view, const Error&) {}});
  ASSERT_TRUE(RunUntil(loop_, [&] { return server_.asked().size() == 3; }));
  for (const ApiServer::Asked& asked : server_.asked()) {
    EXPECT_EQ(net::FindHeader(asked.headers, "accept"), "application/json") << asked.path;
  }
}

TEST_F(ReflectorTest, PagesThatAreTooOldBeginAnew) {
  server_.NextAnswer(400, JsonStatus(400, kNoStreaming));
  server_.NextAnswer(200, NodeList({{"a", "1", "5"}}, "9", "token"));
  server_.NextAnswer(410, JsonStatus(410, "The provided continue parameter is too old"));
  server_.NextAnswer(200, NodeList({{"b", "2", "6"}}, "19", ""));
  server_.NextWatch("");
  Follow();
  EXPECT_THAT(Told(4), ElementsAre("+a:1", "+b:2", "-a:1", "synced"));
  EXPECT_THAT(Query(3), Not(HasSubstr("continue")));
  ASSERT_TRUE(RunUntil(loop_, [&] { return server_.asked().size() == 5; }));
  // A watch that is told that its place is forgotten lists again, too.
  server_.NextAnswer(200, NodeList({{"b", "2", "6"}}, "29", ""));
  server_.Push(ErrorEvent(410, "Expired", "too old"));
  EXPECT_THAT(Told(2), ElementsAre("+b:2", "synced"));
}

// The next page is asked for before this one is read.
TEST_F(ReflectorTest, WhatFollowsAPageThatCannotBeUsedIsOfNoUseEither) {
  server_.NextAnswer(422, JsonStatus(422, kNoStreaming));
  server_.NextAnswer(200, NodeList({{"a", "1", "5"}}, "", "token"));
  server_.NextAnswer(200, NodeList({{"b", "2", "6"}}, "9", ""));
  server_.NextAnswer(200, NodeList({{"c", "3", "7"}}, "19", ""));
  server_.NextWatch("");
  Follow();
  EXPECT_THAT(Told(2), ElementsAre("+c:3", "synced"));
  EXPECT_THAT(Query(2), HasSubstr("&continue=token"));
  EXPECT_THAT(Query(3), Not(HasSubstr("continue")));
  EXPECT_EQ(troubles_.size(), 1U);
}

TEST_F(ReflectorTest, ListsThatAreNoneAreNoStorm) {
  server_.NextAnswer(422, JsonStatus(422, kNoStreaming));
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Answer(asked, 200, "no list");
  });
  Follow();
  RunFor(loop_, Duration::Seconds(1));
  EXPECT_LE(server_.asked().size(), 12U);
  EXPECT_EQ(troubles_.size(), 1U);
}

TEST_F(ReflectorTest, ListsByPagesWhereAStreamDoesNotSayThatThisWasAll) {
  server_.NextWatch("");
  Follow();
  // As long as it tells something it is waited for.
  for (int i = 0; i < 6; ++i) {
    RunFor(loop_, Duration::Milliseconds(60));
    server_.Push(NodeEvent("ADDED", {"a", "1", "5"}) + BookmarkEvent("6", false));
  }
  EXPECT_EQ(Told(6).size(), 6U);
  EXPECT_EQ(server_.asked().size(), 1U);
  server_.NextAnswer(200, NodeList({{"b", "2", "6"}}, "9", ""));
  server_.NextWatch(NodeEvent("ADDED", {"c", "3", "10"}));
  EXPECT_THAT(Told(4), ElementsAre("+b:2", "-a:1", "synced", "+c:3"));
  EXPECT_THAT(Query(1), HasSubstr("limit=1000"));
  EXPECT_THAT(Query(2), HasSubstr("&resourceVersion=9"));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("it is asked for lists instead")));
  // What comes after may be as rare as it likes.
  RunFor(loop_, Duration::Milliseconds(300));
  server_.Push(NodeEvent("ADDED", {"d", "4", "11"}));
  EXPECT_THAT(Told(1), ElementsAre("+d:4"));
  EXPECT_EQ(server_.asked().size(), 3U);
  EXPECT_EQ(said_.size(), 1U);
}

TEST_F(ReflectorTest, OneThatIsDestroyedHearsNothingMore) {
  server_.NextAnswer(422, JsonStatus(422, kNoStreaming));
  Follow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return server_.asked().size() == 2; }));
  reflector_.reset();
  server_.http().Answer(server_.asked()[1], 200, NodeList({{"a", "1", "5"}}, "9", ""));
  RunFor(loop_, Duration::Milliseconds(30));
  EXPECT_THAT(told_, IsEmpty());
}

}  // namespace
}  // namespace knx::client
