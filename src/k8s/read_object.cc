#include "k8s/read_object.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "k8s/json_fields.h"
#include "k8s/known_kinds.h"
#include "k8s/other_kinds.h"
#include "k8s/read_json.h"
#include "k8s/yaml_reader.h"
#include "k8s/yaml_tree.h"

namespace knx::k8s {
namespace {

std::string UnknownKind(const TypeMeta& type) {
  std::vector<std::string> known;
  for (const auto& kind : kKnownKinds<FieldReader>) {
    known.push_back(fmt::format("{} {}", kind.api_version, kind.kind));
  }
  return fmt::format("{} of apiVersion {} is not known; known are {}", Quoted(type.kind),
                     Quoted(type.api_version), fmt::join(known, ", "));
}

// One object of a kind that must be known.
template <class Fields>
void ReadOne(Fields& fields, Object& out) {
  TypeMeta type;
  fields.Require("apiVersion", type.api_version);
  fields.Require("kind", type.kind);
  if (!fields.ok()) return;
  if (const KnownKind<Fields>* known = FindKind<Fields>(type)) {
    known->read(fields, out);
  } else {
    fields.Fail("kind", UnknownKind(type));
  }
}

class ManifestReader {
 public:
  ManifestReader(std::string_view file, const ReadOptions& options)
      : file_(file), options_(options) {}

  Status Read(const YamlNode& document) {
    return ReadNode(document, {.file = file_},
                    [this](FieldReader& fields) { ReadAny(fields, {}); });
  }
  std::vector<ObjectAt> TakeObjects() { return std::move(objects_); }

 private:
  // `type` is what the list around it says; an object of a typed list need not repeat it.
  void ReadAny(FieldReader& fields, TypeMeta type) {
    if (type.kind.empty()) {
      fields.Require("apiVersion", type.api_version);
      fields.Require("kind", type.kind);
    } else {
      fields.Read("apiVersion", type.api_version);
      fields.Read("kind", type.kind);
    }
    if (!fields.ok()) return;
    constexpr std::string_view kList = "List";
    if (type.kind.ends_with(kList)) {
      type.kind.resize(type.kind.size() - kList.size());
      fields.ForEach("items", [&](FieldReader& item) { ReadAny(item, type); });
      return;
    }
    const KnownKind<FieldReader>* known = FindKind<FieldReader>(type);
    const YamlNode& node = fields.node();
    SourcePlace place{std::string(file_), node.line, node.column};
    if (known == nullptr) return Skip(fields, std::move(type), std::move(place));
    ObjectAt read{.object = {}, .place = std::move(place)};
    known->read(fields, read.object);
    objects_.push_back(std::move(read));
  }

  void Skip(FieldReader& fields, TypeMeta type, SourcePlace place) {
    const auto& kinds = kKnownKinds<FieldReader>;
    // What we read is misspelt in its apiVersion rather than another kind of that name, but for
    // names that several projects have.
    const bool read = std::any_of(kinds.begin(), kinds.end(),
                                  [&](const auto& known) { return known.kind == type.kind; });
    const bool common = type.kind == "PodGroup" || type.kind == "Workload";
    const bool misspelt = read && !common;
    if (options_.skipped == nullptr || misspelt || !IsOtherKind(type.api_version, type.kind)) {
      return fields.Fail("kind", UnknownKind(type));
    }
    options_.skipped->push_back(
        {std::move(type.api_version), std::move(type.kind), std::move(place)});
  }

  std::string_view file_;
  const ReadOptions& options_;
  std::vector<ObjectAt> objects_;
};

}  // namespace

Result<std::vector<ObjectAt>> ReadManifests(std::string_view text, std::string_view file,
                                            const ReadOptions& options) {
  KNX_TRY(const std::vector<YamlNode> documents, ParseYaml(text, file));
  return ReadManifests(documents, file, options);
}

Result<std::vector<ObjectAt>> ReadManifests(const std::vector<YamlNode>& documents,
                                            std::string_view file, const ReadOptions& options) {
  ManifestReader reader(file, options);
  for (const YamlNode& document : documents) KNX_TRY_DONE(reader.Read(document));
  return reader.TakeObjects();
}

std::optional<Object> ReadJsonFast(std::string_view json) {
  Object object;
  if (!ReadJson(json, [&object](JsonFields& fields) { ReadOne(fields, object); })) {
    return std::nullopt;
  }
  return object;
}

Result<Object> ReadJsonExplained(std::string_view json) {
  KNX_TRY(const YamlNode root, ParseJson(json, ""));
  Object object;
  KNX_TRY_DONE(ReadNode(root, {}, [&object](FieldReader& fields) { ReadOne(fields, object); }));
  return object;
}

Result<Object> ReadJsonObject(std::string_view json) {
  if (std::optional<Object> object = ReadJsonFast(json)) return *std::move(object);
  return ReadJsonExplained(json);
}

}  // namespace knx::k8s
