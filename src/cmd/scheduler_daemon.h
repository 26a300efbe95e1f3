// Everything from the flags of kubenexus-scheduler to its end.
#pragma once

#include "cmd/daemon_flags.h"

namespace knx::cmd {

// Until SIGTERM or SIGINT, or until the lease is lost. Gives the exit code.
int RunDaemon(const DaemonOptions& options);

}  // namespace knx::cmd
