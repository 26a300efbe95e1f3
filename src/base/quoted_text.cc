#include "base/quoted_text.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace knx {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// How many bytes at the front of `text` are one character; 0: they are none.
std::size_t CharacterAt(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  struct Form {
    unsigned char mask, lead;
    std::size_t length;
    std::uint32_t least;
  };
  constexpr std::array<Form, 3> kForms = {
      {{0xE0, 0xC0, 2, 0x80}, {0xF0, 0xE0, 3, 0x800}, {0xF8, 0xF0, 4, 0x10000}}};
  for (const Form& form : kForms) {
    if ((first & form.mask) != form.lead) continue;
    if (text.size() < form.length) return 0;
    std::uint32_t code = first & static_cast<unsigned char>(~form.mask);
    for (std::size_t i = 1; i < form.length; ++i) {
      if ((byte(i) & 0xC0U) != 0x80U) return 0;
      code = (code << 6) | (byte(i) & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < form.least || code > 0x10FFFF || surrogate ? 0 : form.length;
  }
  return 0;
}

void AddEscaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || byte == 0x7F) {
    out += fmt::format("\\u{:04x}", byte);
  } else {
    out += c;
  }
}

}  // namespace

std::string QuotedText(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = CharacterAt(text);
    if (length == 0) {
      out += kReplacement;
    } else if (length == 1) {
      AddEscaped(out, text.front());
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + "\"";
}

}  // namespace knx
