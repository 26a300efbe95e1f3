// JSON (RFC 8259) into the tree of yaml_reader.h. Written out rather than taken from simdjson
// because every node needs its line and column, and every error its own.
#include <fmt/format.h>

#include "base/characters.h"
#include "k8s/yaml_reader.h"
#include "k8s/yaml_tree.h"

namespace knx::k8s {
namespace {

using Kind = YamlNode::Kind;

void AppendUtf8(std::uint32_t code, std::string& out) {
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3F));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

// Every Parse function returns false after an error, which is then in error_.
class JsonParser {
 public:
  JsonParser(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<YamlNode> Parse() {
    YamlNode root;
    SkipBlanks();
    if (Peek() != '{' && Peek() != '[') Fail("expected { or [");
    if (!error_ && ParseValue(root, 0)) {
      SkipBlanks();
      if (at_ < text_.size()) Fail("expected the end of the text");
    }
    if (error_) return *std::move(error_);
    return root;
  }

 private:
  // The next character; 0 at the end (which no token begins with).
  [[nodiscard]] char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] int column() const { return static_cast<int>(at_ - line_start_) + 1; }

  bool Fail(std::string_view message) {
    if (!error_) {
      error_ = InvalidError(fmt::format("not valid JSON: {}", message),
                            {std::string(file_), line_, column()});
    }
    return false;
  }

  void SkipBlanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  bool ParseValue(YamlNode& node, int depth) {
    node.line = line_;
    node.column = column();
    switch (Peek()) {
      case '{':
      case '[':
        if (depth >= kMaxYamlDepth) {
          error_ = TooDeep(file_, node.line, node.column);
          return false;
        }
        return Peek() == '{' ? ParseObject(node, depth) : ParseArray(node, depth);
      case '"':
        node.kind = Kind::kScalar;
        node.quoted = true;
        return ParseString(node.text);
      case 't':
        return ParseWord(node, "true");
      case 'f':
        return ParseWord(node, "false");
      case 'n':
        if (!ParseWord(node, "null")) return false;
        node.kind = Kind::kNull;
        node.text.clear();
        return true;
      default:
        return ParseNumber(node);
    }
  }

  bool ParseObject(YamlNode& node, int depth) {
    node.kind = Kind::kMap;
    ++at_;
    SkipBlanks();
    if (Peek() == '}') return ++at_ > 0;
    while (true) {
      YamlNode member;
      member.key_line = line_;
      member.key_column = column();
      if (Peek() != '"') return Fail("expected a key in double quotes");
      std::string key;
      if (!ParseString(key)) return false;
      SkipBlanks();
      if (Peek() != ':') return Fail("expected : after the key");
      ++at_;
      SkipBlanks();
      if (!ParseValue(member, depth + 1)) return false;
      member.key = std::move(key);
      node.children.push_back(std::move(member));
      SkipBlanks();
      if (Peek() == '}') break;
      if (Peek() != ',') return Fail("expected , or }");
      ++at_;
      SkipBlanks();
    }
    ++at_;
    error_ = DuplicateKey(node, file_);
    return !error_;
  }

  bool ParseArray(YamlNode& node, int depth) {
    node.kind = Kind::kList;
    ++at_;
    SkipBlanks();
    if (Peek() == ']') return ++at_ > 0;
    while (true) {
      if (!ParseValue(node.children.emplace_back(), depth + 1)) return false;
      SkipBlanks();
      if (Peek() == ']') return ++at_ > 0;
      if (Peek() != ',') return Fail("expected , or ]");
      ++at_;
      SkipBlanks();
    }
  }

  bool ParseWord(YamlNode& node, std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return Fail("expected a value");
    node.kind = Kind::kScalar;
    node.text = word;
    at_ += word.size();
    return true;
  }

  bool ParseNumber(YamlNode& node) {
    const std::size_t start = at_;
    if (Peek() == '-') ++at_;
    if (!IsDigit(Peek())) return Fail("expected a value");
    if (Peek() == '0') {
      ++at_;
      if (IsDigit(Peek())) return Fail("a number must not begin with 0");
    }
    while (IsDigit(Peek())) ++at_;
    if (Peek() == '.') {
      ++at_;
      if (!IsDigit(Peek())) return Fail("expected a digit");
      while (IsDigit(Peek())) ++at_;
    }
    if (Peek() == 'e' || Peek() == 'E') {
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      if (!IsDigit(Peek())) return Fail("expected a digit");
      while (IsDigit(Peek())) ++at_;
    }
    node.kind = Kind::kScalar;
    node.text = text_.substr(start, at_ - start);
    return true;
  }

  bool ParseString(std::string& out) {
    for (++at_;;) {
      const std::size_t start = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<unsigned char>(text_[at_]) >= 0x20) {
        ++at_;
      }
      out += text_.substr(start, at_ - start);
      if (at_ >= text_.size()) return Fail("expected \" at the end of a string");
      if (text_[at_] == '"') break;
      if (text_[at_] != '\\') return Fail("a control character in a string must be escaped");
      ++at_;
      if (!ParseEscape(out)) return false;
    }
    ++at_;
    return true;
  }

  bool ParseEscape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = Peek();
    ++at_;
    if (const std::size_t i = kLetters.find(letter); i != std::string_view::npos) {
      out += kMeanings[i];
      return true;
    }
    if (letter != 'u') return Fail("unknown escape in a string");
    std::uint32_t code = 0;
    if (!ParseHex(code)) return false;
    if (code >= 0xD800 && code < 0xDC00) {
      std::uint32_t low = 0;
      if (text_.substr(at_, 2) != "\\u") return Fail("half of a surrogate pair");
      at_ += 2;
      if (!ParseHex(low)) return false;
      if (low < 0xDC00 || low > 0xDFFF) return Fail("half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
      return Fail("half of a surrogate pair");
    }
    AppendUtf8(code, out);
    return true;
  }

  bool ParseHex(std::uint32_t& code) {
    constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
    code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const std::size_t digit = at_ < text_.size() ? kDigits.find(text_[at_]) : std::string::npos;
      if (digit == std::string::npos) return Fail("expected four hexadecimal digits after \\u");
      code = code * 16 + static_cast<std::uint32_t>(digit < 16 ? digit : digit - 6);
    }
    return true;
  }

  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t line_start_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<YamlNode> ParseJson(std::string_view text, std::string_view file) {
  if (text.size() > kMaxYamlBytes) return TooLarge(file, text.size());
  if (!IsUtf8(text)) return NotUtf8(file);
  return JsonParser(text, file).Parse();
}

}  // namespace knx::k8s
