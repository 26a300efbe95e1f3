#include "client/endpoint.h"

#include <fmt/format.h>

#include <utility>

#include "base/quoted_text.h"
#include "client/authorization.h"
#include "net/tls_context.h"

namespace knx::client {
namespace {

// Who gave us a certificate that does not stand in the kubeconfig.
std::string OriginOf(const ApiAccess& access) {
  const auto* plugin = std::get_if<ExecPlugin>(&access.credential);
  return plugin == nullptr ? "credentials"
                           : fmt::format("credential plugin {}", QuotedText(plugin->command));
}

}  // namespace

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
  auto made = net::TlsContext::MakeClient(tls);
  if (!made.ok() && own) return std::move(made).error().Within(OriginOf(access));
  KNX_TRY(out.tls, std::move(made));
  return out;
}

}  // namespace knx::client
