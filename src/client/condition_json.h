// Conditions of objects, as they are written.
#pragma once

#include <string>

#include "base/time.h"
#include "k8s/object_meta.h"

namespace knx::client {

// In quotes, of whole seconds, as Kubernetes has times of conditions.
std::string ConditionMoment(Time time);

// `now`: since when it is so, if the condition does not say. `more`: further fields, each after a
// comma.
std::string ConditionJson(const k8s::Condition& condition, Time now, const std::string& more = "");

}  // namespace knx::client
