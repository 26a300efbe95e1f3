#include "sim/call_faults.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace knx::sim {
namespace {

std::string UsualError(const CallFault& fault) {
  switch (fault.kind) {
    case CallFault::Kind::kTimeout:
      return "context deadline exceeded";
    case CallFault::Kind::kAnswerLost:
      return "unexpected EOF";
    default:
      return "etcdserver: request timed out";
  }
}

}  // namespace

void CallFaults::Add(CallFault fault, Time now) {
  if (fault.error.empty()) fault.error = UsualError(fault);
  const Time until = fault.lasts.has_value() ? now + *fault.lasts : kNever;
  const std::int64_t left = fault.count.value_or(std::numeric_limits<std::int64_t>::max());
  active_.push_back({std::move(fault), until, left});
}

std::optional<CallFault> CallFaults::Strike(Call call, const k8s::Pod& pod, Time now) {
  std::erase_if(active_, [now](const Active& a) { return a.left <= 0 || a.until <= now; });
  for (Active& active : active_) {
    if (active.fault.call != call || !active.fault.pods.Matches(pod)) continue;
    if (active.fault.percent < 100 && !random_.Chance(active.fault.percent)) continue;
    --active.left;
    ++struck_;
    return active.fault;
  }
  return std::nullopt;
}

}  // namespace knx::sim
