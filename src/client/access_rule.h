// What a call needs to be allowed, said as the rule of a role that allows it: whoever reads it can
// copy it into the role.
#pragma once

#include <string>
#include <string_view>

namespace knx::client {

// For an answer of 403: "not allowed to list nodes: the ClusterRole needs apiGroups: [""],
// resources: [nodes], verbs: [list, watch]". The path may have a query, which says what is watched.
std::string NotAllowed(std::string_view method, std::string_view path);
// The same for the Lease of an election, whose rights are those of one namespace.
std::string NotAllowedLease(std::string_view method, std::string_view namespace_,
                            std::string_view name);

}  // namespace knx::client
