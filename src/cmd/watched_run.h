// Runs a simulation with somebody watching: a progress line if standard error is a terminal, and
// Ctrl-C to end it early.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "sim/simulation.h"

namespace knx::cmd {

struct WatchedRun {
  sim::SimulationResult result;
  int signal = 0;  // that ended it; 0: none
};

// `pace`: how much virtual time passes in a second at most; 0: as much as it can. A progress
// function of the request is asked before anything is shown.
Result<WatchedRun> RunWatched(sim::SimulationRequest request, Duration pace = {});

// See exit_code.h.
int ExitCodeOf(const WatchedRun& run);

}  // namespace knx::cmd
