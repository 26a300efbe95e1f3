// The program kubenexus-scheduler: schedules the pods of a Kubernetes cluster.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/quoted_text.h"
#include "cmd/daemon_flags.h"
#include "cmd/exit_code.h"
#include "cmd/scheduler_daemon.h"
#include "cmd/text_files.h"

int main(int argc, char** argv) {
  knx::cmd::OpenStandardStreams();
  const auto command = knx::cmd::ParseDaemonFlags(
      std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), KNX_VERSION);
  if (!command.ok()) {
    const std::string line = fmt::format("kubenexus-scheduler: {} (see kubenexus-scheduler --help)",
                                         command.error().message);
    std::fputs((knx::Printable(line) + "\n").c_str(), stderr);
    return knx::cmd::kExitWrong;
  }
  if (!command->print) return knx::cmd::RunDaemon(command->options);
  return knx::cmd::WriteOut(*command->print).ok() ? knx::cmd::kExitOk : knx::cmd::kExitWrong;
}
