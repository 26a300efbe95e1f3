// What a watch delivers, one at a time, as the API server writes it in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "k8s/objects.h"

namespace knx::k8s {

struct WatchEvent {
  enum class Type { kUpserted, kDeleted, kBookmark, kError };
  Type type = Type::kError;
  std::optional<Object> object;  // of the first two; none: it cannot be read, see `unreadable`
  std::string unreadable;
  std::string resource_version;  // up to where the watch has come
  bool initial_end = false;      // of a bookmark: everything that was there has been told
  int code = 0;                  // of an error
  std::string message;
};

// An error means that the line is no watch event at all.
Result<WatchEvent> ReadWatchEvent(std::string_view json);

}  // namespace knx::k8s
