// Points in time and spans of it, as values. The core never asks what time it is: it is told.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace knx {

struct Duration {
  std::int64_t ns = 0;

  static constexpr Duration Nanoseconds(std::int64_t n) { return {n}; }
  static constexpr Duration Milliseconds(std::int64_t n) { return {n * 1'000'000}; }
  static constexpr Duration Seconds(std::int64_t n) { return {n * 1'000'000'000}; }
  static constexpr Duration Minutes(std::int64_t n) { return Seconds(n * 60); }
  [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ns) / 1e9; }

  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
  friend constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
  friend constexpr Duration operator*(Duration a, std::int64_t n) { return {a.ns * n}; }
};

// Nanoseconds since the Unix epoch.
struct Time {
  std::int64_t ns = 0;

  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Time operator+(Time t, Duration d) { return {t.ns + d.ns}; }
  friend constexpr Time operator-(Time t, Duration d) { return {t.ns - d.ns}; }
  friend constexpr Duration operator-(Time a, Time b) { return {a.ns - b.ns}; }
};

inline constexpr Time kNever{INT64_MAX};

// As Go writes and reads durations: "1h30m", "250ms", "1.5s", "-2m", "0". What 64 bits of
// nanoseconds cannot hold is refused.
Result<Duration> ParseDuration(std::string_view text);
std::string FormatDuration(Duration duration);

// RFC 3339 as Kubernetes writes it: "2026-11-15T05:41:36Z", with optional fraction and offset.
// Strict: no lower case, no leap seconds. What lies outside of 1677-09-21 to 2262-04-11 is taken
// for the nearest time that is not. Written in UTC, with a fraction only if there is one.
Result<Time> ParseTime(std::string_view text);
std::string FormatTime(Time time);

}  // namespace knx
