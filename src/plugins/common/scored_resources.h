// Resources that a scorer weighs against each other, and what of them the nodes have and the pod
// asks for.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/state.h"
#include "k8s/objects.h"
#include "k8s/yaml_reader.h"

namespace knx::plugins {

struct ScoredResource {
  std::string name;
  std::int64_t weight = 1;
  friend bool operator==(const ScoredResource&, const ScoredResource&) = default;
};

inline constexpr std::int64_t kMaxResourceWeight = 100;

// cpu and memory, alike.
std::vector<ScoredResource> DefaultScoredResources();

// Reads the list `resources`, if there is one. As in kube-scheduler an empty list is the default,
// and so is a weight that is absent or zero.
void ReadScoredResources(k8s::FieldReader& fields, std::int64_t max_weight,
                         std::vector<ScoredResource>& out);

// What the pod asks for of one scored resource.
struct ScoredRequest {
  cluster::ResourceId id;
  std::int64_t amount = 0;
  std::int64_t weight = 1;
};

// The resources that can count for this pod on some node, in the order of `resources`: extended
// resources that it does not ask for do not, nor do names that nodes cannot offer.
std::vector<ScoredRequest> RequestsToScore(const std::vector<ScoredResource>& resources,
                                           const k8s::ResourceList& requests,
                                           const cluster::ResourceNames& names);

// A resource as two columns, resolved for one call.
struct ScoredColumns {
  const cluster::Column* allocatable;
  const cluster::Column* used;
  std::int64_t amount;
  std::int64_t weight;
};
using ScoredTable = absl::InlinedVector<ScoredColumns, 8>;

// Sums that end at the largest number; what pods take is never negative.
inline std::int64_t AddAmounts(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

// floor(part * 100 / whole) for 0 <= part <= whole and whole > 0.
inline std::int64_t Percent(std::int64_t part, std::int64_t whole) {
  // Division of doubles is exact enough to be truncated as long as the dividend is below 2^53, and
  // much cheaper than that of integers.
  constexpr std::int64_t kSmall = std::int64_t{1} << 46;
  if (whole < kSmall) [[likely]] {
    return static_cast<std::int64_t>(static_cast<double>(part * 100) / static_cast<double>(whole));
  }
  return static_cast<std::int64_t>(static_cast<__int128>(part) * 100 / whole);
}

}  // namespace knx::plugins
