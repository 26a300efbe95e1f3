// What a TLS client or server trusts and who it is. Made once, used by many connections.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

// Of OpenSSL, whose headers stay out of ours.
struct ssl_ctx_st;
struct ssl_st;
struct x509_store_st;

namespace knx::net {

struct TlsOptions {
  bool http2 = true;   // false: HTTP/1.1
  std::string ca_pem;  // who may have signed the server's certificate; empty: the system's
  std::string cert_pem, key_pem;  // of the client; both or none
  bool skip_verify = false;
};

struct TlsServerOptions {
  std::string cert_pem = {},
              key_pem = {};      // of the server: its own certificate first, then those above
  std::string min_version = {};  // VersionTLS12, which is also meant if empty, or VersionTLS13
  // Of TLS 1.2, by their names in the standard. Empty: those that OpenSSL thinks well of. Those of
  // TLS 1.3 are accepted and change nothing, as in Go.
  std::vector<std::string> cipher_suites = {};
  // Clients may show a certificate, and any is taken: whether it says anything is decided later, by
  // ClientAuthorities.
  bool ask_for_certificate = true;
};

class TlsContext {
 public:
  // For a client that speaks HTTP/2.
  static Result<std::shared_ptr<const TlsContext>> MakeClient(const TlsOptions& options);
  // For a server that speaks HTTP/1.1.
  static Result<std::shared_ptr<const TlsContext>> MakeServer(const TlsServerOptions& options);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // A new connection over a socket, not yet shaken hands. `server_name` is who the other side must
  // prove to be: a host name or an address.
  [[nodiscard]] ssl_st* Open(int socket, const std::string& server_name) const;
  // The same for a server, over a socket that was accepted.
  [[nodiscard]] ssl_st* Accept(int socket) const;

 private:
  TlsContext() = default;

  ssl_ctx_st* context_ = nullptr;
  bool verify_ = true;
};

// Adds the certificates of a text in PEM form to what is trusted. How many there are.
int AddCertificates(x509_store_st* store, const std::string& pem);

// What OpenSSL complains about, in one line, and forgotten there.
std::string TlsComplaint();

}  // namespace knx::net
