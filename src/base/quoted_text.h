// A text in double quotes, with escapes that JSON and YAML both understand. What is not UTF-8 is
// replaced.
#pragma once

#include <string>
#include <string_view>

namespace knx {

std::string QuotedText(std::string_view text);

}  // namespace knx
