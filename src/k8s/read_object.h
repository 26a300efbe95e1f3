// Reads manifests: YAML or JSON, several documents a file, kind List unfolded.
// Malformed input gives file, line, field and reason; it never throws or crashes. Unknown fields
// are ignored, unknown kinds are refused by name (or skipped, with `skip_unknown_kinds`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "k8s/objects.h"
#include "k8s/yaml_reader.h"

namespace knx::k8s {

struct ReadOptions {
  bool skip_unknown_kinds = false;
};

struct ObjectAt {
  Object object;
  SourcePlace place;  // where it begins: its document, or its item of a List
};

// `file` is only named in errors. JSON is a subset of YAML and is read by the same path.
Result<std::vector<ObjectAt>> ReadManifests(std::string_view text, std::string_view file,
                                            const ReadOptions& options = {});
// The same from documents that were parsed already.
Result<std::vector<ObjectAt>> ReadManifests(const std::vector<YamlNode>& documents,
                                            std::string_view file, const ReadOptions& options = {});

// One object from JSON, as the API server sends it: the fast path. Errors come with line and field
// all the same, from reading what it refuses a second time.
Result<Object> ReadJsonObject(std::string_view json);

}  // namespace knx::k8s
