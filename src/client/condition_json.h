// Conditions of objects, as they are written.
#pragma once

#include <cstddef>
#include <string>

#include "base/time.h"
#include "k8s/object_meta.h"

namespace knx::client {

// In bytes. The API server takes no more characters in the conditions of most kinds. Of pods it
// takes any number, up to the 3 MB of a request and the 1.5 MB of an object in etcd: what is longer
// there is no condition at all.
inline constexpr std::size_t kLongestConditionMessage = std::size_t{32} << 10;

// In quotes, of whole seconds, as Kubernetes has times of conditions.
std::string ConditionMoment(Time time);

// With as much of the message as is taken. `now`: since when it is so, if the condition does not
// say. `more`: further fields, each after a comma.
std::string ConditionJson(const k8s::Condition& condition, Time now, const std::string& more = "");

}  // namespace knx::client
