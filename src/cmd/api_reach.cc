#include "cmd/api_reach.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "client/access_check.h"
#include "client/endpoint.h"
#include "client/in_cluster.h"
#include "client/kubeconfig.h"
#include "live/steady_clock.h"

namespace knx::cmd {
namespace {

constexpr Duration kBetweenRemarks = Duration::Minutes(60);

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
  auto in_cluster = client::ReadInCluster(
      {.host = Variable("KUBERNETES_SERVICE_HOST"), .port = Variable("KUBERNETES_SERVICE_PORT")});
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
  client::WarnOfMissingScheme("--master", access);
  client::WithholdWithoutTls("what the kubeconfig says of the user", access);
  return access;
}

std::string ProxyRemark(const client::ApiAccess& access) {
  if (!access.proxy.host.empty() || !access.server.tls) return "";
  for (const char* name : {"HTTPS_PROXY", "https_proxy"}) {
    if (Variable(name).empty()) continue;
    // Its value may hold a password.
    return fmt::format(
        "{} is set and not read here: the API server is reached without a proxy, unless the "
        "kubeconfig names one in proxy-url",
        name);
  }
  return "";
}

Result<std::unique_ptr<ApiReach>> ApiReach::Open(net::EventLoop& loop, client::ApiAccess access,
                                                 const client::PluginWait& wait) {
  KNX_TRY_DONE(client::CheckAccess(access, live::SteadyClock::Wall()));
  std::unique_ptr<ApiReach> out(new ApiReach(loop, std::move(access)));
  KNX_TRY(const client::Credentials* first,
          out->source_.GetOrWait(live::SteadyClock::Wall(), wait));
  out->credentials_ = std::make_unique<client::CredentialWatch>(loop, out->source_, *first,
                                                                &live::SteadyClock::Wall);
  client::CredentialWatch& credentials = *out->credentials_;
  client::ApiClient::Options& options = out->options_;
  KNX_TRY(options.endpoint, client::EndpointFor(out->access_, *first));
  options.base_path = out->access_.server.base_path;
  options.authorization = [&credentials] { return credentials.Current(); };
  options.refused = [&credentials](std::uint64_t generation) { credentials.Refused(generation); };
  options.user_agent = "kubenexus-scheduler";
  return out;
}

ApiReach::~ApiReach() { loop_.Cancel(next_remark_); }

void ApiReach::Follow(std::function<void(const net::Endpoint& endpoint)> replaced,
                      std::function<void(std::string_view what)> trouble) {
  const auto changed = [this, replaced = std::move(replaced),
                        trouble](const client::Credentials& newer) {
    const auto endpoint = client::EndpointFor(access_, newer);
    endpoint.ok() ? replaced(*endpoint) : trouble(endpoint.error().ToString());
  };
  credentials_->set_callbacks({.certificate_changed = changed, .trouble = trouble});
  RemarkOnCertificate(std::move(trouble));
}

// Whoever has to renew it may need the day, and not be there when we begin.
void ApiReach::RemarkOnCertificate(std::function<void(std::string_view what)> say) {
  const std::string remark = client::CertificateRemark(access_, live::SteadyClock::Wall());
  if (!remark.empty()) say(remark);
  next_remark_ =
      loop_.After(kBetweenRemarks, [this, say = std::move(say)] { RemarkOnCertificate(say); });
}

}  // namespace knx::cmd
