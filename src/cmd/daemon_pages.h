// The HTTPS server of the daemon, as its flags want it: certificate, who may ask, and the pages.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "client/access_review.h"
#include "client/api_client.h"
#include "client/authentication_config.h"
#include "cmd/api_reach.h"
#include "cmd/daemon_flags.h"
#include "live/serving.h"
#include "live/serving_certificate.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "observe/log.h"

namespace knx::cmd {

class DaemonPages {
 public:
  // What it works with; the first three must outlive it.
  struct Parts {
    net::EventLoop& loop;
    observe::Log& log;
    client::ApiClient& api;  // is asked who calls and what they may, unless the options name others
    const client::PluginWait& plugin_wait;
    // Who may vouch for clients cannot be looked up, and that is not to be tolerated.
    std::function<void()> give_up;
  };
  // Listens from now on.
  static Result<std::unique_ptr<DaemonPages>> Open(const Parts& parts,
                                                   const ServingOptions& options,
                                                   live::ServingPages pages);
  // Nobody new is served; who asks now is still answered.
  void Drain() { server_->Drain(); }
  [[nodiscard]] bool idle() const { return server_->connections() == 0; }
  DaemonPages(const DaemonPages&) = delete;
  DaemonPages& operator=(const DaemonPages&) = delete;

 private:
  // A way to an API server that only the pages need.
  struct Reviewer {
    std::unique_ptr<ApiReach> reach;
    std::unique_ptr<client::ApiClient> api;
  };
  using Reviewers = std::map<std::string, Reviewer>;  // by kubeconfig
  static Status OpenReviewer(const Parts& parts, const std::string& flag,
                             const std::string& kubeconfig, Reviewers& out);

  DaemonPages(const Parts& parts, Reviewers reviewers, const ServingOptions& options,
              live::ServingPages pages);
  static std::function<void(const Status& outcome)> OnFirstLookup(const Parts& parts,
                                                                  const ServingOptions& options);
  client::SendCall SendTo(const std::string& kubeconfig, client::ApiClient& otherwise);
  Status Trust(const ServingOptions& options);
  Status Listen(const ServingOptions& options);

  net::EventLoop& loop_;
  observe::Log& log_;
  Reviewers reviewers_;
  client::AccessReview access_;
  live::Serving serving_;
  std::unique_ptr<live::ServingCertificate> certificate_;
  std::unique_ptr<client::AuthenticationConfig> authorities_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace knx::cmd
