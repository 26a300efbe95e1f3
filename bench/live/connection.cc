#include "connection.h"

#include <memory>
#include <utility>

#include "client/endpoint.h"
#include "client/kubeconfig.h"
#include "client/token_source.h"
#include "net/event_loop.h"

namespace knx::bench {

Result<client::ApiClient::Options> ConnectionTo(const std::string& kubeconfig) {
  KNX_TRY(const client::ApiAccess access,
          client::ReadKubeconfigs(client::FindKubeconfigs({kubeconfig}, "", ""), ""));
  client::TokenSource tokens(access);
  KNX_TRY(const client::Credentials* credentials, tokens.GetOrWait(net::EventLoop::Now()));
  client::ApiClient::Options out;
  KNX_TRY(out.endpoint, client::EndpointFor(access, *credentials));
  out.base_path = access.server.base_path;
  out.user_agent = "knx-live-load";
  out.authorization = [header = credentials->authorization] {
    return client::Authorization(header);
  };
  return out;
}

}  // namespace knx::bench
