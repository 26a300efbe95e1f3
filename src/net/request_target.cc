#include "net/request_target.h"

#include <algorithm>
#include <optional>

#include "base/percent.h"

namespace knx::net {
namespace {

// What stands in front of the separator, cut off together with it.
std::string_view CutFront(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view front = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return front;
}

std::optional<std::string> DecodeQueryPart(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return DecodePercent(spaced);
}

}  // namespace

Result<RequestTarget> ParseTarget(std::string_view text) {
  if (text == "*") return RequestTarget{"*", ""};
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    text.remove_prefix(scheme.size());
    text.remove_prefix(std::min(text.find_first_of("/?"), text.size()));
    if (!text.starts_with('/')) return InvalidError("a URL without a path");
    break;
  }
  if (!text.starts_with('/')) return InvalidError("the path must begin with a slash");
  const std::optional<std::string> path = DecodePercent(CutFront(text, '?'));
  if (!path) return InvalidError("a % in the path must begin an escape such as %20");
  return RequestTarget{*path, std::string(text)};
}

std::vector<std::string> QueryValues(std::string_view query, std::string_view key) {
  std::vector<std::string> out;
  while (!query.empty()) {
    std::string_view part = CutFront(query, '&');
    // As Go does; others have taken the semicolon for a separator.
    if (part.empty() || part.find_first_of(';') != std::string_view::npos) continue;
    const auto name = DecodeQueryPart(CutFront(part, '='));
    const auto value = DecodeQueryPart(part);
    if (name && value && *name == key) out.push_back(*value);
  }
  return out;
}

}  // namespace knx::net
