#include "net/transport.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

namespace knx::net {
namespace {

// What one call reads at most, and how much of what was sent is kept before it is dropped.
constexpr std::size_t kReadAtOnce = 64 * 1024;
constexpr std::size_t kDropSentAfter = 256 * 1024;

std::string SystemComplaint(int error) { return std::strerror(error); }

}  // namespace

std::string Endpoint::ToString() const {
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

// The system's resolver blocks, so names are looked up by a thread of their own.
struct Transport::Resolution {
  struct Address {
    sockaddr_storage bytes;
    socklen_t length;
    int family;
  };
  void LookUp(const std::string& host, int port, int flags);

  std::vector<Address> addresses;
  std::string failure;
};

void Transport::Resolution::LookUp(const std::string& host, int port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) failure = gai_strerror(failed);
  for (addrinfo* at = found; at != nullptr; at = at->ai_next) {
    Address& address = addresses.emplace_back();
    std::memcpy(&address.bytes, at->ai_addr, at->ai_addrlen);
    address.length = at->ai_addrlen;
    address.family = at->ai_family;
  }
  if (found != nullptr) freeaddrinfo(found);
}

Transport::Transport(EventLoop& loop, Endpoint endpoint, Duration timeout, Callbacks callbacks)
    : loop_(loop), endpoint_(std::move(endpoint)), callbacks_(std::move(callbacks)) {
  timeout_ = loop_.After(timeout, [this, timeout] {
    timeout_ = {};
    Fail(fmt::format("not connected within {}{}", FormatDuration(timeout),
                     last_failure_.empty() ? "" : " (" + last_failure_ + ")"));
  });
  Resolve();
}

Transport::~Transport() {
  *alive_ = false;
  loop_.Cancel(timeout_);
  CloseSocket();
}

// ---- connecting ----

void Transport::Resolve() {
  resolution_ = std::make_shared<Resolution>();
  resolution_->LookUp(endpoint_.host, endpoint_.port, AI_NUMERICHOST);
  const auto answer = [this, alive = alive_] {
    if (*alive) OnResolved();
  };
  if (!resolution_->addresses.empty()) return loop_.Post(answer);
  std::thread([inbox = loop_.inbox(), answer, resolution = resolution_, host = endpoint_.host,
               port = endpoint_.port] {
    resolution->LookUp(host, port, 0);
    inbox->Post(answer);
  }).detach();
}

void Transport::OnResolved() {
  if (phase_ != Phase::kResolving) return;
  if (resolution_->addresses.empty()) {
    return Fail(fmt::format("{} is not known: {}", endpoint_.host, resolution_->failure));
  }
  ConnectNext();
}

void Transport::ConnectNext() {
  CloseSocket();
  if (next_address_ == resolution_->addresses.size()) return Fail(last_failure_);
  const Resolution::Address& address = resolution_->addresses[next_address_++];
  phase_ = Phase::kConnecting;
  socket_ = socket(address.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return Fail(fmt::format("no socket: {}", SystemComplaint(errno)));
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  loop_.Watch(socket_, kWritable, [this](std::uint32_t readiness) { OnReady(readiness); });
  watched_for_ = kWritable;
  const int failed =
      connect(socket_, reinterpret_cast<const sockaddr*>(&address.bytes), address.length);
  if (failed == 0 || errno == EINPROGRESS) return;
  last_failure_ = SystemComplaint(errno);
  ConnectNext();
}

void Transport::OnConnected() {
  int error = 0;
  socklen_t length = sizeof(error);
  getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    last_failure_ = SystemComplaint(error);
    return ConnectNext();
  }
  if (endpoint_.tls == nullptr) return Open();
  phase_ = Phase::kShakingHands;
  ssl_ = endpoint_.tls->Open(
      socket_, endpoint_.server_name.empty() ? endpoint_.host : endpoint_.server_name);
  ShakeHands();
}

void Transport::ShakeHands() {
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_);
  if (done == 1) return Open();
  const int error = SSL_get_error(ssl_, done);
  handshake_wants_write_ = error == SSL_ERROR_WANT_WRITE;
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return WatchFor();
  if (const auto verdict = SSL_get_verify_result(ssl_); verdict != X509_V_OK) {
    ERR_clear_error();
    return Fail(fmt::format("the server's certificate is not trusted: {}",
                            X509_verify_cert_error_string(verdict)));
  }
  Fail(fmt::format("no TLS connection: {}",
                   error == SSL_ERROR_SYSCALL ? "the server closed it" : TlsComplaint()));
}

void Transport::Open() {
  phase_ = Phase::kOpen;
  loop_.Cancel(timeout_);
  timeout_ = {};
  WatchFor();
  const auto alive = alive_;
  callbacks_.connected();
  if (*alive && phase_ == Phase::kOpen) Send();
}

// ---- bytes ----

void Transport::OnReady(std::uint32_t readiness) {
  const auto alive = alive_;
  if (phase_ == Phase::kConnecting) return OnConnected();
  if (phase_ == Phase::kShakingHands) return ShakeHands();
  if ((readiness & (kReadable | kBroken)) != 0) Receive();
  if (*alive && phase_ == Phase::kOpen && (readiness & kWritable) != 0) Send();
}

void Transport::Receive() {
  std::array<char, kReadAtOnce> buffer;
  const auto alive = alive_;
  while (*alive && phase_ == Phase::kOpen) {
    std::int64_t got = 0;
    int error = 0;
    if (ssl_ != nullptr) {
      ERR_clear_error();
      got = SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size()));
      if (got <= 0) error = SSL_get_error(ssl_, static_cast<int>(got));
      if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return;
      if (got <= 0) {
        const bool ended = error == SSL_ERROR_ZERO_RETURN || error == SSL_ERROR_SYSCALL;
        return Fail(ended ? "the server closed the connection" : TlsComplaint());
      }
    } else {
      got = recv(socket_, buffer.data(), buffer.size(), 0);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (got < 0) return Fail(SystemComplaint(errno));
      if (got == 0) return Fail("the server closed the connection");
    }
    callbacks_.received(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  }
}

void Transport::Write(std::string_view bytes) {
  if (phase_ == Phase::kClosed) return;
  out_ += bytes;
  if (phase_ == Phase::kOpen) Send();
}

void Transport::Send() {
  const bool had_some = unsent() > 0;
  while (unsent() > 0) {
    if (!SendSome()) break;
  }
  if (phase_ != Phase::kOpen) return;
  if (unsent() == 0) {
    out_.clear();
    sent_ = 0;
  } else if (sent_ > kDropSentAfter) {
    out_.erase(0, sent_);
    sent_ = 0;
  }
  WatchFor();
  if (had_some && unsent() == 0) callbacks_.drained();
}

bool Transport::SendSome() {
  const char* from = out_.data() + sent_;
  if (ssl_ != nullptr) {
    ERR_clear_error();
    const int put = SSL_write(ssl_, from, static_cast<int>(std::min(unsent(), kReadAtOnce)));
    if (put > 0) {
      sent_ += static_cast<std::size_t>(put);
      return true;
    }
    const int error = SSL_get_error(ssl_, put);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
      Fail(error == SSL_ERROR_SYSCALL ? "the server closed the connection" : TlsComplaint());
    }
    return false;
  }
  const auto put = send(socket_, from, unsent(), MSG_NOSIGNAL);
  if (put >= 0) {
    sent_ += static_cast<std::size_t>(put);
    return true;
  }
  if (errno != EAGAIN && errno != EINTR) Fail(SystemComplaint(errno));
  return false;
}

void Transport::WatchFor() {
  std::uint32_t wanted = kReadable;
  if (phase_ == Phase::kShakingHands && handshake_wants_write_) wanted = kWritable;
  if (phase_ == Phase::kOpen && unsent() > 0) wanted |= kWritable;
  if (wanted == watched_for_) return;
  watched_for_ = wanted;
  loop_.Change(socket_, wanted);
}

// ---- the end ----

void Transport::CloseSocket() {
  if (ssl_ != nullptr) SSL_free(ssl_);
  ssl_ = nullptr;
  if (socket_ < 0) return;
  loop_.Unwatch(socket_);
  close(socket_);
  socket_ = -1;
}

void Transport::Fail(std::string what) {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  loop_.Cancel(timeout_);
  timeout_ = {};
  CloseSocket();
  const Error error{ErrorKind::kUnavailable, fmt::format("{}: {}", endpoint_.ToString(), what), {}};
  // Not from within a call of the one who is told: it may destroy us.
  loop_.Post([this, alive = alive_, error] {
    if (*alive) callbacks_.closed(error);
  });
}

}  // namespace knx::net
