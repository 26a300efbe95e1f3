// A piece of YAML as JSON, for a program that takes only that.
#pragma once

#include <string>

#include "k8s/yaml_reader.h"

namespace knx::client {

// Numbers that JSON cannot write (0x1F, .inf) become texts.
std::string ToJson(const k8s::YamlNode& node);

}  // namespace knx::client
