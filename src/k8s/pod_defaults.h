// What the API server fills in when an object is created and its author left it out.
#pragma once

#include "k8s/objects.h"

namespace knx::k8s {

// Requests follow limits, resource by resource; the pod as a whole follows its containers, then its
// own limits. Applied to templates too, since their pods never pass through an API server on the
// embedded cluster.
void DefaultRequests(PodSpec& spec);

// Every namespace has its name as a label, whatever other labels it is given.
void LabelWithName(Namespace& out);

}  // namespace knx::k8s
