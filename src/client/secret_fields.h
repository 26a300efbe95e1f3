// Reading documents that hold secrets. FieldReader's own errors show the value that is wrong, which
// helps everywhere else; these say only what was expected, because a token may stand anywhere by
// mistake.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "k8s/yaml_reader.h"

namespace knx::client {

// As FieldReader has them. Texts may not hold the character NUL, at which the system would cut them
// off.
bool ReadText(k8s::FieldReader& fields, std::string_view key, std::string& out);
bool ReadTexts(k8s::FieldReader& fields, std::string_view key, std::vector<std::string>& out);
bool ReadBase64(k8s::FieldReader& fields, std::string_view key, std::string& out);
bool ReadBool(k8s::FieldReader& fields, std::string_view key, bool& out);
bool ReadMap(k8s::FieldReader& fields, std::string_view key, k8s::FieldReader::Visit visit);
// A list of maps.
bool ForEachMap(k8s::FieldReader& fields, std::string_view key, k8s::FieldReader::Visit visit);
// Whether the document or part is a map; fails if it is not.
bool IsMap(k8s::FieldReader& fields);

}  // namespace knx::client
