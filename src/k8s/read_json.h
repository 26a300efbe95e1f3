// The two ways that ReadJsonObject has, apart, so that tests can hold one against the other.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "k8s/objects.h"

namespace knx::k8s {

// Straight from the parser's own structure. Nothing if the text is refused, without saying why.
std::optional<Object> ReadJsonFast(std::string_view json);
// Through a tree that knows lines and columns. Slower, and what the error comes from.
Result<Object> ReadJsonExplained(std::string_view json);

}  // namespace knx::k8s
