#include "client/in_cluster.h"

#include <fmt/format.h>

#include <utility>

#include "client/authorization.h"
#include "client/read_file.h"

namespace knx::client {
namespace {

// Without it the system's authorities are asked, as client-go does; they know the server only if
// somebody arranged for that.
void ReadAuthority(const std::string& path, ApiAccess& out) {
  Result<std::string> pem = ReadFile(path);
  if (!pem.ok()) {
    out.warnings.push_back(pem.error().message);
  } else if (pem->find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
    out.warnings.push_back(fmt::format("{}: holds no certificate in PEM format", path));
  } else {
    out.ca_pem = *std::move(pem);
    out.ca_place.field = path;
  }
}

}  // namespace

Result<ApiAccess> ReadInCluster(const InClusterPlace& place) {
  if (place.host.empty() || place.port.empty()) {
    return NotFoundError(
        "not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  ApiAccess access;
  const std::string server = fmt::format("https://{}", JoinHostPort(place.host, place.port));
  Result<ServerUrl> url = ParseServerUrl(server);
  if (!url.ok()) {
    return std::move(url).error().Within("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT");
  }
  access.server = *std::move(url);
  const std::string token_path = place.folder + "/token";
  Result<std::string> token = ReadFile(token_path);
  if (!token.ok()) {
    // In a cluster, but without a service account: not what kNotFound means here.
    return InvalidError(
        fmt::format("{}; does the pod mount its service account's token?", token.error().message));
  }
  if (!IsToken(TrimToken(*token))) {
    return InvalidError(fmt::format("{}: what it holds {}", token_path, kTokenComplaint));
  }
  access.credential = TokenFileCredential{token_path, {}};
  access.user_place.field = token_path;
  ReadAuthority(place.folder + "/ca.crt", access);
  if (Result<std::string> name = ReadFile(place.folder + "/namespace"); name.ok()) {
    access.default_namespace = std::string(TrimToken(*name));
  }
  return access;
}

}  // namespace knx::client
