// The plugins there are, handed in by whoever builds a scheduler. Nothing registers itself.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "framework/plugin.h"
#include "k8s/yaml_reader.h"

namespace knx::framework {

// The arguments a configuration gives to a plugin, unread: every plugin owns, checks and documents
// its own.
struct PluginArgs {
  const k8s::YamlNode* node = nullptr;  // nullptr: none given, all defaults
  std::string file;                     // for errors
  std::string path;                     // e.g. "profiles[0].pluginConfig[1].args"
  // What extenders account for; if there is any, it takes the place of what the arguments say.
  std::vector<std::string> ignored_resources = {};
};

struct PluginEntry {
  std::string_view name;
  Result<std::unique_ptr<Plugin>> (*make)(const PluginArgs& args);
};

using Registry = std::span<const PluginEntry>;

}  // namespace knx::framework
