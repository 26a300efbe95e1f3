// Who may vouch for the clients of a server, and what their certificates say once one did.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

// Of OpenSSL, whose headers stay out of ours.
struct x509_store_st;

namespace knx::net {

// What a certificate says of whom it was made for.
struct CertificateSubject {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string fingerprint;  // SHA-256 of the certificate, in small hexadecimal letters
};

class ClientAuthorities {
 public:
  static Result<std::shared_ptr<const ClientAuthorities>> Make(const std::string& ca_pem);
  ~ClientAuthorities();
  ClientAuthorities(const ClientAuthorities&) = delete;
  ClientAuthorities& operator=(const ClientAuthorities&) = delete;

  // `chain` in DER, the client's own certificate first, as ByteStream::PeerCertificates() has it.
  [[nodiscard]] Result<CertificateSubject> Verify(const std::vector<std::string>& chain) const;

 private:
  ClientAuthorities() = default;

  x509_store_st* store_ = nullptr;
};

}  // namespace knx::net
