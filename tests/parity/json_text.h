// Builds JSON by hand: objects and lists as texts, fields in the order in which they are added.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/quoted_text.h"

namespace knx::parity {

class JsonObject {
 public:
  JsonObject& Raw(std::string_view key, std::string_view json) {
    text_ += fmt::format("{}{}:{}", text_.size() > 1 ? "," : "", QuotedText(key), json);
    return *this;
  }
  JsonObject& Text(std::string_view key, std::string_view value) {
    return Raw(key, QuotedText(value));
  }
  JsonObject& Number(std::string_view key, std::int64_t value) {
    return Raw(key, fmt::format("{}", value));
  }
  JsonObject& Flag(std::string_view key, bool value) { return Raw(key, value ? "true" : "false"); }
  [[nodiscard]] bool empty() const { return text_.size() == 1; }
  [[nodiscard]] std::string Done() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

inline std::string JsonList(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const std::string& item : items) text += (text.size() > 1 ? "," : "") + item;
  return text + "]";
}

inline std::string JsonTexts(const std::vector<std::string>& items) {
  std::vector<std::string> quoted;
  for (const std::string& item : items) quoted.push_back(QuotedText(item));
  return JsonList(quoted);
}

}  // namespace knx::parity
