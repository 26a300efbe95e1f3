#include "engine/domain_contest.h"

namespace knx::engine {

using cluster::NodeRow;
using framework::Code;
using framework::Scope;
using framework::Verdict;

std::vector<NodeRow>& DomainContest::Feasible(const ClassCache& cache) {
  cache.CollectFeasible(feasible_);
  for (const PreparedFilter& filter : cache.prepared().filters()) {
    if (filter.scope == Scope::kDomain) filter.filter->Keep(feasible_);
  }
  return feasible_;
}

const std::vector<std::int32_t>& DomainContest::Totals(ClassCache& cache) {
  totals_.resize(feasible_.size());
  raw_.resize(feasible_.size());
  cache.Totals(feasible_, totals_);
  for (const PreparedScorer& scorer : cache.prepared().scorers()) {
    if (scorer.scope != Scope::kDomain) continue;
    scorer.scorer->OnFeasible(feasible_);
    scorer.scorer->Score(feasible_, raw_);
    AddNormalized(scorer, raw_, totals_);
  }
  return totals_;
}

void DomainContest::Explain(const ClassCache& cache, std::span<const NodeRow> rows,
                            std::vector<Verdict>& verdicts) {
  verdicts.assign(rows.size(), {});
  const PreparedClass& prepared = cache.prepared();
  if (prepared.has_domains()) prepared.Judge(kDomainsOnly, rows, verdicts, batch_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (cache.feasible(rows[i])) continue;
    const bool also = verdicts[i].code != Code::kSuccess;
    if (also && prepared.OrderOf(verdicts[i].plugin) < cache.rejection_order(rows[i])) continue;
    verdicts[i] = cache.verdict(rows[i]);
  }
}

}  // namespace knx::engine
