// From how a kubeconfig says that an API server is reached to what a connection needs.
#pragma once

#include "base/result.h"
#include "client/api_access.h"
#include "client/token_source.h"
#include "net/transport.h"

namespace knx::client {

// With the certificate of `credentials`, if they have one, and otherwise that of `access`. A proxy
// by https must be trusted by the same authority as the server.
Result<net::Endpoint> EndpointFor(const ApiAccess& access, const Credentials& credentials);

}  // namespace knx::client
