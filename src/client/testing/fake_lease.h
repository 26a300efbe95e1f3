// A server that keeps one Lease, with versions and conflicts as the real one has them.
#pragma once

#include <optional>
#include <string>

#include "client/lease_election.h"

namespace knx::client::testing {

class FakeLease {
 public:
  Result<StoredLease> Serve(const LeaseElection::Request& request) {
    using Kind = LeaseElection::Request::Kind;
    if (request.kind == Kind::kCreate) {
      if (record) return Error{ErrorKind::kConflict, "it exists already", {}};
      return Put(request.record);
    }
    if (!record) return NotFoundError("there is none");
    if (request.kind == Kind::kGet) return Stored();
    if (request.metadata != Stored().metadata) return Error{ErrorKind::kConflict, "changed", {}};
    return Put(request.record);
  }
  StoredLease Put(LeaseRecord now) {
    record = std::move(now);
    ++version;
    return Stored();
  }
  [[nodiscard]] StoredLease Stored() const {
    return {*record, "version " + std::to_string(version)};
  }

  std::optional<LeaseRecord> record;
  int version = 0;
};

}  // namespace knx::client::testing
