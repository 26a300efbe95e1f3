#include "cluster/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "k8s/names.h"

namespace knx::cluster {
namespace {

bool HasPrefix(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

ResourceNames::ResourceNames() {
  for (const std::string_view name :
       {k8s::names::kCpu, k8s::names::kMemory, k8s::names::kEphemeralStorage, k8s::names::kPods}) {
    Intern(name);
  }
}

ResourceId ResourceNames::Intern(std::string_view name) {
  if (const auto it = index_.find(name); it != index_.end()) return it->second;
  const ResourceId id{static_cast<std::uint32_t>(names_.size())};
  names_.emplace_back(name);
  index_.emplace(name, id);
  return id;
}

ResourceId ResourceNames::Find(std::string_view name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? ResourceId{} : it->second;
}

std::size_t ResourceNames::bytes() const {
  return names_.capacity() * sizeof(std::string) +
         index_.capacity() * (sizeof(std::string) + sizeof(ResourceId) + 1);
}

bool IsScalarResource(std::string_view name) {
  // Names without a domain are Kubernetes' own; of those only these two families are scheduled by
  // count.
  if (name.find('/') == std::string_view::npos) {
    return HasPrefix(name, "hugepages-") || HasPrefix(name, "attachable-volumes-");
  }
  // "requests.example.com/thing" is how a quota writes it, never how a pod does.
  return !HasPrefix(name, "requests.") || name.find("kubernetes.io/") != std::string_view::npos;
}

ResourceVector ToResourceVector(const k8s::ResourceList& list, ResourceNames& names) {
  ResourceVector out;
  for (const auto& [name, quantity] : list) {
    const ResourceId known = names.Find(name);
    if (!(known.valid() && known.index < kFirstScalar) && !IsScalarResource(name)) continue;
    const std::int64_t amount = name == k8s::names::kCpu ? quantity.MilliValue() : quantity.Value();
    if (amount != 0) out.push_back({names.Intern(name), amount});
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return out;
}

std::int64_t AmountOf(std::span<const ResourceAmount> vector, ResourceId id) {
  for (const ResourceAmount& entry : vector) {
    if (entry.id == id) return entry.amount;
  }
  return 0;
}

std::string FormatAmount(std::string_view resource, std::int64_t amount) {
  if (resource == k8s::names::kCpu) return k8s::Quantity::FromMilli(amount).ToString();
  constexpr std::pair<std::int64_t, std::string_view> kUnits[] = {{std::int64_t{1} << 40, "Ti"},
                                                                  {std::int64_t{1} << 30, "Gi"},
                                                                  {std::int64_t{1} << 20, "Mi"},
                                                                  {std::int64_t{1} << 10, "Ki"}};
  const bool bytes = resource == k8s::names::kMemory || resource == k8s::names::kEphemeralStorage ||
                     HasPrefix(resource, "hugepages-");
  for (const auto& [unit, name] : kUnits) {
    if (bytes && amount >= unit && amount % unit == 0)
      return fmt::format("{}{}", amount / unit, name);
  }
  return fmt::format("{}", amount);
}

std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

}  // namespace knx::cluster
