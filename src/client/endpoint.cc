#include "client/endpoint.h"

#include "client/authorization.h"
#include "net/tls_context.h"

namespace knx::client {

Result<net::Endpoint> EndpointFor(const ApiAccess& access, const Credentials& credentials) {
  net::Endpoint out;
  out.host = access.server.host;
  out.port = access.server.port;
  out.server_name = access.tls_server_name;
  net::TlsOptions tls;
  tls.ca_pem = access.ca_pem;
  tls.skip_verify = access.skip_tls_verify;
  const ProxyUrl& proxy = access.proxy;
  if (!proxy.host.empty()) {
    if (proxy.scheme == ProxyUrl::Scheme::kSocks5) {
      return InvalidError("proxy-url: socks5 is not supported, only http and https");
    }
    out.proxy.host = proxy.host;
    out.proxy.port = proxy.port;
    if (!proxy.username.empty()) {
      out.proxy.authorization = BasicAuthorization(proxy.username, proxy.password);
    }
    if (proxy.scheme == ProxyUrl::Scheme::kHttps) {
      KNX_TRY(out.proxy.tls, net::TlsContext::MakeClient(tls));
    }
  }
  if (!access.server.tls) return out;
  const bool own = !credentials.client_certificate_pem.empty();
  tls.cert_pem = own ? credentials.client_certificate_pem : access.client_certificate_pem;
  tls.key_pem = own ? credentials.client_key_pem : access.client_key_pem;
  KNX_TRY(out.tls, net::TlsContext::MakeClient(tls));
  return out;
}

}  // namespace knx::client
