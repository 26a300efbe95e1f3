// The nodes for one pod of a class of which some answers depend on topology domains. What depends
// on a node alone is remembered by the class cache; the rest is asked about all nodes, for every
// pod.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/class_cache.h"

namespace knx::engine {

// Every call needs a class cache that is up to date, with its prepared plugins refreshed.
class DomainContest {
 public:
  // The rows that fit, ascending. Valid until the next call; rows may be taken out.
  std::vector<cluster::NodeRow>& Feasible(const ClassCache& cache);
  // The totals of the rows that Feasible() gave, in their order.
  const std::vector<std::int32_t>& Totals(ClassCache& cache);
  // The first rejection of each row.
  void Explain(const ClassCache& cache, std::span<const cluster::NodeRow> rows,
               std::vector<framework::Verdict>& verdicts);

 private:
  std::vector<cluster::NodeRow> feasible_;
  std::vector<std::int32_t> totals_;
  std::vector<std::int64_t> raw_;
  PreparedClass::Batch batch_;
};

}  // namespace knx::engine
