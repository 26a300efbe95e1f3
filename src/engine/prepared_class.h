// The plugins of a profile, prepared for one class of pods: judges and scores any rows, remembers
// nothing. The class cache remembers its answers; what must not be remembered (a nominated pod on
// the node, the one node a DaemonSet pod may go to) is asked here directly.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/state.h"
#include "engine/plugin_set.h"
#include "framework/profile.h"

namespace knx::engine {

using ScopeMask = std::uint8_t;
constexpr ScopeMask MaskOf(framework::Scope scope) {
  return static_cast<ScopeMask>(1U << static_cast<unsigned>(scope));
}
inline constexpr ScopeMask kFactsOnly = MaskOf(framework::Scope::kFacts);
inline constexpr ScopeMask kUsageOnly = MaskOf(framework::Scope::kUsage);
inline constexpr ScopeMask kDomainsOnly = MaskOf(framework::Scope::kDomain);
inline constexpr ScopeMask kAllScopes = 0xFF;

// A position after that of every filter.
inline constexpr std::uint16_t kNoOrder = 0xFFFF;

struct PreparedFilter {
  std::uint8_t plugin = 0;
  std::uint16_t order = 0;  // position in the profile: of two that reject, the earlier one counts
  framework::Scope scope = framework::Scope::kCluster;
  std::unique_ptr<framework::NodeFilter> filter;
};

struct PreparedScorer {
  std::uint8_t plugin = 0;
  std::int32_t weight = 1;
  framework::Scope scope = framework::Scope::kCluster;
  std::unique_ptr<framework::NodeScorer> scorer;
};

class PreparedClass {
 public:
  // Asks every plugin of the profile. `pod` is invalid when the class is prepared for all its pods.
  PreparedClass(const framework::Profile& profile, const cluster::State& state, cluster::ClassId id,
                cluster::RelationId relation, cluster::PodId pod);

  // The pod as a whole was rejected (or failed) before any node was looked at.
  [[nodiscard]] const framework::Outcome& outcome() const { return outcome_; }
  [[nodiscard]] std::uint8_t rejected_by() const { return rejected_by_; }
  // Plugins that each left some nodes over left none together: none of them alone is to blame.
  [[nodiscard]] bool none_left() const { return none_left_; }
  // The plugin's PreFilter was asked before that.
  [[nodiscard]] bool WasAsked(std::uint8_t plugin) const { return asked_.Contains(plugin); }
  // Whether nodes can be compared. That matters only where there is more than one that fits.
  [[nodiscard]] const framework::Outcome& score_outcome() const { return score_outcome_; }
  // Only these rows come into question (rows of nodes that exist); nullopt: all.
  [[nodiscard]] const std::optional<std::vector<cluster::NodeRow>>& only_rows() const {
    return only_rows_;
  }
  // Plugins that narrowed the nodes, by index; with the text for nodes that were left out.
  // kube-scheduler counts among them who rejected the node the pod is nominated to.
  [[nodiscard]] const std::vector<std::uint8_t>& narrowed_by() const { return narrowed_by_; }
  [[nodiscard]] std::string LeftOutReason(const framework::Verdict& on_nominated) const;

  [[nodiscard]] bool Current() const;
  // Given by who remembers what it answered; prepared anew it has none, and nothing remembered
  // holds.
  [[nodiscard]] std::uint64_t mark() const { return mark_; }
  void set_mark(std::uint64_t mark) { mark_ = mark; }
  // Some answer can depend on anything, so that the plugins must be prepared anew for every pod.
  [[nodiscard]] bool asks_anew() const { return asks_anew_; }
  // Some answer depends on topology domains: Refresh() before judging rows for another pod.
  [[nodiscard]] bool has_domains() const { return has_domains_; }
  void Refresh();
  [[nodiscard]] std::span<const PreparedFilter> filters() const { return filters_; }
  // A plan puts a pod on a node, or takes it away again.
  void PodAdded(cluster::PodId pod, cluster::NodeRow row);
  void PodRemoved(cluster::PodId pod, cluster::NodeRow row);
  [[nodiscard]] std::span<const PreparedScorer> scorers() const { return scorers_; }
  [[nodiscard]] const framework::NodeFilter* FilterOf(std::uint8_t plugin) const;
  // Position of the plugin's filter in the profile.
  [[nodiscard]] std::uint16_t OrderOf(std::uint8_t plugin) const;

  // Room for one batch, kept by the caller so that judging does not allocate.
  struct Batch {
    std::vector<cluster::NodeRow> rows;
    std::vector<std::uint32_t> positions;
    std::vector<framework::Verdict> found;
  };
  // The first rejection of each row by the filters whose scope is wanted. Rows must be of existing
  // nodes.
  void Judge(ScopeMask wanted, framework::NodeRows rows, std::span<framework::Verdict> out,
             Batch& batch) const;

 private:
  void NoteScope(framework::Scope scope);
  void AskFilters(const framework::Profile& profile, const framework::PodView& view);
  void AskScorers(const framework::Profile& profile, const framework::PodView& view);
  void Narrow(const framework::PreFilterResult& result, std::uint8_t plugin,
              std::optional<std::vector<std::string>>& names);

  const framework::Profile& profile_;
  framework::Outcome outcome_, score_outcome_;
  std::uint8_t rejected_by_ = 0;
  bool none_left_ = false;
  PluginSet asked_;
  std::optional<std::vector<cluster::NodeRow>> only_rows_;
  std::vector<std::uint8_t> narrowed_by_;
  std::vector<PreparedFilter> filters_;
  std::vector<PreparedScorer> scorers_;
  std::uint64_t facts_seen_ = 0;  // with only_rows_: facts when names became rows
  const cluster::State& state_;
  bool asks_anew_ = false, has_domains_ = false;
  std::uint64_t mark_ = 0;
};

// Adds to each row's total what its raw score comes to, among all rows that fit.
void AddNormalized(const PreparedScorer& scorer, std::span<const std::int64_t> raw,
                   std::span<std::int32_t> totals);

}  // namespace knx::engine
