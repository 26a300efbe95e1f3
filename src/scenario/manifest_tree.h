// Short forms of a scenario rewritten as Kubernetes manifests, as trees, so that there is one
// reader for both and errors keep their line and column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "k8s/objects.h"
#include "k8s/yaml_reader.h"

namespace knx::scenario {

// A copy in which $i, $(i%n) and $(i/n) stand for numbers made from `number`.
k8s::YamlNode Numbered(const k8s::YamlNode& node, std::int64_t number);
std::string Numbered(std::string_view text, std::int64_t number);

struct TreePlace {
  std::string_view file, path;  // for errors
};
// `nodes:` of a scenario: name, labels, taints, unschedulable, allocatable, images.
Result<k8s::YamlNode> NodeManifest(const k8s::YamlNode& short_form, TreePlace place);
// What a `create:` says about one pod or one thing that makes pods.
Result<k8s::YamlNode> WorkManifest(const k8s::YamlNode& short_form, TreePlace place);

// One object, of any kind that manifests may have; a List gives several.
Result<std::vector<k8s::Object>> ReadObjects(const k8s::YamlNode& manifest, TreePlace place);

}  // namespace knx::scenario
