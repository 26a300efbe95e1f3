#include "plugins/common/scored_resources.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "k8s/names.h"

namespace knx::plugins {
namespace {

bool IsOffered(std::string_view name) {
  return name == k8s::names::kCpu || name == k8s::names::kMemory ||
         name == k8s::names::kEphemeralStorage || cluster::IsScalarResource(name);
}

}  // namespace

std::vector<ScoredResource> DefaultScoredResources() {
  return {{std::string(k8s::names::kCpu), 1}, {std::string(k8s::names::kMemory), 1}};
}

void ReadScoredResources(k8s::FieldReader& fields, std::int64_t max_weight,
                         std::vector<ScoredResource>& out) {
  std::vector<ScoredResource> read;
  fields.ForEach("resources", [&](k8s::FieldReader& item) {
    ScoredResource& resource = read.emplace_back();
    item.Require("name", resource.name);
    item.Read("weight", resource.weight, {.min = 0, .max = max_weight});
    resource.weight = std::max<std::int64_t>(resource.weight, 1);
  });
  if (!read.empty()) out = std::move(read);
}

std::vector<ScoredRequest> RequestsToScore(const std::vector<ScoredResource>& resources,
                                           const k8s::ResourceList& requests,
                                           const cluster::ResourceNames& names) {
  std::vector<ScoredRequest> out;
  for (const ScoredResource& resource : resources) {
    const auto it = std::find_if(requests.begin(), requests.end(),
                                 [&](const auto& entry) { return entry.first == resource.name; });
    std::int64_t amount = 0;
    if (it != requests.end()) {
      amount = resource.name == k8s::names::kCpu ? it->second.MilliValue() : it->second.Value();
    }
    if (!IsOffered(resource.name)) continue;
    if (amount == 0 && cluster::IsScalarResource(resource.name)) continue;
    // What a pod asks for was given a number when its class was made.
    const cluster::ResourceId id = names.Find(resource.name);
    if (id.valid()) out.push_back({id, amount, resource.weight});
  }
  return out;
}

}  // namespace knx::plugins
