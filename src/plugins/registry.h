// Every plugin there is, in one list.
#pragma once

#include "framework/registry.h"

namespace knx::plugins {

framework::Registry AllPlugins();

}  // namespace knx::plugins
