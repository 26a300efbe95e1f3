#include "base/result.h"

#include <fmt/format.h>

namespace knx {

std::string Error::ToString() const {
  if (place.file.empty() && place.line == 0) return message;
  std::string out = place.file.empty() ? "<input>" : place.file;
  if (place.line > 0) out += fmt::format(":{}", place.line);
  if (place.line > 0 && place.column > 0) out += fmt::format(":{}", place.column);
  return out + ": " + message;
}

Error Error::Within(std::string_view context) && {
  message = fmt::format("{}: {}", context, message);
  return std::move(*this);
}

}  // namespace knx
