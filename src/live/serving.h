// What the daemon tells whoever may ask, at the addresses and in the words of kube-scheduler:
// /healthz, /livez, /readyz with their checks, /metrics, /metrics/resources, /configz. Everybody is
// asked who it is first, and whether it may (client::AccessReview).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/access_review.h"
#include "net/http_exchange.h"

namespace knx::live {

struct HealthCheck {
  std::string name;
  std::function<Status()> check;  // the error is why it is not well
};

// What can be asked. An empty function: there is no such page.
struct ServingPages {
  // Of /healthz, /livez and /readyz, and each by itself of /healthz/NAME. None: there is a ping,
  // which is always well.
  std::vector<HealthCheck> healthz, livez, readyz;
  std::function<std::string()> metrics, resource_metrics;  // as Prometheus reads them
  std::function<void()> reset_metrics;                     // by DELETE /metrics
  std::function<std::string()> configz;  // {"componentconfig": {...}}, the configuration in use
  std::function<void(std::string_view line)> log;  // of checks that fail; may be empty
};

class Serving {
 public:
  // Without `access`, everybody may ask everything.
  Serving(ServingPages pages, client::AccessReview* access);
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  // For net::HttpServer; must not outlive us.
  [[nodiscard]] net::RequestHandler handler();
  void Handle(net::ServerRequest request, const net::Responder& respond);

 private:
  [[nodiscard]] net::ServerResponse PageFor(const net::ServerRequest& request);
  [[nodiscard]] net::ServerResponse Health(const net::ServerRequest& request,
                                           std::string_view group,
                                           const std::vector<HealthCheck>& checks);
  [[nodiscard]] net::ServerResponse Metrics(const net::ServerRequest& request);

  ServingPages pages_;
  client::AccessReview* access_;
  std::string last_complaint_;
};

}  // namespace knx::live
