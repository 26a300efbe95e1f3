// Whether gangs start together: seen from the bindings that the scheduler sends, and from what it
// was told.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "engine/engine.h"
#include "sim/placement_rules.h"
#include "sim/told_view.h"

namespace knx::sim {

// Actions of one call, which the view knows of. If some of them bind pods of a gang of which nobody
// had a place, then so many of it as must start together; if not, who does not.
std::optional<std::string> CheckGangStart(const engine::Engine& engine, const ToldView& told,
                                          const Rules& rules,
                                          std::span<const engine::Action> actions);

}  // namespace knx::sim
