// Percent-encoding, as URLs have it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace knx {

// "%41" becomes "A". Nothing if an escape is cut off or no number.
std::optional<std::string> DecodePercent(std::string_view text);

}  // namespace knx
