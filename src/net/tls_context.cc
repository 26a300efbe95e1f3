#include "net/tls_context.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>

namespace knx::net {
namespace {

constexpr std::array<unsigned char, 3> kHttp2 = {2, 'h', '2'};

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
Bio Reading(const std::string& pem) {
  return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free};
}

Error TlsError(std::string_view what) {
  return InvalidError(fmt::format("{}: {}", what, TlsComplaint()));
}

Status TrustAuthorities(SSL_CTX* context, const std::string& pem) {
  if (pem.empty()) {
    SSL_CTX_set_default_verify_paths(context);
    return Ok();
  }
  const Bio bio = Reading(pem);
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  int count = 0;
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    X509_STORE_add_cert(store, certificate);
    X509_free(certificate);
    ++count;
  }
  ERR_clear_error();  // the end of the text is no error
  if (count == 0) return InvalidError("the certificate authority has no certificate in PEM form");
  return Ok();
}

Status Identify(SSL_CTX* context, const TlsOptions& options) {
  if (options.cert_pem.empty() && options.key_pem.empty()) return Ok();
  const Bio certificates = Reading(options.cert_pem);
  X509* own = PEM_read_bio_X509(certificates.get(), nullptr, nullptr, nullptr);
  if (own == nullptr) return TlsError("the client certificate cannot be read");
  SSL_CTX_use_certificate(context, own);
  X509_free(own);
  while (X509* above = PEM_read_bio_X509(certificates.get(), nullptr, nullptr, nullptr)) {
    SSL_CTX_add_extra_chain_cert(context, above);
  }
  ERR_clear_error();
  const Bio key = Reading(options.key_pem);
  EVP_PKEY* secret = PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr);
  if (secret == nullptr) return TlsError("the client key cannot be read");
  const bool fits = SSL_CTX_use_PrivateKey(context, secret) == 1;
  EVP_PKEY_free(secret);
  if (!fits) return TlsError("the client key does not belong to the client certificate");
  return Ok();
}

bool IsAddress(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> out;
  return inet_pton(AF_INET, host.c_str(), out.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), out.data()) == 1;
}

}  // namespace

std::string TlsComplaint() {
  const unsigned long code = ERR_get_error();  // NOLINT(google-runtime-int): OpenSSL's type
  ERR_clear_error();
  if (code == 0) return "unknown reason";
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? fmt::format("TLS error {}", code) : reason;
}

Result<std::shared_ptr<const TlsContext>> TlsContext::MakeClient(const TlsOptions& options) {
  std::shared_ptr<TlsContext> out(new TlsContext);
  out->context_ = SSL_CTX_new(TLS_client_method());
  if (out->context_ == nullptr) return TlsError("TLS cannot be used");
  SSL_CTX_set_min_proto_version(out->context_, TLS1_2_VERSION);
  SSL_CTX_set_mode(out->context_,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_alpn_protos(out->context_, kHttp2.data(), kHttp2.size());
  out->verify_ = !options.skip_verify;
  if (out->verify_) KNX_TRY_DONE(TrustAuthorities(out->context_, options.ca_pem));
  KNX_TRY_DONE(Identify(out->context_, options));
  SSL_CTX_set_verify(out->context_, out->verify_ ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  return std::shared_ptr<const TlsContext>(std::move(out));
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

ssl_st* TlsContext::Open(int socket, const std::string& server_name) const {
  SSL* ssl = SSL_new(context_);
  SSL_set_fd(ssl, socket);
  SSL_set_connect_state(ssl);
  if (IsAddress(server_name)) {
    if (verify_) X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), server_name.c_str());
  } else {
    SSL_set_tlsext_host_name(ssl, server_name.c_str());
    if (verify_) SSL_set1_host(ssl, server_name.c_str());
  }
  return ssl;
}

}  // namespace knx::net
