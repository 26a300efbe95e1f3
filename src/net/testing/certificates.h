// Certificates for tests, made while they run: an authority, and what it signs.
#pragma once

#include <memory>
#include <string>

#include "base/time.h"

namespace knx::net::testing {

struct CertifiedKey {
  std::string cert_pem, key_pem;
};

class CertificateAuthority {
 public:
  CertificateAuthority();
  ~CertificateAuthority();
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;

  [[nodiscard]] const std::string& cert_pem() const { return cert_pem_; }
  // `names` as OpenSSL has them: "DNS:localhost,IP:127.0.0.1". Valid from an hour ago; `lifetime`
  // counts from now and may be negative.
  [[nodiscard]] CertifiedKey Sign(const std::string& names,
                                  Duration lifetime = Duration::Minutes(60)) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::string cert_pem_;
};

}  // namespace knx::net::testing
