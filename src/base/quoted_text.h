// Texts from outside on their way to a screen or into a document: always UTF-8, and without
// characters that would do something there rather than be seen, such as those that move the cursor
// or turn the direction of writing around.
#pragma once

#include <string>
#include <string_view>

namespace knx {

// In double quotes, with escapes that JSON and YAML both understand. What is not UTF-8 is replaced.
std::string QuotedText(std::string_view text);

// As it is, but for what is not UTF-8, which is replaced.
std::string Utf8(std::string_view text);

// For a line on a screen: line ends and tabs become spaces, what cannot be seen is escaped.
std::string Printable(std::string_view text);

}  // namespace knx
