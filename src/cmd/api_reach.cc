#include "cmd/api_reach.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "client/endpoint.h"
#include "client/in_cluster.h"
#include "client/kubeconfig.h"

namespace knx::cmd {
namespace {

std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<client::ApiAccess> FindWithoutMaster(const std::string& kubeconfig) {
  std::vector<std::string> named;
  if (!kubeconfig.empty()) named.push_back(kubeconfig);
  auto access = client::ReadKubeconfigs(
      client::FindKubeconfigs(named, Variable("KUBECONFIG"), Variable("HOME")), "");
  if (access.ok() || access.error().kind != ErrorKind::kNotFound || !named.empty()) return access;
  auto in_cluster = client::ReadInCluster({.host = Variable("KUBERNETES_SERVICE_HOST"),
                                           .port = Variable("KUBERNETES_SERVICE_PORT")});
  if (in_cluster.ok() || in_cluster.error().kind != ErrorKind::kNotFound) return in_cluster;
  return InvalidError(
      fmt::format("no way to an API server: {}, and {}; name a kubeconfig with --kubeconfig",
                  access.error().message, in_cluster.error().message));
}

}  // namespace

Result<client::ApiAccess> FindAccess(const std::string& kubeconfig, const std::string& master) {
  if (master.empty()) return FindWithoutMaster(kubeconfig);
  client::ApiAccess access;
  if (!kubeconfig.empty()) {
    KNX_TRY(access, FindWithoutMaster(kubeconfig));
  }
  auto server = client::ParseServerUrl(master);
  if (!server.ok()) return std::move(server).error().Within("--master");
  access.server = *std::move(server);
  return access;
}

Result<client::ApiClient::Options> ReachOf(const client::ApiAccess& access,
                                           const client::Credentials& first,
                                           client::CredentialWatch& credentials) {
  client::ApiClient::Options out;
  KNX_TRY(out.endpoint, client::EndpointFor(access, first));
  out.base_path = access.server.base_path;
  out.authorization = [&credentials] { return credentials.Current(); };
  out.refused = [&credentials](std::uint64_t generation) { credentials.Refused(generation); };
  out.user_agent = "kubenexus-scheduler";
  return out;
}

}  // namespace knx::cmd
