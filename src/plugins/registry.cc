#include "plugins/registry.h"

#include "plugins/common/args.h"
#include "plugins/kube/default_binder/default_binder.h"
#include "plugins/kube/default_preemption/default_preemption.h"
#include "plugins/kube/dynamic_resources/dynamic_resources.h"
#include "plugins/kube/image_locality/image_locality.h"
#include "plugins/kube/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/kube/node_affinity/node_affinity.h"
#include "plugins/kube/node_declared_features/node_declared_features.h"
#include "plugins/kube/node_name/node_name.h"
#include "plugins/kube/node_ports/node_ports.h"
#include "plugins/kube/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "plugins/kube/node_resources_fit/node_resources_fit.h"
#include "plugins/kube/node_unschedulable/node_unschedulable.h"
#include "plugins/kube/node_volume_limits/node_volume_limits.h"
#include "plugins/kube/pod_topology_spread/pod_topology_spread.h"
#include "plugins/kube/priority_sort/priority_sort.h"
#include "plugins/kube/scheduling_gates/scheduling_gates.h"
#include "plugins/kube/taint_toleration/taint_toleration.h"
#include "plugins/kube/volume_binding/volume_binding.h"
#include "plugins/kube/volume_restrictions/volume_restrictions.h"
#include "plugins/kube/volume_zone/volume_zone.h"
#include "plugins/nexus/backfill_scoring/backfill_scoring.h"
#include "plugins/nexus/coscheduling/coscheduling.h"
#include "plugins/nexus/gang_preemption/gang_preemption.h"
#include "plugins/nexus/profile_classifier/profile_classifier.h"
#include "plugins/nexus/resource_reservation/resource_reservation.h"

namespace knx::plugins {
namespace {

// A plugin that takes no arguments, and one that reads its own.
template <class P>
constexpr framework::PluginEntry Plain() {
  return {P::kName, &MakeWithoutArgs<P>};
}
template <class P>
constexpr framework::PluginEntry WithArgs() {
  return {P::kName, &P::Make};
}

constexpr framework::PluginEntry kPlugins[] = {
    Plain<SchedulingGates>(),
    Plain<PrioritySort>(),
    Plain<NodeUnschedulable>(),
    Plain<NodeName>(),
    Plain<TaintToleration>(),
    WithArgs<NodeAffinity>(),
    Plain<NodePorts>(),
    WithArgs<NodeResourcesFit>(),
    Plain<VolumeRestrictions>(),
    Plain<NodeVolumeLimits>(),
    WithArgs<VolumeBinding>(),
    Plain<VolumeZone>(),
    WithArgs<PodTopologySpread>(),
    WithArgs<InterPodAffinity>(),
    WithArgs<DynamicResources>(),
    WithArgs<DefaultPreemption>(),
    WithArgs<NodeResourcesBalancedAllocation>(),
    Plain<ImageLocality>(),
    Plain<DefaultBinder>(),
    Plain<NodeDeclaredFeatures>(),
    WithArgs<ProfileClassifier>(),
    WithArgs<Coscheduling>(),
    WithArgs<GangPreemption>(),
    WithArgs<ResourceReservation>(),
    WithArgs<BackfillScoring>(),
};

}  // namespace

framework::Registry AllPlugins() { return kPlugins; }

}  // namespace knx::plugins
