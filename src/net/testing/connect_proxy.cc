#include "net/testing/connect_proxy.h"

#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string_view>
#include <thread>

#include "base/check.h"

namespace knx::net::testing {
namespace {

sockaddr_in LoopbackAddress(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

SSL_CTX* MakeProxyTls(const CertificateAndKey& identity) {
  SSL_CTX* tls = SSL_CTX_new(TLS_server_method());
  BIO* certificate = BIO_new_mem_buf(identity.cert_pem.data(), -1);
  BIO* secret = BIO_new_mem_buf(identity.key_pem.data(), -1);
  X509* own = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(secret, nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(tls, own);
  SSL_CTX_use_PrivateKey(tls, key);
  X509_free(own);
  EVP_PKEY_free(key);
  BIO_free(certificate);
  BIO_free(secret);
  return tls;
}

}  // namespace

struct ConnectProxy::Parts {
  std::string answer;
  SSL_CTX* tls = nullptr;
  int listener = -1, port = 0;
  std::atomic<bool> ending = false;
  mutable std::mutex mutex;
  std::string asked;
  std::thread thread;

  // One side of what is passed on.
  struct Side {
    int socket = -1;
    SSL* ssl = nullptr;
    [[nodiscard]] int Read(char* into, int size) const {
      return ssl != nullptr
                 ? SSL_read(ssl, into, size)
                 : static_cast<int>(recv(socket, into, static_cast<std::size_t>(size), 0));
    }
    void Write(const char* from, int size) const {
      if (ssl != nullptr) {
        SSL_write(ssl, from, size);
      } else {
        send(socket, from, static_cast<std::size_t>(size), MSG_NOSIGNAL);
      }
    }
  };

  void Run() {
    while (!ending) {
      const int got = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (got < 0) continue;
      if (!ending) Serve(got);
      close(got);
    }
  }

  void Serve(int socket) {
    Side client{socket, nullptr};
    if (tls != nullptr) {
      client.ssl = SSL_new(tls);
      SSL_set_fd(client.ssl, socket);
      if (SSL_accept(client.ssl) != 1) return SSL_free(client.ssl);
    }
    std::string head;
    char byte = 0;
    while (!head.ends_with("\r\n\r\n") && client.Read(&byte, 1) == 1) head += byte;
    {
      const std::lock_guard lock(mutex);
      asked = head;
    }
    client.Write(answer.data(), static_cast<int>(answer.size()));
    if (answer.starts_with("HTTP/1.1 200")) PassOn(client, head);
    SSL_free(client.ssl);
  }

  void PassOn(const Side& client, const std::string& head) const {
    const std::size_t at = head.find(':');
    const sockaddr_in address = LoopbackAddress(std::atoi(head.c_str() + at + 1));
    const Side server{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), nullptr};
    std::array<char, 16 * 1024> buffer;
    bool open =
        connect(server.socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    while (open && !ending) {
      std::array<pollfd, 2> ready = {{{client.socket, POLLIN, 0}, {server.socket, POLLIN, 0}}};
      constexpr int kLookMs = 20;
      poll(ready.data(), ready.size(), kLookMs);
      const auto move = [&](const Side& from, const Side& to) {
        const int got = from.Read(buffer.data(), buffer.size());
        if (got > 0) to.Write(buffer.data(), got);
        open = open && got > 0;
      };
      if (ready[0].revents != 0) move(client, server);
      while (open && client.ssl != nullptr && SSL_pending(client.ssl) > 0) move(client, server);
      if (open && ready[1].revents != 0) move(server, client);
    }
    close(server.socket);
  }
};

ConnectProxy::ConnectProxy(std::string answer, const CertificateAndKey& identity)
    : parts_(std::make_unique<Parts>()) {
  parts_->answer = std::move(answer);
  if (!identity.cert_pem.empty()) parts_->tls = MakeProxyTls(identity);
  parts_->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = LoopbackAddress(0);
  socklen_t size = sizeof(address);
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  const bool listens = bind(parts_->listener, raw, size) == 0 &&
                       listen(parts_->listener, SOMAXCONN) == 0 &&
                       getsockname(parts_->listener, raw, &size) == 0;
  KNX_CHECK(listens, "a test cannot listen on loopback");
  parts_->port = ntohs(address.sin_port);
  parts_->thread = std::thread([this] { parts_->Run(); });
}

ConnectProxy::~ConnectProxy() {
  parts_->ending = true;
  shutdown(parts_->listener, SHUT_RDWR);  // wakes who waits for connections
  parts_->thread.join();
  close(parts_->listener);
  SSL_CTX_free(parts_->tls);
}

int ConnectProxy::port() const { return parts_->port; }

std::string ConnectProxy::asked() const {
  const std::lock_guard lock(parts_->mutex);
  return parts_->asked;
}

}  // namespace knx::net::testing
