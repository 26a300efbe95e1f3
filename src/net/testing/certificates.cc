#include "net/testing/certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/check.h"

namespace knx::net::testing {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

constexpr int kAnHour = 3600;

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const auto size = BIO_get_mem_data(bio, &data);
  std::string out(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return out;
}

std::string PemOf(X509* certificate) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  return TextOf(bio);
}

std::string PemOf(EVP_PKEY* key) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  return TextOf(bio);
}

void Extend(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  KNX_CHECK(extension != nullptr, "a test wants an extension that OpenSSL does not know");
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Certificate Make(EVP_PKEY* key, std::string name, int lifetime_seconds) {
  static std::int64_t serial = 1;
  name += std::to_string(serial);  // two authorities are never taken for each other
  Certificate out(X509_new(), &X509_free);
  X509_set_version(out.get(), X509_VERSION_3);
  ASN1_INTEGER_set_int64(X509_get_serialNumber(out.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(out.get()), -kAnHour);
  X509_gmtime_adj(X509_getm_notAfter(out.get()), lifetime_seconds);
  X509_set_pubkey(out.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(out.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return out;
}

}  // namespace

struct CertificateAuthority::Parts {
  Key key{EVP_EC_gen("P-256"), &EVP_PKEY_free};
  Certificate certificate{nullptr, &X509_free};
};

CertificateAuthority::CertificateAuthority() : parts_(std::make_unique<Parts>()) {
  parts_->certificate = Make(parts_->key.get(), "authority for tests ", kAnHour);
  X509* own = parts_->certificate.get();
  X509_set_issuer_name(own, X509_get_subject_name(own));
  Extend(own, own, NID_basic_constraints, "critical,CA:TRUE");
  Extend(own, own, NID_key_usage, "critical,keyCertSign");
  X509_sign(own, parts_->key.get(), EVP_sha256());
  cert_pem_ = PemOf(own);
}

CertificateAuthority::~CertificateAuthority() = default;

CertifiedKey CertificateAuthority::Sign(const std::string& names, Duration lifetime) const {
  const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const Certificate leaf =
      Make(key.get(), "signed for tests ", static_cast<int>(lifetime.seconds()));
  X509* authority = parts_->certificate.get();
  X509_set_issuer_name(leaf.get(), X509_get_subject_name(authority));
  Extend(leaf.get(), authority, NID_subject_alt_name, names);
  X509_sign(leaf.get(), parts_->key.get(), EVP_sha256());
  return {PemOf(leaf.get()), PemOf(key.get())};
}

}  // namespace knx::net::testing
