#include "client/authorization.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <fmt/format.h>

#include <algorithm>

namespace knx::client {

std::string_view TrimToken(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t first = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isprint(static_cast<unsigned char>(c));
  });
}

std::string BearerAuthorization(std::string_view token) { return fmt::format("Bearer {}", token); }

std::string BasicAuthorization(std::string_view username, std::string_view password) {
  return fmt::format("Basic {}", absl::Base64Escape(fmt::format("{}:{}", username, password)));
}

}  // namespace knx::client
