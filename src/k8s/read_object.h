// Reads manifests: YAML or JSON, several documents a file, kind List unfolded.
// Malformed input gives file, line, field and reason; it never throws or crashes. Unknown fields
// are ignored, unknown kinds are refused by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "k8s/objects.h"
#include "k8s/yaml_reader.h"

namespace knx::k8s {

struct ObjectAt {
  Object object;
  SourcePlace place;  // where it begins: its document, or its item of a List
};

// An object of a kind that Kubernetes has, or that is an extension of it, and that we do not read.
struct SkippedObject {
  std::string api_version, kind;
  SourcePlace place;
};

struct ReadOptions {
  // Gets such objects, which are refused without it. A kind that nobody knows is refused anyway: it
  // may be one that was misspelt.
  std::vector<SkippedObject>* skipped = nullptr;
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
