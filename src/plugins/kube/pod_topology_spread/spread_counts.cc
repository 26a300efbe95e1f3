#include "plugins/kube/pod_topology_spread/spread_counts.h"

#include <algorithm>
#include <optional>

#include "k8s/selector.h"

namespace knx::plugins {
SpreadCounts::SpreadCounts(const framework::PodView& pod, SpreadConstraints constraints)
    : state_(pod.state),
      constraints_(std::move(constraints)),
      required_(pod.state.words(), pod.pod_class.spec),
      taint_sets_(pod.state.taint_sets().size()) {
  const cluster::Kinship& kinship = pod.state.kinship();
  const cluster::Relation& relation = kinship.Get(pod.relation);
  bool asks_for_taints = false;
  for (const auto& constraint : constraints_.list) {
    Count& count = counts_.emplace_back();
    count.constraint = constraint;
    count.topology = pod.state.nodes().UseTopology(constraint.topology_key);
    count.means_itself = relation.MeantBy(constraint.selector);
    if (constraint.counts) count.counter = &kinship.Get(constraint.selector).matching;
    asks_for_taints |= constraint.honor_taints;
  }
  if (asks_for_taints) {
    for (std::uint32_t id = 0; id < taint_sets_; ++id) {
      tolerated_.push_back(
          k8s::ToleratesToBeOn(pod.state.taint_sets().Get({id}), pod.pod_class.spec.tolerations));
    }
  }
  state_.nodes().present().ForEach([&](std::uint32_t row) {
    for (Count& count : counts_) count.counted.Assign(row, Counts(count, {row}));
  });
  facts_position_ = state_.fact_changes().end();
  Refresh();
}

bool SpreadCounts::Current() const {
  return constraints_.words.Current() && required_.Current() &&
         (tolerated_.empty() || taint_sets_ == state_.taint_sets().size());
}

bool SpreadCounts::Counts(const Count& count, cluster::NodeRow row) const {
  const cluster::NodeTable& nodes = state_.nodes();
  if (!nodes.has_node(row)) return false;
  if (constraints_.need_all_labels) {
    for (const Count& other : counts_) {
      if (other.topology->domain(row) == cluster::Topology::kNowhere) return false;
    }
  }
  const cluster::NodeFacts& facts = nodes.facts(row);
  if (count.constraint.honor_affinity && !required_.Matches(facts, nodes.name(row))) return false;
  return !count.constraint.honor_taints || tolerated_[facts.taints.index];
}

bool SpreadCounts::RefreshRows() {
  const cluster::ChangeLog& facts = state_.fact_changes();
  if (facts_position_ == facts.end()) return false;
  rows_.clear();
  if (facts.Reaches(facts_position_)) {
    facts.ChangedSince(facts_position_, rows_);
  } else {
    for (std::uint32_t i = 0; i < state_.nodes().row_count(); ++i) rows_.push_back({i});
  }
  facts_position_ = facts.end();
  bool changed = false;
  for (const cluster::NodeRow row : rows_) {
    for (Count& count : counts_) {
      const bool counts = Counts(count, row);
      if (counts == count.counted.Test(row.index)) continue;
      count.counted.Assign(row.index, counts);
      changed = true;
    }
  }
  return changed;
}

void SpreadCounts::Refresh() {
  const bool all = RefreshRows();
  for (Count& count : counts_) {
    const bool reaches = count.counter == nullptr || count.counter->Reaches(count.position);
    if (all || !reaches || count.version != count.topology->version()) {
      Recount(count);
    } else {
      Follow(count);
    }
  }
}

void SpreadCounts::Recount(Count& count) {
  count.version = count.topology->version();
  count.pods.assign(count.topology->domain_limit(), 0);
  count.nodes.assign(count.topology->domain_limit(), 0);
  count.counted.ForEach([&](std::uint32_t row) { ++count.nodes[count.topology->domain({row})]; });
  if (count.counter != nullptr) {
    for (const auto& [row, numbers] : count.counter->rows()) {
      if (!count.counted.Test(row.index)) continue;
      count.pods[count.topology->domain(row)] += numbers[cluster::kStayingPods];
    }
    count.position = count.counter->end();
  }
  for (const Correction& correction : corrections_) {
    if (&counts_[correction.count] == &count && count.counted.Test(correction.row.index)) {
      count.pods[count.topology->domain(correction.row)] += correction.sign;
    }
  }
  FindMin(count);
}

void SpreadCounts::FindMin(Count& count) {
  count.domains = 0;
  count.min = 0;
  count.at_min = 0;
  for (std::size_t d = 0; d < count.nodes.size(); ++d) {
    if (count.nodes[d] == 0) continue;
    if (count.domains++ == 0 || count.pods[d] < count.min) {
      count.min = count.pods[d];
      count.at_min = 0;
    }
    if (count.pods[d] == count.min) ++count.at_min;
  }
}

void SpreadCounts::Change(Count& count, std::uint32_t domain, std::int32_t delta) {
  const std::int32_t before = count.pods[domain];
  const std::int32_t now = before + delta;
  count.pods[domain] = now;
  if (before == count.min) --count.at_min;
  if (now < count.min) {
    count.min = now;
    count.at_min = 0;
  }
  if (now == count.min) ++count.at_min;
}

void SpreadCounts::Follow(Count& count) {
  if (count.counter == nullptr) return;
  for (const auto& change : count.counter->Since(count.position)) {
    const std::int32_t delta = change.delta[cluster::kStayingPods];
    if (delta == 0 || !count.counted.Test(change.row.index)) continue;
    Change(count, count.topology->domain(change.row), delta);
    // Only now and then: when every domain that had the fewest has got one more.
    if (count.at_min == 0) FindMin(count);
  }
  count.position = count.counter->end();
}

// A pod that is being deleted is not counted, and none is by a selector that selects everything;
// but kube-scheduler does not look at that when it tries what a pod more or less would mean.
void SpreadCounts::OnPlan(cluster::PodId pod, cluster::NodeRow row, int sign) {
  Refresh();
  const cluster::Pod& record = state_.pod(pod);
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    Count& count = counts_[i];
    const bool follows_state = count.counter != nullptr && !record.terminating;
    if (follows_state || !count.counted.Test(row.index)) continue;
    if (!state_.kinship().Means(count.constraint.selector, record.kin)) continue;
    const auto opposite = std::find_if(
        corrections_.begin(), corrections_.end(),
        [&](const Correction& c) { return c.count == i && c.row == row && c.sign == -sign; });
    if (opposite != corrections_.end()) {
      corrections_.erase(opposite);
    } else {
      corrections_.push_back({i, row, sign});
    }
    Change(count, count.topology->domain(row), sign);
    if (count.at_min == 0) FindMin(count);
  }
}

}  // namespace knx::plugins
