// kubenexus explain: runs manifests or a scenario as simulate does, and says of one pod or gang why
// it waits then.
#pragma once

#include <string>

#include "base/result.h"
#include "cmd/simulate_command.h"

namespace knx::cmd {

// The exit code; an error is one of input or output, or that there is nothing of that name.
Result<int> RunExplain(const std::string& name, const SimulateOptions& options);

}  // namespace knx::cmd
