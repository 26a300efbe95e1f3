// kubenexus simulate: manifests or a scenario under virtual time, and what came of it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace knx::cmd {

enum class OutputForm { kTable, kJson, kYaml };

struct SimulateOptions {
  std::vector<std::string> files;  // "-": standard input
  std::string config;              // empty: none
  std::string until;               // empty: as simulation.h says
  std::string seed;                // empty: that of the scenario
  OutputForm form = OutputForm::kTable;
  std::string record;  // empty: nowhere
  int threads = 1;
  bool log = false;
};

// The exit code; an error is one of input or output.
Result<int> RunSimulate(const SimulateOptions& options);

}  // namespace knx::cmd
