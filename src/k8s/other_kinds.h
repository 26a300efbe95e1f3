// Kinds of objects that may stand in a manifest although nothing here reads them.
#pragma once

#include <string_view>

namespace knx::k8s {

// A kind of Kubernetes that we do not read, or one that a cluster may have been extended with: of a
// group that is a domain and not one of Kubernetes' own.
bool IsOtherKind(std::string_view api_version, std::string_view kind);

}  // namespace knx::k8s
