// Certificates for tests, made on the spot: an authority and what it signs.
#pragma once

#include <string>
#include <vector>

#include "net/self_signed.h"

// Of OpenSSL, whose headers stay out of ours.
struct evp_pkey_st;
struct x509_st;

namespace knx::net::testing {

struct IssueOptions {
  std::string common_name = {};
  std::vector<std::string> organizations = {};
  std::string usage = "clientAuth";  // empty: any
  std::int64_t valid_seconds = 3600;
};

class Authority {
 public:
  explicit Authority(const std::string& name);
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  [[nodiscard]] std::string pem() const;
  [[nodiscard]] CertificateAndKey Issue(const IssueOptions& options) const;

 private:
  // Signed by us; by itself if there is no `issuer`.
  x509_st* Make(const IssueOptions& options, evp_pkey_st* key, x509_st* issuer) const;

  evp_pkey_st* key_;
  x509_st* certificate_;
};

// The certificate of a PEM text in DER, as it comes over the wire.
std::string DerOfPem(const std::string& pem);

}  // namespace knx::net::testing
