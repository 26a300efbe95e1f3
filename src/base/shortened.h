// Texts from outside within sentences of ours: of any length there, and readable here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace knx {

// No name of a Kubernetes object is longer, so that those are always said in full.
inline constexpr std::size_t kLongestName = 253;
// Of values of annotations and the like, which nobody needs in full to know which one is meant.
inline constexpr std::size_t kLongestValue = 100;

// The text in at most so many bytes. What is too long ends with `end`, and never within a
// character.
std::string Shortened(std::string_view text, std::size_t most, std::string_view end = "…");

}  // namespace knx
