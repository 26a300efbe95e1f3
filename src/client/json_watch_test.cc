#include "client/json_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "client/testing/wire.h"

namespace knx::client {
namespace {

using ::testing::ElementsAre;

TEST(LineSplitter, GivesTheSameLinesHoweverTheyAreCut) {
  constexpr std::string_view kText = "{\"a\":1}\n\n  \r\n{\"b\":2}\r\nhalf";
  for (std::size_t piece = 1; piece <= kText.size(); ++piece) {
    LineSplitter lines(100);
    std::vector<std::string> got;
    for (std::size_t at = 0; at < kText.size(); at += piece) {
      lines.Append(kText.substr(at, piece));
      for (auto line = lines.Next(); line->has_value(); line = lines.Next()) {
        got.emplace_back(**line);
      }
    }
    EXPECT_THAT(got, ElementsAre("{\"a\":1}", "{\"b\":2}\r"));
  }
}

TEST(LineSplitter, RefusesALineThatIsTooLongBeforeItEnds) {
  LineSplitter lines(10);
  lines.Append("0123456789");
  EXPECT_FALSE(lines.Next()->has_value());
  lines.Append("0");
  EXPECT_FALSE(lines.Next().ok());
}

TEST(ReadJsonEvent, ReadsWhatAServerSends) {
  const auto added = ReadJsonEvent(testing::JsonEvent("ADDED", {"a", "1", "5"}));
  ASSERT_TRUE(added.ok());
  const auto& change = std::get<k8s::ObjectChange>(*added);
  EXPECT_EQ(change.object.resource_version, "5");
  EXPECT_TRUE(std::holds_alternative<k8s::Object>(change.object.read));
  const auto bookmark = ReadJsonEvent(testing::JsonBookmark("7", true));
  EXPECT_EQ(std::get<k8s::Bookmark>(*bookmark), (k8s::Bookmark{"7", true}));
  const auto error = ReadJsonEvent(
      R"({"type":"ERROR","object":{"code":410,"reason":"Expired","message":"too old"}})");
  EXPECT_EQ(std::get<k8s::ApiStatus>(*error), (k8s::ApiStatus{410, "Expired", "too old", 0}));
  const auto broken = ReadJsonEvent(testing::JsonEvent("ADDED", {"bad", "1", "5", "", true}));
  const auto& received = std::get<k8s::ObjectChange>(*broken).object;
  EXPECT_EQ(std::get<k8s::RefusedObject>(received.read).name, "bad");
}

TEST(ReadJsonList, ReadsObjectsThatSayWhatTheyAreOrDoNot) {
  const auto list = ReadJsonList(
      testing::JsonNodeList({{"a", "1", "5"}, {"bad", "2", "6", "", true}}, "9", "more"));
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_EQ(list->resource_version, "9");
  EXPECT_EQ(list->continue_token, "more");
  ASSERT_EQ(list->items.size(), 2U);
  EXPECT_EQ(std::get<k8s::Node>(std::get<k8s::Object>(list->items[0].read)).meta.name, "a");
  EXPECT_EQ(list->items[0].resource_version, "5");
  const auto& refused = std::get<k8s::RefusedObject>(list->items[1].read);
  EXPECT_EQ(refused.api_version + " " + refused.kind + " " + refused.name, "v1 Node bad");
  const auto custom =
      ReadJsonList(R"({"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroupList","items":[)"
                   R"({"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup",)"
                   R"("metadata":{"name":"g","uid":"1"},"spec":{"minMember":3}},{},[],7]})");
  ASSERT_TRUE(custom.ok()) << custom.error().message;
  ASSERT_EQ(custom->items.size(), 4U);
  EXPECT_EQ(std::get<k8s::PodGroup>(std::get<k8s::Object>(custom->items[0].read)).minimum, 3);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_TRUE(std::holds_alternative<k8s::RefusedObject>(custom->items[i].read)) << i;
  }
}

TEST(ReadJsonList, RefusesWhatIsNone) {
  for (const std::string_view text :
       {"", "{", "[]", "1", "{}", R"({"kind":"List","items":[]})", R"({"kind":"NodeList"})",
        R"({"kind":"NodeList","items":{}})", R"({"kind":7,"items":[]})"}) {
    EXPECT_FALSE(ReadJsonList(text).ok()) << text;
  }
}

TEST(ReadJsonEvent, RefusesWhatIsNone) {
  for (const std::string_view text :
       {"", "{", "[]", "1", "{}", R"({"type":"ADDED"})", R"({"type":"OTHER","object":{}})",
        R"({"object":{}})", R"({"type":1,"object":[]})"}) {
    EXPECT_FALSE(ReadJsonEvent(text).ok()) << text;
  }
  // Objects that are none are left to those who count what cannot be read.
  EXPECT_TRUE(ReadJsonEvent(R"({"type":"ADDED","object":[]})").ok());
  EXPECT_TRUE(ReadJsonEvent(R"({"type":"ERROR","object":{"code":99999999999}})").ok());
}

}  // namespace
}  // namespace knx::client
