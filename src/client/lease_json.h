// A Lease of coordination.k8s.io/v1 as JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "client/lease_election.h"

namespace knx::client {

Result<StoredLease> ReadLease(std::string_view json);

// `metadata`: as it was read, or of a new one (NewLeaseMetadata).
std::string WriteLease(const LeaseRecord& record, std::string_view metadata);
std::string NewLeaseMetadata(std::string_view namespace_, std::string_view name);

}  // namespace knx::client
