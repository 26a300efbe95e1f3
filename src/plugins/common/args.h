// The arguments a configuration gives to a plugin, read strictly: unknown fields, a wrong kind and
// values out of range are refused with file, line, field and what is allowed.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "framework/registry.h"
#include "k8s/yaml_reader.h"

namespace knx::plugins {

// Lets `visit` read the fields of a plugin's arguments, which are of `kind` ("NodeAffinityArgs").
// It is not called if there are none.
Status ReadArgs(const framework::PluginArgs& args, std::string_view kind,
                k8s::FieldReader::Visit visit);

// For a plugin that takes none.
Status RefuseArgs(const framework::PluginArgs& args, std::string_view plugin);

// The maker of a plugin that takes no arguments.
template <class P>
Result<std::unique_ptr<framework::Plugin>> MakeWithoutArgs(const framework::PluginArgs& args) {
  KNX_TRY_DONE(RefuseArgs(args, P::kName));
  return std::unique_ptr<framework::Plugin>(std::make_unique<P>());
}

}  // namespace knx::plugins
