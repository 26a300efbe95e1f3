// The value of the header Authorization.
#pragma once

#include <string>
#include <string_view>

namespace knx::client {

// What a file holds but for the blanks and line ends around it.
std::string_view TrimToken(std::string_view text);
// Whether a header can carry it: not empty, and nothing that would end the header.
bool IsToken(std::string_view text);
inline constexpr std::string_view kTokenComplaint =
    "must be one line of printable ASCII characters";

std::string BearerAuthorization(std::string_view token);
std::string BasicAuthorization(std::string_view username, std::string_view password);

}  // namespace knx::client
