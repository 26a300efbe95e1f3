// Resource names as small numbers, and amounts of them.
// cpu is counted in thousandths, everything else in whole units, each rounded up, as kube-scheduler
// does.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/text_map.h"
#include "k8s/objects.h"

namespace knx::cluster {

using ResourceId = Id<struct ResourceTag>;

inline constexpr ResourceId kCpu{0};
inline constexpr ResourceId kMemory{1};
inline constexpr ResourceId kEphemeralStorage{2};
inline constexpr ResourceId kPods{3};
inline constexpr std::uint32_t kFirstScalar = 4;

class ResourceNames {
 public:
  ResourceNames();
  ResourceId Intern(std::string_view name);
  [[nodiscard]] ResourceId Find(std::string_view name) const;
  [[nodiscard]] const std::string& Name(ResourceId id) const { return names_[id.index]; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::vector<std::string> names_;
  TextMap<ResourceId> index_;
};

struct ResourceAmount {
  ResourceId id;
  std::int64_t amount = 0;
  friend bool operator==(const ResourceAmount&, const ResourceAmount&) = default;
};

// Sorted by id, without zeros.
using ResourceVector = std::vector<ResourceAmount>;

ResourceVector ToResourceVector(const k8s::ResourceList& list, ResourceNames& names);
std::int64_t AmountOf(std::span<const ResourceAmount> vector, ResourceId id);

// "1500m", "64Gi": as it is written in manifests.
std::string FormatAmount(std::string_view resource, std::int64_t amount);

// Resources that a pod asks for by their own name and a node offers as plain numbers: extended
// resources, huge pages, attachable volumes and other names in the kubernetes.io domain. Others
// beside cpu, memory, ephemeral-storage and pods do not exist for scheduling.
bool IsScalarResource(std::string_view name);

// Sums that cannot overflow: an object that asks for more than 2^63 asks for 2^63-1.
std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b);

}  // namespace knx::cluster
