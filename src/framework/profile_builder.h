// From a configuration to profiles with plugins in them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "framework/config.h"
#include "framework/profile.h"
#include "framework/registry.h"

namespace knx::framework {

// Makes every plugin that is built and stands at some point, once a profile, with its arguments.
// Plugins that are known but not in the registry are left out (Warnings names them), and so is a
// plugin at a point which its class does not implement: such points are decided elsewhere, as the
// queue's order and preemption are.
//
// Arguments of a built plugin that stands nowhere are read too, so that a mistake in them does not
// lie in wait.
Result<std::vector<Profile>> BuildProfiles(const SchedulerConfiguration& config, Registry registry);

// Everything in the configuration that has no effect, with its place: what reading it found, what
// of it is not built yet, and plugins that the registry does not have.
std::vector<std::string> Warnings(const SchedulerConfiguration& config, Registry registry);

}  // namespace knx::framework
