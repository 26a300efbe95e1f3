// The values of flags, as Go's flag libraries read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace knx::cmd {

// Of a wrong value, so much is repeated in the complaint.
inline constexpr std::size_t kShownOfValue = 80;

std::string_view TrimmedFlagText(std::string_view text);

// 1, t, T, true, True, TRUE and their opposites.
std::optional<bool> ParseFlagBool(std::string_view text);
std::optional<std::int64_t> ParseFlagInteger(std::string_view text);
std::optional<double> ParseFlagNumber(std::string_view text);  // finite

// "a,b,c"; an empty text is no value at all.
std::vector<std::string> SplitFlagList(std::string_view text);

}  // namespace knx::cmd
