// From flags and files to a way to the API server.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/api_access.h"
#include "client/api_client.h"
#include "client/credential_watch.h"
#include "client/first_contact.h"
#include "client/token_source.h"
#include "net/event_loop.h"

namespace knx::cmd {

// The kubeconfig that was named, or the one that is found, or the service account of our pod.
// `master` takes the place of the server in it; with no kubeconfig named it is all there is.
Result<client::ApiAccess> FindAccess(const std::string& kubeconfig, const std::string& master);

// That the environment names a proxy which kube-scheduler would use, and is not read here; empty:
// it names none, or one is named where it counts.
std::string ProxyRemark(const client::ApiAccess& access);

// A way to one API server, with credentials that are kept up to date.
class ApiReach {
 public:
  // Waits for a program that gives credentials.
  static Result<std::unique_ptr<ApiReach>> Open(net::EventLoop& loop, client::ApiAccess access,
                                                const client::PluginWait& wait);
  ~ApiReach();
  ApiReach(const ApiReach&) = delete;
  ApiReach& operator=(const ApiReach&) = delete;

  // For clients that do not outlive us.
  [[nodiscard]] const client::ApiClient::Options& options() const { return options_; }
  [[nodiscard]] client::FirstContact::OurCredentials credentials() const {
    return {source_.may_change(), access_.user_place};
  }
  // `replaced` is told when clients have to go there from now on, `trouble` what is wrong.
  void Follow(std::function<void(const net::Endpoint& endpoint)> replaced,
              std::function<void(std::string_view what)> trouble);

 private:
  ApiReach(net::EventLoop& loop, client::ApiAccess access)
      : loop_(loop), access_(std::move(access)), source_(access_) {}
  void RemarkOnCertificate(std::function<void(std::string_view what)> say);

  net::EventLoop& loop_;
  client::ApiAccess access_;
  client::TokenSource source_;
  std::unique_ptr<client::CredentialWatch> credentials_;
  client::ApiClient::Options options_;
  net::EventLoop::TimerId next_remark_;
};

}  // namespace knx::cmd
