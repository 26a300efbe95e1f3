// How a program that runs in a pod reaches the API server of its cluster: the service that is
// announced in the environment, and the token of the pod's service account, which the kubelet
// renews.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "client/api_access.h"

namespace knx::client {

struct InClusterPlace {
  std::string_view host, port;  // what $KUBERNETES_SERVICE_HOST and _PORT say
  std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
};

// An error of kind kNotFound: this is no pod.
Result<ApiAccess> ReadInCluster(const InClusterPlace& place);

}  // namespace knx::client
