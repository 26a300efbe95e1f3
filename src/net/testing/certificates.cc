#include "net/testing/certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/check.h"

namespace knx::net::testing {
namespace {

constexpr int kAnHour = 3600;

void AddEntry(X509_NAME* name, const char* kind, const std::string& value) {
  X509_NAME_add_entry_by_txt(name, kind, MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(value.data()),
                             static_cast<int>(value.size()), -1, 0);
}

void Extend(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  KNX_CHECK(extension != nullptr, "a test wants an extension that OpenSSL does not know");
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

std::string TakeText(BIO* bio) {
  char* text = nullptr;
  const auto length = BIO_get_mem_data(bio, &text);
  std::string out(text, static_cast<std::size_t>(length));
  BIO_free(bio);
  return out;
}

std::string PemOf(X509* certificate) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  return TakeText(bio);
}

std::string PemOf(EVP_PKEY* key) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  return TakeText(bio);
}

}  // namespace

Authority::Authority(const std::string& name)
    : key_(EVP_EC_gen("P-256")),
      certificate_(Make({.common_name = name}, key_, nullptr)),
      pem_(PemOf(certificate_)) {}

Authority::~Authority() {
  X509_free(certificate_);
  EVP_PKEY_free(key_);
}

CertificateAndKey Authority::Issue(const IssueOptions& options) const {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* made = Make(options, key, certificate_);
  CertificateAndKey out{PemOf(made), PemOf(key)};
  X509_free(made);
  EVP_PKEY_free(key);
  return out;
}

X509* Authority::Make(const IssueOptions& options, EVP_PKEY* key, X509* issuer) const {
  static int last_serial = 0;
  X509* out = X509_new();
  X509_set_version(out, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(out), ++last_serial);
  X509_gmtime_adj(X509_getm_notBefore(out), -kAnHour);
  X509_gmtime_adj(X509_getm_notAfter(out), static_cast<long>(options.lifetime.seconds()));
  X509_set_pubkey(out, key);
  X509_NAME* name = X509_get_subject_name(out);
  if (!options.common_name.empty()) AddEntry(name, "CN", options.common_name);
  for (const std::string& organization : options.organizations) AddEntry(name, "O", organization);
  X509_set_issuer_name(out, issuer == nullptr ? name : X509_get_subject_name(issuer));
  Extend(out, NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
  if (issuer == nullptr) Extend(out, NID_key_usage, "critical,keyCertSign");
  if (!options.names.empty()) Extend(out, NID_subject_alt_name, options.names);
  if (!options.usage.empty()) Extend(out, NID_ext_key_usage, options.usage);
  X509_sign(out, key_, EVP_sha256());
  return out;
}

std::string DerOfPem(const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  unsigned char* bytes = nullptr;
  const int length = i2d_X509(certificate, &bytes);
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
  OPENSSL_free(bytes);
  X509_free(certificate);
  return out;
}

}  // namespace knx::net::testing
