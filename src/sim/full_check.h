// The recounts: everything the scheduler keeps, compared with what it was told, and that with the
// truth. Each gives the first difference in words, or nothing.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "engine/engine.h"
#include "sim/placement_rules.h"
#include "sim/store.h"
#include "sim/told_view.h"

namespace knx::sim {

// Nodes, pods on them, sums and room are what the scheduler was told and what it decided.
std::optional<std::string> CompareView(const engine::Engine& engine, const ToldView& told);
// Every pod is where it should be: bound, on its way, queued, or nobody's business of ours.
std::optional<std::string> CheckStandings(const engine::Engine& engine, const ToldView& told,
                                          const Rules& rules);
// What was told is what there is. Only true once everything has been delivered.
std::optional<std::string> CompareTruth(const Store& store, const ToldView& told);
// No pod waits for an event that has happened. Only true once nothing changes any more.
std::optional<std::string> CheckWaiting(const engine::Engine& engine, const ToldView& told,
                                        const Rules& rules);
// No gang waits that would be placed if it were tried. The same holds.
std::optional<std::string> CheckWaitingGangs(engine::Engine& engine, const Rules& rules);

}  // namespace knx::sim
