// Which gang a pod says it belongs to. Every spelling that users have is read here and nowhere
// else; docs/gangs.md has the table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "k8s/object_meta.h"

namespace knx::cluster {

// So many pods in one gang are beyond any cluster; keeps sums of counts within 32 bits.
inline constexpr std::int32_t kMaxGangMinimum = 1'000'000;

struct GangDeclaration {
  std::string name;          // unique in the pod's namespace
  std::int32_t minimum = 0;  // members that must start together; above 1
  std::string problem = {};  // why what it says about its gang cannot be read; then it cannot start
  friend bool operator==(const GangDeclaration&, const GangDeclaration&) = default;
};

// nullopt: it belongs to none. A gang of one is none.
std::optional<GangDeclaration> ReadGangDeclaration(const k8s::ObjectMeta& meta);

}  // namespace knx::cluster
