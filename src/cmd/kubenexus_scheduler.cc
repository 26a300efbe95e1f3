// The program kubenexus-scheduler: schedules the pods of a Kubernetes cluster.
#include <CLI/CLI.hpp>

#include "cmd/scheduler_daemon.h"

int main(int argc, char** argv) {
  knx::cmd::DaemonOptions options;
  CLI::App app{"Schedules the pods of a Kubernetes cluster.", "kubenexus-scheduler"};
  app.add_option("--kubeconfig", options.kubeconfig, "how to reach the API server");
  app.add_option("--config", options.config_file, "a KubeSchedulerConfiguration");
  CLI11_PARSE(app, argc, argv);
  return knx::cmd::RunDaemon(options);
}
