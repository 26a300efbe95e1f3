// The HTTPS server of the daemon, as its flags want it: certificate, who may ask, and the pages.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "client/access_review.h"
#include "client/api_client.h"
#include "client/authentication_config.h"
#include "cmd/daemon_flags.h"
#include "live/serving.h"
#include "live/serving_certificate.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "observe/log.h"

namespace knx::cmd {

class DaemonPages {
 public:
  // Listens from now on. `api` is asked who calls and what they may.
  static Result<std::unique_ptr<DaemonPages>> Open(net::EventLoop& loop, client::ApiClient& api,
                                                   const ServingOptions& options,
                                                   live::ServingPages pages, observe::Log& log);
  DaemonPages(const DaemonPages&) = delete;
  DaemonPages& operator=(const DaemonPages&) = delete;

  // Nobody new is served; who asks now is still answered.
  void Drain() { server_->Drain(); }
  [[nodiscard]] bool idle() const { return server_->connections() == 0; }
 private:
  DaemonPages(net::EventLoop& loop, client::ApiClient& api, const ServingOptions& options,
              live::ServingPages pages, observe::Log& log);
  Status Trust(const ServingOptions& options);
  Status Listen(const ServingOptions& options);

  net::EventLoop& loop_;
  observe::Log& log_;
  client::AccessReview access_;
  live::Serving serving_;
  std::unique_ptr<live::ServingCertificate> certificate_;
  std::unique_ptr<client::AuthenticationConfig> authorities_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace knx::cmd
