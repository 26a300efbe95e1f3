#include "cmd/daemon_pages.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "client/kubeconfig.h"
#include "client/read_file.h"

namespace knx::cmd {
namespace {

// Where kube-scheduler looks for the certificate if only the folder is named.
constexpr std::string_view kCertificateName = "kube-scheduler.crt", kKeyName = "kube-scheduler.key";

live::ServingCertificate::Options CertificateOptions(const ServingOptions& options) {
  live::ServingCertificate::Options out;
  out.cert_file = options.tls_cert_file;
  out.key_file = options.tls_private_key_file;
  if (out.cert_file.empty() && !options.cert_dir.empty()) {
    out.cert_file = fmt::format("{}/{}", options.cert_dir, kCertificateName);
    out.key_file = fmt::format("{}/{}", options.cert_dir, kKeyName);
    out.may_be_missing = true;
  }
  out.names = {"localhost", "127.0.0.1", "::1"};
  out.min_version = options.tls_min_version;
  out.cipher_suites = options.tls_cipher_suites;
  return out;
}

// Whoever asks for pages must not take the descriptors that the way to the API server needs.
net::HttpServerLimits PageLimits() {
  constexpr rlim_t kShare = 4, kLeast = 2;
  net::HttpServerLimits limits;
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    limits.connections =
        std::clamp<rlim_t>(descriptors.rlim_cur / kShare, kLeast, limits.connections);
  }
  return limits;
}

}  // namespace

// One client for both, if both are looked up in the same place.
Status DaemonPages::OpenReviewer(const Parts& parts, const std::string& flag,
                                 const std::string& kubeconfig, Reviewers& out) {
  if (kubeconfig.empty() || out.contains(kubeconfig)) return Ok();
  KNX_TRY(client::ApiAccess access,
          client::ReadKubeconfigs({.paths = {kubeconfig}, .must_exist = true, .origin = flag}, ""));
  observe::Log& log = parts.log;
  for (const std::string& remark : access.warnings) {
    log.Info(0, "Something to mind", {{"remark", remark}});
  }
  Reviewer made;
  KNX_TRY(made.reach, ApiReach::Open(parts.loop, std::move(access), parts.plugin_wait));
  client::ApiClient::Options reach = made.reach->options();
  reach.log = [&log, flag](std::string_view line) {
    log.Error("Trouble with the API server", {{"err", line}, {"flag", flag}});
  };
  reach.missing_right = [&log, flag](std::string_view line) {
    log.Error("A right is missing", {{"err", line}, {"flag", flag}});
  };
  made.api = std::make_unique<client::ApiClient>(parts.loop, std::move(reach));
  client::ApiClient& api = *made.api;
  made.reach->Follow([&api](const net::Endpoint& endpoint) { api.Replace(endpoint); },
                     [&api](std::string_view what) { api.troubles().Report(what); });
  out.emplace(kubeconfig, std::move(made));
  return Ok();
}

client::SendCall DaemonPages::SendTo(const std::string& kubeconfig, client::ApiClient& otherwise) {
  const auto own = reviewers_.find(kubeconfig);
  return client::SendThrough(own == reviewers_.end() ? otherwise : *own->second.api);
}

DaemonPages::DaemonPages(const Parts& parts, Reviewers reviewers, const ServingOptions& options,
                         live::ServingPages pages)
    : loop_(parts.loop),
      log_(parts.log),
      reviewers_(std::move(reviewers)),
      access_(SendTo(options.authentication_kubeconfig, parts.api),
              {.always_allow_paths = options.authorization_always_allow_paths,
               .remembered = options.remembered,
               .authorize = SendTo(options.authorization_kubeconfig, parts.api),
               .log =
                   [&log = parts.log](std::string_view line) {
                     log.Error("Who asks cannot be looked up", {{"err", line}});
                   }}),
      serving_(std::move(pages), &access_) {
  const bool own_clients = !options.client_ca_file.empty(),
             own_proxies = !options.proxy_ca_file.empty();
  if (options.authentication_skip_lookup || (own_clients && own_proxies)) return;
  std::function<void(std::shared_ptr<const net::ClientAuthorities>)> clients =
      [this](auto authorities) { access_.Trust(std::move(authorities)); };
  std::function<void(client::TrustedProxies)> proxies = [this](client::TrustedProxies trusted) {
    access_.TrustProxies(std::move(trusted));
  };
  authorities_ = std::make_unique<client::AuthenticationConfig>(
      loop_, SendTo(options.authentication_kubeconfig, parts.api),
      client::AuthenticationConfig::Options{
          .changed = own_clients ? nullptr : std::move(clients),
          .proxies_changed = own_proxies ? nullptr : std::move(proxies),
          .first_read = OnFirstLookup(parts, options),
          .log =
              [this](std::string_view line) {
                log_.Error("Who may vouch for clients cannot be looked up", {{"err", line}});
              },
          .note =
              [this](std::string_view line) {
                log_.Info(0, "Something to mind", {{"remark", line}});
              }});
}

std::function<void(const Status&)> DaemonPages::OnFirstLookup(const Parts& parts,
                                                              const ServingOptions& options) {
  if (options.authentication_tolerate_lookup_failure) return nullptr;
  return [give_up = parts.give_up](const Status& outcome) {
    // Not every API server has such a configmap, and kube-scheduler does without it, too.
    if (!outcome.ok() && outcome.error().kind != ErrorKind::kNotFound) give_up();
  };
}

Result<std::unique_ptr<DaemonPages>> DaemonPages::Open(const Parts& parts,
                                                       const ServingOptions& options,
                                                       live::ServingPages pages) {
  KNX_TRY_DONE(client::AccessReview::CheckPaths(options.authorization_always_allow_paths));
  Reviewers reviewers;
  KNX_TRY_DONE(OpenReviewer(parts, "--authentication-kubeconfig", options.authentication_kubeconfig,
                            reviewers));
  KNX_TRY_DONE(OpenReviewer(parts, "--authorization-kubeconfig", options.authorization_kubeconfig,
                            reviewers));
  std::unique_ptr<DaemonPages> out(
      new DaemonPages(parts, std::move(reviewers), options, std::move(pages)));
  KNX_TRY_DONE(out->Trust(options));
  KNX_TRY_DONE(out->Listen(options));
  return out;
}

Status DaemonPages::Trust(const ServingOptions& options) {
  if (!options.client_ca_file.empty()) {
    KNX_TRY(const std::string pem, client::ReadFile(options.client_ca_file));
    KNX_TRY(auto authorities, net::ClientAuthorities::Make(pem));
    access_.Trust(std::move(authorities));
  }
  if (!options.proxy_ca_file.empty()) {
    client::TrustedProxies proxies = options.proxies;
    KNX_TRY(const std::string pem, client::ReadFile(options.proxy_ca_file));
    KNX_TRY(proxies.authorities, net::ClientAuthorities::Make(pem));
    access_.TrustProxies(std::move(proxies));
  }
  if (authorities_ != nullptr) authorities_->Read();
  return Ok();
}

Status DaemonPages::Listen(const ServingOptions& options) {
  live::ServingCertificate::Options certificate = CertificateOptions(options);
  certificate.log = [this](std::string_view line) {
    log_.Error("The server's certificate cannot be renewed", {{"err", line}});
  };
  certificate.renewed = [this, file = certificate.cert_file] {
    log_.Info(0, "The server's certificate was renewed", {{"file", file}});
  };
  KNX_TRY(certificate_, live::ServingCertificate::Load(loop_, std::move(certificate)));
  KNX_TRY(server_, net::HttpServer::Listen(loop_,
                                           {.address = options.bind_address,
                                            .port = options.secure_port,
                                            .tls = certificate_->tls(),
                                            .limits = PageLimits()},
                                           serving_.handler()));
  certificate_->Renew(*server_);
  if (certificate_->self_signed() && !options.cert_dir.empty()) {
    log_.Info(0, "Serving with a certificate made for this run",
              {{"missing", fmt::format("{}/{}", options.cert_dir, kCertificateName)}});
  }
  log_.Info(0, "Serving securely", {{"address", options.bind_address}, {"port", server_->port()}});
  return Ok();
}

}  // namespace knx::cmd
