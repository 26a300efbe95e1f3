#include "net/certificate.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "net/tls_context.h"

namespace knx::net {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using PrivateKey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using PemText = std::unique_ptr<BIO, decltype(&BIO_free)>;

PemText TextOf(const std::string& pem) {
  return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free};
}

// A key that is locked with a password is refused; OpenSSL would ask for it on the terminal.
int GiveNoPassword(char*, int, int, void*) { return -1; }

Result<Certificate> FirstOf(const std::string& pem) {
  Certificate first(PEM_read_bio_X509(TextOf(pem).get(), nullptr, nullptr, nullptr), &X509_free);
  if (first == nullptr) {
    return InvalidError(fmt::format("the certificate cannot be read: {}", TlsComplaint()));
  }
  return first;
}

// Certificates that are good for ever say the year 9999, which is too far away for nanoseconds.
Time TimeOf(const ASN1_TIME* written) {
  constexpr std::time_t kLast = kNever.ns / 1'000'000'000;
  std::tm parts{};
  if (ASN1_TIME_to_tm(written, &parts) != 1) return kNever;
  const std::time_t seconds = timegm(&parts);
  if (seconds >= kLast) return kNever;
  return Time{} + Duration::Seconds(std::max(seconds, -kLast));
}

}  // namespace

Result<Validity> ReadValidity(const std::string& cert_pem) {
  KNX_TRY(const Certificate own, FirstOf(cert_pem));
  return Validity{TimeOf(X509_get0_notBefore(own.get())), TimeOf(X509_get0_notAfter(own.get()))};
}

Status CheckKey(const std::string& cert_pem, const std::string& key_pem) {
  KNX_TRY(const Certificate own, FirstOf(cert_pem));
  const PrivateKey key(
      PEM_read_bio_PrivateKey(TextOf(key_pem).get(), nullptr, &GiveNoPassword, nullptr),
      &EVP_PKEY_free);
  if (key == nullptr) {
    return InvalidError(fmt::format("the key cannot be read: {}", TlsComplaint()));
  }
  const bool fits = X509_check_private_key(own.get(), key.get()) == 1;
  ERR_clear_error();
  return fits ? Ok() : Status(InvalidError("the key does not belong to the certificate"));
}

}  // namespace knx::net
