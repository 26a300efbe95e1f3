#include "client/secret_fields.h"

#include <absl/strings/escaping.h>

namespace knx::client {
namespace {

using k8s::FieldReader;
using k8s::YamlNode;

// What is wrong with a node that should be a text, or nothing.
std::string_view TextComplaint(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::kScalar) return "expected a string";
  if (!node.quoted && (node.AsBool() || node.IsNumber())) return "expected a string; quote it";
  if (node.text.find('\0') != std::string::npos) return "must not hold the character NUL";
  return {};
}

// The field if it is there and of that kind.
bool HasKind(FieldReader& fields, std::string_view key, YamlNode::Kind kind,
             std::string_view complaint) {
  const YamlNode* node = fields.Node(key);
  if (node == nullptr) return false;
  if (node->kind == kind) return true;
  fields.Fail(key, complaint);
  return false;
}

}  // namespace

bool IsMap(FieldReader& fields) {
  if (fields.node().kind == YamlNode::Kind::kMap) return true;
  fields.FailHere("expected a map");
  return false;
}

bool ReadText(FieldReader& fields, std::string_view key, std::string& out) {
  const YamlNode* node = fields.Node(key);
  if (node == nullptr) return false;
  if (const std::string_view complaint = TextComplaint(*node); !complaint.empty()) {
    fields.Fail(key, complaint);
    return false;
  }
  out = node->text;
  return true;
}

bool ReadTexts(FieldReader& fields, std::string_view key, std::vector<std::string>& out) {
  if (!HasKind(fields, key, YamlNode::Kind::kList, "expected a list of strings")) return false;
  return fields.ForEach(key, [&](FieldReader& item) {
    const std::string_view complaint = TextComplaint(item.node());
    if (!complaint.empty()) return item.FailHere(complaint);
    out.push_back(item.node().text);
  });
}

bool ReadBase64(FieldReader& fields, std::string_view key, std::string& out) {
  std::string text;
  if (!ReadText(fields, key, text)) return false;
  if (absl::Base64Unescape(text, &out)) return true;
  fields.Fail(key, "is not base64");
  return false;
}

bool ReadBool(FieldReader& fields, std::string_view key, bool& out) {
  const YamlNode* node = fields.Node(key);
  if (node == nullptr) return false;
  const std::optional<bool> value = node->AsBool();
  if (!value) {
    fields.Fail(key, "expected true or false");
    return false;
  }
  out = *value;
  return true;
}

bool ReadMap(FieldReader& fields, std::string_view key, FieldReader::Visit visit) {
  return HasKind(fields, key, YamlNode::Kind::kMap, "expected a map") && fields.Map(key, visit);
}

bool ForEachMap(FieldReader& fields, std::string_view key, FieldReader::Visit visit) {
  if (!HasKind(fields, key, YamlNode::Kind::kList, "expected a list")) return false;
  return fields.ForEach(key, [&](FieldReader& item) {
    if (IsMap(item)) visit(item);
  });
}

}  // namespace knx::client
