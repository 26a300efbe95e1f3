// What the parsers of YAML and JSON, and the cursors over what they parsed, have in common beyond
// the tree itself. Not for readers of fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "k8s/yaml_reader.h"

namespace knx::k8s {

// The error for the first name that a map has twice.
std::optional<Error> DuplicateKey(const YamlNode& map, std::string_view file);

Error TooDeep(std::string_view file, int line, int column);
Error TooLarge(std::string_view file, std::size_t bytes);
bool IsUtf8(std::string_view text);
Error NotUtf8(std::string_view file);

// A text for a message, in quotes and without: cut if it is long, with control characters escaped.
std::string Quoted(std::string_view text);
std::string Shown(std::string_view text);

// "spec" and "weight": "spec.weight". A key that is no plain word is shown in brackets.
std::string JoinPath(std::string path, std::string_view key);
// What is said of a word that is none of the allowed ones, of which an empty one is not shown.
std::string NotAllowed(std::string_view text, const std::vector<std::string_view>& allowed);

}  // namespace knx::k8s
