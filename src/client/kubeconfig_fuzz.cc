// Any text as a kubeconfig, alone and merged with a good one: it is refused with a message, or
// gives what api_access.h promises. No file is opened: every other path holds a certificate and a
// key.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "client/kubeconfig.h"

namespace {

constexpr std::string_view kGood =
    "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
    "clusters: [{name: k, cluster: {server: 'https://a'}}]\nusers: [{name: u}]\n";
constexpr std::string_view kPem =
    "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"
    "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n";

void Check(const knx::Result<knx::client::ApiAccess>& access) {
  if (!access.ok()) {
    KNX_CHECK(!access.error().message.empty(), "a refusal says why");
    return;
  }
  KNX_CHECK(!access->server.host.empty() && access->server.port != 0, "there is a server");
  KNX_CHECK(access->server.base_path.empty() || access->server.base_path.front() == '/',
            "a path begins with a slash");
  KNX_CHECK(access->client_certificate_pem.empty() == access->client_key_pem.empty(),
            "a certificate and its key come together");
  KNX_CHECK(access->ca_pem.empty() || !access->skip_tls_verify, "trust is not contradicted");
  KNX_CHECK(access->server.tls || access->credential.index() == 0, "no secrets without TLS");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto read = [&](const std::string& path) -> knx::Result<std::string> {
    if (path == "/k/fuzz") return text;
    return std::string(path == "/k/good" ? kGood : kPem);
  };
  Check(knx::client::ReadKubeconfigs({{"/k/fuzz"}, true, ""}, "", read));
  Check(knx::client::ReadKubeconfigs({{"/k/fuzz", "/k/good"}, true, ""}, "c", read));
  return 0;
}
