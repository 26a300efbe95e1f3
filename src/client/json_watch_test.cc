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
