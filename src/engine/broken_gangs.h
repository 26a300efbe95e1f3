// Which gangs would have too few members left if some of them went, and who may go without the
// others. Who leaves already is not counted, neither with those who stay nor with those who go.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "cluster/state.h"

namespace knx::engine {

// These pods, each of which has a place, and what they leave of sub-groups that are whole now.
std::vector<cluster::PodId> WithTheirSubGroups(const cluster::State& state,
                                               std::span<const cluster::PodId> leaving);
// The object says so: either all of its pods may be disrupted, or none.
inline bool MustGoWhole(const cluster::Gang& gang) {
  return gang.terms.disruption == k8s::DisruptionMode::kAll;
}
// The gang without which the pod may not go, or is no use. Invalid: it is in none, or in one of
// which the object says that each of its pods may be disrupted for itself.
cluster::GangId TiedTo(const cluster::State& state, cluster::PodId pod);

// Those that have their minimum now and would not without these pods, each of which has a place,
// and those that may lose nobody, as their objects say.
std::vector<cluster::GangId> GangsBrokenBy(const cluster::State& state,
                                           std::span<const cluster::PodId> leaving);

// Whom a pod evicts on its node, the most important first, and the rest of the gangs that this
// breaks, anywhere.
struct Evicted {
  cluster::NodeRow node;
  std::vector<cluster::PodId>& victims;
  std::vector<cluster::PodId>& along;
};
// Those who go along on the node become victims, too, and others there stay if the pod fits all the
// same. `leaves`: counts as gone. The state is as before when it returns.
void SpareBesidesGangs(cluster::State& state, Evicted evicted,
                       const std::function<bool(cluster::PodId)>& leaves,
                       const std::function<bool()>& fits);

}  // namespace knx::engine
