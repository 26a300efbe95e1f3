// What a TLS client trusts and who it is. Made once, used by many connections.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

// Of OpenSSL, whose headers stay out of ours.
struct ssl_ctx_st;
struct ssl_st;

namespace knx::net {

struct TlsOptions {
  std::string ca_pem;  // who may have signed the server's certificate; empty: the system's
  std::string cert_pem, key_pem;  // of the client; both or none
  bool skip_verify = false;
};

class TlsContext {
 public:
  // For a client that speaks HTTP/2.
  static Result<std::shared_ptr<const TlsContext>> MakeClient(const TlsOptions& options);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // A new connection over a socket, not yet shaken hands. `server_name` is who the other side must
  // prove to be: a host name or an address.
  [[nodiscard]] ssl_st* Open(int socket, const std::string& server_name) const;

 private:
  TlsContext() = default;

  ssl_ctx_st* context_ = nullptr;
  bool verify_ = true;
};

// What OpenSSL complains about, in one line, and forgotten there.
std::string TlsComplaint();

}  // namespace knx::net
