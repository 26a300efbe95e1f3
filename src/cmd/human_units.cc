#include "cmd/human_units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>

#include "k8s/names.h"
#include "k8s/quantity.h"

namespace knx::cmd {
namespace {

struct ByteUnit {
  std::string_view name;
  double bytes;
};
constexpr std::array<ByteUnit, 6> kByteUnits = {{
    {"B", 1.0},
    {"KiB", 1024.0},
    {"MiB", 1024.0 * 1024},
    {"GiB", 1024.0 * 1024 * 1024},
    {"TiB", 1024.0 * 1024 * 1024 * 1024},
    {"PiB", 1024.0 * 1024 * 1024 * 1024 * 1024},
}};
// Nodes of 1.5 TiB stand beside nodes of 64 GiB: both are easier to compare in GiB.
constexpr double kMostOfOneUnit = 10'000;

const ByteUnit& UnitFor(std::int64_t bytes) {
  const double size = std::abs(static_cast<double>(bytes));
  std::size_t unit = 3;
  while (unit > 0 && size < kByteUnits[unit].bytes) --unit;
  while (unit + 1 < kByteUnits.size() && size >= kMostOfOneUnit * kByteUnits[unit].bytes) ++unit;
  return kByteUnits[unit];
}

// One place after the point, and none if it is zero.
std::string Rounded(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

}  // namespace

std::string FormatCores(std::int64_t thousandths) {
  const std::string_view sign = thousandths < 0 ? "-" : "";
  const std::uint64_t size = thousandths < 0
                                 ? std::uint64_t{0} - static_cast<std::uint64_t>(thousandths)
                                 : static_cast<std::uint64_t>(thousandths);
  if (size % 1000 == 0) return fmt::format("{}{}", sign, size / 1000);
  std::string text = fmt::format("{}{}.{:03}", sign, size / 1000, size % 1000);
  while (text.back() == '0') text.pop_back();
  return text;
}

std::string FormatBytes(std::int64_t bytes) {
  const ByteUnit& unit = UnitFor(bytes);
  return fmt::format("{} {}", Rounded(static_cast<double>(bytes) / unit.bytes), unit.name);
}

std::string FormatUsedBytes(std::int64_t used, std::int64_t whole) {
  const ByteUnit& unit = UnitFor(whole);
  return fmt::format("{}/{} {}", Rounded(static_cast<double>(used) / unit.bytes),
                     Rounded(static_cast<double>(whole) / unit.bytes), unit.name);
}

std::string FormatElapsed(Duration elapsed) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  constexpr std::int64_t kSecond = 1'000 * kMillisecond;
  if (elapsed.ns < kSecond) return fmt::format("{}ms", elapsed.ns / kMillisecond);
  if (elapsed.ns < 60 * kSecond) {
    const std::int64_t tenths = elapsed.ns % kSecond / (100 * kMillisecond);
    return tenths == 0 ? fmt::format("{}s", elapsed.ns / kSecond)
                       : fmt::format("{}.{}s", elapsed.ns / kSecond, tenths);
  }
  const std::int64_t seconds = (elapsed.ns - kSecond / 2) / kSecond + 1;  // rounded
  const std::int64_t minutes = seconds / 60;
  if (minutes < 60) return fmt::format("{}m{:02}s", minutes, seconds % 60);
  return fmt::format("{}h{:02}m{:02}s", minutes / 60, minutes % 60, seconds % 60);
}

std::string FormatRequest(std::string_view resource, std::string_view quantity) {
  const auto amount = k8s::Quantity::Parse(quantity);
  if (!amount.ok()) return fmt::format("{} {}", quantity, resource);
  if (resource == k8s::names::kCpu) {
    const std::int64_t thousandths = amount->MilliValue();
    return fmt::format("{} {}", FormatCores(thousandths), thousandths == 1000 ? "core" : "cores");
  }
  if (resource == k8s::names::kMemory) return FormatBytes(amount->Value());
  const bool in_bytes =
      resource == k8s::names::kEphemeralStorage || resource.starts_with("hugepages-");
  if (in_bytes) return fmt::format("{} of {}", FormatBytes(amount->Value()), resource);
  return fmt::format("{} {}", amount->Value(), resource);
}

}  // namespace knx::cmd
