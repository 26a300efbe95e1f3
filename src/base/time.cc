#include "base/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>

#include "base/characters.h"

namespace knx {
namespace {

constexpr std::uint64_t kMagnitudeMax = std::uint64_t{1} << 63;  // of INT64_MIN
constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

// Takes the leading digits off `text`.
std::string_view TakeDigits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && IsDigit(text[n])) ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

bool TakeChar(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// ---- durations ----

struct Unit {
  std::string_view name;
  std::uint64_t ns;
};
constexpr std::array<Unit, 8> kUnits{{
    {"ns", 1},
    {"us", 1'000},
    {"\u00B5s", 1'000},  // micro sign
    {"\u03BCs", 1'000},  // Greek mu, which looks the same
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
}};

std::optional<std::uint64_t> WholeNumber(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (value > kMagnitudeMax / 10) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
    if (value > kMagnitudeMax) return std::nullopt;
  }
  return value;
}

// In double, and with the digits that no longer fit cut off, because Go does so: then
// 0.3333333333333333333h is 20m for both of us.
std::uint64_t FractionOf(std::uint64_t unit_ns, std::string_view digits) {
  std::uint64_t value = 0;
  double scale = 1;
  for (const char c : digits) {
    if (value > (kMagnitudeMax - 1) / 10) break;
    const std::uint64_t next = value * 10 + static_cast<std::uint64_t>(c - '0');
    if (next > kMagnitudeMax) break;
    value = next;
    scale *= 10;
  }
  return static_cast<std::uint64_t>(static_cast<double>(value) *
                                    (static_cast<double>(unit_ns) / scale));
}

Error BadDuration(std::string_view text, std::string_view why) {
  return InvalidError(fmt::format(
      "invalid duration \"{}\": {}; use numbers with units ns, us, ms, s, m or h, like \"1h30m\"",
      text, why));
}

// Takes one "1.5h" off `rest`; `text` is the whole for the error.
Result<std::uint64_t> TakePart(std::string_view& rest, std::string_view text) {
  const std::string_view whole = TakeDigits(rest);
  const std::string_view fraction = TakeChar(rest, '.') ? TakeDigits(rest) : "";
  if (whole.empty() && fraction.empty()) return BadDuration(text, "a number is missing");

  std::size_t length = 0;
  while (length < rest.size() && rest[length] != '.' && !IsDigit(rest[length])) ++length;
  const std::string_view name = rest.substr(0, length);
  rest.remove_prefix(length);
  if (name.empty()) return BadDuration(text, "a unit is missing");

  const Unit* unit = nullptr;
  for (const Unit& u : kUnits) {
    if (u.name == name) unit = &u;
  }
  if (unit == nullptr) return BadDuration(text, fmt::format("unknown unit \"{}\"", name));

  const std::optional<std::uint64_t> count = WholeNumber(whole);
  if (!count || *count > kMagnitudeMax / unit->ns) return BadDuration(text, "too long");
  const std::uint64_t ns = *count * unit->ns + FractionOf(unit->ns, fraction);
  if (ns > kMagnitudeMax) return BadDuration(text, "too long");
  return ns;
}

// value / 10^digits with no trailing zeros after the point.
std::string Decimal(std::uint64_t value, int digits) {
  std::uint64_t scale = 1;
  for (int i = 0; i < digits; ++i) scale *= 10;
  std::string out = fmt::format("{}", value / scale);
  if (value % scale != 0) {
    out += fmt::format(".{:0{}}", value % scale, digits);
    out.erase(out.find_last_not_of('0') + 1);
  }
  return out;
}

// ---- points in time ----

Error BadTime(std::string_view text, std::string_view why) {
  return InvalidError(fmt::format(
      "invalid time \"{}\": {}; use RFC 3339, like \"2026-11-15T05:41:36Z\"", text, why));
}

// Takes a number of exactly `length` digits off `text`.
std::optional<int> TakeNumber(std::string_view& text, std::size_t length) {
  if (text.size() < length) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, length)) {
    if (!IsDigit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(length);
  return value;
}

// The fraction after the seconds, in nanoseconds; what is finer is cut off.
std::optional<std::int64_t> TakeFraction(std::string_view& text) {
  if (!TakeChar(text, '.')) return 0;
  const std::string_view digits = TakeDigits(text);
  if (digits.empty()) return std::nullopt;
  std::int64_t ns = 0;
  for (std::size_t i = 0; i < 9; ++i) ns = ns * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  return ns;
}

// "Z", "+01:00", "-05:30", in seconds east of Greenwich.
std::optional<std::int64_t> TakeOffset(std::string_view& text) {
  if (TakeChar(text, 'Z')) return 0;
  const bool west = TakeChar(text, '-');
  if (!west && !TakeChar(text, '+')) return std::nullopt;
  const std::optional<int> hours = TakeNumber(text, 2);
  const bool colon = TakeChar(text, ':');
  const std::optional<int> minutes = TakeNumber(text, 2);
  if (!hours || !colon || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::int64_t seconds = std::int64_t{*hours} * 3600 + std::int64_t{*minutes} * 60;
  return west ? -seconds : seconds;
}

}  // namespace

Result<Duration> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = TakeChar(rest, '-');
  if (!negative) TakeChar(rest, '+');
  if (rest == "0") return Duration{};
  if (rest.empty()) return BadDuration(text, "it is empty");

  std::uint64_t total = 0;
  while (!rest.empty()) {
    KNX_TRY(const std::uint64_t part, TakePart(rest, text));
    if (part > kMagnitudeMax - total) return BadDuration(text, "too long");
    total += part;
  }
  if (!negative && total == kMagnitudeMax) return BadDuration(text, "too long");
  return Duration{static_cast<std::int64_t>(negative ? 0 - total : total)};
}

std::string FormatDuration(Duration duration) {
  const bool negative = duration.ns < 0;
  const auto bits = static_cast<std::uint64_t>(duration.ns);
  const std::uint64_t ns = negative ? 0 - bits : bits;
  std::string out = negative ? "-" : "";
  if (ns == 0) return "0s";
  if (ns < 1'000) return out + Decimal(ns, 0) + "ns";
  if (ns < 1'000'000) return out + Decimal(ns, 3) + "\u00B5s";
  if (ns < 1'000'000'000) return out + Decimal(ns, 6) + "ms";

  constexpr std::uint64_t kMinute = 60'000'000'000;
  const std::uint64_t minutes = ns / kMinute;
  if (minutes >= 60) out += fmt::format("{}h", minutes / 60);
  if (minutes > 0) out += fmt::format("{}m", minutes % 60);
  return out + Decimal(ns % kMinute, 9) + "s";
}

Result<Time> ParseTime(std::string_view text) {
  std::string_view rest = text;
  // One after the other, since each takes its part off the front; a missing part makes the later
  // ones fail too.
  const auto field = [&rest](std::size_t digits, char after) {
    const std::optional<int> value = TakeNumber(rest, digits);
    return value && (after == '\0' || TakeChar(rest, after)) ? *value : -1;
  };
  const int year = field(4, '-');
  const int month = field(2, '-');
  const int day = field(2, 'T');
  const int hour = field(2, ':');
  const int minute = field(2, ':');
  const int second = field(2, '\0');
  const std::optional<std::int64_t> fraction = TakeFraction(rest);
  const std::optional<std::int64_t> offset = TakeOffset(rest);
  if (year < 0 || month < 0 || day < 0 || hour < 0 || minute < 0 || second < 0 || !fraction ||
      !offset || !rest.empty()) {
    return BadTime(text, "malformed");
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return BadTime(text, "there is no such day");
  if (hour > 23 || minute > 59 || second > 59) return BadTime(text, "there is no such hour");

  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds =
      days * 86'400 + std::int64_t{hour} * 3600 + std::int64_t{minute} * 60 + second - *offset;
  // The product alone may lie one second below the range while the sum is inside: 128 bits decide.
  const __int128 ns = static_cast<__int128>(seconds) * kNanosPerSecond + *fraction;
  constexpr __int128 kFirst = std::numeric_limits<std::int64_t>::min();
  constexpr __int128 kLast = std::numeric_limits<std::int64_t>::max();
  return Time{static_cast<std::int64_t>(std::clamp(ns, kFirst, kLast))};
}

std::string FormatTime(Time time) {
  std::int64_t seconds = time.ns / kNanosPerSecond;
  std::int64_t fraction = time.ns % kNanosPerSecond;
  if (fraction < 0) {
    fraction += kNanosPerSecond;
    --seconds;
  }
  std::int64_t days = seconds / 86'400;
  if (seconds % 86'400 < 0) --days;
  const std::int64_t of_day = seconds - days * 86'400;
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(days))};
  const std::string decimals = Decimal(static_cast<std::uint64_t>(fraction), 9).substr(1);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     of_day / 3600, of_day / 60 % 60, of_day % 60, decimals);
}

}  // namespace knx
