#include "net/self_signed.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <functional>
#include <memory>

#include "net/tls_context.h"

namespace knx::net {
namespace {

using OwnedX509 = std::unique_ptr<X509, decltype(&X509_free)>;
using OwnedKey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

constexpr std::size_t kLongestCommonName = 64;

// 63 bits by chance: a number that no other certificate of this name has.
bool SetSerial(X509* certificate) {
  std::array<unsigned char, sizeof(std::uint64_t)> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return false;
  std::uint64_t number = 0;
  for (const unsigned char byte : bytes) number = number << 8 | byte;
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), (number >> 1) | 1) == 1;
}

bool SetName(X509* certificate, const std::string& name) {
  const std::string common = name.substr(0, kLongestCommonName);
  X509_NAME* subject = X509_get_subject_name(certificate);
  return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(common.data()),
                                    static_cast<int>(common.size()), -1, 0) == 1 &&
         X509_set_issuer_name(certificate, subject) == 1;
}

bool AddAlternativeNames(X509* certificate, const std::vector<std::string>& names) {
  GENERAL_NAMES* all = GENERAL_NAMES_new();
  bool good = all != nullptr;
  for (const std::string& name : names) {
    GENERAL_NAME* one = GENERAL_NAME_new();
    if (ASN1_OCTET_STRING* address = a2i_IPADDRESS(name.c_str())) {
      GENERAL_NAME_set0_value(one, GEN_IPADD, address);
    } else {
      ASN1_IA5STRING* host = ASN1_IA5STRING_new();
      ASN1_STRING_set(host, name.data(), static_cast<int>(name.size()));
      GENERAL_NAME_set0_value(one, GEN_DNS, host);
    }
    sk_GENERAL_NAME_push(all, one);
  }
  good = good && X509_add1_ext_i2d(certificate, NID_subject_alt_name, all, 0, 0) == 1;
  GENERAL_NAMES_free(all);
  return good;
}

bool AddExtension(X509* certificate, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
  const bool good = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return good;
}

std::string Written(const std::function<int(BIO*)>& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), &BIO_free);
  if (bio == nullptr || write(bio.get()) != 1) return "";
  char* text = nullptr;
  const auto length = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(length)};
}

}  // namespace

Result<CertificateAndKey> MakeSelfSigned(const std::vector<std::string>& names, Duration valid) {
  if (names.empty()) return InvalidError("a certificate needs a name");
  constexpr int kVersion3 = 2;
  constexpr std::int64_t kSecond = 1'000'000'000, kHourInSeconds = 3600;
  const OwnedKey key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const OwnedX509 certificate(X509_new(), &X509_free);
  X509* made = certificate.get();
  const bool good = key != nullptr && made != nullptr && X509_set_version(made, kVersion3) == 1 &&
                    SetSerial(made) && SetName(made, names.front()) &&
                    X509_gmtime_adj(X509_getm_notBefore(made), -kHourInSeconds) != nullptr &&
                    X509_gmtime_adj(X509_getm_notAfter(made), valid.ns / kSecond) != nullptr &&
                    X509_set_pubkey(made, key.get()) == 1 && AddAlternativeNames(made, names) &&
                    AddExtension(made, NID_basic_constraints, "critical,CA:FALSE") &&
                    AddExtension(made, NID_key_usage, "critical,digitalSignature") &&
                    AddExtension(made, NID_ext_key_usage, "serverAuth") &&
                    X509_sign(made, key.get(), EVP_sha256()) > 0;
  if (!good) return InvalidError(fmt::format("no certificate can be made: {}", TlsComplaint()));
  CertificateAndKey out;
  out.cert_pem = Written([made](BIO* bio) { return PEM_write_bio_X509(bio, made); });
  out.key_pem = Written([&key](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return out;
}

}  // namespace knx::net
