// kubenexus simulate: manifests or a scenario under virtual time, and what came of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cmd/watched_run.h"

namespace knx::cmd {

enum class OutputForm { kTable, kJson, kYaml };

struct SimulateOptions {
  std::vector<std::string> files;  // "-": standard input
  // As they were written; none: it was not given.
  std::optional<std::string> config, until, seed, variant, record, threads;
  OutputForm form = OutputForm::kTable;
  bool log = false;
};

// Only runs it; `explain`: of whom it is to be said at the end why it waits.
Result<WatchedRun> RunFor(const SimulateOptions& options, std::optional<std::string> explain);

// The exit code; an error is one of input or output.
Result<int> RunSimulate(const SimulateOptions& options);

}  // namespace knx::cmd
