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

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace knx::net {
namespace {

// What one call reads at most, and how much of what was sent is kept before it is dropped.
constexpr std::size_t kReadAtOnce = 64 * 1024;
constexpr std::size_t kDropSentAfter = 256 * 1024;
// Reads in a row, so that a server that never pauses does not keep us from everything else.
constexpr int kReadsInARow = 16;
constexpr std::size_t kLongestProxyAnswer = 16 * 1024;

std::string SystemComplaint(int error) { return std::strerror(error); }

std::string HostAndPort(const std::string& host, int port) {
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

// What somebody else wrote, fit for a line of a log.
std::string Shown(std::string text) {
  constexpr std::size_t kEnough = 200;
  text.resize(std::min(text.size(), kEnough));
  std::replace_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

std::string ConnectRequest(const Endpoint& endpoint) {
  const std::string& secret = endpoint.proxy.authorization;
  return fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n{1}\r\n", endpoint.ToString(),
                     secret.empty() ? "" : fmt::format("Proxy-Authorization: {}\r\n", secret));
}

bool IsTlsAlert(std::string_view bytes) { return bytes.starts_with("\x15\x03"); }

// What the answer of a server that does not speak TLS looks like.
bool IsNoTls(int reason) {
  return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_PACKET_LENGTH_TOO_LONG ||
         reason == SSL_R_HTTP_REQUEST;
}

// Whether it is the other side's TLS that complains about who we are: to try again is of no use.
bool RefusesUs(int reason) {
  switch (reason - SSL_AD_REASON_OFFSET) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_CERTIFICATE_REQUIRED:
    case SSL_AD_DECRYPT_ERROR:  // signed by another authority of the same name
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string Endpoint::ToString() const { return HostAndPort(host, port); }

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
    : loop_(loop),
      endpoint_(std::move(endpoint)),
      callbacks_(std::move(callbacks)),
      limit_(timeout) {
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
  const ProxyServer& proxy = endpoint_.proxy;
  const std::string& host = proxy.host.empty() ? endpoint_.host : proxy.host;
  const int port = proxy.host.empty() ? endpoint_.port : proxy.port;
  resolution_ = std::make_shared<Resolution>();
  resolution_->LookUp(host, port, AI_NUMERICHOST);
  const auto answer = [this, alive = alive_] {
    if (*alive) OnResolved();
  };
  if (!resolution_->addresses.empty()) return loop_.Post(answer);
  try {
    std::thread([inbox = loop_.inbox(), answer, resolution = resolution_, host, port] {
      resolution->LookUp(host, port, 0);
      inbox->Post(answer);
    }).detach();
  } catch (const std::system_error& none) {
    Fail(fmt::format("names cannot be looked up: {}", none.what()));
  }
}

void Transport::OnResolved() {
  if (phase_ != Phase::kResolving) return;
  if (resolution_->addresses.empty()) {
    const std::string& proxy = endpoint_.proxy.host;
    return Fail(fmt::format("{} is not known: {}", proxy.empty() ? endpoint_.host : proxy,
                            resolution_->failure));
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
  if (failed != 0 && errno != EINPROGRESS) {
    last_failure_ = SystemComplaint(errno);
    return ConnectNext();
  }
  if (next_address_ == resolution_->addresses.size()) return;
  // One address that swallows everything must not use up the time of the others.
  const auto count = static_cast<std::int64_t>(resolution_->addresses.size());
  next_attempt_ = loop_.After(Duration::Nanoseconds(limit_.ns / count), [this] {
    next_attempt_ = {};
    last_failure_ = "no answer";
    ConnectNext();
  });
}

void Transport::OnConnected() {
  int error = 0;
  socklen_t length = sizeof(error);
  getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    last_failure_ = SystemComplaint(error);
    return ConnectNext();
  }
  loop_.Cancel(next_attempt_);
  endpoint_.proxy.host.empty() ? BeginTls() : MeetProxy();
}

void Transport::BeginTls() {
  if (endpoint_.tls == nullptr) return Open();
  phase_ = Phase::kShakingHands;
  proxy_ssl_ = std::exchange(ssl_, nullptr);
  ssl_ = endpoint_.tls->Open(
      socket_, endpoint_.server_name.empty() ? endpoint_.host : endpoint_.server_name);
  if (proxy_ssl_ != nullptr) {
    BIO* inside = BIO_new(BIO_f_ssl());
    BIO_set_ssl(inside, proxy_ssl_, BIO_NOCLOSE);
    SSL_set_bio(ssl_, inside, inside);
  }
  ShakeHands();
}

void Transport::MeetProxy() {
  if (endpoint_.proxy.tls == nullptr) return AskProxy();
  phase_ = Phase::kMeetingProxy;
  ssl_ = endpoint_.proxy.tls->Open(socket_, endpoint_.proxy.host);
  constexpr std::string_view kProxySpeaks = "\x08http/1.1";
  SSL_set_alpn_protos(ssl_, reinterpret_cast<const unsigned char*>(kProxySpeaks.data()),
                      kProxySpeaks.size());
  ShakeHands();
}

void Transport::AskProxy() {
  phase_ = Phase::kAskingProxy;
  const std::string request = ConnectRequest(endpoint_);
  const auto put = ssl_ != nullptr
                       ? SSL_write(ssl_, request.data(), static_cast<int>(request.size()))
                       : send(socket_, request.data(), request.size(), MSG_NOSIGNAL);
  // A connection that is new has room for so little.
  if (put < 0 || static_cast<std::size_t>(put) != request.size()) {
    return Fail("the proxy closed the connection");
  }
  WatchFor();
}

void Transport::HearProxy() {
  // Byte by byte: what comes after the answer is not for us.
  while (phase_ == Phase::kAskingProxy) {
    char byte = 0;
    if (ReadSome(&byte, 1) == 0) return;
    proxy_answer_ += byte;
    if (proxy_answer_.ends_with("\r\n\r\n")) return OnProxyAnswer();
    if (proxy_answer_.size() >= kLongestProxyAnswer) Fail("the proxy's answer does not end");
  }
}

void Transport::OnProxyAnswer() {
  const std::string line = proxy_answer_.substr(0, proxy_answer_.find('\r'));
  proxy_answer_.clear();
  const std::size_t code_at = line.find(' ');
  const std::string code = code_at == std::string::npos ? "" : line.substr(code_at + 1, 3);
  if (line.starts_with("HTTP/1.") && code.starts_with('2')) return BeginTls();
  constexpr std::string_view kWhoAreYou = "407", kNotForYou = "403";
  Fail(fmt::format("the proxy answers {}", Shown(line)),
       code == kWhoAreYou || code == kNotForYou ? ErrorKind::kInvalid : ErrorKind::kUnavailable);
}

void Transport::ShakeHands() {
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_);
  if (done == 1) return phase_ == Phase::kMeetingProxy ? AskProxy() : Open();
  const int error = SSL_get_error(ssl_, done);
  handshake_wants_write_ = error == SSL_ERROR_WANT_WRITE;
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return WatchFor();
  if (const auto verdict = SSL_get_verify_result(ssl_); verdict != X509_V_OK) {
    ERR_clear_error();
    const bool other =
        verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH;
    const bool of_proxy = phase_ == Phase::kMeetingProxy;
    const std::string& name = of_proxy                        ? endpoint_.proxy.host
                              : endpoint_.server_name.empty() ? endpoint_.host
                                                              : endpoint_.server_name;
    return Fail(
        fmt::format(
            "the {}'s certificate is not trusted: {}", of_proxy ? "proxy" : "server",
            other ? fmt::format("it is not for {}", name) : X509_verify_cert_error_string(verdict)),
        ErrorKind::kInvalid);
  }
  FailTls("no TLS connection: ", error);
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
  if (phase_ == Phase::kShakingHands || phase_ == Phase::kMeetingProxy) return ShakeHands();
  if (phase_ == Phase::kAskingProxy) return HearProxy();
  if ((readiness & (kReadable | kBroken)) != 0) Receive();
  if (*alive && phase_ == Phase::kOpen && (readiness & kWritable) != 0) Send();
}

std::size_t Transport::ReadSome(char* into, std::size_t size) {
  if (ssl_ == nullptr) {
    const auto got = recv(socket_, into, size, 0);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0) {
      FailPlain("the server closed the connection");
    } else if (errno != EAGAIN && errno != EINTR) {
      FailPlain(SystemComplaint(errno));
    }
    return 0;
  }
  ERR_clear_error();
  const int got = SSL_read(ssl_, into, static_cast<int>(size));
  if (got > 0) return static_cast<std::size_t>(got);
  const int error = SSL_get_error(ssl_, got);
  if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) FailTls("", error);
  return 0;
}

void Transport::Receive() {
  std::array<char, kReadAtOnce> buffer;
  const auto alive = alive_;
  for (int reads = 0; *alive && phase_ == Phase::kOpen; ++reads) {
    if (reads == kReadsInARow) {
      // There may be more that was read from the socket already, of which it does not tell us.
      return loop_.Post([this, alive] {
        if (*alive) Receive();
      });
    }
    const std::size_t got = ReadSome(buffer.data(), buffer.size());
    if (got == 0) return;
    const std::string_view bytes(buffer.data(), got);
    if (!heard_ && ssl_ == nullptr && IsTlsAlert(bytes)) {
      return FailPlain("the server answers in TLS");
    }
    heard_ = true;
    callbacks_.received(bytes);
    // What else is in the socket it tells of again.
    if (*alive && phase_ == Phase::kOpen && !HoldsMore(got == buffer.size())) return;
  }
}

bool Transport::HoldsMore(bool read_was_full) const {
  if (ssl_ == nullptr) return read_was_full;
  return SSL_has_pending(ssl_) != 0 || (proxy_ssl_ != nullptr && SSL_has_pending(proxy_ssl_) != 0);
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
  if (endpoint_.may_send && !endpoint_.may_send()) {
    Fail("nothing may be sent any more");
    return false;
  }
  const char* from = out_.data() + sent_;
  if (ssl_ != nullptr) {
    ERR_clear_error();
    const int put = SSL_write(ssl_, from, static_cast<int>(std::min(unsent(), kReadAtOnce)));
    if (put > 0) {
      sent_ += static_cast<std::size_t>(put);
      return true;
    }
    const int error = SSL_get_error(ssl_, put);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) FailTls("", error);
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
  const bool shaking = phase_ == Phase::kShakingHands || phase_ == Phase::kMeetingProxy;
  if (shaking && handshake_wants_write_) wanted = kWritable;
  if (phase_ == Phase::kOpen && unsent() > 0) wanted |= kWritable;
  if (wanted == watched_for_) return;
  watched_for_ = wanted;
  loop_.Change(socket_, wanted);
}

// ---- the end ----

void Transport::CloseSocket() {
  loop_.Cancel(next_attempt_);
  SSL_free(ssl_);
  SSL_free(proxy_ssl_);  // after what runs inside of it
  ssl_ = proxy_ssl_ = nullptr;
  if (socket_ < 0) return;
  loop_.Unwatch(socket_);
  if (endpoint_.may_send && !endpoint_.may_send()) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
  close(socket_);
  socket_ = -1;
}

// A server that expects TLS is silent about what else it gets, or answers in TLS.
void Transport::FailPlain(std::string what) {
  if (phase_ == Phase::kOpen && !heard_) {
    what += "; does it expect https, where http was said?";
  }
  Fail(std::move(what));
}

void Transport::FailTls(std::string_view doing, int error) {
  if (error == SSL_ERROR_ZERO_RETURN || error == SSL_ERROR_SYSCALL) {
    return Fail(fmt::format("{}the server closed the connection", doing));
  }
  const int reason = ERR_GET_REASON(ERR_peek_error());
  if (!RefusesUs(reason)) {
    return Fail(fmt::format("{}{}{}", doing, TlsComplaint(),
                            IsNoTls(reason) ? "; does it expect http, where https was said?" : ""));
  }
  Fail(fmt::format("the server does not accept our certificate: {}", TlsComplaint()),
       ErrorKind::kInvalid);
}

void Transport::Fail(std::string what, ErrorKind kind) {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  loop_.Cancel(timeout_);
  timeout_ = {};
  CloseSocket();
  const ProxyServer& proxy = endpoint_.proxy;
  const std::string via = proxy.host.empty() ? ""
                                             : fmt::format(" through the proxy {}",
                                                           HostAndPort(proxy.host, proxy.port));
  const Error error{kind, fmt::format("{}{}: {}", endpoint_.ToString(), via, what), {}};
  // Not from within a call of the one who is told: it may destroy us.
  loop_.Post([this, alive = alive_, error] {
    if (*alive) callbacks_.closed(error);
  });
}

}  // namespace knx::net
