// Versions of objects, as far as they may be compared.
#pragma once

#include <string_view>

namespace knx::client {

// Whether something happened after all that had happened at `than`; empty: at the beginning.
// Kubernetes promises that versions are whole numbers that grow; with what is none nothing can be
// said, and it is not later than anything.
bool IsLaterVersion(std::string_view version, std::string_view than);

}  // namespace knx::client
