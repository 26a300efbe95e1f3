#include "base/quoted_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace knx {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Character {
  std::size_t length = 0;  // in bytes; 0: the text does not begin with a character
  std::uint32_t code = 0;
};

Character CharacterAt(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {1, first};
  struct Form {
    unsigned char mask, lead;
    std::size_t length;
    std::uint32_t least;
  };
  constexpr std::array<Form, 3> kForms = {
      {{0xE0, 0xC0, 2, 0x80}, {0xF0, 0xE0, 3, 0x800}, {0xF8, 0xF0, 4, 0x10000}}};
  for (const Form& form : kForms) {
    if ((first & form.mask) != form.lead) continue;
    if (text.size() < form.length) return {};
    std::uint32_t code = first & static_cast<unsigned char>(~form.mask);
    for (std::size_t i = 1; i < form.length; ++i) {
      if ((byte(i) & 0xC0U) != 0x80U) return {};
      code = (code << 6) | (byte(i) & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < form.least || code > 0x10FFFF || surrogate) return {};
    return {form.length, code};
  }
  return {};
}

// Characters that a screen obeys instead of showing them.
bool IsUnseen(std::uint32_t code) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr std::array<Range, 8> kRanges = {{
      {0x00, 0x1F},
      {0x7F, 0x9F},      // the other half of the control characters
      {0x061C, 0x061C},  // marks of the direction of writing, here and below
      {0x200E, 0x200F},
      {0x2028, 0x202E},  // ends of lines and paragraphs first
      {0x2066, 0x2069},
      {0xFEFF, 0xFEFF},  // a byte order mark
      {0xFFF9, 0xFFFB},  // annotations between lines
  }};
  return std::any_of(kRanges.begin(), kRanges.end(), [code](const Range& range) {
    return range.first <= code && code <= range.last;
  });
}

// All ranges above lie below U+10000, so four digits are enough.
std::string Escaped(std::uint32_t code) { return fmt::format("\\u{:04x}", code); }

// The short escapes of JSON and YAML; empty: it has none.
std::string_view ShortEscape(std::uint32_t code) {
  switch (code) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      return "";
  }
}

// Nearly all texts: nothing in them has to be looked at twice.
bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

// The text with every character that cannot stay as `replace` wants it; empty: it stays.
template <class Replace>
std::string Replaced(std::string_view text, Replace replace) {
  std::string out;
  while (!text.empty()) {
    const auto [length, code] = CharacterAt(text);
    if (length == 0) {
      out += kReplacement;
    } else if (const std::string instead = replace(code); !instead.empty()) {
      out += instead;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace

std::string QuotedText(std::string_view text) {
  if (IsPlain(text)) {
    std::string out;
    out.reserve(text.size() + 2);
    return out.append(1, '"').append(text).append(1, '"');
  }
  return fmt::format("\"{}\"", Replaced(text, [](std::uint32_t code) {
                       if (const auto escape = ShortEscape(code); !escape.empty()) {
                         return std::string(escape);
                       }
                       return IsUnseen(code) ? Escaped(code) : std::string();
                     }));
}

std::string Utf8(std::string_view text) {
  if (IsPlain(text)) return std::string(text);
  return Replaced(text, [](std::uint32_t) { return std::string(); });
}

std::string Printable(std::string_view text) {
  return Replaced(text, [](std::uint32_t code) {
    if (code == '\n' || code == '\t' || code == '\r') return std::string(" ");
    return IsUnseen(code) ? Escaped(code) : std::string();
  });
}

}  // namespace knx
