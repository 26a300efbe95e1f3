// Reads what an API server sends as application/vnd.kubernetes.protobuf: objects, lists, events of
// a watch, and statuses. The objects are those of objects.h, by the rules of the JSON path
// (read_object.h), read from the bytes without a tree in between. Malformed input is an error with
// the path of the field; it never throws or crashes.
//
// An object that is sound protobuf and that we refuse all the same (a port of 70000) must not stop
// a watch or spoil a list: it comes as a RefusedObject beside the others. An error of a whole
// function means that nothing can be said about what came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "k8s/objects.h"

namespace knx::k8s {

// Which object it is that cannot be read, as far as can be said. Its namespace is as it was sent:
// empty for what lives outside of namespaces.
struct RefusedObject {
  std::string api_version, kind;
  std::string namespace_, name, uid;
  Error why;
};

struct ReceivedObject {
  std::string resource_version;  // of a refused one too, if it has any
  std::variant<Object, RefusedObject> read;
};

// What a call is answered with that is no object: why not.
struct ApiStatus {
  std::int32_t code = 0;        // as in HTTP; 410: too old, list again
  std::string reason, message;  // reason: a word such as "Expired"
  std::int32_t retry_after_seconds = 0;
  friend bool operator==(const ApiStatus&, const ApiStatus&) = default;
};

struct ListMeta {
  std::string resource_version;
  std::string continue_token;  // for the next page; empty: this was the last
};

struct ObjectList : ListMeta {
  std::vector<ReceivedObject> items;
};

enum class ChangeType { kAdded, kModified, kDeleted };

struct ObjectChange {
  ChangeType type = ChangeType::kAdded;
  ReceivedObject object;  // of a deleted one its last state
};
// Everything up to this version was sent.
struct Bookmark {
  std::string resource_version;
  bool initial_events_end = false;  // of a watch that began by listing: that part is over
  friend bool operator==(const Bookmark&, const Bookmark&) = default;
};
// A status is an ERROR, after which the watch is over.
using WatchEvent = std::variant<ObjectChange, Bookmark, ApiStatus>;

// In one answer: more than any cluster has of one kind. An item of two bytes takes a kilobyte here,
// so that a list of nothing else would take all memory.
inline constexpr std::size_t kMaxListItems = 1'000'000;

// Bodies of answers.
Result<Object> ReadProtoObject(std::string_view body);
Result<ObjectList> ReadProtoList(std::string_view body);
// At a small part of the cost: nothing of the items is looked at.
Result<ListMeta> ReadProtoListMeta(std::string_view body);
Result<ApiStatus> ReadProtoStatus(std::string_view body);

// One frame of a watch (proto_frames.h takes the stream apart).
Result<WatchEvent> ReadProtoEvent(std::string_view frame);

}  // namespace knx::k8s
