#include "k8s/pod_defaults.h"

#include <algorithm>
#include <string_view>

#include "k8s/names.h"
#include "k8s/pod_requests.h"

namespace knx::k8s {
namespace {

bool IsHugePages(std::string_view resource) { return resource.starts_with("hugepages-"); }
bool IsCpuOrMemory(std::string_view resource) {
  return resource == names::kCpu || resource == names::kMemory;
}

auto Position(ResourceList& list, std::string_view resource) {
  return std::lower_bound(
      list.begin(), list.end(), resource,
      [](const auto& entry, std::string_view name) { return entry.first < name; });
}

bool Contains(ResourceList& list, std::string_view resource) {
  const auto at = Position(list, resource);
  return at != list.end() && at->first == resource;
}

// Adds those of `from` that `wanted` says yes to and that are not there yet.
template <class Wanted>
void AddMissing(ResourceList& to, const ResourceList& from, Wanted wanted) {
  for (const auto& entry : from) {
    const auto at = Position(to, entry.first);
    if ((at == to.end() || at->first != entry.first) && wanted(entry.first)) to.insert(at, entry);
  }
}

void DefaultToLimits(ResourceRequirements& resources) {
  AddMissing(resources.requests, resources.limits, [](std::string_view) { return true; });
}

// What the containers alone ask for (or are limited to), added up as for a pod without anything of
// its own.
ResourceList SumOfContainers(const PodSpec& spec, bool limits) {
  PodSpec containers;
  containers.containers = spec.containers;
  containers.init_containers = spec.init_containers;
  if (limits) {
    for (Container& container : containers.containers) {
      container.resources.requests = container.resources.limits;
    }
    for (Container& container : containers.init_containers) {
      container.resources.requests = container.resources.limits;
    }
  }
  return PodRequests(containers);
}

void DefaultPodLevel(PodSpec& spec) {
  ResourceRequirements& pod = *spec.resources;
  if (pod.limits.empty() && pod.requests.empty()) return;
  AddMissing(pod.limits, SumOfContainers(spec, true), [&pod](std::string_view resource) {
    return IsHugePages(resource) && !Contains(pod.requests, resource);
  });
  if (pod.limits.empty()) return;
  AddMissing(pod.requests, SumOfContainers(spec, false), IsCpuOrMemory);
  AddMissing(pod.requests, pod.limits, [](std::string_view resource) {
    return IsCpuOrMemory(resource) || IsHugePages(resource);
  });
}

}  // namespace

void DefaultRequests(PodSpec& spec) {
  for (Container& container : spec.containers) DefaultToLimits(container.resources);
  for (Container& container : spec.init_containers) DefaultToLimits(container.resources);
  if (spec.resources) DefaultPodLevel(spec);
}

void LabelWithName(Namespace& out) {
  StringMap& labels = out.meta.labels;
  const auto at =
      std::lower_bound(labels.begin(), labels.end(), names::kNamespaceName,
                       [](const auto& label, std::string_view key) { return label.first < key; });
  if (at != labels.end() && at->first == names::kNamespaceName) {
    at->second = out.meta.name;
  } else {
    labels.emplace(at, names::kNamespaceName, out.meta.name);
  }
}

}  // namespace knx::k8s
