#include "plugins/kube/taint_toleration/taint_toleration.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "k8s/selector.h"
#include "plugins/common/normalize.h"

namespace knx::plugins {
namespace {

using Taints = std::vector<k8s::Taint>;
using Tolerations = std::vector<k8s::Toleration>;

std::int64_t CountUntoleratedSoft(const Taints& taints, const Tolerations& tolerations) {
  return std::count_if(taints.begin(), taints.end(), [&](const k8s::Taint& taint) {
    return taint.effect == k8s::TaintEffect::kPreferNoSchedule &&
           !k8s::Tolerates(tolerations, taint);
  });
}

class ToleratedFilter final : public framework::NodeFilter {
 public:
  ToleratedFilter(const cluster::State& state, const Tolerations& tolerations) : state_(state) {
    const cluster::TaintSets& sets = state.taint_sets();
    for (std::uint32_t id = 0; id < sets.size(); ++id) {
      tolerated_.push_back(k8s::ToleratesToBeOn(sets.Get({id}), tolerations));
    }
  }

  void Filter(framework::NodeRows nodes, framework::Verdicts& out) const override {
    const cluster::NodeTable& table = state_.nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!tolerated_[table.facts(nodes[i]).taints.index]) {
        out.Reject(i, framework::Code::kUnresolvable);
      }
    }
  }
  void Explain(const framework::Verdict& /*verdict*/,
               std::vector<std::string>& reasons) const override {
    reasons.emplace_back("node(s) had untolerated taint(s)");
  }
  [[nodiscard]] bool Current() const override {
    return state_.taint_sets().size() == tolerated_.size();
  }

 private:
  const cluster::State& state_;
  std::vector<bool> tolerated_;  // by taint set
};

class SoftTaintScorer final : public framework::NodeScorer {
 public:
  SoftTaintScorer(const cluster::State& state, const Tolerations& tolerations) : state_(state) {
    const cluster::TaintSets& sets = state.taint_sets();
    for (std::uint32_t id = 0; id < sets.size(); ++id) {
      untolerated_.push_back(CountUntoleratedSoft(sets.Get({id}), tolerations));
    }
    all_zero_ = std::all_of(untolerated_.begin(), untolerated_.end(),
                            [](std::int64_t count) { return count == 0; });
  }

  void Score(framework::NodeRows nodes, std::span<std::int64_t> raw) const override {
    // Most pods meet no soft taint at all. kube-scheduler scores them all the same (100
    // everywhere), so this is no Skip; it only must not cost anything.
    if (all_zero_) {
      std::fill(raw.begin(), raw.end(), 0);
      return;
    }
    const cluster::NodeTable& table = state_.nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      raw[i] = untolerated_[table.facts(nodes[i]).taints.index];
    }
  }
  [[nodiscard]] bool normalizes() const override { return true; }
  [[nodiscard]] std::int64_t Normalize(std::int64_t raw,
                                       framework::ScoreBounds bounds) const override {
    return LessIsBetter(raw, bounds);
  }
  [[nodiscard]] bool Current() const override {
    return state_.taint_sets().size() == untolerated_.size();
  }

 private:
  const cluster::State& state_;
  std::vector<std::int64_t> untolerated_;  // by taint set
  bool all_zero_ = false;
};

}  // namespace

framework::EventSet TaintToleration::events() const {
  return {framework::EventKind::kNodeAdd, framework::EventKind::kNodeTaint,
          framework::EventKind::kOwnTolerations};
}

bool TaintToleration::MayHelp(const framework::ClusterEvent& event,
                              const framework::PodView& pod) const {
  if (event.kind == framework::EventKind::kOwnTolerations) return true;
  const Tolerations& tolerations = pod.pod_class.spec.tolerations;
  const cluster::TaintSets& sets = pod.state.taint_sets();
  const bool was_tolerated = event.node_before != nullptr &&
                             k8s::ToleratesToBeOn(sets.Get(event.node_before->taints), tolerations);
  return !was_tolerated &&
         k8s::ToleratesToBeOn(sets.Get(pod.state.nodes().facts(event.row).taints), tolerations);
}

framework::PreFilterResult TaintToleration::PreFilter(const framework::PodView& pod) const {
  framework::PreFilterResult result;
  result.scope = framework::Scope::kFacts;
  result.filter = std::make_unique<ToleratedFilter>(pod.state, pod.pod_class.spec.tolerations);
  return result;
}

framework::PreScoreResult TaintToleration::PreScore(const framework::PodView& pod) const {
  framework::PreScoreResult result;
  result.scope = framework::Scope::kFacts;
  result.scorer = std::make_unique<SoftTaintScorer>(pod.state, pod.pod_class.spec.tolerations);
  return result;
}

}  // namespace knx::plugins
