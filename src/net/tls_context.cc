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
constexpr std::array<unsigned char, 9> kHttp1 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

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
  if (AddCertificates(SSL_CTX_get_cert_store(context), pem) == 0) {
    return InvalidError("the certificate authority has no certificate in PEM form");
  }
  return Ok();
}

// A key that is locked with a password is refused; OpenSSL would ask for it on the terminal.
int NoPassword(char*, int, int, void*) { return -1; }

// `whose` is said in complaints.
Status Identify(SSL_CTX* context, const std::string& cert_pem, const std::string& key_pem,
                std::string_view whose) {
  const Bio certificates = Reading(cert_pem);
  X509* own = PEM_read_bio_X509(certificates.get(), nullptr, nullptr, nullptr);
  if (own == nullptr) return TlsError(fmt::format("the {} certificate cannot be read", whose));
  const bool usable = SSL_CTX_use_certificate(context, own) == 1;
  X509_free(own);
  if (!usable) return TlsError(fmt::format("the {} certificate cannot be used", whose));
  while (X509* above = PEM_read_bio_X509(certificates.get(), nullptr, nullptr, nullptr)) {
    SSL_CTX_add_extra_chain_cert(context, above);
  }
  ERR_clear_error();
  const Bio key = Reading(key_pem);
  EVP_PKEY* secret = PEM_read_bio_PrivateKey(key.get(), nullptr, &NoPassword, nullptr);
  if (secret == nullptr) return TlsError(fmt::format("the {} key cannot be read", whose));
  const bool fits = SSL_CTX_use_PrivateKey(context, secret) == 1;
  EVP_PKEY_free(secret);
  if (!fits)
    return TlsError(fmt::format("the {0} key does not belong to the {0} certificate", whose));
  return Ok();
}

Result<int> LeastVersion(const std::string& name) {
  if (name.empty() || name == "VersionTLS12") return TLS1_2_VERSION;
  if (name == "VersionTLS13") return TLS1_3_VERSION;
  return InvalidError(fmt::format(
      "the TLS version {} is not supported; supported are VersionTLS12, VersionTLS13", name));
}

Status ChooseSuites(SSL_CTX* context, const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    // Go has two names without the hash at the end.
    const bool cut = name.ends_with("_CHACHA20_POLY1305");
    const std::string found = OPENSSL_cipher_name((cut ? name + "_SHA256" : name).c_str());
    if (found == "(NONE)") {
      return InvalidError(fmt::format("the TLS cipher suite {} is not known", name));
    }
    if (found.starts_with("TLS_")) continue;  // of TLS 1.3
    list += list.empty() ? found : ":" + found;
  }
  if (!list.empty() && SSL_CTX_set_cipher_list(context, list.c_str()) != 1) {
    return TlsError("none of the TLS cipher suites can be used");
  }
  return Ok();
}

int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_length,
                   const unsigned char* offered, unsigned int offered_length, void*) {
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_length, kHttp1.data(), kHttp1.size(), offered,
                            offered_length) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

int TakeAnyCertificate(int, X509_STORE_CTX*) { return 1; }

bool IsAddress(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> out;
  return inet_pton(AF_INET, host.c_str(), out.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), out.data()) == 1;
}

}  // namespace

int AddCertificates(x509_store_st* store, const std::string& pem) {
  const Bio bio = Reading(pem);
  int count = 0;
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    X509_STORE_add_cert(store, certificate);
    X509_free(certificate);
    ++count;
  }
  ERR_clear_error();  // the end of the text is no error
  return count;
}

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
  // Else the head of each record is read alone.
  SSL_CTX_set_read_ahead(out->context_, 1);
  if (options.http2) SSL_CTX_set_alpn_protos(out->context_, kHttp2.data(), kHttp2.size());
  out->verify_ = !options.skip_verify;
  if (out->verify_) KNX_TRY_DONE(TrustAuthorities(out->context_, options.ca_pem));
  if (!options.cert_pem.empty() || !options.key_pem.empty()) {
    KNX_TRY_DONE(Identify(out->context_, options.cert_pem, options.key_pem, "client"));
  }
  SSL_CTX_set_verify(out->context_, out->verify_ ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  return std::shared_ptr<const TlsContext>(std::move(out));
}

Result<std::shared_ptr<const TlsContext>> TlsContext::MakeServer(const TlsServerOptions& options) {
  KNX_TRY(const int least, LeastVersion(options.min_version));
  std::shared_ptr<TlsContext> out(new TlsContext);
  out->context_ = SSL_CTX_new(TLS_server_method());
  if (out->context_ == nullptr) return TlsError("TLS cannot be used");
  SSL_CTX_set_min_proto_version(out->context_, least);
  SSL_CTX_set_mode(out->context_,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // A session that is taken up again would not show the client's certificates.
  SSL_CTX_set_session_cache_mode(out->context_, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(out->context_, 0);
  SSL_CTX_set_options(out->context_,
                      SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_alpn_select_cb(out->context_, &ChooseProtocol, nullptr);
  if (options.ask_for_certificate) {
    SSL_CTX_set_verify(out->context_, SSL_VERIFY_PEER, &TakeAnyCertificate);
  }
  KNX_TRY_DONE(ChooseSuites(out->context_, options.cipher_suites));
  KNX_TRY_DONE(Identify(out->context_, options.cert_pem, options.key_pem, "server"));
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

ssl_st* TlsContext::Accept(int socket) const {
  SSL* ssl = SSL_new(context_);
  SSL_set_fd(ssl, socket);
  SSL_set_accept_state(ssl);
  return ssl;
}

}  // namespace knx::net
