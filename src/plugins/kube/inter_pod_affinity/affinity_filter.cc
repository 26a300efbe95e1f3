#include "plugins/kube/inter_pod_affinity/affinity_filter.h"

#include <algorithm>
#include <array>

#include "plugins/common/row_blocks.h"

namespace knx::plugins {

using cluster::PodSelectorId;
using cluster::Topology;

PodAffinityFilter::PodAffinityFilter(const framework::PodView& pod) {
  const cluster::Kinship& kinship = pod.state.kinship();
  const cluster::Relation& relation = kinship.Get(pod.relation);
  const cluster::ClassTerms& terms = pod.pod_class.terms;
  for (const PodSelectorId id : terms.near) {
    OfKey& key = Of(pod.state, kinship.Get(id).topology_key);
    if (key.requires_near) continue;
    key.requires_near = true;
    key.near.Add(terms.near_all, cluster::kAllPods, 1);
  }
  for (const PodSelectorId id : terms.apart) {
    OfKey& key = Of(pod.state, kinship.Get(id).topology_key);
    key.apart.Add(id, cluster::kAllPods, 1);
    key.apart_from_itself |= relation.MeantBy(id);
  }
  for (const PodSelectorId id : relation.meant_by) {
    const Symbol key = kinship.Get(id).topology_key;
    if (key.valid()) Of(pod.state, key).existing.Add(id, cluster::kApart, 1);
  }
  speaks_ = !terms.near.empty() || !terms.apart.empty();
  means_itself_ = terms.near_all.valid() && relation.MeantBy(terms.near_all);
  Refresh();
}

// Pods of the class that are added forbid domains to the next, or are themselves what it wants
// near, and those go only where that was wanted before.
framework::ClassLimits PodAffinityFilter::limits() const {
  framework::ClassLimits limits;
  limits.rejections_last = true;
  for (const OfKey& key : keys_) {
    if (key.apart_from_itself) limits.apart.push_back(key.key);
    if (key.requires_near && may_be_first_) limits.together.push_back(key.key);
  }
  return limits;
}

PodAffinityFilter::OfKey& PodAffinityFilter::Of(const cluster::State& state, Symbol key) {
  const auto it =
      std::find_if(keys_.begin(), keys_.end(), [key](const OfKey& k) { return k.key == key; });
  return it != keys_.end() ? *it : keys_.emplace_back(state, key);
}

PodAffinityFilter::Reason PodAffinityFilter::ReasonOf(const OfKey& key,
                                                      std::uint32_t domain) const {
  if (domain == Topology::kNowhere) return key.requires_near ? kNotNear : kNone;
  if (key.requires_near && key.near.sums()[domain] <= 0 && !may_be_first_) return kNotNear;
  if (key.apart.sums()[domain] > 0) return kNotApart;
  return key.existing.sums()[domain] > 0 ? kOthersWantApart : kNone;
}

void PodAffinityFilter::Judge(OfKey& key, std::uint32_t domain) const {
  const Reason before = key.reasons[domain];
  const Reason now = ReasonOf(key, domain);
  if (before == now) return;
  key.reasons[domain] = now;
  if (before == kNone) ++key.forbidden;
  if (now == kNone) --key.forbidden;
}

void PodAffinityFilter::JudgeAll(OfKey& key) const {
  key.forbidden = 0;
  key.reasons.assign(key.near.topology().domain_limit(), kNone);
  for (std::uint32_t d = 0; d < key.reasons.size(); ++d) Judge(key, d);
}

void PodAffinityFilter::RefreshKey(OfKey& key) {
  changed_.clear();
  const bool near = key.near.Refresh(changed_);
  const bool apart = key.apart.Refresh(changed_);
  const bool existing = key.existing.Refresh(changed_);
  if (near || apart || existing) return JudgeAll(key);
  for (const std::uint32_t domain : changed_) Judge(key, domain);
}

void PodAffinityFilter::Refresh() {
  for (OfKey& key : keys_) RefreshKey(key);
  const bool first = means_itself_ && std::all_of(keys_.begin(), keys_.end(), [](const OfKey& key) {
                       return key.near.total() == 0;
                     });
  if (first == may_be_first_) return;
  may_be_first_ = first;
  for (OfKey& key : keys_) JudgeAll(key);
}

void PodAffinityFilter::Planned(cluster::PodId pod) {
  if (planned_.empty()) {
    ignores_plan_ = !speaks_ && std::all_of(keys_.begin(), keys_.end(), [](const OfKey& key) {
      return key.existing.total() == 0;
    });
  }
  if (std::erase(planned_, pod) == 0) planned_.push_back(pod);
  if (planned_.empty()) ignores_plan_ = false;
}

void PodAffinityFilter::Filter(framework::NodeRows nodes, framework::Verdicts& out) const {
  if (ignores_plan_) return;
  std::array<Reason, kRowsInBlock> found;
  ForEachBlock(nodes, [&](std::size_t begin, framework::NodeRows block) {
    found.fill(kNone);
    for (const OfKey& key : keys_) {
      if (key.forbidden == 0) continue;
      const std::uint32_t* const domains = key.near.topology().domains().data();
      const Reason* const reasons = key.reasons.data();
      for (std::size_t i = 0; i < block.size(); ++i) {
        found[i] = std::min(found[i], reasons[domains[block[i].index]]);
      }
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (found[i] == kNone) continue;
      const bool hopeless = found[i] == kNotNear;
      out.Reject(begin + i,
                 hopeless ? framework::Code::kUnresolvable : framework::Code::kUnschedulable,
                 found[i]);
    }
  });
}

void PodAffinityFilter::Keep(std::vector<cluster::NodeRow>& nodes) const {
  if (ignores_plan_) return;
  for (const OfKey& key : keys_) {
    if (key.forbidden == 0) continue;
    const std::uint32_t* const domains = key.near.topology().domains().data();
    const Reason* const reasons = key.reasons.data();
    KeepRows(nodes, [=](cluster::NodeRow row) { return reasons[domains[row.index]] == kNone; });
  }
}

void PodAffinityFilter::Explain(const framework::Verdict& verdict,
                                std::vector<std::string>& reasons) const {
  switch (static_cast<Reason>(verdict.detail)) {
    case kNone:
      break;
    case kNotNear:
      reasons.emplace_back("node(s) didn't match pod affinity rules");
      break;
    case kNotApart:
      reasons.emplace_back("node(s) didn't match pod anti-affinity rules");
      break;
    case kOthersWantApart:
      reasons.emplace_back("node(s) didn't satisfy existing pods anti-affinity rules");
      break;
  }
}

}  // namespace knx::plugins
