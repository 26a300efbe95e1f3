// kubenexus oracle: what the plugins say about given pods in given clusters, for programs.
#pragma once

#include "base/result.h"

namespace knx::cmd {

// A request a line on standard input, an answer a line on standard output, until the input ends.
Result<int> RunOracle();

}  // namespace knx::cmd
