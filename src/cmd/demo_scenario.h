// The text of examples/demo.yaml, as it was when the program was built, so that the demo runs
// anywhere.
#pragma once

#include <string_view>

namespace knx::cmd {

std::string_view DemoScenario();

}  // namespace knx::cmd
