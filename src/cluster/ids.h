// The names of things in the state.
#pragma once

#include "base/id.h"

namespace knx::cluster {

using NodeRow = Id<struct NodeRowTag>;      // a row of the node table
using PodId = Id<struct PodTag>;            // a slot of the pod table; reused after the pod is gone
using ClassId = Id<struct ClassTag>;        // pods that no plugin can tell apart
using LabelSetId = Id<struct LabelSetTag>;  // pods with the same labels
using TaintSetId = Id<struct TaintSetTag>;  // nodes with the same taints
using PodSelectorId = Id<struct PodSelectorTag>;  // pods that somebody asks about
using KinId = Id<struct KinTag>;                  // pods that no selector can tell apart
using GangId = Id<struct GangTag>;                // pods that start together; reused
using RelationId = Id<struct RelationTag>;        // which selectors a pod is meant by; never reused

// Of a pod that nobody asks about.
inline constexpr RelationId kUnrelated{0};

}  // namespace knx::cluster
