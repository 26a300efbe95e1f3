// Plays a trace through the real engine, in virtual time: a job is a pod, or a gang of pods if it
// is too large for a node. Binding takes no time, and a job runs for exactly as long as it says.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "traces.h"

namespace knx::bench {

struct Machine {
  std::int32_t nodes = 1;
  std::int32_t per_node = 1;  // processors or GPUs
  std::string resource = "cpu";
  [[nodiscard]] std::int64_t total() const { return std::int64_t{nodes} * per_node; }
};

struct Policy {
  std::string name;
  std::string args;  // of the plugin BackfillScoring; empty: without it
};

struct Outcome {
  std::vector<Duration> started;  // of every job, since the trace began
  Duration ended;                 // the last of them
};

// An error: a job never started, or the engine's books are wrong.
Result<Outcome> Replay(const Jobs& jobs, const Machine& machine, const Policy& policy);

}  // namespace knx::bench
