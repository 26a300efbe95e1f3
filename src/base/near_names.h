// What somebody may have meant who misspelt a name.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace knx {

// Those of `names` that look like `name`, likeliest first, three at most. Capitals do not count.
std::vector<std::string_view> NamesNear(std::string_view name,
                                        std::span<const std::string_view> names);

}  // namespace knx
