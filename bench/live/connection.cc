#include "connection.h"

#include <memory>
#include <utility>

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
  out.endpoint.host = access.server.host;
  out.endpoint.port = access.server.port;
  out.base_path = access.server.base_path;
  out.user_agent = "knx-live-load";
  KNX_TRY(out.endpoint.tls, net::TlsContext::MakeClient({.ca_pem = access.ca_pem,
                                                         .cert_pem = access.client_certificate_pem,
                                                         .key_pem = access.client_key_pem,
                                                         .skip_verify = access.skip_tls_verify}));
  out.authorization = [value = credentials->authorization] { return value; };
  return out;
}

}  // namespace knx::bench
