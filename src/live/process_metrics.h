// What the operating system says about this program, as every program that Prometheus reads tells
// it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "observe/metrics.h"

namespace knx::live {

void AddProcessMetrics(observe::MetricRegistry& registry);

// Of /proc/<process>/stat, in the units of the kernel.
struct ProcessStat {
  std::uint64_t user_ticks = 0, system_ticks = 0, start_ticks = 0;
  std::uint64_t virtual_bytes = 0, resident_pages = 0;
};
Result<ProcessStat> ParseProcessStat(std::string_view text);

}  // namespace knx::live
