// The names of things in the state.
#pragma once

#include "base/id.h"

namespace knx::cluster {

using NodeRow = Id<struct NodeRowTag>;      // a row of the node table
using PodId = Id<struct PodTag>;            // a slot of the pod table; reused after the pod is gone
using ClassId = Id<struct ClassTag>;        // pods that no plugin can tell apart
using LabelSetId = Id<struct LabelSetTag>;  // pods with the same labels
using TaintSetId = Id<struct TaintSetTag>;  // nodes with the same taints

}  // namespace knx::cluster
