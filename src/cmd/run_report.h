// The account of a run for a person: what ran, what the nodes carry, what was placed where, what
// waits and why. Large clusters are summarised; everything is in the document of run_document.h.
#pragma once

#include <string>
#include <vector>

#include "cmd/terminal.h"
#include "sim/simulation.h"

namespace knx::cmd {

// `what` is named in the first line: "nodes.yaml, jobs.yaml".
std::string FormatRun(const sim::SimulationResult& result, const std::string& what,
                      const Palette& palette);

// What it was warned of, in the same way; nothing if there is nothing.
std::string FormatWarnings(const std::vector<std::string>& warnings, const Palette& palette);

}  // namespace knx::cmd
