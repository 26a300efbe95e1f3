// Objects from trees of manifests.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "k8s/known_kinds.h"
#include "scenario/manifest_tree.h"

namespace knx::scenario {
namespace {

using k8s::FieldReader;

void ReadAny(FieldReader& fields, std::vector<k8s::Object>& out) {
  k8s::TypeMeta type;
  fields.Require("apiVersion", type.api_version);
  fields.Require("kind", type.kind);
  if (!fields.ok()) return;
  if (type.kind == "List") {
    fields.ForEach("items", [&](FieldReader& item) { ReadAny(item, out); });
    return;
  }
  if (const auto* known = k8s::FindKind<FieldReader>(type)) {
    return known->read(fields, out.emplace_back());
  }
  std::vector<std::string> known;
  for (const auto& kind : k8s::kKnownKinds<FieldReader>) {
    known.push_back(fmt::format("{} {}", kind.api_version, kind.kind));
  }
  fields.Fail("kind", fmt::format("\"{}\" of apiVersion \"{}\" is not known; known are {}",
                                  type.kind, type.api_version, fmt::join(known, ", ")));
}

}  // namespace

Result<std::vector<k8s::Object>> ReadObjects(const k8s::YamlNode& manifest, TreePlace place) {
  std::vector<k8s::Object> out;
  KNX_TRY_DONE(k8s::ReadNode(manifest, {.file = place.file, .path = place.path},
                             [&out](FieldReader& fields) { ReadAny(fields, out); }));
  return out;
}

}  // namespace knx::scenario
