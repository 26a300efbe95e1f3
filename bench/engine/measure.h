// Runs one row once and measures it. One process a run, so that memory is the row's own.
#pragma once

#include <string>

#include "base/result.h"
#include "workload.h"

namespace knx::bench {

struct Measurement {
  double per_second = 0, p50_us = 0, p99_us = 0, total_ms = 0;
  double rss_mb = 0;         // resident at the end
  double counted_mb = 0;     // what the engine says it keeps
  double bytes_per_pod = 0;  // of what the engine keeps, without the nodes
};

// Fails if the placements are not valid, or not as many as they should be.
Result<Measurement> Measure(const Workload& workload);

}  // namespace knx::bench
