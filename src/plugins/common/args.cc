#include "plugins/common/args.h"

#include <fmt/format.h>

#include <string>

namespace knx::plugins {
namespace {

constexpr std::string_view kApiVersion = "kubescheduler.config.k8s.io/v1";

void ReadTypeMeta(k8s::FieldReader& fields, std::string_view kind) {
  std::string text;
  if (fields.Read("apiVersion", text) && text != kApiVersion) {
    fields.Fail("apiVersion",
                fmt::format("\"{}\" is not supported: must be {}", text, kApiVersion));
  }
  if (fields.Read("kind", text) && text != kind) {
    fields.Fail("kind",
                fmt::format("\"{}\" does not belong to this plugin: must be {}", text, kind));
  }
}

bool Absent(const framework::PluginArgs& args) {
  return args.node == nullptr || args.node->kind == k8s::YamlNode::Kind::kNull;
}

}  // namespace

Status ReadArgs(const framework::PluginArgs& args, std::string_view kind,
                k8s::FieldReader::Visit visit) {
  if (Absent(args)) return Ok();
  const k8s::ReadMode mode{
      .file = args.file, .unknown = k8s::UnknownFields::kRefuse, .path = args.path};
  return k8s::ReadNode(*args.node, mode, [&](k8s::FieldReader& fields) {
    ReadTypeMeta(fields, kind);
    visit(fields);
  });
}

Status RefuseArgs(const framework::PluginArgs& args, std::string_view plugin) {
  return ReadArgs(args, fmt::format("{}Args", plugin), [](k8s::FieldReader&) {});
}

}  // namespace knx::plugins
