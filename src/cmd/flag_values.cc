#include "cmd/flag_values.h"

#include <charconv>
#include <cmath>

namespace knx::cmd {
namespace {

template <class Number>
std::optional<Number> ParseWhole(std::string_view text) {
  Number number{};
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string_view TrimmedFlagText(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::optional<bool> ParseFlagBool(std::string_view text) {
  for (const std::string_view word : {"1", "t", "T", "true", "True", "TRUE"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"0", "f", "F", "false", "False", "FALSE"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

std::optional<std::int64_t> ParseFlagInteger(std::string_view text) {
  return ParseWhole<std::int64_t>(text);
}

std::optional<double> ParseFlagNumber(std::string_view text) {
  const std::optional<double> number = ParseWhole<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::vector<std::string> SplitFlagList(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    out.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) out.emplace_back();
  }
  return out;
}

}  // namespace knx::cmd
