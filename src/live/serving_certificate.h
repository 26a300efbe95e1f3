// The certificate that the daemon shows: from files, which are looked at again every minute because
// they are renewed while we run, or else one that it makes for itself.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "net/tls_context.h"

namespace knx::live {

class ServingCertificate {
 public:
  struct Options {
    std::string cert_file = {}, key_file = {};  // both or none
    bool may_be_missing = false;                // both of them: then one is made
    std::vector<std::string> names = {};        // host names and addresses, for one that is made
    std::string min_version = {};               // as net::TlsServerOptions has them
    std::vector<std::string> cipher_suites = {};
    std::function<void(std::string_view line)> log = {};  // of files that cannot be used
    std::function<void()> renewed = {};                   // the files have changed, and are used
    Duration between_looks = Duration::Minutes(1);
  };
  static Result<std::unique_ptr<ServingCertificate>> Load(net::EventLoop& loop, Options options);
  ~ServingCertificate();
  ServingCertificate(const ServingCertificate&) = delete;
  ServingCertificate& operator=(const ServingCertificate&) = delete;

  [[nodiscard]] const std::shared_ptr<const net::TlsContext>& tls() const { return tls_; }
  // It is one that was made.
  [[nodiscard]] bool self_signed() const { return options_.cert_file.empty(); }
  // The server is told when the files have changed. Must outlive us. Files that cannot be used are
  // said in the log, and what was good before stays.
  void Renew(net::HttpServer& server);

 private:
  ServingCertificate(net::EventLoop& loop, Options options)
      : loop_(loop), options_(std::move(options)) {}
  // False: the files are the same as before.
  Result<bool> Read();
  Status Use(const std::string& cert_pem, const std::string& key_pem);

  net::EventLoop& loop_;
  Options options_;
  std::string cert_pem_, key_pem_;
  std::shared_ptr<const net::TlsContext> tls_;
  std::string last_complaint_;
  net::EventLoop::TimerId look_;
};

}  // namespace knx::live
