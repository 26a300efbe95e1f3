// The configuration of the daemon: its file and the flags that go with it, checked in full.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cmd/daemon_flags.h"
#include "engine/engine_options.h"
#include "framework/config.h"
#include "framework/profile.h"

namespace knx::cmd {

struct DaemonConfiguration {
  framework::SchedulerConfiguration config;
  std::vector<framework::Profile> profiles;
  engine::EngineOptions engine;
  std::vector<std::string> warnings;
};

// `text`: of the file, where there is one.
Result<DaemonConfiguration> ReadDaemonConfiguration(const DaemonOptions& options,
                                                    std::string_view text);

// What of `now` counts only after a restart, because it differs from `before`: "leaderElection".
std::vector<std::string_view> NeedsRestart(const framework::SchedulerConfiguration& before,
                                           const framework::SchedulerConfiguration& now);
// `now` as far as it counts in a process that was started with `before`.
framework::SchedulerConfiguration InForce(const framework::SchedulerConfiguration& before,
                                          framework::SchedulerConfiguration now);

}  // namespace knx::cmd
