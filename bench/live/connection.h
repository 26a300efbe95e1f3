// An API server, as a kubeconfig of a test control plane names it.
#pragma once

#include <string>

#include "base/result.h"
#include "client/api_client.h"

namespace knx::bench {

Result<client::ApiClient::Options> ConnectionTo(const std::string& kubeconfig);

}  // namespace knx::bench
