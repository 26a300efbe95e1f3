#include "net/http_message.h"

#include <algorithm>

namespace knx::net {

std::string_view FindHeader(const Headers& headers, std::string_view name) {
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [&](const auto& header) { return header.first == name; });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace knx::net
