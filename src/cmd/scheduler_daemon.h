// Everything from the flags of kubenexus-scheduler to its end.
#pragma once

#include <string>

namespace knx::cmd {

struct DaemonOptions {
  std::string kubeconfig;   // empty: $KUBECONFIG, ~/.kube/config, or the service account
  std::string config_file;  // empty: the defaults
};

// Until SIGTERM or SIGINT. Gives the exit code.
int RunDaemon(const DaemonOptions& options);

}  // namespace knx::cmd
