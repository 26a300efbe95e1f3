#include "net/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/transport.h"

namespace knx::net {
namespace {

constexpr int kBacklog = SOMAXCONN;
constexpr int kMostAcceptedAtOnce = 32;
constexpr int kMostPort = 65535;
constexpr int kMostReadOfDismissed = 4;
constexpr Duration kUntilNextTry = Duration::Milliseconds(100);

// An address and a port as the system wants them.
struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t length = sizeof(sockaddr_storage);

  [[nodiscard]] sockaddr* any() { return reinterpret_cast<sockaddr*>(&bytes); }
  [[nodiscard]] bool v6() const { return bytes.ss_family == AF_INET6; }
};

Result<SocketAddress> ToSocketAddress(const std::string& address, int port) {
  SocketAddress out;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&out.bytes);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&out.bytes);
  if (port < 0 || port > kMostPort) return InvalidError("the port must be from 0 to 65535");
  const auto number = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = number;
    out.length = sizeof(*v4);
  } else if (inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = number;
    out.length = sizeof(*v6);
  } else {
    return InvalidError("this is not an IP address");
  }
  return out;
}

Endpoint ToEndpoint(const SocketAddress& address) {
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.bytes);
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.bytes);
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* host = address.v6() ? static_cast<const void*>(&v6->sin6_addr) : &v4->sin_addr;
  inet_ntop(address.bytes.ss_family, host, text.data(), text.size());
  Endpoint out;
  out.host = text.data();
  out.port = ntohs(address.v6() ? v6->sin6_port : v4->sin_port);
  return out;
}

// Of what a client has said already nothing is left unread: else it would hear of a reset rather
// than of an end.
void Dismiss(int accepted) {
  std::array<char, 4096> unread;
  for (int i = 0; i < kMostReadOfDismissed; ++i) {
    if (recv(accepted, unread.data(), unread.size(), MSG_DONTWAIT) <= 0) break;
  }
  close(accepted);
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(EventLoop& loop, Options options,
                                                       RequestHandler handler) {
  Endpoint where;
  where.host = options.address;
  where.port = options.port;
  std::unique_ptr<HttpServer> out(new HttpServer(loop, std::move(options), std::move(handler)));
  if (auto opened = out->Open(); !opened.ok()) {
    return std::move(opened).error().Within(fmt::format("cannot listen on {}", where.ToString()));
  }
  return out;
}

HttpServer::HttpServer(EventLoop& loop, Options options, RequestHandler handler)
    : loop_(loop), options_(std::move(options)), handler_(std::move(handler)) {}

HttpServer::~HttpServer() { Drain(); }

Status HttpServer::Open() {
  KNX_TRY(SocketAddress address, ToSocketAddress(options_.address, options_.port));
  const auto complaint = [] { return Error{ErrorKind::kUnavailable, std::strerror(errno), {}}; };
  listener_ = socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ < 0) return complaint();
  const int on = 1, off = 0;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.v6()) setsockopt(listener_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  if (bind(listener_, address.any(), address.length) != 0) return complaint();
  if (listen(listener_, kBacklog) != 0) return complaint();
  if (getsockname(listener_, address.any(), &address.length) != 0) return complaint();
  options_.port = ToEndpoint(address).port;
  WatchListener();
  return Ok();
}

void HttpServer::WatchListener() {
  loop_.Watch(listener_, kReadable, [this](std::uint32_t) { AcceptSome(); });
}

void HttpServer::AcceptSome() {
  for (int i = 0; i < kMostAcceptedAtOnce; ++i) {
    if (AcceptOne()) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    // Most likely no descriptor is left. The one who waits would wake us again and again.
    loop_.Unwatch(listener_);
    try_again_ = loop_.After(kUntilNextTry, [this] { WatchListener(); });
    return;
  }
}

bool HttpServer::AcceptOne() {
  SocketAddress address;
  const int accepted =
      accept4(listener_, address.any(), &address.length, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (accepted < 0) return errno == ECONNABORTED || errno == EINTR;
  if (connections_.size() >= options_.limits.connections && !MakeRoom()) {
    Dismiss(accepted);
    return true;
  }
  const HttpServerConnection::Client client{accepted, ToEndpoint(address).ToString(), options_.tls};
  const std::uint64_t number = ++last_connection_;
  connections_.emplace(number, std::make_unique<HttpServerConnection>(
                                   loop_, client, options_.limits, handler_,
                                   [this, number] { connections_.erase(number); }));
  return true;
}

bool HttpServer::MakeRoom() {
  auto longest = connections_.end();
  for (auto at = connections_.begin(); at != connections_.end(); ++at) {
    if (!at->second->idle()) continue;
    if (longest == connections_.end() || at->second->idle_since() < longest->second->idle_since()) {
      longest = at;
    }
  }
  if (longest == connections_.end()) return false;
  connections_.erase(longest);
  return true;
}

void HttpServer::Drain() {
  loop_.Cancel(try_again_);
  if (listener_ >= 0) {
    loop_.Unwatch(listener_);
    close(listener_);
    listener_ = -1;
  }
  for (const auto& [number, connection] : connections_) connection->Drain();
}

}  // namespace knx::net
