#include "k8s/yaml_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <array>

namespace knx::k8s {
namespace {

constexpr std::array<std::string_view, 11> kTrueWords = {
    "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"};
constexpr std::array<std::string_view, 11> kFalseWords = {
    "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"};
constexpr std::array<std::string_view, 12> kFloatWords = {".inf",  ".Inf",  ".INF",  "+.inf",
                                                          "+.Inf", "+.INF", "-.inf", "-.Inf",
                                                          "-.INF", ".nan",  ".NaN",  ".NAN"};

template <std::size_t n>
bool Contains(const std::array<std::string_view, n>& words, std::string_view text) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// Takes leading characters of `set` off `text`; how many.
std::size_t Take(std::string_view& text, std::string_view set) {
  const std::size_t count = std::min(text.find_first_not_of(set), text.size());
  text.remove_prefix(count);
  return count;
}

// Digits of some base after 0x, 0o or 0b.
bool IsBasedInteger(std::string_view text) {
  if (text.size() < 3 || text[0] != '0') return false;
  const std::string_view digits = text.substr(2);
  switch (text[1]) {
    case 'x':
    case 'X':
      return digits.find_first_not_of("0123456789abcdefABCDEF_") == std::string_view::npos;
    case 'o':
    case 'O':
      return digits.find_first_not_of("01234567_") == std::string_view::npos;
    case 'b':
    case 'B':
      return digits.find_first_not_of("01_") == std::string_view::npos;
    default:
      return false;
  }
}

// An integer or a decimal fraction, with an exponent or without.
bool IsDecimal(std::string_view text) {
  std::size_t digits = Take(text, "0123456789_");
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits += Take(text, "0123456789_");
  }
  if (digits == 0) return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (Take(text, "0123456789_") == 0) return false;
  }
  return text.empty();
}

}  // namespace

const YamlNode* YamlNode::Find(std::string_view name) const {
  if (kind != Kind::kMap) return nullptr;
  const auto found = std::find_if(children.begin(), children.end(),
                                  [name](const YamlNode& child) { return child.key == name; });
  return found == children.end() ? nullptr : &*found;
}

std::optional<bool> YamlNode::AsBool() const {
  if (kind != Kind::kScalar || quoted) return std::nullopt;
  if (Contains(kTrueWords, text)) return true;
  if (Contains(kFalseWords, text)) return false;
  return std::nullopt;
}

bool YamlNode::IsNumber() const {
  if (kind != Kind::kScalar || quoted || text.empty()) return false;
  if (Contains(kFloatWords, text)) return true;
  std::string_view rest = text;
  if (rest.front() == '+' || rest.front() == '-') rest.remove_prefix(1);
  if (rest.starts_with('_')) return false;
  return IsBasedInteger(rest) || IsDecimal(rest);
}

std::optional<Error> DuplicateKey(const YamlNode& map, std::string_view file) {
  std::vector<const YamlNode*> sorted;
  sorted.reserve(map.children.size());
  for (const YamlNode& child : map.children) sorted.push_back(&child);
  // Stable, so that of two the later one is reported.
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const YamlNode* a, const YamlNode* b) { return a->key < b->key; });
  const auto twice =
      std::adjacent_find(sorted.begin(), sorted.end(),
                         [](const YamlNode* a, const YamlNode* b) { return a->key == b->key; });
  if (twice == sorted.end()) return std::nullopt;
  const YamlNode& first = **twice;
  const YamlNode& second = **(twice + 1);
  return InvalidError(
      fmt::format("the key {} is here twice, first in line {}", Quoted(second.key), first.key_line),
      {std::string(file), second.key_line, second.key_column});
}

Error TooDeep(std::string_view file, int line, int column) {
  return InvalidError(
      fmt::format("nested too deeply: at most {} levels are allowed", kMaxYamlDepth),
      {std::string(file), line, column});
}

Error TooLarge(std::string_view file, std::size_t bytes) {
  return InvalidError(
      fmt::format("too large: {} bytes, at most {} are allowed", bytes, kMaxYamlBytes),
      {std::string(file), 0, 0});
}

bool IsUtf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

Error NotUtf8(std::string_view file) {
  return InvalidError("the text is not valid UTF-8", {std::string(file), 0, 0});
}

std::string Quoted(std::string_view text) { return fmt::format("\"{}\"", Shown(text)); }

std::string Shown(std::string_view text) {
  constexpr std::size_t kShown = 80;  // enough to recognise a value, short enough for one line
  std::string out;
  std::string_view shown = text.substr(0, kShown);
  // Never cut a UTF-8 character in two.
  while (shown.size() < text.size() && !shown.empty() && (text[shown.size()] & 0xC0) == 0x80) {
    shown.remove_suffix(1);
  }
  for (const char c : shown) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  if (shown.size() < text.size()) out += "...";
  return out;
}

std::string JoinPath(std::string path, std::string_view key) {
  const bool plain = !key.empty() && key.find_first_not_of(
                                         "abcdefghijklmnopqrstuvwxyz"
                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789_-") == std::string_view::npos;
  if (!plain) return path + fmt::format("[{}]", Quoted(key));
  if (!path.empty()) path += '.';
  return path.append(key);
}

std::string NotAllowed(std::string_view text, const std::vector<std::string_view>& allowed) {
  std::vector<std::string_view> shown;
  for (const std::string_view word : allowed) {
    if (!word.empty()) shown.push_back(word);
  }
  return fmt::format("{} is not allowed; allowed are {}", Quoted(text), fmt::join(shown, ", "));
}

}  // namespace knx::k8s
