// What the API server does to an object before it stores it for the first time: defaults, priority,
// tolerations, the condition of gated pods. Refuses what it would refuse, in its words.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "k8s/objects.h"
#include "sim/store.h"

namespace knx::sim {

Status AdmitPod(const Store& store, k8s::Pod& pod);
// A change of a pod that is there: only a gated one may get a narrower node selector.
Status AdmitPodUpdate(const k8s::Pod& before, const k8s::Pod& after);
Status AdmitPriorityClass(const Store& store, k8s::PriorityClass& priority_class);
// A claim that names no class gets the default one, if there is one.
void AdmitClaim(const Store& store, k8s::PersistentVolumeClaim& claim);
// Also what a kubelet says of its node when it registers it: hostname, room for 110 pods, ready.
void AdmitNode(k8s::Node& node, Time now);
// What the node controller makes of a node's conditions, which the scheduler does not look at.
void TaintByConditions(k8s::Node& node);

}  // namespace knx::sim
