// The two passes over the tree of a configuration, used by config.cc alone. The first takes every
// field by itself, so that a misspelt one is reported as such and not as something missing; the
// second compares fields with each other.
#pragma once

#include "framework/config.h"
#include "k8s/yaml_reader.h"

namespace knx::framework {

void ReadFields(k8s::FieldReader& fields, SchedulerConfiguration& out);
void CheckFields(k8s::FieldReader& fields, const SchedulerConfiguration& config);

}  // namespace knx::framework
