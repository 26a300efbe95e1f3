// The whole result of a run, for programs to read. docs/cli.md describes every field; fields are
// added, never renamed.
#pragma once

#include "cmd/document_writer.h"
#include "sim/simulation.h"

namespace knx::cmd {

void WriteRun(const sim::SimulationResult& result, DocumentWriter& out);

}  // namespace knx::cmd
