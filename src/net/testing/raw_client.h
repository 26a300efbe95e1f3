// A client that sends whatever bytes a test wants, over a socket that blocks, but never for longer
// than a few seconds.
#pragma once

#include <string>
#include <string_view>

#include "net/self_signed.h"

// Of OpenSSL, whose headers stay out of ours.
struct ssl_ctx_st;
struct ssl_st;

namespace knx::net::testing {

struct TlsWishes {
  std::string protocols = {};  // as ALPN has them: "\x02h2"
  CertificateAndKey identity = {};
  bool only_tls_1_2 = false;
};

class RawClient {
 public:
  explicit RawClient(int port);  // of 127.0.0.1
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // Speaks TLS from now on, with whomever it is.
  [[nodiscard]] bool ShakeHands(const TlsWishes& wishes = {});
  bool Send(std::string_view bytes);
  void EndWriting();
  // Until the server ends the connection; what came till then.
  [[nodiscard]] std::string ReceiveAll();
  // Until `text` was received, or nothing more comes.
  [[nodiscard]] std::string ReceiveUntil(std::string_view text);
  [[nodiscard]] bool ended() const { return ended_; }  // by the server, in order
  [[nodiscard]] bool connected() const { return connected_; }

  // Of a connection with TLS.
  [[nodiscard]] std::string server_name() const;  // the common name of its certificate
  [[nodiscard]] std::string suite() const;
  [[nodiscard]] std::string protocol() const;  // that was agreed upon

 private:
  bool ReceiveSome(std::string& out);

  int socket_;
  ssl_ctx_st* context_ = nullptr;
  ssl_st* ssl_ = nullptr;
  bool connected_ = false;
  bool ended_ = false;
};

// How often `part` stands in `text`.
int CountIn(std::string_view text, std::string_view part);

}  // namespace knx::net::testing
