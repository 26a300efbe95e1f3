#include "client/json_watch.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "base/quoted_text.h"
#include "k8s/read_object.h"

namespace knx::client {
namespace {

using simdjson::dom::element;

constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

std::string StringAt(const element& at, std::string_view pointer) {
  std::string_view text;
  return at.at_pointer(pointer).get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

k8s::ApiStatus StatusOf(const element& object) {
  k8s::ApiStatus out;
  std::int64_t code = 0;
  if (object.at_pointer("/code").get(code) == simdjson::SUCCESS && code > 0 && code < 1000) {
    out.code = static_cast<std::int32_t>(code);
  }
  out.reason = StringAt(object, "/reason");
  out.message = StringAt(object, "/message");
  return out;
}

k8s::Bookmark BookmarkOf(const element& object) {
  k8s::Bookmark out{StringAt(object, "/metadata/resourceVersion")};
  element annotations;
  std::string_view value;
  out.initial_events_end =
      object.at_pointer("/metadata/annotations").get(annotations) == simdjson::SUCCESS &&
      annotations[kInitialEventsEnd].get(value) == simdjson::SUCCESS && value == "true";
  return out;
}

struct ObjectType {
  std::string api_version, kind;
};

ObjectType TypeOf(const element& object) {
  return {StringAt(object, "/apiVersion"), StringAt(object, "/kind")};
}

k8s::ReceivedObject ReceivedOf(const element& object, const ObjectType& type,
                               const std::string& json) {
  k8s::ReceivedObject out{StringAt(object, "/metadata/resourceVersion"), k8s::RefusedObject{}};
  auto read = k8s::ReadJsonObject(json);
  if (read.ok()) {
    out.read = *std::move(read);
  } else {
    out.read = k8s::RefusedObject{type.api_version,
                                  type.kind,
                                  StringAt(object, "/metadata/namespace"),
                                  StringAt(object, "/metadata/name"),
                                  StringAt(object, "/metadata/uid"),
                                  std::move(read).error()};
  }
  return out;
}

// What a list of one kind has need not say again what it is.
k8s::ReceivedObject ItemOf(const element& item, const ObjectType& of_list) {
  std::string json = simdjson::minify(item);
  const ObjectType own = TypeOf(item);
  if (!own.kind.empty() || !item.is_object()) return ReceivedOf(item, own, json);
  json = fmt::format("{{\"apiVersion\":{},\"kind\":{}{}{}", QuotedText(of_list.api_version),
                     QuotedText(of_list.kind), json == "{}" ? "" : ",", json.substr(1));
  return ReceivedOf(item, of_list, json);
}

}  // namespace

void LineSplitter::Append(std::string_view bytes) {
  buffer_.erase(0, at_);
  looked_at_ -= at_;
  at_ = 0;
  buffer_.append(bytes);
}

Result<std::optional<std::string_view>> LineSplitter::Next() {
  for (;;) {
    const std::size_t end = buffer_.find('\n', looked_at_);
    const std::size_t length = std::min(end, buffer_.size()) - at_;
    if (length > longest_) {
      return InvalidError(fmt::format("a line of more than {} bytes", longest_));
    }
    if (end == std::string::npos) {
      looked_at_ = buffer_.size();
      return std::optional<std::string_view>();
    }
    const std::string_view line = std::string_view(buffer_).substr(at_, length);
    at_ = looked_at_ = end + 1;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return std::optional(line);
  }
}

Result<k8s::WatchEvent> ReadJsonEvent(std::string_view line) {
  simdjson::dom::parser parser;
  element event, object;
  if (parser.parse(line).get(event) != simdjson::SUCCESS) {
    return InvalidError("an event that is no JSON");
  }
  if (event.at_pointer("/object").get(object) != simdjson::SUCCESS) {
    return InvalidError("an event without an object");
  }
  const std::string type = StringAt(event, "/type");
  if (type == "ERROR") return k8s::WatchEvent(StatusOf(object));
  if (type == "BOOKMARK") return k8s::WatchEvent(BookmarkOf(object));
  constexpr std::pair<std::string_view, k8s::ChangeType> kTypes[] = {
      {"ADDED", k8s::ChangeType::kAdded},
      {"MODIFIED", k8s::ChangeType::kModified},
      {"DELETED", k8s::ChangeType::kDeleted}};
  for (const auto& [word, change] : kTypes) {
    if (type != word) continue;
    return k8s::WatchEvent(
        k8s::ObjectChange{change, ReceivedOf(object, TypeOf(object), simdjson::minify(object))});
  }
  return InvalidError("an event of no type that is known");
}

Result<k8s::ObjectList> ReadJsonList(std::string_view body) {
  simdjson::dom::parser parser;
  element list;
  simdjson::dom::array items;
  if (parser.parse(body).get(list) != simdjson::SUCCESS) return InvalidError("no JSON");
  constexpr std::string_view kList = "List";
  ObjectType type = TypeOf(list);
  const bool one_kind = type.kind.ends_with(kList) && type.kind.size() > kList.size();
  if (!one_kind || list.at_pointer("/items").get(items) != simdjson::SUCCESS) {
    return InvalidError("not a list of one kind");
  }
  type.kind.resize(type.kind.size() - kList.size());
  k8s::ObjectList out;
  out.resource_version = StringAt(list, "/metadata/resourceVersion");
  out.continue_token = StringAt(list, "/metadata/continue");
  for (const element item : items) {
    if (out.items.size() == k8s::kMaxListItems) return InvalidError("too many objects in a list");
    out.items.push_back(ItemOf(item, type));
  }
  return out;
}

}  // namespace knx::client
