// What the pods of a class want of other pods, with the selectors they speak of registered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/symbol.h"
#include "cluster/ids.h"
#include "cluster/kinship.h"
#include "k8s/objects.h"

namespace knx::cluster {

struct ClassTerms {
  // Means the pods that meet every required term; invalid if there are none.
  PodSelectorId near_all;
  // Each with its topology key.
  std::vector<PodSelectorId> near, apart;
  struct Preferred {
    PodSelectorId selector;
    std::int64_t weight = 0;  // negative: rather not near
  };
  std::vector<Preferred> preferred;

  struct Spread {
    PodSelectorId selector;
    bool counts = true;  // false: a selector without conditions, which Kubernetes takes for none
    Symbol topology_key;
    std::int32_t max_skew = 1, min_domains = 1;
    bool hard = true;
    bool honor_affinity = true, honor_taints = false;
  };
  std::vector<Spread> spread;

  // Why its terms cannot be understood; what is wrong is left out above.
  std::string affinity_error, hard_spread_error, soft_spread_error;

  [[nodiscard]] bool carries() const {
    return !near.empty() || !apart.empty() || !preferred.empty();
  }
};

ClassTerms AcquireTerms(const k8s::PodSpec& spec, const k8s::ObjectMeta& meta, SymbolTable& words,
                        Kinship& kinship);
void ReleaseTerms(const ClassTerms& terms, Kinship& kinship);
// A pod with these terms comes to a row (+1) or leaves it (-1).
void CarryTerms(const ClassTerms& terms, NodeRow row, int sign, Kinship& kinship);

}  // namespace knx::cluster
