// The URLs of a kubeconfig, taken apart: the API server's and that of a proxy in front of it.
// Complaints never repeat what was written: a URL may hold a password.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace knx::client {

struct ServerUrl {
  std::string text;  // as it was written
  bool tls = true;
  std::string host;  // a name or an address; IPv6 without its brackets
  std::uint16_t port = 443;
  std::string base_path;  // in front of every path: empty, or "/a/b"

  // What the header Host says: brackets around IPv6, and the port unless it is the usual one.
  [[nodiscard]] std::string Authority() const;
};

struct ProxyUrl {
  enum class Scheme { kHttp, kHttps };

  std::string text;
  Scheme scheme = Scheme::kHttp;
  std::string host;
  std::uint16_t port = 80;
  std::string username, password;
};

// "https://host:port/path", or "host:port" for http, as client-go reads it. What comes after ? or #
// is left out.
Result<ServerUrl> ParseServerUrl(std::string_view text);

// "http://user:password@host:port"; https as well.
Result<ProxyUrl> ParseProxyUrl(std::string_view text);

// Everything but letters, digits and -._~ as %XX.
std::string UrlEscaped(std::string_view text);

// "host:port" with brackets around an IPv6 address.
std::string JoinHostPort(std::string_view host, std::string_view port);

}  // namespace knx::client
