// Amounts of resources by name, as the scheduler has to count them: cpu in thousandths, everything
// else in whole units, what has no meaning for scheduling left out. Counted here from the objects
// alone, so that the invariants do not trust the scheduler's own sums.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "k8s/objects.h"

namespace knx::sim {

using Amounts = std::map<std::string, std::int64_t>;

Amounts ToAmounts(const k8s::ResourceList& list);
// What a pod takes from the node it is on, or is put on.
Amounts RequestsOf(const k8s::Pod& pod);
void Add(Amounts& to, const Amounts& what);
std::int64_t AmountOf(const Amounts& amounts, const std::string& name);

}  // namespace knx::sim
