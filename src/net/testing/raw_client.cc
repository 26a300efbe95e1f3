#include "net/testing/raw_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>

namespace knx::net::testing {
namespace {

constexpr std::size_t kBufferSize = 16384;

void UseIdentity(SSL_CTX* context, const CertificateAndKey& identity) {
  BIO* cert = BIO_new_mem_buf(identity.cert_pem.data(), -1);
  BIO* key = BIO_new_mem_buf(identity.key_pem.data(), -1);
  X509* certificate = PEM_read_bio_X509(cert, nullptr, nullptr, nullptr);
  EVP_PKEY* secret = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(context, certificate);
  SSL_CTX_use_PrivateKey(context, secret);
  X509_free(certificate);
  EVP_PKEY_free(secret);
  BIO_free(cert);
  BIO_free(key);
}

}  // namespace

RawClient::RawClient(int port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval limit{5, 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
}

RawClient::~RawClient() {
  SSL_free(ssl_);
  SSL_CTX_free(context_);
  close(socket_);
}

bool RawClient::ShakeHands(const TlsWishes& wishes) {
  context_ = SSL_CTX_new(TLS_client_method());
  if (!wishes.protocols.empty()) {
    SSL_CTX_set_alpn_protos(context_,
                            reinterpret_cast<const unsigned char*>(wishes.protocols.data()),
                            static_cast<unsigned int>(wishes.protocols.size()));
  }
  if (wishes.only_tls_1_2) SSL_CTX_set_max_proto_version(context_, TLS1_2_VERSION);
  if (!wishes.identity.cert_pem.empty()) UseIdentity(context_, wishes.identity);
  ssl_ = SSL_new(context_);
  SSL_set_fd(ssl_, socket_);
  return SSL_connect(ssl_) == 1;
}

bool RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto put = ssl_ != nullptr ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                                     : send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

void RawClient::EndWriting() {
  if (ssl_ != nullptr) SSL_shutdown(ssl_);
  shutdown(socket_, SHUT_WR);
}

std::string RawClient::ReceiveAll() {
  std::string out;
  while (ReceiveSome(out)) continue;
  return out;
}

std::string RawClient::ReceiveUntil(std::string_view text) {
  std::string out;
  while (out.find(text) == std::string::npos && ReceiveSome(out)) continue;
  return out;
}

bool RawClient::ReceiveSome(std::string& out) {
  std::array<char, kBufferSize> buffer;
  const auto got = ssl_ != nullptr ? SSL_read(ssl_, buffer.data(), kBufferSize)
                                   : recv(socket_, buffer.data(), buffer.size(), 0);
  ended_ = ssl_ != nullptr ? SSL_get_error(ssl_, static_cast<int>(got)) == SSL_ERROR_ZERO_RETURN
                           : got == 0;
  if (got <= 0) return false;
  out.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

std::string RawClient::server_name() const {
  X509* certificate = SSL_get1_peer_certificate(ssl_);
  std::array<char, 100> name{};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(),
                            static_cast<int>(name.size()));
  X509_free(certificate);
  return name.data();
}

std::string RawClient::suite() const { return SSL_get_cipher_name(ssl_); }

std::string RawClient::protocol() const {
  const unsigned char* chosen = nullptr;
  unsigned int length = 0;
  SSL_get0_alpn_selected(ssl_, &chosen, &length);
  return {reinterpret_cast<const char*>(chosen), length};
}

int CountIn(std::string_view text, std::string_view part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace knx::net::testing
