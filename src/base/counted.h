// Numbers of things, in words.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace knx {

// "1 pod", "3 pods".
template <std::integral T>
std::string FormatCount(T count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace knx
