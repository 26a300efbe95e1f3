// Do two answers say the same? Where kube-scheduler picks by chance, the sets are compared.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace knx::parity {

struct Difference {
  std::string pod;   // "namespace/name"; empty: of the answer as a whole
  std::string what;  // field, theirs, ours
};

// How often plugins had something to say, over all pods asked about.
struct Shares {
  std::uint64_t pods = 0;
  std::uint64_t preempts = 0;                    // pods for which room could be made
  std::map<std::string, std::uint64_t> rejects;  // by plugin: pods of which it rejected a node
  std::map<std::string, std::uint64_t> scores;   // by plugin: pods whose nodes it told apart
};

// Counts in `shares` what kube-scheduler's answer says.
std::optional<Difference> Compare(std::string_view theirs, std::string_view ours, Shares& shares);

}  // namespace knx::parity
