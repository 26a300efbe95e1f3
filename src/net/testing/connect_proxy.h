// A proxy for tests: one thread that serves one connection after the other, in blocking calls, and
// remembers what it was asked. With a certificate it wants to be spoken to by TLS.
#pragma once

#include <memory>
#include <string>

#include "net/testing/certificates.h"

namespace knx::net::testing {

class ConnectProxy {
 public:
  // Answers what it is asked with `answer`, and passes bytes on if that is a 200.
  explicit ConnectProxy(std::string answer, const CertificateAndKey& identity = {});
  ~ConnectProxy();
  ConnectProxy(const ConnectProxy&) = delete;
  ConnectProxy& operator=(const ConnectProxy&) = delete;

  [[nodiscard]] int port() const;
  // The head of the last request.
  [[nodiscard]] std::string asked() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

inline constexpr const char* kProxyAgrees = "HTTP/1.1 200 Connection established\r\n\r\n";

}  // namespace knx::net::testing
