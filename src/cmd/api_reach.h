// From flags and files to a way to the API server.
#pragma once

#include <string>

#include "base/result.h"
#include "client/api_access.h"
#include "client/api_client.h"
#include "client/credential_watch.h"
#include "client/token_source.h"

namespace knx::cmd {

// The kubeconfig that was named, or the one that is found, or the service account of our pod.
// `master` takes the place of the server in it; with no kubeconfig named it is all there is.
Result<client::ApiAccess> FindAccess(const std::string& kubeconfig, const std::string& master);

// `credentials` must outlive whatever uses the result.
Result<client::ApiClient::Options> ReachOf(const client::ApiAccess& access,
                                           const client::Credentials& first,
                                           client::CredentialWatch& credentials);

}  // namespace knx::cmd
