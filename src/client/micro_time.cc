#include "client/micro_time.h"

#include <fmt/format.h>

#include "base/quoted_text.h"

namespace knx::client {

std::string MicroMoment(Time time) {
  constexpr std::int64_t kSecond = 1'000'000'000, kMicrosecond = 1000;
  std::string whole = FormatTime(Time{time.ns / kSecond * kSecond});
  whole.pop_back();  // the Z
  return QuotedText(fmt::format("{}.{:06}Z", whole, time.ns % kSecond / kMicrosecond));
}

}  // namespace knx::client
