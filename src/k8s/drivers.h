// Pods that make the other pods of their job themselves, once they run: a Spark driver, the head of
// a Ray cluster. How they are known is in the table of operators (operators.cc).
#pragma once

#include <string_view>

#include "k8s/object_meta.h"

namespace knx::k8s {

bool IsDriver(const StringMap& labels);

// What people call what the pod is part of, the same in every run; empty: nobody says. Points into
// `labels`.
std::string_view AppNameOf(const StringMap& labels);

}  // namespace knx::k8s
