// Kinds of characters, whatever the locale says.
#pragma once

namespace knx {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace knx
