#include "client/yaml_json.h"

#include <fmt/format.h>

#include "base/quoted_text.h"

namespace knx::client {
namespace {

void AppendJson(const k8s::YamlNode& node, std::string& out);

void AppendScalar(const k8s::YamlNode& node, std::string& out) {
  const bool plain = !node.quoted;
  if (const std::optional<bool> value = node.AsBool(); plain && value) {
    out += *value ? "true" : "false";
  } else if (plain && node.IsNumber() && k8s::ParseJson(fmt::format("[{}]", node.text), "").ok()) {
    out += node.text;
  } else {
    out += QuotedText(node.text);
  }
}

void AppendChildren(const k8s::YamlNode& node, std::string& out) {
  const bool map = node.kind == k8s::YamlNode::Kind::kMap;
  out += map ? '{' : '[';
  for (const k8s::YamlNode& child : node.children) {
    if (&child != &node.children.front()) out += ',';
    if (map) out += QuotedText(child.key) + ':';
    AppendJson(child, out);
  }
  out += map ? '}' : ']';
}

void AppendJson(const k8s::YamlNode& node, std::string& out) {
  switch (node.kind) {
    case k8s::YamlNode::Kind::kNull:
      out += "null";
      return;
    case k8s::YamlNode::Kind::kScalar:
      return AppendScalar(node, out);
    case k8s::YamlNode::Kind::kList:
    case k8s::YamlNode::Kind::kMap:
      return AppendChildren(node, out);
  }
}

}  // namespace

std::string ToJson(const k8s::YamlNode& node) {
  std::string out;
  AppendJson(node, out);
  return out;
}

}  // namespace knx::client
