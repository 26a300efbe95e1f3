#include "k8s/watch_event.h"

#include <simdjson.h>

#include "k8s/read_object.h"

namespace knx::k8s {
namespace {

constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

std::string TextOf(simdjson::simdjson_result<simdjson::dom::element> element) {
  std::string_view text;
  return element.get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

WatchEvent::Type TypeOf(std::string_view word) {
  if (word == "ADDED" || word == "MODIFIED") return WatchEvent::Type::kUpserted;
  if (word == "DELETED") return WatchEvent::Type::kDeleted;
  return word == "BOOKMARK" ? WatchEvent::Type::kBookmark : WatchEvent::Type::kError;
}

// The text of the object alone: what stands between the first colon after "object" and the last
// brace. The server writes the type first.
std::string_view ObjectText(std::string_view json) {
  const std::size_t key = json.find("\"object\":");
  const std::size_t end = json.rfind('}');
  if (key == std::string_view::npos || end == std::string_view::npos) return {};
  constexpr std::size_t kKeyLength = 9;
  return json.substr(key + kKeyLength, end - key - kKeyLength);
}

}  // namespace

Result<WatchEvent> ReadWatchEvent(std::string_view json) {
  thread_local simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS) {
    return InvalidError("a watch delivered what is no JSON");
  }
  WatchEvent event;
  event.type = TypeOf(TextOf(root["type"]));
  const auto metadata = root["object"]["metadata"];
  event.resource_version = TextOf(metadata["resourceVersion"]);
  event.initial_end = TextOf(metadata["annotations"][kInitialEventsEnd]) == "true";
  if (event.type == WatchEvent::Type::kError) {
    std::int64_t code = 0;
    if (root["object"]["code"].get(code) == simdjson::SUCCESS) event.code = static_cast<int>(code);
    event.message = TextOf(root["object"]["message"]);
  }
  if (event.type != WatchEvent::Type::kUpserted && event.type != WatchEvent::Type::kDeleted) {
    return event;
  }
  if (auto object = ReadJsonObject(ObjectText(json)); object.ok()) {
    event.object = *std::move(object);
  } else {
    event.unreadable = object.error().ToString();
  }
  return event;
}

}  // namespace knx::k8s
