#include "net/client_authorities.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <array>

#include "net/tls_context.h"

namespace knx::net {
namespace {

using SomeX509 = std::unique_ptr<X509, decltype(&X509_free)>;

struct FreeStack {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_pop_free(stack, &X509_free); }
};

SomeX509 FromDer(const std::string& der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  return {d2i_X509(nullptr, &bytes, static_cast<long>(der.size())), &X509_free};
}

std::vector<std::string> EntriesOf(const X509_NAME* name, int kind) {
  std::vector<std::string> out;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, kind, at)) >= 0;) {
    unsigned char* text = nullptr;
    const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    const int length = ASN1_STRING_to_UTF8(&text, value);
    if (length < 0) continue;
    out.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(length));
    OPENSSL_free(text);
  }
  return out;
}

std::string FingerprintOf(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int length = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &length) != 1) return "";
  std::string out;
  for (unsigned int i = 0; i < length; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

}  // namespace

Result<std::shared_ptr<const ClientAuthorities>> ClientAuthorities::Make(
    const std::string& ca_pem) {
  std::shared_ptr<ClientAuthorities> out(new ClientAuthorities);
  out->store_ = X509_STORE_new();
  KNX_CHECK(out->store_ != nullptr, "out of memory");
  // Whoever is trusted is, also where others vouch for him.
  X509_STORE_set_flags(out->store_, X509_V_FLAG_PARTIAL_CHAIN);
  if (AddCertificates(out->store_, ca_pem) == 0) {
    return InvalidError("the clients' certificate authority has no certificate in PEM form");
  }
  return std::shared_ptr<const ClientAuthorities>(std::move(out));
}

ClientAuthorities::~ClientAuthorities() { X509_STORE_free(store_); }

Result<CertificateSubject> ClientAuthorities::Verify(const std::vector<std::string>& chain) const {
  if (chain.empty()) return InvalidError("there is no certificate");
  const SomeX509 own = FromDer(chain.front());
  if (own == nullptr) return InvalidError("the certificate cannot be read");
  const std::unique_ptr<STACK_OF(X509), FreeStack> between(sk_X509_new_null());
  for (std::size_t i = 1; i < chain.size(); ++i) {
    if (SomeX509 above = FromDer(chain[i]); above != nullptr) {
      sk_X509_push(between.get(), above.release());
    }
  }
  const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check(X509_STORE_CTX_new(),
                                                                              &X509_STORE_CTX_free);
  X509_STORE_CTX_init(check.get(), store_, own.get(), between.get());
  X509_STORE_CTX_set_purpose(check.get(), X509_PURPOSE_SSL_CLIENT);
  const bool good = X509_verify_cert(check.get()) == 1;
  ERR_clear_error();
  if (!good) {
    return InvalidError(X509_verify_cert_error_string(X509_STORE_CTX_get_error(check.get())));
  }
  const X509_NAME* subject = X509_get_subject_name(own.get());
  CertificateSubject out;
  // Of several, the last, as Go has it.
  const std::vector<std::string> names = EntriesOf(subject, NID_commonName);
  if (!names.empty()) out.common_name = names.back();
  out.organizations = EntriesOf(subject, NID_organizationName);
  out.fingerprint = FingerprintOf(own.get());
  return out;
}

}  // namespace knx::net
