#include "live/node_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "client/testing/api_server.h"
#include "client/testing/wire.h"
#include "net/testing/run_until.h"

namespace knx::live {
namespace {

using client::testing::ApiServer;
using client::testing::JsonBookmark;
using client::testing::JsonEvent;
using client::testing::JsonNodeList;
using net::testing::RunUntil;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kJson = "application/json";
constexpr const char* kAll =
    "/api/v1/nodes?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch="
    "NotOlderThan";

class NodeDocumentsTest : public ::testing::Test {
 protected:
  void Follow(bool by_pages = false) {
    api_.emplace(loop_, client::ApiClient::Options{.endpoint = server_.endpoint(),
                                                   .lists_by_pages = by_pages});
    nodes_.emplace(loop_, *api_, [this](std::string_view line) { log_.emplace_back(line); });
    nodes_->WhenSynced([this] { synced_ = true; });
  }
  [[nodiscard]] bool Synced() {
    return RunUntil(loop_, [this] { return synced_; });
  }
  [[nodiscard]] bool IsAsked(std::size_t times) {
    return RunUntil(loop_, [&] { return server_.asked().size() >= times; });
  }
  std::vector<std::string> Paths() const {
    std::vector<std::string> out;
    for (const auto& asked : server_.asked()) out.push_back(asked.path);
    return out;
  }
  // The documents, or "none", of nodes a and b.
  [[nodiscard]] std::string Known(const std::string& name) const {
    const std::string* document = nodes_->Find(name);
    return document == nullptr ? "none" : *document;
  }

  net::EventLoop loop_;
  ApiServer server_{loop_};
  std::vector<std::string> log_;
  bool synced_ = false;
  std::optional<client::ApiClient> api_;
  std::optional<NodeDocuments> nodes_;
};

TEST_F(NodeDocumentsTest, AreToldByAWatchAndFollowed) {
  server_.NextWatch(JsonEvent("ADDED", {"a", "ua", "1"}) + JsonBookmark("2", true), kJson);
  Follow();
  ASSERT_TRUE(Synced());
  EXPECT_THAT(Known("a"), HasSubstr("\"uid\":\"ua\""));
  server_.Push(JsonEvent("ADDED", {"b", "ub", "3"}) + JsonEvent("DELETED", {"a", "ua", "4"}));
  ASSERT_TRUE(RunUntil(loop_, [this] { return Known("b") != "none"; }));
  EXPECT_EQ(Known("a"), "none");
  EXPECT_THAT(Paths(), ElementsAre(kAll));
}

TEST_F(NodeDocumentsTest, AreReadByPagesWhereAWatchDoesNotTellThem) {
  for (const int status : {400, 422}) {
    ApiServer server(loop_);
    server.NextAnswer(status, R"({"message":"sendInitialEvents is forbidden"})");
    server.NextAnswer(200, JsonNodeList({{"a", "ua", "1"}}, "5", "more of it"));
    server.NextAnswer(200, JsonNodeList({{"b", "ub", "2"}}, "5", ""));
    server.NextWatch("", kJson);
    client::ApiClient api(loop_, {.endpoint = server.endpoint()});
    NodeDocuments nodes(loop_, api, [this](std::string_view line) { log_.emplace_back(line); });
    bool synced = false;
    nodes.WhenSynced([&] { synced = true; });
    ASSERT_TRUE(RunUntil(loop_, [&] { return synced && server.asked().size() == 4; }));
    EXPECT_THAT(*nodes.Find("a"), HasSubstr("\"uid\":\"ua\""));
    EXPECT_THAT(*nodes.Find("b"), HasSubstr("\"uid\":\"ub\""));
    EXPECT_EQ(server.asked()[1].path, "/api/v1/nodes?limit=500");
    EXPECT_EQ(server.asked()[2].path, "/api/v1/nodes?limit=500&continue=more%20of%20it");
    EXPECT_EQ(server.asked()[3].path,
              "/api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion=5");
    EXPECT_TRUE(api.lists_by_pages());
  }
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(NodeDocumentsTest, WhatIsMissingInTheNextListHasGone) {
  server_.NextAnswer(200, JsonNodeList({{"a", "ua", "1"}, {"b", "ub", "1"}}, "5", ""));
  server_.NextAnswer(410, "{}");
  server_.NextAnswer(200, "no list");
  server_.NextAnswer(200, JsonNodeList({{"b", "ub", "1"}}, "9", ""));
  server_.NextWatch("", kJson);
  Follow(true);
  ASSERT_TRUE(IsAsked(5));
  EXPECT_EQ(Known("a"), "none");
  EXPECT_THAT(Known("b"), HasSubstr("\"uid\":\"ub\""));
  EXPECT_THAT(Paths()[4], HasSubstr("resourceVersion=9"));
  EXPECT_THAT(log_, ElementsAre("watching nodes for extenders: a list that cannot be read"));
}

// Its numbers are lower than those that we know, and it will not reach them for a long time.
TEST_F(NodeDocumentsTest, EverythingIsToldAnewByAServerThatWasSetBack) {
  const std::string refusal =
      R"({"kind":"Status","code":504,"message":"Too large resource version: 9, current: 2"})";
  for (const bool in_the_stream : {false, true}) {
    ApiServer server(loop_);
    server.NextWatch(JsonEvent("ADDED", {"a", "ua", "8"}) + JsonBookmark("9", true), kJson);
    if (in_the_stream) {
      server.NextAnswer(200, R"({"type":"ERROR","object":)" + refusal + "}\n");
    } else {
      server.NextAnswer(504, refusal);
    }
    server.NextWatch(JsonEvent("ADDED", {"b", "ub", "1"}) + JsonBookmark("2", true), kJson);
    client::ApiClient api(loop_, {.endpoint = server.endpoint()});
    NodeDocuments nodes(loop_, api, [this](std::string_view line) { log_.emplace_back(line); });
    ASSERT_TRUE(RunUntil(loop_, [&] { return nodes.Find("a") != nullptr; }));
    server.EndWatch();
    ASSERT_TRUE(RunUntil(loop_, [&] { return nodes.Find("b") != nullptr; }));
    EXPECT_THAT(server.asked()[1].path, HasSubstr("resourceVersion=9"));
    EXPECT_EQ(server.asked()[2].path, kAll);
    EXPECT_TRUE(RunUntil(loop_, [&] { return nodes.Find("a") == nullptr; }));
  }
}

TEST_F(NodeDocumentsTest, AWatchThatNeverSaysThatThisWasAllIsGivenUpWhenOthersHaveFoundThatOut) {
  server_.NextWatch(JsonEvent("ADDED", {"a", "ua", "1"}), kJson);
  server_.NextAnswer(200, JsonNodeList({{"a", "ua", "1"}}, "5", ""));
  server_.NextWatch("", kJson);
  Follow();
  ASSERT_TRUE(RunUntil(loop_, [this] { return Known("a") != "none"; }));
  EXPECT_FALSE(synced_);
  api_->set_lists_by_pages();
  nodes_->WhenSynced([] {});
  ASSERT_TRUE(Synced());
  EXPECT_THAT(Paths()[1], StartsWith("/api/v1/nodes?limit="));
}

}  // namespace
}  // namespace knx::live
