// What stands behind the method in a request, taken apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace knx::net {

struct RequestTarget {
  std::string path;   // begins with a slash; escapes are decoded
  std::string query;  // as it was sent
};

// "/path?query", or the same with "http://host" in front, or "*".
Result<RequestTarget> ParseTarget(std::string_view text);

// The values of a key of a query, decoded, in order; "a" and "a=" have one that is empty. Parts
// that cannot be decoded are left out.
std::vector<std::string> QueryValues(std::string_view query, std::string_view key);

}  // namespace knx::net
