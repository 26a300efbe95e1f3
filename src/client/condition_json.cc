#include "client/condition_json.h"

#include <fmt/format.h>

#include "base/quoted_text.h"
#include "base/shortened.h"

namespace knx::client {

std::string ConditionMoment(Time time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return QuotedText(FormatTime(Time{time.ns / kSecond * kSecond}));
}

std::string ConditionJson(const k8s::Condition& condition, Time now, const std::string& more) {
  return fmt::format(
      R"({{"type":{},"status":{},"reason":{},"message":{},"lastTransitionTime":{}{}}})",
      QuotedText(condition.type), QuotedText(condition.status), QuotedText(condition.reason),
      QuotedText(Shortened(condition.message, kLongestConditionMessage)),
      ConditionMoment(condition.last_transition.value_or(now)),
      more);
}

}  // namespace knx::client
