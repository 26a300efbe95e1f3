// A certificate that nobody vouches for, for a server that was given none: what is sent is hidden
// from others, but who the server is remains unproven.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace knx::net {

struct CertificateAndKey {
  std::string cert_pem, key_pem;
};

// `names` are host names and addresses; the first is also the subject's. Valid from an hour ago,
// for clocks that differ.
Result<CertificateAndKey> MakeSelfSigned(const std::vector<std::string>& names, Duration valid);

}  // namespace knx::net
