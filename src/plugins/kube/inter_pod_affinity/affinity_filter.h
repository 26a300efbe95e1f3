// Prepared for a class and relation: which domains are forbidden, and why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/state.h"
#include "framework/plugin.h"
#include "plugins/common/domain_sums.h"

namespace knx::plugins {

class PodAffinityFilter final : public framework::NodeFilter {
 public:
  explicit PodAffinityFilter(const framework::PodView& pod);

  // Nothing could ever be rejected.
  [[nodiscard]] bool empty() const { return keys_.empty(); }

  void Filter(framework::NodeRows nodes, framework::Verdicts& out) const override;
  void Keep(std::vector<cluster::NodeRow>& nodes) const override;
  void Explain(const framework::Verdict& verdict, std::vector<std::string>& reasons) const override;
  [[nodiscard]] framework::ClassLimits limits() const override;
  void Refresh() override;
  void OnPodAdded(cluster::PodId pod, cluster::NodeRow) override { Planned(pod); }
  void OnPodRemoved(cluster::PodId pod, cluster::NodeRow) override { Planned(pod); }

 private:
  // Why a domain is forbidden; of several reasons the first here counts.
  enum Reason : std::uint8_t { kNotNear, kNotApart, kOthersWantApart, kNone };
  // All that is asked about one label of nodes.
  struct OfKey {
    OfKey(const cluster::State& state, Symbol topology_key)
        : key(topology_key),
          near(state, topology_key),
          apart(state, topology_key),
          existing(state, topology_key) {}
    Symbol key;
    bool requires_near = false;
    bool apart_from_itself = false;  // the pod is one of those it wants apart
    DomainSums near, apart, existing;
    std::vector<Reason> reasons;  // by domain
    std::size_t forbidden = 0;    // domains
  };
  void Planned(cluster::PodId pod);
  OfKey& Of(const cluster::State& state, Symbol key);
  void RefreshKey(OfKey& key);
  void JudgeAll(OfKey& key) const;
  void Judge(OfKey& key, std::uint32_t domain) const;
  [[nodiscard]] Reason ReasonOf(const OfKey& key, std::uint32_t domain) const;

  std::vector<OfKey> keys_;
  bool means_itself_ = false;  // the pod is one of those it wants near
  // Nobody it wants near is anywhere, and it is one of them: it may be the first.
  bool may_be_first_ = false;
  std::vector<std::uint32_t> changed_;
  bool speaks_ = false;  // the pod itself requires something of others
  // Pods that a plan put somewhere else than they are.
  std::vector<cluster::PodId> planned_;
  // Nobody had required anything before the plan began: then kube-scheduler does not ask whether
  // somebody whom the plan adds does.
  bool ignores_plan_ = false;
};

}  // namespace knx::plugins
