// kubenexus config: what a KubeSchedulerConfiguration comes to, without running anything.
#pragma once

#include <string>

#include "base/result.h"

namespace knx::cmd {

// `file`: "-" is standard input. The exit code; an error is one of input or output.
Result<int> RunConfig(const std::string& file);

}  // namespace knx::cmd
