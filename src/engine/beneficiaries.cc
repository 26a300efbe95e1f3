#include "engine/beneficiaries.h"

#include <algorithm>

#include "cluster/reservation_hold.h"
#include "k8s/names.h"

namespace knx::engine {

namespace names = k8s::names;
using cluster::GangId;
using cluster::PodId;

namespace {

std::string_view LabelIn(const k8s::StringMap& labels, std::string_view key) {
  const auto at =
      std::lower_bound(labels.begin(), labels.end(), key,
                       [](const auto& entry, std::string_view k) { return entry.first < k; });
  return at != labels.end() && at->first == key ? std::string_view(at->second) : std::string_view();
}

}  // namespace

BeneficiaryNames NamesOf(const cluster::State& state, PodId id) {
  const cluster::Pod& pod = state.pod(id);
  const k8s::StringMap& labels = state.label_sets().Get(pod.labels);
  BeneficiaryNames out;
  out.namespace_ = state.words().Text(pod.namespace_);
  if (cluster::IsHold(pod)) return out;
  out.app = LabelIn(labels, names::kAppId);
  if (pod.gang != nullptr && pod.gang->declared.problem.empty()) {
    out.group = cluster::GroupOf(pod.gang->declared.source, pod.gang->declared.name);
    return out;
  }
  // A name without a minimum makes no gang, and says whose the pod is all the same.
  for (const std::string_view key :
       {names::kGangName, names::kSigsGangName, names::kEarlierGangName, names::kSigsPodGroup}) {
    if (out.group.empty()) out.group = LabelIn(labels, key);
  }
  return out;
}

BeneficiaryNames NamesOf(const cluster::State& state, GangId id) {
  const cluster::Gang& gang = state.gangs().Get(id);
  return {state.words().Text(gang.namespace_), cluster::GroupOf(gang.source, gang.name), {}};
}

}  // namespace knx::engine
