#include "engine/queue_order.h"

#include <algorithm>
#include <limits>

#include "engine/importance.h"

namespace knx::engine {

std::int32_t EffectivePriority(std::int32_t priority, std::int64_t boost) {
  if (priority >= kSystemCritical) return priority;
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(priority + boost, kLeast, kSystemCritical - 1));
}

}  // namespace knx::engine
