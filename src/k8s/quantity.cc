#include "k8s/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "base/characters.h"

namespace knx::k8s {
namespace {

using Int128 = __int128;

struct Suffix {
  std::string_view text;
  std::int32_t exponent10 = 0;
  std::int32_t exponent2 = 0;
};
constexpr std::array<Suffix, 15> kSuffixes{{
    {"n", -9, 0},
    {"u", -6, 0},
    {"m", -3, 0},
    {"k", 3, 0},
    {"M", 6, 0},
    {"G", 9, 0},
    {"T", 12, 0},
    {"P", 15, 0},
    {"E", 18, 0},
    {"Ki", 0, 10},
    {"Mi", 0, 20},
    {"Gi", 0, 30},
    {"Ti", 0, 40},
    {"Pi", 0, 50},
    {"Ei", 0, 60},
}};

std::size_t CountDigits(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), IsDigit) -
                                  text.begin());
}

// A text taken apart: sign, digits before and after the point, suffix.
struct Parts {
  bool negative = false;
  std::string_view whole, fraction, suffix;
};

std::optional<Parts> Split(std::string_view text) {
  Parts parts;
  if (text.empty()) return std::nullopt;
  if (text.front() == '-' || text.front() == '+') {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  parts.whole = text.substr(0, CountDigits(text));
  text.remove_prefix(parts.whole.size());
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    parts.fraction = text.substr(0, CountDigits(text));
    text.remove_prefix(parts.fraction.size());
  }
  parts.suffix = text;

  text.remove_prefix(std::min(text.find_first_not_of("eEinumkKMGTP"), text.size()));
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  text.remove_prefix(CountDigits(text));
  if (!text.empty()) return std::nullopt;
  return parts;
}

std::optional<Suffix> ReadSuffix(std::string_view text) {
  if (text.empty()) return Suffix{};
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text == text) return suffix;
  }
  if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
  std::string_view digits = text.substr(1);
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
    if (digits.starts_with('-')) return std::nullopt;
  }
  std::int64_t exponent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  // Kubernetes keeps the low 32 bits, whatever the rest was.
  return Suffix{text, static_cast<std::int32_t>(exponent), 0};
}

// An amount without a single digit ("k", ".", "-") is 0 to Kubernetes, but only where its short way
// of reading applies.
bool MayLackDigits(const Suffix& suffix) {
  return suffix.exponent10 >= -9 && suffix.exponent2 < 50;
}

// digits * 10^exponent. Digits beyond what fits are only remembered as "there was more".
struct Decimal {
  Int128 digits = 0;
  std::int64_t exponent = 0;
  bool more = false;
};

Decimal ReadDecimal(std::string_view whole, std::string_view fraction) {
  Decimal out;
  bool full = false;
  const auto take = [&out, &full](char c) {
    Int128 next = 0;
    full = full || __builtin_mul_overflow(out.digits, Int128{10}, &next) ||
           __builtin_add_overflow(next, Int128{c - '0'}, &next);
    if (full) {
      out.more = out.more || c != '0';
      return false;
    }
    out.digits = next;
    return true;
  };
  for (const char c : whole) {
    if (!take(c)) ++out.exponent;
  }
  for (const char c : fraction) {
    if (take(c)) --out.exponent;
  }
  return out;
}

// A row of digits multiplied by 2^exponent2: what 128 bits cannot do.
std::string TimesPowerOfTwo(std::string digits, std::int32_t exponent2) {
  constexpr std::int32_t kStep = 10;  // every binary suffix is a power of 1024
  for (std::int32_t i = 0; i < exponent2; i += kStep) {
    int carry = 0;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      carry += (*digit - '0') << kStep;
      *digit = static_cast<char>('0' + carry % 10);
      carry /= 10;
    }
    if (carry > 0) digits.insert(0, fmt::format("{}", carry));
  }
  return digits;
}

// The amount before its sign as a decimal number, binary suffix multiplied in.
Decimal Multiply(const Parts& parts, std::int32_t exponent2) {
  Decimal out = ReadDecimal(parts.whole, parts.fraction);
  if (exponent2 == 0) return out;
  Int128 product = 0;
  if (!out.more && !__builtin_mul_overflow(out.digits, Int128{1} << exponent2, &product)) {
    out.digits = product;
    return out;
  }
  const std::string digits =
      TimesPowerOfTwo(fmt::format("{}{}", parts.whole, parts.fraction), exponent2);
  const std::size_t point = digits.size() - parts.fraction.size();
  return ReadDecimal(std::string_view(digits).substr(0, point),
                     std::string_view(digits).substr(point));
}

// In billionths, rounded up, at most `max`.
Int128 ToNano(const Decimal& number, std::int64_t exponent10, Int128 max) {
  if (number.digits == 0) return 0;  // then there is no more either: leading zeros never fill it
  Int128 nano = number.digits;
  std::int64_t shift = number.exponent + exponent10 + 9;
  if (shift > 0 && number.more) return max;  // what did not fit still counts in full
  // Each loop ends after 39 rounds: the value overflows, or is down to 0.
  for (; shift > 0; --shift) {
    if (__builtin_mul_overflow(nano, Int128{10}, &nano)) return max;
  }
  bool more = number.more;
  for (; shift < 0 && nano > 0; ++shift) {
    more = more || nano % 10 != 0;
    nano /= 10;
  }
  if (more && nano < max) ++nano;
  return std::min(nano, max);
}

// Rounded away from zero and held within 64 bits.
std::int64_t RoundedQuotient(Int128 nano, std::int64_t divisor) {
  Int128 result = nano / divisor;
  if (nano % divisor != 0) result += nano > 0 ? 1 : -1;
  return static_cast<std::int64_t>(std::clamp<Int128>(
      result, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
}

Error BadQuantity(std::string_view text, std::string_view why) {
  return InvalidError(fmt::format(
      "invalid quantity \"{}\": {}; use a decimal number with an optional suffix n, u, m, k, M, G, "
      "T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent like e3",
      text, why));
}

}  // namespace

Result<Quantity> Quantity::Parse(std::string_view text) {
  const std::optional<Parts> parts = Split(text);
  if (!parts) return BadQuantity(text, text.empty() ? "it is empty" : "malformed");
  const std::optional<Suffix> suffix = ReadSuffix(parts->suffix);
  if (!suffix) return BadQuantity(text, fmt::format("unknown suffix \"{}\"", parts->suffix));
  if (parts->whole.empty() && parts->fraction.empty() && !MayLackDigits(*suffix)) {
    return BadQuantity(text, "the number is missing");
  }
  const bool binary = suffix->exponent2 != 0;
  const Nano max = binary ? kNanoPerUnit * std::numeric_limits<std::int64_t>::max() : kMax;
  const Nano nano = ToNano(Multiply(*parts, suffix->exponent2), suffix->exponent10, max);
  return Quantity(parts->negative ? -nano : nano);
}

std::int64_t Quantity::Value() const { return RoundedQuotient(nano_, kNanoPerUnit); }

std::int64_t Quantity::MilliValue() const { return RoundedQuotient(nano_, 1'000'000); }

std::string Quantity::ToString() const {
  if (nano_ == 0) return "0";
  constexpr std::array<std::string_view, 10> kNames{"n", "u", "m", "",  "k",
                                                    "M", "G", "T", "P", "E"};
  Nano number = nano_;
  std::size_t name = 0;
  for (; name + 1 < kNames.size() && number % 1000 == 0; ++name) number /= 1000;
  return fmt::format("{}{}", number, kNames[name]);
}

}  // namespace knx::k8s
