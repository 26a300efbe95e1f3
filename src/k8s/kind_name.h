// What Kubernetes calls the kind of an object.
#pragma once

#include <string_view>

#include "k8s/objects.h"

namespace knx::k8s {

std::string_view KindName(WorkloadKind kind);
std::string_view KindName(const Object& object);

// What every object has, whatever its kind.
const ObjectMeta& MetaOf(const Object& object);
ObjectMeta& MetaOf(Object& object);

}  // namespace knx::k8s
