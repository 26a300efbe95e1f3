#include "scenario/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace knx::scenario {
namespace {

using k8s::FieldReader;
using k8s::YamlNode;

constexpr std::string_view kField = "variants";
constexpr std::string_view kNumberOfOne = "i";  // $i is the number of each of many
// Small enough that what is made of them fits into 64 bits, and texts do not grow beyond measure.
constexpr std::int64_t kMostOfANumber = 1'000'000'000;
constexpr std::size_t kLongestValue = 64;

bool BeginsWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The word in front of the text; empty: there is none.
std::string_view WordAtFront(std::string_view text) {
  if (text.empty() || !BeginsWord(text.front())) return {};
  const auto end =
      std::find_if(text.begin(), text.end(), [](char c) { return !BeginsWord(c) && !IsDigit(c); });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

std::optional<std::int64_t> ToNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (number < -kMostOfANumber || number > kMostOfANumber) return std::nullopt;
  return number;
}

// ---- reading them ----

void ReadValues(std::string_view name, FieldReader& list, std::vector<std::string>& out) {
  if (list.node().kind != YamlNode::Kind::kList || list.node().children.empty()) {
    return list.FailHere("must be a list of numbers or words");
  }
  if (name == kNumberOfOne) return list.FailHere("$i is the number of each of many");
  if (WordAtFront(name) != name) return list.FailHere("its name must be a word");
  for (const YamlNode& value : list.node().children) {
    const bool scalar = value.kind == YamlNode::Kind::kScalar && !value.text.empty();
    if (!scalar || value.text.size() > kLongestValue) {
      return list.FailHere(
          fmt::format("each value must be a number or a word of up to {} letters", kLongestValue));
    }
    out.push_back(value.text);
  }
}

// ---- putting values in the stead of names ----

class Substitution {
 public:
  Substitution(const Variant& variant, std::string_view file) : variant_(variant), file_(file) {}

  Status In(YamlNode& node) const {
    KNX_TRY(node.text, Replaced(node.text, node));
    for (YamlNode& child : node.children) KNX_TRY_DONE(In(child));
    return Ok();
  }

 private:
  [[nodiscard]] Result<std::string> Replaced(const std::string& whole, const YamlNode& at) const {
    std::string out;
    std::string_view text = whole;
    while (!text.empty()) {
      const std::size_t dollar = text.find('$');
      out += text.substr(0, dollar);
      if (dollar == std::string_view::npos) break;
      text.remove_prefix(dollar + 1);
      const bool in_brackets = text.starts_with('(');
      const std::string_view name = WordAtFront(text.substr(in_brackets ? 1 : 0));
      if (name.empty() || name == kNumberOfOne) {
        out += '$';
        continue;
      }
      if (!in_brackets) {
        KNX_TRY(const std::string_view value, ValueOf(name, at));
        out += value;
        text.remove_prefix(name.size());
        continue;
      }
      const std::size_t close = text.find(')');
      if (close == std::string_view::npos) return Wrong(at, whole, "has no ) behind its $(");
      KNX_TRY(const std::string value, Computed(text.substr(1, close - 1), name, at));
      out += value;
      text.remove_prefix(close + 1);
    }
    return out;
  }

  [[nodiscard]] Result<std::string_view> ValueOf(std::string_view name, const YamlNode& at) const {
    for (const auto& [known, value] : variant_.values) {
      if (known == name) return std::string_view(value);
    }
    return Wrong(at, fmt::format("${}", name), "is not among the variants");
  }

  // "n", "n*2", "n+1", "n*2+1".
  [[nodiscard]] Result<std::string> Computed(std::string_view term, std::string_view name,
                                             const YamlNode& at) const {
    KNX_TRY(const std::string_view text, ValueOf(name, at));
    std::string_view rest = term.substr(name.size());
    if (rest.empty()) return std::string(text);
    std::optional<std::int64_t> number = ToNumber(text);
    if (!number) return Wrong(at, term, fmt::format("{} is not a number here", text));
    if (rest.find_first_of("*/%") == 0) number = Apply(*number, rest);
    if (number && rest.find_first_of("+-") == 0) number = Apply(*number, rest);
    if (!number || !rest.empty()) {
      return Wrong(at, term, "is not a name with * / or % and a number, and + or - and a number");
    }
    return fmt::format("{}", *number);
  }

  // Takes a sign and a number from the front of `rest`; nullopt: that is not what is there.
  static std::optional<std::int64_t> Apply(std::int64_t left, std::string_view& rest) {
    const char sign = rest.front();
    const auto digits_end = std::find_if_not(rest.begin() + 1, rest.end(), IsDigit);
    const auto length = static_cast<std::size_t>(digits_end - rest.begin());
    const std::optional<std::int64_t> right = ToNumber(rest.substr(1, length - 1));
    if (!right) return std::nullopt;
    rest.remove_prefix(length);
    if (sign == '+') return left + *right;
    if (sign == '-') return left - *right;
    if (sign == '*') return left * *right;
    if (*right == 0) return std::nullopt;
    return sign == '/' ? left / *right : left % *right;
  }

  [[nodiscard]] Error Wrong(const YamlNode& at, std::string_view what, std::string_view why) const {
    constexpr std::size_t kShown = 80;
    return InvalidError(fmt::format("{:?}: {}", what.substr(0, kShown), why),
                        {std::string(file_), at.line, at.column});
  }

  const Variant& variant_;
  std::string_view file_;
};

}  // namespace

std::string Variant::ToString() const {
  std::string out;
  for (const auto& [name, value] : values) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", name, value);
  }
  return out;
}

Result<std::vector<Variant>> VariantsOf(const YamlNode& document, std::string_view file) {
  std::vector<Variant> out = {{}};
  KNX_TRY_DONE(k8s::ReadNode(document, {.file = file}, [&](FieldReader& fields) {
    fields.ForEachEntry(kField, [&](std::string_view name, FieldReader& list) {
      std::vector<std::string> values;
      ReadValues(name, list, values);
      if (out.size() * values.size() > kMaxVariants) {
        return list.FailHere(fmt::format("that makes more than {} variants", kMaxVariants));
      }
      std::vector<Variant> more;
      for (const Variant& variant : out) {
        for (const std::string& value : values) {
          more.push_back(variant);
          more.back().values.emplace_back(name, value);
        }
      }
      if (!more.empty()) out = std::move(more);
    });
  }));
  return out;
}

Result<YamlNode> InVariant(YamlNode document, const Variant& variant, std::string_view file) {
  std::erase_if(document.children, [](const YamlNode& child) { return child.key == kField; });
  // Without variants a $ means nothing.
  if (!variant.values.empty()) KNX_TRY_DONE(Substitution(variant, file).In(document));
  return document;
}

}  // namespace knx::scenario
