#include "client/url.h"

#include <absl/strings/ascii.h>
#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/percent.h"

namespace knx::client {
namespace {

constexpr std::size_t kMaxUrlBytes = 8192;  // servers refuse longer ones

struct UrlParts {
  std::string scheme;  // in small letters; empty: none
  std::string_view user_info;
  std::string host;
  std::uint16_t port = 0;  // 0: none
  std::string_view path;
};

// The part after the last `separator`, cut off from `text`; nothing if there is none.
std::optional<std::string_view> CutAfterLast(std::string_view& text, char separator) {
  const std::size_t at = text.rfind(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view after = text.substr(at + 1);
  text = text.substr(0, at);
  return after;
}

bool IsHostName(std::string_view host) {
  return std::all_of(host.begin(), host.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_';
  });
}

// With or without a zone: "fe80::1%eth0".
bool IsIpv6(std::string_view text) {
  const std::size_t percent = std::min(text.find('%'), text.size());
  const std::string address(text.substr(0, percent));
  in6_addr parsed;
  return address.find('\0') == std::string::npos &&
         IsHostName(text.substr(std::min(percent + 1, text.size()))) &&
         inet_pton(AF_INET6, address.c_str(), &parsed) == 1;
}

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

// "host:port" or "[::1]:port" into `out`. What is wrong with it, or nothing.
std::optional<std::string> ReadHostPort(std::string_view text, UrlParts& out) {
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return "the address in brackets has no end";
    const std::optional<std::string> address = DecodePercent(text.substr(1, close - 1));
    if (!address || !IsIpv6(*address)) return "what stands in brackets is no IPv6 address";
    out.host = *address;
    port = text.substr(close + 1);
    if (!port.empty() && port.front() != ':') return "only a port can come after the brackets";
    port.remove_prefix(port.empty() ? 0 : 1);
  } else {
    port = CutAfterLast(host, ':').value_or("");
    if (host.find(':') != std::string_view::npos) return "an IPv6 address needs brackets: [::1]";
    if (!IsHostName(host)) return "the host has a character that host names do not have";
    out.host = std::string(host);
  }
  if (out.host.empty()) return "the host is missing";
  if (port.empty()) return std::nullopt;
  const std::optional<std::uint16_t> number = ParsePort(port);
  if (!number) return "the port must be a number from 1 to 65535";
  out.port = *number;
  return std::nullopt;
}

Result<UrlParts> TakeApart(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c)) && c != '"' && c != '\\';
  });
  if (!plain) return InvalidError("has a character that URLs do not have; write it as %20");
  if (text.size() > kMaxUrlBytes) {
    return InvalidError(fmt::format("is longer than {} bytes", kMaxUrlBytes));
  }
  UrlParts parts;
  if (const std::size_t end = text.find("://"); end != std::string_view::npos) {
    parts.scheme = text.substr(0, end);
    absl::AsciiStrToLower(&parts.scheme);
    text.remove_prefix(end + 3);
  }
  text = text.substr(0, text.find_first_of("?#"));
  const std::size_t slash = std::min(text.find('/'), text.size());
  parts.path = text.substr(slash);
  std::string_view authority = text.substr(0, slash);
  if (const std::optional<std::string_view> host = CutAfterLast(authority, '@')) {
    parts.user_info = authority;
    authority = *host;
  }
  if (const auto complaint = ReadHostPort(authority, parts)) return InvalidError(*complaint);
  return parts;
}

}  // namespace

std::string UrlEscaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string JoinHostPort(std::string_view host, std::string_view port) {
  const bool ipv6 = host.find(':') != std::string_view::npos;
  return ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string ServerUrl::Authority() const {
  std::string authority = JoinHostPort(host, std::to_string(port));
  if (port == (tls ? 443 : 80)) authority.resize(authority.rfind(':'));
  return authority;
}

Result<ServerUrl> ParseServerUrl(std::string_view text) {
  if (text.find('@') != std::string_view::npos) {
    return InvalidError("must not hold a user name or password; they have fields of their own");
  }
  KNX_TRY(const UrlParts parts, TakeApart(text));
  if (!parts.scheme.empty() && parts.scheme != "http" && parts.scheme != "https") {
    return InvalidError("the scheme is not allowed; allowed are http, https");
  }
  ServerUrl url;
  url.text = std::string(text);
  url.tls = parts.scheme == "https";
  url.host = parts.host;
  url.port = parts.port != 0 ? parts.port : url.tls ? 443 : 80;
  url.base_path = std::string(parts.path);
  while (url.base_path.ends_with('/')) url.base_path.pop_back();
  if (parts.scheme.empty() && !url.base_path.empty()) {
    return InvalidError("with a path it needs a scheme; allowed are http, https");
  }
  return url;
}

Result<ProxyUrl> ParseProxyUrl(std::string_view text) {
  KNX_TRY(const UrlParts parts, TakeApart(text));
  ProxyUrl url;
  url.text = std::string(text);
  if (parts.scheme == "http") {
    url.scheme = ProxyUrl::Scheme::kHttp;
    url.port = 80;
  } else if (parts.scheme == "https") {
    url.scheme = ProxyUrl::Scheme::kHttps;
    url.port = 443;
  } else if (parts.scheme == "socks5") {
    return InvalidError("socks5 is not supported; allowed are http, https");
  } else {
    return InvalidError("the scheme is not allowed; allowed are http, https");
  }
  url.host = parts.host;
  if (parts.port != 0) url.port = parts.port;
  const std::size_t colon = std::min(parts.user_info.find(':'), parts.user_info.size());
  const auto username = DecodePercent(parts.user_info.substr(0, colon));
  const auto password =
      DecodePercent(parts.user_info.substr(std::min(colon + 1, parts.user_info.size())));
  if (!username || !password) return InvalidError("a % in it must begin an escape such as %20");
  url.username = *username;
  url.password = *password;
  return url;
}

}  // namespace knx::client
