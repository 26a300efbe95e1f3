// kubenexus demo: an hour of a GPU cluster, and what came of it. The first thing anybody sees.
#pragma once

#include "base/result.h"

namespace knx::cmd {

struct DemoOptions {
  bool once = false;  // never waits: neither for a key nor to be watched
  bool show = false;  // prints the scenario instead of running it
};

// The exit code; an error is one of output, or of the scenario.
Result<int> RunDemo(const DemoOptions& options);

}  // namespace knx::cmd
