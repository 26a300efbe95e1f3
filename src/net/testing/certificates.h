// Certificates for tests, made on the spot: an authority and what it signs.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "net/self_signed.h"

// Of OpenSSL, whose headers stay out of ours.
struct evp_pkey_st;
struct x509_st;

namespace knx::net::testing {

struct IssueOptions {
  std::string common_name = {};
  std::vector<std::string> organizations = {};
  std::string names = {};  // as OpenSSL has them: "DNS:localhost,IP:127.0.0.1"
  std::string usage = {};  // "clientAuth", "serverAuth"; empty: any
  // Valid from an hour ago; this counts from now and may be negative.
  Duration lifetime = Duration::Minutes(60);
};

class Authority {
 public:
  // Two of the same name can be taken for each other.
  explicit Authority(const std::string& name);
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  [[nodiscard]] const std::string& pem() const { return pem_; }
  [[nodiscard]] CertificateAndKey Issue(const IssueOptions& options) const;

 private:
  // Signed by us; by itself if there is no `issuer`.
  x509_st* Make(const IssueOptions& options, evp_pkey_st* key, x509_st* issuer) const;

  evp_pkey_st* key_;
  x509_st* certificate_;
  std::string pem_;
};

// The certificate of a PEM text in DER, as it comes over the wire.
std::string DerOfPem(const std::string& pem);

}  // namespace knx::net::testing
